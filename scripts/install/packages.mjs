// What the registry of the install tests has: the packages as they are published, those for the platforms that nobody
// built here without their binaries, and this platform's in another version too.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "../common.mjs";
import { publishedManifest } from "../manifest.mjs";
import { builtPlatform, npmPack, packAll } from "../pack.mjs";
import { platforms as known } from "../platforms.mjs";
import { readTarball } from "../tarball.mjs";

/**
 * @typedef {object} Packages
 * @property {string} version of the main package
 * @property {string} platform this one
 * @property {string} platformPackage the name of its package
 * @property {string} astray another version of that one, which fits no main package
 * @property {string[]} tarballs all of them
 */

/**
 * Pack the packages.
 * @param {string} folder
 * @returns {Packages}
 */
export function packForTests(folder) {
  const platform = builtPlatform();
  const { main, platforms } = packAll(folder);
  const own = String(platforms[platform]);
  const others = known.filter(({ name }) => name !== platform);
  const empty = npmPack(...others.map(({ name }) => join(root, "npm", name)), "--pack-destination", folder);
  const { version } = publishedManifest();
  const astray = unlike(version);
  const packages = {
    version,
    platform,
    platformPackage: String(known.find(({ name }) => name === platform)?.package),
    astray,
    tarballs: [
      main,
      packAstray(folder, own, version, astray),
      own,
      ...empty.map(({ filename }) => join(folder, filename)),
    ],
  };
  writeFileSync(join(folder, "packages.json"), JSON.stringify(packages));
  return packages;
}

/** @param {string} folder where {@link packForTests} has packed @returns {Packages} */
export function packedIn(folder) {
  return JSON.parse(readFileSync(join(folder, "packages.json"), "utf8"));
}

/** A version of the same length, so that it can take the place of this one in a binary. @param {string} version */
function unlike(version) {
  return version.replace(/\d(?=\D*$)/, (digit) => String((Number(digit) + 1) % 10));
}

/**
 * The same package in another version: that of its manifest, and the one that its addon says it has.
 * @param {string} into
 * @param {string} tarball
 * @param {string} version
 * @param {string} astray
 */
function packAstray(into, tarball, version, astray) {
  const staged = mkdtempSync(join(tmpdir(), "fusion-cursor-pack-"));
  try {
    for (const { path, mode, data } of readTarball(tarball)) {
      const file = join(staged, path);
      const isVersioned = path === "package.json" || path.endsWith(".node");
      const text = isVersioned ? data.toString("latin1").replaceAll(version, astray) : data;
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text, { mode, encoding: "latin1" });
    }
    const [report] = npmPack(staged, "--pack-destination", into);
    return join(into, String(report?.filename));
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}
