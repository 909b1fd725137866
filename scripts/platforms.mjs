// The platforms that there is a package for, from the targets in package.json. `node scripts/platforms.mjs` writes each
// package's manifest and README in npm/, and the table of platforms into the pages that have a place for it.
//
//   --check  writes nothing, and fails where that would change something

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Failure, isProgram, root, runMain } from "./common.mjs";

/** The oldest glibc that what is published for Linux runs on. */
export const GLIBC_FLOOR = "2.17";

/** What goes into every package beside what is built, from the folder of package.json. */
export const sharedFiles = ["LICENSE", "THIRD-PARTY.md"];

/** Pages that hold the table between `<!-- targets -->` and `<!-- /targets -->`. */
const pages = ["README.md", "docs/install.md"];

/**
 * @typedef {object} Platform
 * @property {string} target as Rust names it
 * @property {string} name as the loader names it: `linux-x64-gnu`
 * @property {string} package the name of its package
 * @property {string} os
 * @property {string} cpu
 * @property {string} [libc]
 * @property {string} title what people call it
 * @property {string} needs the oldest system that it runs on, as far as that is known
 * @property {string} addon the file of the addon
 * @property {string[]} programs the files of the programs beside it
 */

const systems = new Map([
  ["linux", ["linux", "Linux"]],
  ["darwin", ["darwin", "macOS"]],
  ["windows", ["win32", "Windows"]],
]);
const processors = new Map([
  ["x86_64", "x64"],
  ["aarch64", "arm64"],
]);
const libraries = new Map([
  ["gnu", "glibc"],
  ["musl", "musl"],
]);

/** @returns {Record<string, any>} */
function mainManifest() {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
}

/**
 * The oldest system: of Linux it is what the build links against, of the others what Rust's standard library asks for.
 * @param {string} os
 * @param {string} cpu
 * @param {string | undefined} libc
 */
function oldest(os, cpu, libc) {
  if (os === "win32") return "Windows 10";
  if (os === "darwin") return cpu === "arm64" ? "macOS 11" : "macOS 10.12";
  return libc === "glibc" ? `glibc ${GLIBC_FLOOR}` : "musl 1.2";
}

/**
 * @param {string} target
 * @returns {Platform}
 */
function platform(target) {
  const manifest = mainManifest();
  const [processor = "", , system = "", abi] = target.split("-");
  const [os = "", title] = systems.get(system) ?? [];
  const cpu = processors.get(processor) ?? "";
  const libc = os === "linux" ? libraries.get(abi ?? "") : undefined;
  if (os === "" || cpu === "" || (os === "linux" && libc === undefined))
    throw new Failure(`scripts/platforms.mjs does not know the target ${target}.`);
  const name = [os, cpu, abi].filter(Boolean).join("-");
  return {
    target,
    name,
    package: `${manifest.name}-${name}`,
    os,
    cpu,
    ...(libc === undefined ? {} : { libc }),
    title: `${title} on ${cpu}${libc === undefined ? "" : ` with ${libc}`}`,
    needs: oldest(os, cpu, libc),
    addon: `${manifest.napi.binaryName}.${name}.node`,
    programs:
      os === "win32" ? ["fusion-cursor-stand-in.exe"] : ["fusion-cursor-guard", "fusion-cursor-stand-in"],
  };
}

/** Every platform, in the order of package.json. */
export const platforms = /** @type {string[]} */ (mainManifest().napi.targets).map(platform);

/**
 * The platform that a target is for, whoever built that Rust: Alpine's says `x86_64-alpine-linux-musl`.
 * @param {string} target
 */
export function platformOf(target) {
  const parts = (/** @type {string} */ triple) => triple.split("-").toSpliced(1, 1).join("-");
  const found = platforms.find((platform) => parts(platform.target) === parts(target));
  if (found !== undefined) return found;
  const known = platforms.map((platform) => platform.target).join(", ");
  throw new Failure(`There is no package for the target ${target}. There is one for each of: ${known}`);
}

/** The manifest of a platform's package. @param {Platform} platform */
function manifestOf({ package: name, os, cpu, libc, title, addon, programs }) {
  const { name: main, version, license, repository, engines } = mainManifest();
  return {
    name,
    version,
    description: `The addon of ${main} for ${title}.`,
    license,
    // The registry compares it with where a package was built.
    ...(repository === undefined ? {} : { repository }),
    os: [os],
    cpu: [cpu],
    ...(libc === undefined ? {} : { libc: [libc] }),
    main: addon,
    files: [addon, ...programs, "THIRD-PARTY.md"],
    engines,
    // A system loads and starts files of the disk, and none from within an archive.
    preferUnplugged: true,
  };
}

/** The README of a platform's package. @param {Platform} platform */
function readmeOf({ package: name, target, title, needs, os }) {
  const main = mainManifest().name;
  const what =
    os === "win32" ? "The addon and the stand-in agent" : "The addon, its guard and the stand-in agent";
  return `# ${name}

${what} of [\`${main}\`](https://www.npmjs.com/package/${main}) for ${title} (\`${target}\`).
It needs ${needs} or later.

This package comes with that one, as an optional dependency. There is no need to install it by itself.
`;
}

/** The table of the platforms. */
function table() {
  const rows = platforms.map(
    ({ title, package: name, needs, target }) => `| ${title} | \`${name}\` | ${needs} | \`${target}\` |`,
  );
  return ["| Platform | Package | Oldest system | Target |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

/**
 * A page with the table in its place; `undefined` where it has no place for it.
 * @param {string} text
 */
export function withTable(text) {
  const [before, rest] = split(text, "<!-- targets -->");
  const [, after] = split(rest ?? "", "<!-- /targets -->");
  if (rest === undefined || after === undefined) return undefined;
  return `${before}<!-- targets -->\n\n${table()}\n\n<!-- /targets -->${after}`;
}

/** @param {string} text @param {string} mark */
function split(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
}

/** Every generated file, by its path from the root, and its text. */
function generated() {
  /** @type {[string, string][]} */
  const files = platforms.flatMap((platform) => [
    [join("npm", platform.name, "package.json"), `${JSON.stringify(manifestOf(platform), null, 2)}\n`],
    [join("npm", platform.name, "README.md"), readmeOf(platform)],
  ]);
  for (const page of pages.filter((page) => existsSync(join(root, page)))) {
    const text = withTable(readFileSync(join(root, page), "utf8"));
    if (text !== undefined) files.push([page, text]);
  }
  return files;
}

/** Write what is generated. */
export function writePlatforms() {
  for (const [file, text] of generated()) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
}

/** Fail where a generated file is not what it would be now, or where there is a package for no target. */
export function checkPlatforms() {
  const read = (/** @type {string} */ file) =>
    existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : undefined;
  const stale = generated().flatMap(([file, text]) => (read(file) === text ? [] : [file]));
  if (stale.length > 0)
    throw new Failure(`Out of date: ${stale.join(", ")}. Write them anew: node scripts/platforms.mjs`);
  const known = platforms.map(({ name }) => name);
  const others = readdirSync(join(root, "npm")).filter((name) => !known.includes(name));
  if (others.length > 0) throw new Failure(`In npm/ there are packages for no target: ${others.join(", ")}`);
}

if (isProgram(import.meta.url)) {
  await runMain(process.argv.includes("--check") ? checkPlatforms : writePlatforms);
}
