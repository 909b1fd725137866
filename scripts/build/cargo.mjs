// Cargo, as the build calls it.

import { join } from "node:path";
import { capture, Failure, run } from "../common.mjs";
import { toolchainFor } from "../windows/toolchain.mjs";
import { targetDir } from "./place.mjs";
import { linking, rustFlags } from "./portable.mjs";

/**
 * @typedef {object} Made
 * @property {boolean} debug unoptimized, and for this machine
 * @property {string} target
 */

/** What this machine is to Rust. @returns {string} */
export function hostTarget() {
  const host = capture("rustc", "-vV")?.match(/^host: (\S+)$/m)?.[1];
  if (host === undefined) throw new Failure("`rustc -vV` failed; run it by hand to see why.");
  return host;
}

/**
 * Build one thing.
 * @param {Made & { shared?: boolean, env?: NodeJS.ProcessEnv }} made `shared` where Node loads it
 * @param {string[]} what cargo's arguments
 * @param {string[]} link rustc's arguments, for this thing and nothing that it is made of
 */
export async function cargo({ debug, target, shared = false, env = {} }, what, link = []) {
  if (debug) {
    await run("cargo", ["build", "--locked", ...what], env);
    return;
  }
  const chain = toolchainFor(target);
  const { command, as, env: linker } = linking(chain, target, hostTarget());
  const rustc = link.length > 0 ? ["--", ...link] : [];
  await run(command, ["rustc", "--locked", "--release", "--target", as, ...chain.flags, ...what, ...rustc], {
    ...chain.env,
    ...linker,
    CARGO_ENCODED_RUSTFLAGS: rustFlags(chain, target, shared),
    ...env,
  });
}

/** The folder that holds what was built. @param {Made} made */
function folder({ debug, target }) {
  if (debug) return join(targetDir(), "debug");
  const chain = toolchainFor(target);
  return join(targetDir(chain.cargo, chain.env), target, "release");
}

/** The addon that was built. @param {Made} made */
export function addonFile(made) {
  const name = made.target.includes("windows")
    ? "fusion_cursor_native.dll"
    : made.target.includes("darwin")
      ? "libfusion_cursor_native.dylib"
      : "libfusion_cursor_native.so";
  return join(folder(made), name);
}

/** The program that was built. @param {string} program its file @param {Made} made */
export function programFile(program, made) {
  return join(folder(made), program);
}
