// What the npm packages hold: every file that `npm pack` would take has to match one of these lines, and every
// line has to match a file. So no source slips in, and nothing that users import is left out. Of the packages for
// one platform the one for this platform is packed, and its programs have to come out as programs.

import { copyFileSync, cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { capture, Failure, guard, isProgram, root, runMain, standIn } from "./common.mjs";

const npm = process.platform === "win32" ? "npm.cmd" : "npm";

/** The programs of the package for this platform. */
const programs = guard === undefined ? [standIn] : [standIn, guard];

const expected = [
  /^CHANGELOG\.md$/,
  /^CONTRIBUTING\.md$/,
  /^LICENSE$/,
  /^README\.md$/,
  /^SECURITY\.md$/,
  /^dist\/fusion-cursor\.mjs$/,
  /^docs\/[\w-]+\.md$/,
  /^examples\/[\w-]+\.mjs$/,
  /^examples\/scenarios\/[\w-]+\.json$/,
  /^index\.d\.mts$/,
  /^index\.d\.ts$/,
  /^index\.js$/,
  /^index\.mjs$/,
  /^mcp-schema-server\.cjs$/,
  /^native\.d\.ts$/,
  /^native\.js$/,
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

/**
 * What `npm pack` says it takes, or has taken.
 * @param {string[]} args
 * @returns {{ files: { path: string, mode: number }[], unpackedSize: number, filename: string }}
 */
function pack(...args) {
  const text = capture(npm, "pack", ...args, "--json", "--ignore-scripts");
  if (text === undefined)
    throw new Failure(`\`npm pack ${args.join(" ")} --json\` failed; run it by hand to see why.`);
  const report = JSON.parse(text);
  // npm prints a list, and from version 12 on an object by package name.
  const [packed] = Array.isArray(report) ? report : Object.values(report);
  return packed;
}

/** Compare the files of the package with the list. */
function checkMain() {
  const { files, unpackedSize } = pack("--dry-run");
  const paths = files.map((file) => file.path);
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

/** Pack what was built for this platform, and look at the programs in the archive. */
function checkPlatform() {
  const start = "fusion-cursor-native.";
  const addon = readdirSync(root).find((name) => name.startsWith(start) && name.endsWith(".node"));
  if (addon === undefined) throw new Failure("There is no addon to pack. Build it: npm run build");
  const name = addon.slice(start.length, -".node".length);
  const folder = mkdtempSync(join(tmpdir(), "fusion-cursor-packed-"));
  try {
    const files = [addon, ...programs];
    cpSync(join(root, "npm", name), folder, { recursive: true });
    for (const file of files) copyFileSync(join(root, file), join(folder, file));
    const { filename } = pack(folder, "--pack-destination", folder);
    const listing = capture("tar", "-tvzf", join(folder, filename));
    if (listing === undefined) throw new Failure("`tar -tvzf` failed on what `npm pack` has made.");
    const lines = listing.split(/\r?\n/);
    const line = (/** @type {string} */ file) =>
      lines.find((line) => line.endsWith(` package/${file}`)) ?? "";
    const lost = files.filter((file) => line(file) === "");
    if (lost.length > 0) throw new Failure(`The package for ${name} would lack ${lost.join(", ")}`);
    // Without the bit, a program that npm has installed cannot be started.
    const inert = programs.filter((program) => !/^-r[w-]xr[w-]xr[w-]x /.test(line(program)));
    if (process.platform !== "win32" && inert.length > 0)
      throw new Failure(`In the package for ${name} these may not be executed: ${inert.join(", ")}`);
    console.log(`${name}: ${files.join(", ")}, the programs executable.`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Check both. */
export function checkPacked() {
  checkMain();
  checkPlatform();
}

if (isProgram(import.meta.url)) await runMain(checkPacked);
