/** The platforms that there is a package for. */

import type { Libc } from "./libc.js";

/** What the addon is to run on. `os` and `cpu` are as in `process`; only Linux has a choice of C libraries. */
export interface Platform {
  readonly os: string;
  readonly cpu: string;
  readonly libc?: Libc | undefined;
}

/** Their names, as in the files and packages of the addon, and what people call them. */
export const PLATFORMS: ReadonlyMap<string, string> = new Map([
  ["linux-x64-gnu", "Linux on x64 with glibc"],
  ["linux-arm64-gnu", "Linux on arm64 with glibc"],
  ["linux-x64-musl", "Linux on x64 with musl"],
  ["linux-arm64-musl", "Linux on arm64 with musl"],
  ["darwin-x64", "macOS on x64"],
  ["darwin-arm64", "macOS on arm64"],
  ["win32-x64-msvc", "Windows on x64"],
  ["win32-arm64-msvc", "Windows on arm64"],
]);

/** `linux-x64-gnu`, `darwin-arm64`; also for what there is no package for, since a clone builds for that too. */
export function nameOf({ os, cpu, libc }: Platform): string {
  if (os === "win32") return `${os}-${cpu}-msvc`;
  if (libc === undefined) return `${os}-${cpu}`;
  const abi = libc === "glibc" ? "gnu" : "musl";
  return `${os}-${cpu}-${abi}${cpu === "arm" ? "eabihf" : ""}`;
}

/** What people call it. */
export function titleOf(platform: Platform): string {
  const { os, cpu, libc } = platform;
  return PLATFORMS.get(nameOf(platform)) ?? `${os} on ${cpu}${libc === undefined ? "" : ` with ${libc}`}`;
}
