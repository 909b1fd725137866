// THIRD-PARTY.md: whose code is in the binaries, under which licence, with its text. `node scripts/third-party.mjs`
// writes it.
//
//   --check  writes nothing, and fails where that would change something
//
// cargo says what is linked: the crates that the library and the programs depend on, on any of the platforms, without
// those that only run while something is built. The texts are in the crates, which cargo fetches where they are missing.
// What cargo does not know, Rust's own library and the C libraries, is in scripts/third-party/.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { capture, Failure, isProgram, root, runMain } from "./common.mjs";
import { platforms } from "./platforms.mjs";

const FILE = "THIRD-PARTY.md";

/** Where a crate leaves a choice, the first of these. All of them ask for no more than their text. */
const CHOICE = ["MIT", "ISC", "BSD-3-Clause"];

/**
 * A crate that is linked, and the platforms whose binaries have it.
 * @typedef {{ name: string, version: string, on: string[] }} Linked
 * @typedef {{ name: string, version: string, license: string | null, authors: string[], manifest_path: string }} Crate
 */

/** @param {string[]} args */
function cargo(...args) {
  const output = capture("cargo", ...args, "--locked");
  if (output === undefined)
    throw new Failure(`\`cargo ${args.join(" ")} --locked\` failed; run it by hand to see why.`);
  return output;
}

/** Every crate that is linked into a binary of some platform. @returns {Linked[]} */
function linked() {
  /** @type {Map<string, Linked>} */
  const found = new Map();
  for (const { target, title } of platforms) {
    const tree = cargo("tree", "--edges", "normal,no-proc-macro", "--target", target, "--prefix", "none");
    for (const [, name = "", version = ""] of tree.matchAll(/^(\S+) v(\S+)/gm)) {
      const crate = found.get(`${name} ${version}`) ?? { name, version, on: [] };
      if (!crate.on.includes(title)) crate.on.push(title);
      found.set(`${name} ${version}`, crate);
    }
  }
  return [...found.values()].sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1));
}

/** The licence that is made use of. @param {Crate} crate */
function chosen({ name, license }) {
  const offered = (license ?? "").split(/ OR |\//).map((part) => part.trim());
  const taken = CHOICE.find((one) => offered.includes(one));
  if (taken === undefined)
    throw new Failure(
      `${name} is under "${license}". See whether its terms can be met, and add it to CHOICE.`,
    );
  return taken;
}

/** The text of a crate's licence, and notices that go with it. @param {Crate} crate @param {string} license */
function texts(crate, license) {
  const folder = dirname(crate.manifest_path);
  const files = readdirSync(folder);
  const read = (/** @type {string} */ file) =>
    readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n");
  const file =
    files.find((file) => new RegExp(`^licen[cs]e[-_.]${license}(\\.\\w+)?$`, "i").test(file)) ??
    files.find((file) => /^licen[cs]e(\.\w+)?$/i.test(file));
  const notices = files.filter((file) => /^notice|third-party/i.test(file)).map(read);
  // Some say their licence in their manifest alone.
  const own = file === undefined ? `${authors(crate)}\n\n${fixed(`${license}.txt`)}` : read(file);
  return { own, notices };
}

/** @param {Crate} crate */
function authors({ name, authors }) {
  const names = authors.map((author) => author.replace(/ <.*/, ""));
  return `Copyright (c) ${names.length > 0 ? names.join(", ") : `the authors of ${name}`}`;
}

/** A file of scripts/third-party/, with others where it names them. @param {string} file @returns {string} */
function fixed(file) {
  const text = readFileSync(join(root, "scripts", "third-party", file), "utf8");
  return text.replace(/^\{\{(.+)\}\}$/gm, (_, other) => fixed(other)).replace(/^\n+|\s+$/g, "");
}

/** A licence's text, apart from its title and from who has the copyright. @param {string} text */
function parts(text) {
  const lines = text.split("\n").map((line) => line.trim());
  const copyright = /^\s*(copyright\b|\(c\)|©)(?! notice| holders?\b)/i;
  const title = /^\s*(the )?(mit|isc)( license)?( \(mit\))?( license)?$/i;
  const rest = lines.filter((line) => !copyright.test(line) && !title.test(line));
  return {
    holders: lines.filter((line) => copyright.test(line)),
    body: rest
      .join("\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim(),
  };
}

/** Where only some platforms have it, which; all of a system by its name alone. @param {string[]} on */
function where(on) {
  if (on.length === platforms.length) return "";
  const system = (/** @type {string} */ title) => title.replace(/ .*/, "");
  const whole = new Set(platforms.map(({ title }) => system(title)));
  for (const { title } of platforms) if (!on.includes(title)) whole.delete(system(title));
  return ` (${[...whole, ...on.filter((title) => !whole.has(system(title)))].join(", ")})`;
}

/** The page. */
export function thirdParty() {
  const { packages } = JSON.parse(cargo("metadata", "--format-version", "1"));
  const crates = new Map(
    packages.map((/** @type {Crate} */ crate) => [`${crate.name} ${crate.version}`, crate]),
  );
  const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).name;
  /** Crates by the text of their licence, white space and line ends aside. @type {Map<string, { license: string, body: string, crates: string[] }>} */
  const groups = new Map();
  /** @type {string[]} */
  const notices = [];
  for (const { name, version, on } of linked()) {
    if (name === own) continue;
    const crate = crates.get(`${name} ${version}`);
    const license = chosen(crate);
    const { own: text, notices: more } = texts(crate, license);
    const { holders, body } = parts(text);
    const key = `${license} ${body.replace(/\s+/g, " ").replace(/[“”]/g, '"')}`;
    const group = groups.get(key) ?? { license, body, crates: [] };
    group.crates.push(
      [`- ${name} ${version}${where(on)}`, ...holders.map((line) => `  - ${line}`)].join("\n"),
    );
    groups.set(key, group);
    for (const notice of more) notices.push(`### ${name}\n\n\`\`\`text\n${notice.trim()}\n\`\`\``);
  }
  const sections = [...groups.values()]
    .sort(
      (a, b) => CHOICE.indexOf(a.license) - CHOICE.indexOf(b.license) || b.crates.length - a.crates.length,
    )
    .map(
      ({ license, body, crates }) => `### ${license}\n\n${crates.join("\n")}\n\n\`\`\`text\n${body}\n\`\`\``,
    );
  return `${[
    "# Code of others",
    fixed("intro.md"),
    "## Crates",
    ...sections,
    "## Notices of crates",
    ...notices,
    fixed("libraries.md"),
  ].join("\n\n")}\n`;
}

/** Write the page. */
export function writeThirdParty() {
  writeFileSync(join(root, FILE), thirdParty());
}

/** Fail where the page is not what it would be now. */
export function checkThirdParty() {
  if (readFileSync(join(root, FILE), "utf8") !== thirdParty())
    throw new Failure(`${FILE} is out of date. Write it anew: node scripts/third-party.mjs`);
}

if (isProgram(import.meta.url))
  await runMain(process.argv.includes("--check") ? checkThirdParty : writeThirdParty);
