// A compiler for Windows, and the stubs that it links and Wine loads.
//
// Any rustc that has the standard library of the target does (`rustup target add x86_64-pc-windows-gnu`), or one
// that has the library's source, from which it is then built: Debian's rustc-web has, and rustup's with the
// component rust-src. FUSION_CURSOR_BUILD_STD=1 asks for the second.

import { existsSync, mkdirSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { bounded } from "../bounded.mjs";
import { capture, Failure, toolsDir } from "../common.mjs";

/** Everything that is made for Windows or for another target. */
export const windowsDir = join(toolsDir, "windows");

export const WINDOWS = "x86_64-pc-windows-gnu";

/** The packages of Debian that bring what is needed. */
export const PACKAGES = {
  rust: ["rustc-web", "cargo-web", "rust-web-src"],
  mingw: ["gcc-mingw-w64-x86-64"],
  wine: ["wine", "wine64"],
};

const MINGW = "x86_64-w64-mingw32-gcc";

/**
 * A cargo for a target: the program, what it needs besides the arguments, and its environment.
 * @typedef {{ cargo: string, flags: string[], env: NodeJS.ProcessEnv, version: string }} Toolchain
 */

/** True where that compiler has the standard library of the target. @param {string} rustc @param {string} target */
function hasLibrary(rustc, target) {
  const folder = capture(rustc, "--print", "target-libdir", "--target", target);
  return folder !== undefined && existsSync(folder);
}

/** True where that compiler has the source of the standard library. @param {string} rustc */
function hasSource(rustc) {
  const sysroot = capture(rustc, "--print", "sysroot");
  return sysroot !== undefined && existsSync(join(sysroot, "lib/rustlib/src/rust/library/std/Cargo.toml"));
}

/**
 * A cargo that builds for the target.
 * @param {string} target
 * @returns {Toolchain}
 */
export function toolchainFor(target) {
  if (process.env.FUSION_CURSOR_BUILD_STD !== "1" && hasLibrary("rustc", target)) {
    return {
      cargo: "cargo",
      flags: [],
      env: { ...process.env },
      version: `${capture("rustc", "--version")}`,
    };
  }
  for (const rustc of ["rustc", "/usr/bin/rustc"]) {
    const cargo = join(dirname(rustc), "cargo");
    if (capture(cargo, "--version") === undefined || !hasSource(rustc)) continue;
    return {
      cargo,
      flags: ["-Zbuild-std=std,panic_abort,panic_unwind,test"],
      env: { ...(rustc === "rustc" ? process.env : ownEnvironment(rustc)), RUSTC_BOOTSTRAP: "1" },
      version: `${capture(rustc, "--version")}`,
    };
  }
  throw new Failure(
    `No Rust for ${target}. Run: rustup target add ${target} — or on Debian: apt-get install ${PACKAGES.rust.join(" ")}`,
  );
}

/**
 * For a compiler beside that of rustup: what rustup's proxies put into the environment would lead to the other one,
 * and a folder of crates is not shared between two versions of cargo.
 * @param {string} rustc
 */
function ownEnvironment(rustc) {
  const { CARGO, RUSTUP_TOOLCHAIN, RUSTUP_HOME, ...rest } = process.env;
  return {
    ...rest,
    PATH: [dirname(rustc), rest.PATH].join(delimiter),
    RUSTC: rustc,
    CARGO_HOME: join(windowsDir, "cargo"),
    CARGO_TARGET_DIR: join(windowsDir, "target"),
  };
}

/**
 * Build a DLL, where it is not there.
 * @param {string} file
 * @param {string[]} sources
 */
export async function dll(file, ...sources) {
  if (existsSync(file)) return;
  mkdirSync(dirname(file), { recursive: true });
  if (capture(MINGW, "--version") === undefined)
    throw new Failure(`${MINGW} is missing. On Debian: apt-get install ${PACKAGES.mingw.join(" ")}`);
  await bounded(MINGW, ["-O1", "-shared", "-o", file, ...sources], { seconds: 60 });
}

/**
 * The environment of a build for Windows. napi's build script wants a libnode.dll to link to, of which nothing is
 * used: an addon looks its symbols up in the host.
 */
export async function windowsToolchain() {
  const chain = toolchainFor(WINDOWS);
  const stubs = join(windowsDir, "stubs");
  await dll(join(stubs, "libnode.dll"), "-xc", "/dev/null");
  /** @type {NodeJS.ProcessEnv} */
  const env = {
    ...chain.env,
    LIBNODE_PATH: stubs,
    // mingw's linker takes a minute for the debug information of all tests.
    CARGO_PROFILE_DEV_DEBUG: "0",
    CARGO_PROFILE_TEST_DEBUG: "0",
  };
  return { ...chain, env };
}
