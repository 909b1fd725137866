// `npm run build`: the addon with its types, the guard, the stand-in agent, and the bundles, of which the loader is
// one.
//
//   --debug       an unoptimized build, with debug assertions
//   --panics      only the addon for the panic tests, unoptimized, into __test__/native-panics
//   --target T    only what the package for that target holds, as it is published, into npm/<platform>
//
// On Linux what is optimized is linked against an old glibc, so that it runs on every system since, where cargo-zigbuild
// and zig are there (`npm run tools` brings them). Without them it is linked against what this machine has.

import { join } from "node:path";
import { addonFile, cargo, hostTarget, programFile } from "./build/cargo.mjs";
import { replace } from "./build/place.mjs";
import { staticLinker } from "./build/portable.mjs";
import { typesFolder, writeTypes } from "./build/types.mjs";
import { Failure, isProgram, panicsAddon, root, run, runMain } from "./common.mjs";
import { platformOf } from "./platforms.mjs";

/**
 * @typedef {object} What
 * @property {boolean} [debug] unoptimized, and for this machine
 * @property {string} [target] as Rust names it; without it, this machine
 * @property {string} [folder] where the files go; the root where nothing is said
 */

/** The addon and, in the root, native.d.ts. @param {What} what */
export async function buildAddon({ debug = false, target = hostTarget(), folder = root } = {}) {
  const types = typesFolder(debug ? "debug" : target);
  const env = { NAPI_TYPE_DEF_TMP_FOLDER: types };
  // Of the library only what Node loads: beside a Rust library, much of what is unused stays in.
  const what = debug ? ["--lib"] : ["--lib", "--crate-type", "cdylib"];
  await cargo({ debug, target, shared: true, env }, what);
  replace(addonFile({ debug, target }), join(folder, platformOf(target).addon));
  if (folder === root) await writeTypes(types);
}

/**
 * Build a program.
 * @param {string} program its file
 * @param {What} what
 * @param {string[]} link options for the linking of this program alone
 */
async function buildProgram(program, { debug = false, target = hostTarget(), folder = root }, ...link) {
  const name = program.replace(/\.exe$/, "");
  // Without the binding: an executable has no Node to link to.
  await cargo({ debug, target }, ["--no-default-features", "--bin", name], link);
  replace(programFile(program, { debug, target }), join(folder, program));
}

/**
 * The guard. With the C library in it, it takes half the memory; not every system has that in this form.
 * @param {string} program
 * @param {What} what
 */
async function buildGuard(program, what) {
  const linker = what.debug ? undefined : staticLinker(what.target ?? hostTarget());
  if (linker === undefined) return buildProgram(program, what);
  try {
    await buildProgram(program, what, "-C", "target-feature=+crt-static", "-C", `linker=${linker}`);
  } catch {
    console.log("The guard could not be linked by itself (no static C library?). Linking it as usual…");
    await buildProgram(program, what);
  }
}

/** The stand-in agent and, where there is one, the guard. @param {What} what */
export async function buildPrograms(what = {}) {
  for (const program of platformOf(what.target ?? hostTarget()).programs) {
    if (program === "fusion-cursor-guard") await buildGuard(program, what);
    else await buildProgram(program, what);
  }
}

/**
 * What the package for a target holds, into its folder.
 * @param {string} target
 */
export async function buildTarget(target) {
  const { name } = platformOf(target);
  const what = { target, folder: join(root, "npm", name) };
  await buildAddon(what);
  await buildPrograms(what);
  return what.folder;
}

/** The addon with the exports that panic. In the dev profile: nothing in its tests depends on speed. */
export async function buildPanicsAddon() {
  const made = { debug: true, target: hostTarget() };
  await cargo(made, ["--lib", "--features", "panic-hooks"]);
  replace(addonFile(made), panicsAddon);
}

/** native.js, index.js, plugin/index.js and dist/. */
export async function bundle() {
  await run(process.execPath, ["scripts/bundle.mjs"]);
}

/** @param {string[]} args */
async function main(args) {
  const debug = args.includes("--debug");
  const at = args.indexOf("--target");
  if (at !== -1) {
    const target = args[at + 1];
    if (target === undefined || debug) throw new Failure("--target wants a target, and no --debug.");
    console.log(`Built into ${await buildTarget(target)}.`);
    return;
  }
  if (args.includes("--panics")) return buildPanicsAddon();
  await buildAddon({ debug });
  await buildPrograms({ debug });
  await bundle();
}

if (isProgram(import.meta.url)) await runMain(() => main(process.argv.slice(2)));
