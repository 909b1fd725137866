// What the npm packages hold, looked up in their tarballs: every file has to match one of these lines, and every line
// has to match a file. So no source slips in, and nothing that users import is left out. `npm test` packs for this
// platform alone, and a release looks at what it has packed for each; programs have to come out as programs.

import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { checkBinaries } from "./binary.mjs";
import { capture, Failure, isProgram, root, runMain, toolsDir } from "./common.mjs";
import { packAll } from "./pack.mjs";
import { platforms as known, sharedFiles } from "./platforms.mjs";
import { readTarball } from "./tarball.mjs";

/** @typedef {import("./tarball.mjs").Entry} Entry */

/** How large the tarball of the main package may be, in bytes. */
export const MAIN_LIMIT = 300_000;

export const mainFiles = [
  /^CHANGELOG\.md$/,
  /^CONTRIBUTING\.md$/,
  /^LICENSE$/,
  /^README\.md$/,
  /^SECURITY\.md$/,
  /^THIRD-PARTY\.md$/,
  /^dist\/fusion-cursor\.mjs$/,
  /^docs\/[\w-]+\.md$/,
  /^docs\/performance\/[\w-]+\.svg$/,
  /^examples\/[\w-]+\.mjs$/,
  /^examples\/scenarios\/[\w-]+\.json$/,
  /^index\.d\.mts$/,
  /^index\.d\.ts$/,
  /^index\.js$/,
  /^index\.mjs$/,
  /^mcp-schema-server\.cjs$/,
  /^native\.d\.ts$/,
  /^native\.js$/,
  /^outcome\.js$/,
  /^package\.json$/,
  /^plugin\/index\.d\.mts$/,
  /^plugin\/index\.d\.ts$/,
  /^plugin\/index\.js$/,
  /^plugin\/index\.mjs$/,
  /^testing\/README\.md$/,
  /^testing\/index\.d\.mts$/,
  /^testing\/index\.d\.ts$/,
  /^testing\/index\.js$/,
  /^testing\/index\.mjs$/,
  /^testing\/scenarios\/[\w.-]+$/,
];

/** @typedef {import("./platforms.mjs").Platform} Platform */

/** What the package for one platform holds. @param {Platform} platform */
export function platformFiles({ addon, programs }) {
  return ["README.md", "package.json", ...sharedFiles, addon, ...programs].map(
    (file) => new RegExp(`^${file.replaceAll(".", "\\.")}$`),
  );
}

/**
 * Compare the files of a package with the list of what it is to hold.
 * @param {string} name of the package
 * @param {Entry[]} entries
 * @param {RegExp[]} expected
 */
export function checkList(name, entries, expected) {
  const paths = entries.map((entry) => entry.path);
  const unmeant = paths.filter((path) => !expected.some((line) => line.test(path)));
  const missing = expected.filter((line) => !paths.some((path) => line.test(path)));
  if (unmeant.length > 0)
    throw new Failure(
      `${name} would hold files that scripts/packed.mjs does not list: ${unmeant.join(", ")}`,
    );
  if (missing.length > 0)
    throw new Failure(`${name} would lack files that scripts/packed.mjs lists: ${missing.join(", ")}`);
}

/**
 * Without the bit, a program that npm has installed cannot be started. npm sets it for a command by itself, but not
 * for the programs of a platform.
 * @param {string} name of the package
 * @param {Entry[]} entries
 * @param {string[]} files
 */
export function checkExecutable(name, entries, files) {
  const inert = files.filter((file) => {
    const entry = entries.find((entry) => entry.path === file);
    return entry === undefined || (entry.mode & 0o555) !== 0o555;
  });
  if (inert.length > 0) throw new Failure(`In ${name} these may not be executed by all: ${inert.join(", ")}`);
}

/**
 * The folders of this machine that no file of a package may name. The folder for temporary files is one where its
 * path says whose machine this is; `/tmp` is in the documents, and in programs that have to do with it.
 */
export function machineFolders() {
  const cargo = capture("cargo", "metadata", "--no-deps", "--format-version", "1");
  const target = cargo === undefined ? undefined : JSON.parse(cargo).target_directory;
  const folders = [root, toolsDir, homedir(), process.env.CARGO_HOME, process.env.RUSTUP_HOME, target];
  if (tmpdir() !== "/tmp") folders.push(tmpdir());
  return folders.filter((folder) => typeof folder === "string" && folder.length > 1);
}

/**
 * @param {string} name of the package
 * @param {Entry[]} entries
 * @param {string[]} folders
 */
export function checkPaths(name, entries, folders) {
  for (const { path, data } of entries) {
    for (const folder of folders) {
      // As the start of a longer path: a home as short as `/root` is a word of many a text.
      const found = [`${folder}/`, `${folder}\\`].find((start) => data.includes(start));
      if (found === undefined) continue;
      const at = data.indexOf(found);
      const place = data.toString("latin1", at, at + 120).replace(/[^ -~].*$/s, "");
      throw new Failure(`In ${name}, ${path} names a folder of this machine: ${place}`);
    }
  }
}

/**
 * Print how large a package is, packed and unpacked, and its largest files.
 * @param {string} name
 * @param {number} packed the size of the tarball in bytes
 * @param {Entry[]} entries
 * @param {number} [limit] how large the tarball may be
 */
export function checkSize(name, packed, entries, limit) {
  const unpacked = entries.reduce((sum, { data }) => sum + data.length, 0);
  const bound = limit === undefined ? "" : ` of at most ${kb(limit)}`;
  console.log(`${name}: ${entries.length} files, ${kb(packed)} packed${bound}, ${kb(unpacked)} unpacked`);
  for (const { path, data } of entries) console.log(`  ${kb(data.length).padStart(10)}  ${path}`);
  if (limit !== undefined && packed > limit)
    throw new Failure(
      `${name} is ${packed} bytes, and may be ${limit}. What is the largest in it, and is it needed?`,
    );
}

/** @param {number} bytes */
function kb(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

/** @param {string} tarball */
function checkMain(tarball) {
  const entries = readTarball(tarball);
  const name = "The main package";
  checkSize(name, statSync(tarball).size, entries, MAIN_LIMIT);
  checkList(name, entries, mainFiles);
  checkExecutable(name, entries, ["dist/fusion-cursor.mjs"]);
  checkPaths(name, entries, machineFolders());
}

/**
 * @param {Platform} platform
 * @param {Entry[]} entries
 */
export function checkPlatform(platform, entries) {
  const name = `The package for ${platform.name}`;
  checkList(name, entries, platformFiles(platform));
  if (process.platform !== "win32") checkExecutable(name, entries, [platform.addon, ...platform.programs]);
  checkPaths(name, entries, machineFolders());
  // As they are in the archive, and not as the build has left them.
  const folder = mkdtempSync(join(tmpdir(), "fusion-cursor-packed-"));
  try {
    for (const { path, mode, data } of entries) writeFileSync(join(folder, path), data, { mode });
    checkBinaries(folder, platform.name);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Check what was packed.
 * @param {ReturnType<typeof packAll>} packed
 */
export function checkTarballs({ main, platforms }) {
  checkMain(main);
  for (const platform of known) {
    const tarball = platforms[platform.name];
    if (tarball === undefined) continue;
    const entries = readTarball(tarball);
    checkSize(`The package for ${platform.name}`, statSync(tarball).size, entries);
    checkPlatform(platform, entries);
  }
  console.log(`${[main, ...Object.values(platforms)].map((file) => basename(file)).join(", ")}: as listed.`);
}

/** Pack for this platform, and check what was packed. */
export function checkPacked() {
  const folder = mkdtempSync(join(tmpdir(), "fusion-cursor-packed-"));
  try {
    checkTarballs(packAll(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (isProgram(import.meta.url)) await runMain(checkPacked);
