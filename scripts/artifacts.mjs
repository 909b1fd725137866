// The gate between what was built for each platform and what is packed for it.
//
//   node scripts/artifacts.mjs describe PLATFORM   gathers what was built here for the platform in release/PLATFORM, with
//                                                  a description: version, commit, size and hash of each file
//   node scripts/artifacts.mjs collect FOLDER      checks the folders `binaries-PLATFORM` in FOLDER, and puts their files
//                                                  into the packages in npm/
//
// `collect` takes nothing where anything is wrong, and tells all that is.

import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { checkBinary } from "./binary.mjs";
import { capture, Failure, isProgram, root, runMain } from "./common.mjs";
import { platforms } from "./platforms.mjs";
import { kindOf } from "./release/kind.mjs";

/** @typedef {import("./platforms.mjs").Platform} Platform */

/**
 * What a build says of itself.
 * @typedef {{ platform: string, version: string, commit: string, files: Record<string, { bytes: number, sha256: string }> }} Description
 */

/** The file of the description, beside the files that it describes. */
export const DESCRIPTION = "build.json";

/** @param {Platform} platform */
const filesOf = ({ addon, programs }) => [addon, ...programs];

/** @param {Buffer} bytes */
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** The version that is built, and the commit that it is built from. */
function identity() {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const commit = capture("git", "rev-parse", "HEAD");
  if (commit === undefined) throw new Failure("`git rev-parse HEAD` failed: a build is made from a commit.");
  return { version, commit };
}

/** @param {string} name */
function platformNamed(name) {
  const found = platforms.find((platform) => platform.name === name);
  if (found === undefined)
    throw new Failure(
      `There is no platform ${name}. There are: ${platforms.map(({ name }) => name).join(", ")}`,
    );
  return found;
}

/**
 * Gather what was built, with its description.
 * @param {string} name
 * @param {string} into
 * @param {string} from where the build has left it
 */
export function describe(name, into = join(root, "release", name), from = join(root, "npm", name)) {
  const platform = platformNamed(name);
  mkdirSync(into, { recursive: true });
  /** @type {Description["files"]} */
  const files = {};
  for (const file of filesOf(platform)) {
    if (!existsSync(join(from, file)))
      throw new Failure(
        `${file} is not in ${from}. Build it: node scripts/build.mjs --target ${platform.target}`,
      );
    const bytes = readFileSync(join(from, file));
    files[file] = { bytes: bytes.length, sha256: sha256(bytes) };
    copyFileSync(join(from, file), join(into, file));
  }
  const description = { platform: name, ...identity(), files };
  writeFileSync(join(into, DESCRIPTION), `${JSON.stringify(description, null, 2)}\n`);
}

/**
 * What is wrong with one file.
 * @param {Platform} platform
 * @param {string} file
 * @param {string} path
 * @returns {string[]}
 */
function wrongFile(platform, file, path) {
  try {
    checkBinary(path, platform.name);
    const wanted = file === platform.addon ? "library" : "program";
    const kind = kindOf(readFileSync(path));
    return kind === wanted ? [] : [`holds ${file}, which is a ${kind} and no ${wanted}`];
  } catch (error) {
    if (error instanceof Failure) return [`holds a wrong file: ${error.message}`];
    // What the header points at is not there: the file is cut off, or is no binary.
    if (error instanceof RangeError) return [`holds ${file}, which is no whole binary`];
    throw error;
  }
}

/** What a build says of itself; `undefined` where that cannot be read. @param {string} folder @returns {Description | undefined} */
function descriptionIn(folder) {
  try {
    const description = JSON.parse(readFileSync(join(folder, DESCRIPTION), "utf8"));
    return description?.files instanceof Object ? description : undefined;
  } catch {
    return undefined;
  }
}

/**
 * What is wrong with the folder of one platform.
 * @param {Platform} platform
 * @param {string} folder
 * @param {{ version: string, commit: string }} expected
 * @param {Map<string, string>} seen the hash of each file so far, and where it is
 * @returns {string[]}
 */
function wrongFolder(platform, folder, expected, seen) {
  const entries = readdirSync(folder, { withFileTypes: true });
  const there = entries.map(({ name }) => name).sort();
  const wanted = [...filesOf(platform), DESCRIPTION].sort();
  const missing = wanted.filter((file) => !there.includes(file)).map((file) => `lacks ${file}`);
  const extra = there
    .filter((file) => !wanted.includes(file))
    .map((file) => `has ${file}, which nobody asked for`);
  // A link would be looked at here, and be another file where it is packed.
  const odd = entries.filter((entry) => !entry.isFile()).map(({ name }) => `has ${name}, which is no file`);
  if (missing.length + extra.length + odd.length > 0) return [...missing, ...extra, ...odd];

  const description = descriptionIn(folder);
  if (description === undefined) return [`has a ${DESCRIPTION} that describes nothing`];
  const wrong = /** @type {const} */ (["version", "commit"])
    .filter((key) => description[key] !== expected[key])
    .map((key) => `was built from ${key} ${description[key]}, and not from ${expected[key]}`);
  if (description.platform !== platform.name) wrong.push(`describes itself as ${description.platform}`);
  for (const file of filesOf(platform)) {
    const bytes = readFileSync(join(folder, file));
    const hash = sha256(bytes);
    if (description.files[file]?.sha256 !== hash) wrong.push(`holds another ${file} than was built`);
    wrong.push(...wrongFile(platform, file, join(folder, file)));
    const twin = seen.get(hash);
    if (twin !== undefined) wrong.push(`holds as ${file} the very bytes of ${twin}`);
    seen.set(hash, `${platform.name}/${file}`);
  }
  return wrong;
}

/**
 * Everything that is wrong with the downloaded builds.
 * @param {string} folder
 * @param {{ version: string, commit: string }} expected
 * @returns {string[]}
 */
export function complaints(folder, expected) {
  const wanted = platforms.map(({ name }) => `binaries-${name}`);
  const strangers = readdirSync(folder)
    .filter((name) => !wanted.includes(name))
    .map((name) => `${name} is for no platform of package.json`);
  const seen = new Map();
  const wrong = platforms.flatMap((platform) => {
    const path = join(folder, `binaries-${platform.name}`);
    const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory();
    const what = isFolder ? wrongFolder(platform, path, expected, seen) : ["was not built"];
    return what.map((line) => `${platform.name} ${line}`);
  });
  return [...strangers, ...wrong];
}

/**
 * Check the builds, and put them into their packages.
 * @param {string} folder
 * @param {string} into the folder of the packages
 * @param {{ version: string, commit: string }} expected
 */
export function collect(folder, into = join(root, "npm"), expected = identity()) {
  const wrong = complaints(folder, expected);
  if (wrong.length > 0)
    throw new Failure(`These builds are not packed:\n${wrong.map((line) => `  ${line}`).join("\n")}`);
  for (const platform of platforms) {
    mkdirSync(join(into, platform.name), { recursive: true });
    for (const file of filesOf(platform)) {
      const to = join(into, platform.name, file);
      copyFileSync(join(folder, `binaries-${platform.name}`, file), to);
      // The store of artifacts keeps no modes, and a program is started.
      chmodSync(to, 0o755);
    }
    console.log(`${platform.name}: ${filesOf(platform).join(", ")}`);
  }
}

if (isProgram(import.meta.url)) {
  await runMain(() => {
    const [verb, what] = process.argv.slice(2);
    if (verb === "describe" && what !== undefined) return describe(what);
    if (verb === "collect" && what !== undefined) return collect(what);
    throw new Failure(
      "Say `describe PLATFORM` or `collect FOLDER`; the head of scripts/artifacts.mjs tells more.",
    );
  });
}
