// What a release stands on. docs/releasing.md tells how one is made.
//
//   node scripts/release.mjs check TAG     whether the tag, every version, CHANGELOG.md and the repository agree
//   node scripts/release.mjs pack FOLDER   packs all packages into the folder, holds them against scripts/packed.mjs, and
//                                          lists them in the order in which they are published: packages.json

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { capture, Failure, isProgram, root, runMain } from "./common.mjs";
import { packAll } from "./pack.mjs";
import { checkTarballs } from "./packed.mjs";
import { platforms } from "./platforms.mjs";
import { repositoryUrl } from "./release/repository.mjs";
import { readTarball } from "./tarball.mjs";

/**
 * A package to publish.
 * @typedef {{ name: string, version: string, file: string, integrity: string }} Listed
 */

/** The list of the packages, beside them. */
export const LIST = "packages.json";

const SEMVER = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;

/** @typedef {Record<string, any>} Manifest */

/**
 * What a check looks at: the texts of a checkout, and where it runs.
 * @typedef {object} Facts
 * @property {string} tag
 * @property {Manifest} manifest package.json
 * @property {Manifest} lock package-lock.json
 * @property {Manifest[]} packages the manifests in npm/
 * @property {string} cargo Cargo.toml
 * @property {string} cargoLock
 * @property {string} changelog
 * @property {boolean | undefined} onMain whether the commit is on main; `undefined` where that is unknown
 * @property {string | undefined} runsIn the address of the repository whose workflow this is
 */

/** The notes of a version in CHANGELOG.md. @param {string} changelog @param {string} version */
export function notes(changelog, version) {
  const heading = new RegExp(`^## \\[${version.replaceAll(".", "\\.")}\\] - \\d{4}-\\d{2}-\\d{2}$`, "m");
  const [, behind] = changelog.split(heading);
  return behind?.split(/^## /m)[0]?.trim();
}

/**
 * Everything that does not agree.
 * @param {Facts} facts
 * @returns {string[]}
 */
export function disagreements({
  tag,
  manifest,
  lock,
  packages,
  cargo,
  cargoLock,
  changelog,
  onMain,
  runsIn,
}) {
  const { name, version } = manifest;
  const wrong = [];
  if (!SEMVER.test(version)) wrong.push(`package.json has the version ${version}, which is none`);
  if (tag !== `v${version}`) wrong.push(`the tag is ${tag}, and package.json has the version ${version}`);
  const crate = `name = "${name}"\nversion = "${version}"\n`;
  if (!cargo.includes(crate)) wrong.push(`Cargo.toml has another version than ${version}`);
  if (!cargoLock.includes(crate)) wrong.push(`Cargo.lock has another version than ${version}: cargo check`);
  if (lock.version !== version || lock.packages?.[""]?.version !== version)
    wrong.push(`package-lock.json has another version than ${version}: npm install --package-lock-only`);
  for (const other of packages) {
    if (other.version !== version)
      wrong.push(`${other.name} has the version ${other.version}: node scripts/platforms.mjs`);
    if (repositoryUrl(other) !== repositoryUrl(manifest))
      wrong.push(`${other.name} names another repository: node scripts/platforms.mjs`);
  }
  const text = notes(changelog, version);
  if (text === undefined) wrong.push(`CHANGELOG.md has no section \`## [${version}] - YYYY-MM-DD\``);
  else if (text === "") wrong.push(`CHANGELOG.md says nothing about ${version}`);
  const url = repositoryUrl(manifest);
  if (url === undefined)
    wrong.push(
      "package.json has no `repository`, without which npm takes no provenance; see docs/releasing.md",
    );
  else if (runsIn !== undefined && runsIn.toLowerCase() !== url.toLowerCase())
    wrong.push(`package.json has the repository ${url}, but this runs in ${runsIn}`);
  if (onMain === false) wrong.push("the tagged commit is not on main");
  // By hand it may be unknown. A workflow that does not know has fetched too little.
  if (onMain === undefined && runsIn !== undefined)
    wrong.push("there is no origin/main here, so nobody can say whether the tagged commit is on it");
  return wrong;
}

/** @param {string} file */
const text = (file) => readFileSync(join(root, file), "utf8");

/** What the checkout and the machine say. @param {string} tag @returns {Facts} */
function facts(tag) {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = process.env;
  const main = capture("git", "rev-parse", "--verify", "--quiet", "origin/main");
  return {
    tag,
    manifest: JSON.parse(text("package.json")),
    lock: JSON.parse(text("package-lock.json")),
    packages: platforms.map(({ name }) => JSON.parse(text(join("npm", name, "package.json")))),
    cargo: text("Cargo.toml"),
    cargoLock: text("Cargo.lock"),
    changelog: text("CHANGELOG.md"),
    onMain:
      main === undefined
        ? undefined
        : capture("git", "merge-base", "--is-ancestor", "HEAD", main) !== undefined,
    runsIn: server && repository ? `${server}/${repository}` : undefined,
  };
}

/** @param {string} tag */
function check(tag) {
  const wrong = disagreements(facts(tag));
  if (wrong.length > 0)
    throw new Failure(`This is not released:\n${wrong.map((line) => `  ${line}`).join("\n")}`);
  console.log(`${tag}: the tag, the versions, CHANGELOG.md and the repository agree.`);
}

/**
 * Pack all, look at what is packed, and list it: the main package last, since it asks for the others.
 * @param {string} folder
 * @param {string[]} [names] the platforms
 */
export function pack(folder, names = platforms.map(({ name }) => name)) {
  const packed = packAll(folder, names);
  checkTarballs(packed);
  const list = [...Object.values(packed.platforms), packed.main].map((path) => {
    const manifest = readTarball(path).find((entry) => entry.path === "package.json");
    const { name, version } = JSON.parse(String(manifest?.data));
    const hash = createHash("sha512").update(readFileSync(path)).digest("base64");
    return { name, version, file: basename(path), integrity: `sha512-${hash}` };
  });
  writeFileSync(join(folder, LIST), `${JSON.stringify(list, null, 2)}\n`);
  for (const { file, integrity } of list) console.log(`${file} ${integrity}`);
}

if (isProgram(import.meta.url)) {
  await runMain(() => {
    const [verb, what] = process.argv.slice(2);
    if (verb === "check" && what !== undefined) return check(what);
    if (verb === "pack" && what !== undefined) return pack(what);
    throw new Failure("Say `check TAG` or `pack FOLDER`; the head of scripts/release.mjs tells more.");
  });
}
