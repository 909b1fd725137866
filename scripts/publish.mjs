// Publishes the packages that `node scripts/release.mjs pack FOLDER` has listed: node scripts/publish.mjs FOLDER
//
//   --by-hand   with the login of the person who runs it, and so without provenance: for the first version of a package,
//               which npm lets no workflow publish
//
// The packages for the platforms come first, and the main package when the registry shows them: nobody can install it
// and find nothing for his platform. It may be run again after it has failed half way: what is published already, with
// the same bytes, is left alone. Other bytes under the same version are a failure.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Failure, isProgram, runMain } from "./common.mjs";
import { npmScript } from "./npm.mjs";
import { repositoryUrl } from "./release/repository.mjs";
import { readTarball } from "./tarball.mjs";

/** @typedef {import("./release.mjs").Listed} Listed */

/** The oldest npm that publishes on the word of a workflow. */
const OLDEST_NPM = [11, 5, 1];

/** How long the registry may take to show what it has taken, in milliseconds. */
const SHOWN_WITHIN = 300_000;

/** How often the registry is asked before that counts as a failure. */
const TRIES = 4;

/**
 * Run npm, and give what it prints.
 * @param {string[]} args
 * @param {"pipe" | "inherit"} output inherited where npm may have to talk with a person
 */
function npm(args, output = "pipe") {
  const done = spawnSync(process.execPath, [npmScript(), ...args], {
    encoding: "utf8",
    stdio: ["inherit", output, "inherit"],
  });
  if (done.error !== undefined) throw new Failure(`npm did not start: ${done.error.message}`);
  if (done.status !== 0) throw new Failure(`\`npm ${args.join(" ")}\` ended with code ${done.status}.`);
  return done.stdout?.trim() ?? "";
}

/** @param {string} version */
function isOld(version) {
  const numbers = version.split(".").map((part) => Number.parseInt(part, 10));
  const difference = OLDEST_NPM.map((part, index) => (numbers[index] ?? 0) - part);
  return (difference.find((part) => part !== 0) ?? 0) < 0;
}

/**
 * The list of the packages, held against what lies beside it.
 * @param {string} folder
 * @returns {Listed[]}
 */
function readList(folder) {
  /** @type {Listed[]} */
  const list = JSON.parse(readFileSync(join(folder, "packages.json"), "utf8"));
  const main = list.at(-1);
  if (main === undefined) throw new Failure("packages.json lists nothing.");
  const strangers = readdirSync(folder).filter(
    (file) => file !== "packages.json" && !list.some((listed) => listed.file === file),
  );
  if (strangers.length > 0) throw new Failure(`packages.json does not list ${strangers.join(", ")}.`);
  /** @type {Set<string | undefined>} */
  const repositories = new Set();
  /** @type {string[]} */
  let asked = [];
  for (const { name, version, file, integrity } of list) {
    const path = join(folder, file);
    if (!existsSync(path)) throw new Failure(`${file} is listed in packages.json, and is not there.`);
    const hash = createHash("sha512").update(readFileSync(path)).digest("base64");
    if (integrity !== `sha512-${hash}`) throw new Failure(`${file} is not what packages.json lists.`);
    const manifest = JSON.parse(String(readTarball(path).find(({ path }) => path === "package.json")?.data));
    if (manifest.name !== name || manifest.version !== version || version !== main.version)
      throw new Failure(
        `${file} is ${manifest.name} ${manifest.version}; ${name} ${main.version} is released.`,
      );
    repositories.add(repositoryUrl(manifest));
    if (name === main.name) asked = Object.keys(manifest.optionalDependencies ?? {});
  }
  const others = list.slice(0, -1).map(({ name }) => name);
  const missing = asked.filter((name) => !others.includes(name));
  if (missing.length > 0)
    throw new Failure(`${main.name} asks for ${missing.join(", ")}, which packages.json does not list.`);
  if (repositories.has(undefined))
    throw new Failure(
      "package.json has no `repository`. npm compares it with where a package was built, and takes no provenance " +
        "without it. Set it, run `node scripts/platforms.mjs`, and release anew; see docs/releasing.md.",
    );
  if (repositories.size > 1)
    throw new Failure(`The packages name several repositories: ${[...repositories].join(", ")}`);
  return list;
}

/**
 * What the registry says of a package. It is asked again where the connection broke, or the registry has a trouble of
 * its own: between two questions a package is sent, and a release that stops over this is one that a person has to mend.
 * @param {URL} address
 * @returns {Promise<Response>}
 */
async function ask(address) {
  for (let tries = 1; ; tries += 1) {
    try {
      const response = await fetch(address, {
        headers: { accept: "application/vnd.npm.install-v1+json", "cache-control": "no-cache" },
        signal: AbortSignal.timeout(30_000),
      });
      if (response.status === 404 || response.ok) return response;
      const why = `The registry answers ${response.status} when it is asked for ${address}.`;
      if (response.status < 500 || tries === TRIES) throw new Failure(why);
    } catch (error) {
      if (error instanceof Failure) throw error;
      const { message, cause } = /** @type {Error} */ (error);
      const why = cause instanceof Error ? cause.message : message;
      if (tries === TRIES) throw new Failure(`The registry could not be asked for ${address}: ${why}`);
    }
    await setTimeout(500 * 2 ** tries);
  }
}

/**
 * @typedef {object} Known
 * @property {Record<string, { dist: { integrity: string } }>} [versions]
 * @property {Record<string, string>} [dist-tags]
 */

/**
 * What the registry has of a package: nothing, where it does not know it.
 * @param {string} registry
 * @param {Listed} listed
 * @returns {Promise<Known>}
 */
async function known(registry, { name }) {
  const response = await ask(new URL(encodeURIComponent(name), registry));
  return response.status === 404 ? {} : /** @type {Promise<Known>} */ (response.json());
}

/**
 * What a version is called beside its number. Only a whole one may become what `npm install` takes unasked, and only
 * where that is not a newer one already: a mend of an old line would else take everybody back to it.
 * @param {string} version
 * @param {string} [latest] what `npm install` takes so far
 */
export function tagFor(version, latest) {
  if (version.includes("-")) return "next";
  const numbers = (/** @type {string} */ of) =>
    of
      .replace(/[-+].*/, "")
      .split(".")
      .map(Number);
  const [left, right] = [numbers(version), numbers(latest ?? "0.0.0")];
  const at = left.findIndex((part, index) => part !== right[index]);
  const isOlder = at !== -1 && (left[at] ?? 0) < (right[at] ?? 0);
  return isOlder ? `latest-${left[0]}.${left[1]}` : "latest";
}

/**
 * True where the package is published with these very bytes; fails where it is with others.
 * @param {string} registry
 * @param {Listed} listed
 */
async function isDone(registry, listed) {
  const { versions } = await known(registry, listed);
  const integrity = versions?.[listed.version]?.dist.integrity;
  if (integrity === undefined) return false;
  if (integrity === listed.integrity) return true;
  throw new Failure(
    `${listed.name} ${listed.version} is published with other bytes (${integrity}, and not ${listed.integrity}). ` +
      "A version cannot be published twice: release the next one.",
  );
}

/**
 * Wait until the registry shows all of them.
 * @param {string} registry
 * @param {Listed[]} list
 */
async function shown(registry, list) {
  const end = Date.now() + SHOWN_WITHIN;
  for (const listed of list) {
    while (!(await isDone(registry, listed))) {
      if (Date.now() > end)
        throw new Failure(
          `The registry does not show ${listed.name} ${listed.version}, which it has taken. Run this again later.`,
        );
      await setTimeout(2_000);
    }
  }
}

/**
 * Publish what is not published yet.
 * @param {string} folder
 * @param {{ byHand?: boolean }} [options]
 */
export async function publish(folder, { byHand = false } = {}) {
  const list = readList(folder);
  const version = npm(["--version"]);
  if (!byHand && isOld(version))
    throw new Failure(
      `npm ${OLDEST_NPM.join(".")} or later is needed to publish from a workflow; this is ${version}.`,
    );
  const registry = `${npm(["config", "get", "registry"]).replace(/\/$/, "")}/`;
  // All of them before the first: a version that cannot be completed is not begun.
  const done = new Set();
  for (const listed of list) if (await isDone(registry, listed)) done.add(listed.name);
  const main = /** @type {Listed} */ (list.at(-1));
  const tag = tagFor(main.version, (await known(registry, main))["dist-tags"]?.latest);
  for (const [index, listed] of list.entries()) {
    const { name, file } = listed;
    if (done.has(name)) {
      console.log(`${name} ${listed.version} is published already.`);
      continue;
    }
    if (index === list.length - 1) await shown(registry, list.slice(0, -1));
    const provenance = byHand ? [] : ["--provenance"];
    const options = ["--access", "public", "--tag", tag, "--ignore-scripts", ...provenance];
    npm(["publish", resolve(folder, file), ...options], "inherit");
    console.log(`${name} ${listed.version} is published as ${tag}.`);
  }
}

if (isProgram(import.meta.url)) {
  await runMain(() => {
    const args = process.argv.slice(2);
    const byHand = args.includes("--by-hand");
    const [folder, more] = args.filter((arg) => arg !== "--by-hand");
    if (folder === undefined || more !== undefined)
      throw new Failure("Say what to publish: node scripts/publish.mjs FOLDER [--by-hand]");
    return publish(folder, { byHand });
  });
}
