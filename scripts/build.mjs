// `npm run build`: the addon with its loader, the guard, the stand-in agent, and the bundles.
//
//   --debug   an unoptimized build, with debug assertions
//   --panics  only the addon for the panic tests, unoptimized, into __test__/native-panics

import { chmodSync, copyFileSync, mkdirSync, renameSync, rmSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  capture,
  Failure,
  guard,
  isProgram,
  panicsAddon,
  root,
  run,
  runMain,
  runModule,
  standIn,
} from "./common.mjs";

/** Where cargo puts what it builds. Cargo is asked, since a variable or a config file may move it. */
function targetDir() {
  const metadata = capture("cargo", "metadata", "--no-deps", "--format-version", "1");
  if (metadata === undefined) throw new Failure("`cargo metadata` failed; run it by hand to see why.");
  return JSON.parse(metadata).target_directory;
}

/**
 * Put a new file in place of the old one, which a running Node may have loaded and which must not change.
 * @param {string} from
 * @param {string} to
 */
function replace(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  const next = `${to}.next`;
  rmSync(next, { force: true });
  copyFileSync(from, next);
  chmodSync(next, 0o755);
  const now = new Date();
  utimesSync(next, now, now);
  renameSync(next, to);
}

/** The addon, native.js and native.d.ts. */
export async function buildAddon({ debug = false } = {}) {
  const profile = debug ? [] : ["--release"];
  const files = ["--platform", "--js", "native.js", "--dts", "native.d.ts"];
  await runModule("@napi-rs/cli/dist/cli.js", ["build", ...files, ...profile]);
}

/**
 * Build a program, and put it beside the addon.
 * @param {string} program
 * @param {boolean} debug
 * @param {string[]} link options for the linking of this program alone
 */
async function buildProgram(program, debug, ...link) {
  const profile = debug ? [] : ["--release"];
  const [verb, more] = link.length > 0 ? ["rustc", ["--", ...link]] : ["build", []];
  const name = program.replace(/\.exe$/, "");
  // Without the binding: an executable has no Node to link to.
  await run("cargo", [verb, "--locked", "--no-default-features", "--bin", name, ...profile, ...more]);
  replace(join(targetDir(), debug ? "debug" : "release", program), join(root, program));
}

/** The guard. With the C library in it, it takes half the memory; not every system has that in this form. */
async function buildGuard({ debug = false } = {}) {
  if (guard === undefined) return;
  if (process.platform !== "linux" || debug) return buildProgram(guard, debug);
  try {
    await buildProgram(guard, debug, "-C", "target-feature=+crt-static");
  } catch {
    console.log("The guard could not be linked by itself (no static C library?). Linking it as usual…");
    await buildProgram(guard, debug);
  }
}

/** The guard and the stand-in agent. */
export async function buildPrograms({ debug = false } = {}) {
  await buildProgram(standIn, debug);
  await buildGuard({ debug });
}

/** The addon with the exports that panic. In the dev profile: nothing in its tests depends on speed. */
export async function buildPanicsAddon() {
  await run("cargo", ["build", "--locked", "--lib", "--features", "panic-hooks"]);
  /** @type {Partial<Record<NodeJS.Platform, string>>} */
  const names = { darwin: "libfusion_cursor_native.dylib", win32: "fusion_cursor_native.dll" };
  const name = names[process.platform] ?? "libfusion_cursor_native.so";
  replace(join(targetDir(), "debug", name), panicsAddon);
}

/** index.js, plugin/index.js and dist/. */
export async function bundle() {
  await run(process.execPath, ["scripts/bundle.mjs"]);
}

if (isProgram(import.meta.url)) {
  await runMain(async () => {
    const debug = process.argv.includes("--debug");
    if (process.argv.includes("--panics")) return buildPanicsAddon();
    await buildAddon({ debug });
    await buildPrograms({ debug });
    await bundle();
  });
}
