// What the npm package holds: every file that `npm pack` would take has to match one of these lines, and
// every line has to match a file. So no source slips in, and nothing that users import is left out.

import { capture, Failure, isProgram, runMain } from "./common.mjs";

const npm = process.platform === "win32" ? "npm.cmd" : "npm";

const expected = [
  /^CHANGELOG\.md$/,
  /^LICENSE$/,
  /^README\.md$/,
  /^dist\/fusion-cursor\.mjs$/,
  /^index\.d\.mts$/,
  /^index\.d\.ts$/,
  /^index\.js$/,
  /^index\.mjs$/,
  /^native\.d\.ts$/,
  /^native\.js$/,
  /^package\.json$/,
  /^testing\/README\.md$/,
  /^testing\/index\.d\.mts$/,
  /^testing\/index\.d\.ts$/,
  /^testing\/index\.js$/,
  /^testing\/index\.mjs$/,
  /^testing\/scenarios\/[\w.-]+$/,
];

/** Compare the package's files with the list. */
export function checkPacked() {
  const text = capture(npm, "pack", "--dry-run", "--json", "--ignore-scripts");
  if (text === undefined) throw new Failure("`npm pack --dry-run --json` failed; run it by hand to see why.");
  const report = JSON.parse(text);
  // npm prints a list, and from version 12 on an object by package name.
  const [{ files, unpackedSize }] = Array.isArray(report) ? report : Object.values(report);
  /** @type {string[]} */
  const paths = files.map((/** @type {{ path: string }} */ file) => file.path);
  const unmeant = paths.filter((path) => !expected.some((line) => line.test(path)));
  const missing = expected.filter((line) => !paths.some((path) => line.test(path)));
  if (unmeant.length > 0)
    throw new Failure(
      `The package would hold files that scripts/packed.mjs does not list: ${unmeant.join(", ")}`,
    );
  if (missing.length > 0)
    throw new Failure(`The package would lack files that scripts/packed.mjs lists: ${missing.join(", ")}`);
  console.log(`${paths.length} files, ${Math.round(unpackedSize / 1024)} KiB unpacked: as listed.`);
}

if (isProgram(import.meta.url)) await runMain(checkPacked);
