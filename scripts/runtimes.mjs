// The runtimes that the package is tested in, beside the Node that the checks run in: `node scripts/runtimes.mjs [WHAT]`.
//
//   (nothing)   the tests in __test__/runtimes/
//   list        which there are, and in which versions
//   NAME ARGS   a program in one of them, such as: deno run -A x.mjs
//
// Each is installed from npm into .tools/runtimes/ as the lock file in scripts/runtimes/<name>/ says. For other hosts
// than Linux on x64 and arm64 the newest of a line that npm has may be an older one, and some have none.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Failure, isMusl, isProgram, root, runMain, toolsDir } from "./common.mjs";
import { nodeTests } from "./node-tests.mjs";
import { installPinned } from "./pinned.mjs";

const PINS = join(root, "scripts", "runtimes");
const HOME = join(toolsDir, "runtimes");
const TESTS = join("__test__", "runtimes");

/** @typedef {"node20" | "node22" | "node24" | "bun" | "deno"} Runtime */

/** @type {readonly Runtime[]} */
export const RUNTIMES = ["node20", "node22", "node24", "bun", "deno"];

/**
 * What a lock file says of its packages, by their folders.
 * @param {Runtime} name
 * @returns {Record<string, { version: string, os?: string | string[], cpu?: string | string[], libc?: string[] }>}
 */
export function pinned(name) {
  return JSON.parse(readFileSync(join(PINS, name, "package-lock.json"), "utf8")).packages;
}

/** The version for this host; nothing where npm has none. @param {Runtime} name */
export function pinnedVersion(name) {
  // npm's Nodes for Linux are made for glibc, which their packages do not say.
  if (name.startsWith("node") && isMusl()) return undefined;
  const found = Object.values(pinned(name)).find(
    ({ os, cpu }) =>
      os !== undefined && [os].flat().includes(process.platform) && [cpu].flat().includes(process.arch),
  );
  return found?.version;
}

/** Whether there is one for this host. @param {Runtime} name */
export function isHere(name) {
  return pinnedVersion(name) !== undefined;
}

/** The program in what npm has installed. @param {string} folder */
function program(folder) {
  const extension = process.platform === "win32" ? ".exe" : "";
  const packages = readdirSync(folder).flatMap((name) =>
    name.startsWith("@") ? readdirSync(join(folder, name)).map((inner) => join(name, inner)) : [name],
  );
  // Not `.bin`, nor the packages that only choose one with a program: what they have is a script that starts it.
  const platforms = packages.filter((name) => !/^(\..*|bun|deno)$/.test(name));
  const places = platforms.flatMap((name) =>
    ["bin/node", "bin/bun", "deno"].map((path) => join(folder, name, path + extension)),
  );
  return places.find((place) => existsSync(place));
}

/**
 * The absolute path of a runtime's program. It is installed where it is missing or not the one of the lock file.
 * @param {Runtime} name
 * @returns {Promise<string>}
 */
export async function runtime(name) {
  const folder = join(HOME, name);
  await installPinned(join(PINS, name), folder);
  const found = program(join(folder, "node_modules"));
  if (found === undefined)
    throw new Failure(`npm has no ${name} for ${process.platform} on ${process.arch}.`);
  return found;
}

/** The test files, from the root. */
function tests() {
  const names = readdirSync(join(root, TESTS)).filter((name) => name.endsWith(".test.mjs"));
  return names.sort().map((name) => join(TESTS, name));
}

/** Run the tests; resolves with the report on them. */
export async function testRuntimes() {
  for (const name of RUNTIMES.filter(isHere)) await runtime(name);
  return nodeTests(tests(), { atOnce: 2, seconds: 900 });
}

if (isProgram(import.meta.url)) {
  await runMain(async () => {
    const [what, ...args] = process.argv.slice(2);
    if (what === undefined) return void (await testRuntimes());
    if (what === "list") {
      for (const name of RUNTIMES)
        console.log(`${name.padEnd(8)} ${pinnedVersion(name) ?? "none for this host"}`);
      return;
    }
    const name = RUNTIMES.find((known) => known === what);
    if (name === undefined) throw new Failure(`No such runtime: ${what}. There are ${RUNTIMES.join(", ")}.`);
    const { status } = spawnSync(await runtime(name), args, { stdio: "inherit" });
    process.exitCode = status ?? 1;
  });
}
