// What a lock file of this repository pins, installed once: runtimes, package managers, and the Node of other platforms.

import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bounded } from "./bounded.mjs";
import { npmScript } from "./npm.mjs";

const LOCK = "package-lock.json";

/** How long an installation may take, in seconds: what is fetched may have 100 MB. */
const PATIENCE = 600;

/** @param {string} folder */
const lockOf = (folder) => readFileSync(join(folder, LOCK), "utf8");

/** Where it is noted which lock file was installed. @param {string} folder */
const noteIn = (folder) => join(folder, "node_modules", ".fusion-cursor-lock");

/** Whether what this lock file says is installed in the folder. @param {string} folder @param {string} lock */
function isInstalled(folder, lock) {
  const note = noteIn(folder);
  return existsSync(note) && readFileSync(note, "utf8") === lock;
}

/**
 * Install in this folder what its own lock file says, unless that is there.
 * @param {string} folder
 * @param {string[]} flags more of npm's
 */
export async function installLocked(folder, ...flags) {
  const lock = lockOf(folder);
  if (isInstalled(folder, lock)) return;
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await bounded(process.execPath, [npmScript(), "ci", ...quiet, ...flags], {
    cwd: folder,
    seconds: PATIENCE,
  });
  writeFileSync(noteIn(folder), lock);
}

/**
 * Install in a folder what the lock file of another one says, unless that is there: beside its place first, so that
 * nobody meets half of it.
 * @param {string} pins the folder of the lock file
 * @param {string} folder
 * @param {string[]} flags more of npm's
 */
export async function installPinned(pins, folder, ...flags) {
  if (isInstalled(folder, lockOf(pins))) return;
  mkdirSync(dirname(folder), { recursive: true });
  const next = `${folder}.${process.pid}`;
  rmSync(next, { recursive: true, force: true });
  mkdirSync(next);
  try {
    for (const file of ["package.json", LOCK]) cpSync(join(pins, file), join(next, file));
    await installLocked(next, ...flags);
    rmSync(folder, { recursive: true, force: true });
    renameSync(next, folder);
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
}
