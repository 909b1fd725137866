// The package managers that the install tests run: the npm of this machine, and those that the lock file in managers/
// pins, installed once into .tools/managers/.

import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, toolsDir } from "../common.mjs";
import { npmScript } from "../npm.mjs";
import { bounded } from "../windows/bounded.mjs";

const folder = join(toolsDir, "managers");

/** @typedef {"npm" | "npm-10" | "pnpm" | "yarn"} Manager */

/** @type {Record<Exclude<Manager, "npm">, string>} */
const programs = {
  "npm-10": "npm-10/bin/npm-cli.js",
  pnpm: "pnpm/bin/pnpm.cjs",
  yarn: "@yarnpkg/cli-dist/bin/yarn.js",
};

/** Install the pinned ones. */
export async function installManagers() {
  const pinned = join(root, "scripts", "install", "managers");
  const lock = readFileSync(join(pinned, "package-lock.json"), "utf8");
  const note = join(folder, "node_modules", ".fusion-cursor-lock");
  if (existsSync(note) && readFileSync(note, "utf8") === lock) return;
  mkdirSync(folder, { recursive: true });
  for (const file of ["package.json", "package-lock.json"]) cpSync(join(pinned, file), join(folder, file));
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  await bounded(process.execPath, [program("npm"), "ci", "--ignore-scripts", ...quiet], {
    cwd: folder,
    seconds: 300,
  });
  writeFileSync(note, lock);
}

/**
 * The script of a package manager, which Node runs.
 * @param {Manager} manager
 */
export function program(manager) {
  return manager === "npm" ? npmScript() : join(folder, "node_modules", programs[manager]);
}
