// What the workflows have to agree with, as the rest of the repository says it.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../common.mjs";
import { platforms } from "../platforms.mjs";

/**
 * @typedef {object} Facts
 * @property {{ target: string, name: string }[]} platforms
 * @property {string} oldestNode of `engines`, as `20.17`
 * @property {string[]} nodeMajors those that scripts/runtimes/ pins
 * @property {string} oldestRust of Cargo.toml
 * @property {string[]} npmScripts
 * @property {string[]} stages of scripts/test.mjs
 * @property {(path: string) => boolean} exists
 */

/** @param {string} file */
const read = (file) => readFileSync(join(root, file), "utf8");

/** @returns {Facts} */
export function facts() {
  const manifest = JSON.parse(read("package.json"));
  return {
    platforms,
    oldestNode: manifest.engines.node.replace(">=", ""),
    nodeMajors: readdirSync(join(root, "scripts", "runtimes"))
      .flatMap((name) => /^node(\d+)$/.exec(name)?.[1] ?? [])
      .sort(),
    oldestRust: /^rust-version = "(.+)"$/m.exec(read("Cargo.toml"))?.[1] ?? "",
    npmScripts: Object.keys(manifest.scripts),
    stages: [...read("scripts/test.mjs").matchAll(/\bname: "([\w-]+)"/g)].map(([, name]) => String(name)),
    exists: (path) => existsSync(join(root, path)),
  };
}
