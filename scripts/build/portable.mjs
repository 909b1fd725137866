// What makes a build fit for other machines than this one: an old C library to link against, no path of this machine
// in the files, and a size that an install does not feel.

import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { capture, Failure, root, toolsDir } from "../common.mjs";
import { GLIBC_FLOOR } from "../platforms.mjs";
import { hasTool, howToGet } from "../tools.mjs";
import { targetDir } from "./place.mjs";

/** @typedef {import("../windows/toolchain.mjs").Toolchain} Toolchain */

/** True where this machine can link against the C libraries of other Linux machines. */
export function portable() {
  return process.platform === "linux" && hasTool("cargo-zigbuild") && hasTool("zig");
}

let told = false;

/**
 * What is called in cargo's place, what it is told to build for, and what it finds in its environment.
 * @param {Toolchain} chain
 * @param {string} target
 * @param {string} host
 * @param {boolean} able to link for other machines
 */
export function linking({ cargo, env }, target, host, able = portable()) {
  const plain = { command: cargo, as: target, env: {} };
  if (process.platform !== "linux" || !target.includes("-linux-")) return plain;
  if (able) {
    const floor = target.endsWith("-gnu") ? `.${GLIBC_FLOOR}` : "";
    const path = [join(toolsDir, "bin"), env.PATH].join(delimiter);
    return { command: "cargo-zigbuild", as: `${target}${floor}`, env: { PATH: path, CARGO: cargo } };
  }
  const get = `cargo-zigbuild and zig are missing. To get them: ${howToGet("zig")}`;
  if (target !== host) throw new Failure(`Nothing here links for ${target}: ${get}`);
  if (!told) console.log(`This build runs on this machine, and perhaps on no older one: ${get}`);
  told = true;
  return plain;
}

/**
 * What links a program with the C library in it; `undefined` where the target needs no such thing, or nothing does.
 * zig has glibc only as a library to load.
 * @param {string} target
 */
export function staticLinker(target) {
  const [processor = "", , system, abi] = target.split("-");
  if (system !== "linux" || abi !== "gnu") return undefined;
  const own = process.platform === "linux" && processor === (process.arch === "arm64" ? "aarch64" : "x86_64");
  const linker = own ? "cc" : `${processor}-linux-gnu-gcc`;
  return capture(linker, "--version") === undefined ? undefined : linker;
}

/**
 * The flags of rustc for everything that is built, as cargo wants them in CARGO_ENCODED_RUSTFLAGS. Those of the user
 * come first, which the variable would hide.
 * @param {Toolchain} chain
 * @param {string} target
 * @param {boolean} shared for what Node loads
 */
export function rustFlags({ cargo, env }, target, shared) {
  const asked = env.CARGO_ENCODED_RUSTFLAGS?.split("\x1f") ?? env.RUSTFLAGS?.trim().split(/\s+/) ?? [];
  // A fifth of the size is copies of small functions, which measurably save no time.
  const size = ["-Cllvm-args=-inline-threshold=30"];
  return [...asked, ...size, ...forSystem(target, shared), ...remapped(cargo, env)]
    .filter(Boolean)
    .join("\x1f");
}

/**
 * How the C library gets in, and what else a system wants. Windows has the C library under a name that only an
 * installer brings. An addon takes musl from its host, where programs for musl have it in them and so run anywhere.
 * A library for macOS holds its own name, which is else the path that it was linked to.
 * @param {string} target
 * @param {boolean} shared
 */
function forSystem(target, shared) {
  if (target.endsWith("-msvc")) return ["-Ctarget-feature=+crt-static"];
  if (target.includes("-musl")) return [`-Ctarget-feature=${shared ? "-" : "+"}crt-static`];
  if (target.includes("-darwin") && shared)
    return ["-Clink-arg=-Wl,-install_name,@rpath/fusion-cursor-native.node"];
  return [];
}

/**
 * Names for the folders of this machine, which else come into the messages of panics. The last that fits is taken.
 * @param {string} cargo
 * @param {NodeJS.ProcessEnv} env
 */
function remapped(cargo, env) {
  const sysroot = capture(env.RUSTC ?? "rustc", "--print", "sysroot");
  const registry = join(env.CARGO_HOME ?? join(homedir(), ".cargo"), "registry", "src");
  const folders = [
    [homedir(), "~"],
    [root, "."],
    [targetDir(cargo, env), "/target"],
    [registry, "/crates"],
    ...(sysroot === undefined ? [] : [[join(sysroot, "lib", "rustlib", "src", "rust"), "/rustc"]]),
  ];
  return folders.map(([from, to]) => `--remap-path-prefix=${from}=${to}`);
}
