// The package managers that the install tests run: the npm of this machine, and those that the lock file in managers/
// pins, installed once into .tools/managers/.

import { join } from "node:path";
import { root, toolsDir } from "../common.mjs";
import { npmScript } from "../npm.mjs";
import { installPinned } from "../pinned.mjs";

const folder = join(toolsDir, "managers");

/** @typedef {"npm" | "npm-10" | "pnpm" | "yarn"} Manager */

/** @type {Record<Exclude<Manager, "npm">, string>} */
const programs = {
  "npm-10": "npm-10/bin/npm-cli.js",
  pnpm: "pnpm/bin/pnpm.cjs",
  yarn: "@yarnpkg/cli-dist/bin/yarn.js",
};

/** Install the pinned ones. */
export function installManagers() {
  return installPinned(join(root, "scripts", "install", "managers"), folder);
}

/**
 * The script of a package manager, which Node runs.
 * @param {Manager} manager
 */
export function program(manager) {
  return manager === "npm" ? npmScript() : join(folder, "node_modules", programs[manager]);
}
