// The packages as they are published: `node scripts/pack.mjs FOLDER [PLATFORM…]` packs the main package and those for
// the platforms, this one without any, into the folder. Build first: npm run build, and for another platform
// node scripts/build.mjs --target TRIPLE.

import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { capture, Failure, isProgram, root, runMain } from "./common.mjs";
import { publishedManifest } from "./manifest.mjs";
import { npmScript } from "./npm.mjs";
import { platforms as known, sharedFiles } from "./platforms.mjs";

/** What `npm pack` says of a package. @typedef {{ filename: string, files: { path: string }[] }} Report */

/** The name of the platform that was built here. */
export function builtPlatform() {
  const [found, ...more] = known.filter(({ addon }) => existsSync(join(root, addon))).map(({ name }) => name);
  if (found === undefined) throw new Failure("There is no addon to pack. Build it: npm run build");
  if (more.length > 0)
    throw new Failure(
      `There are addons for ${found}, ${more.join(", ")}. Remove those that are not to be packed.`,
    );
  return found;
}

/**
 * Run `npm pack`, and tell what it took.
 * @param {string[]} args
 * @returns {Report[]}
 */
export function npmPack(...args) {
  const text = capture(process.execPath, npmScript(), "pack", ...args, "--json", "--ignore-scripts");
  if (text === undefined)
    throw new Failure(`\`npm pack ${args.join(" ")} --json\` failed; run it by hand to see why.`);
  const report = JSON.parse(text);
  // npm prints a list, and from version 12 on an object by package name.
  return Array.isArray(report) ? report : Object.values(report);
}

/**
 * Let everybody read what is there, and start what its owner may start. A checkout has the modes that the umask of its
 * owner leaves, and a package whose bytes depend on that is another one on each machine.
 * @param {string} folder
 */
function openAll(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    chmodSync(path, entry.isDirectory() || (statSync(path).mode & 0o100) !== 0 ? 0o755 : 0o644);
  }
}

/**
 * Pack what `fill` puts into a new folder.
 * @param {string} into
 * @param {(staged: string) => void} fill
 * @returns {string} the path of the tarball
 */
function packStaged(into, fill) {
  const staged = mkdtempSync(join(tmpdir(), "fusion-cursor-pack-"));
  try {
    fill(staged);
    openAll(staged);
    const [report] = npmPack(staged, "--pack-destination", into);
    if (report === undefined) throw new Failure("`npm pack` has packed nothing.");
    return join(into, report.filename);
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}

/** @param {string} into */
function packMain(into) {
  const manifest = publishedManifest();
  const [report] = npmPack("--dry-run");
  return packStaged(into, (staged) => {
    for (const { path } of report?.files ?? []) {
      mkdirSync(dirname(join(staged, path)), { recursive: true });
      copyFileSync(join(root, path), join(staged, path));
    }
    writeFileSync(join(staged, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  });
}

/**
 * @param {string} into
 * @param {import("./platforms.mjs").Platform} platform
 * @param {string} made the folder of its binaries
 */
function packPlatform(into, { name, target, addon, programs }, made) {
  const binaries = [addon, ...programs];
  return packStaged(into, (staged) => {
    cpSync(join(root, "npm", name), staged, { recursive: true });
    for (const file of sharedFiles) copyFileSync(join(root, file), join(staged, file));
    const missing = binaries.filter((file) => !existsSync(join(made, file)));
    if (missing.length > 0)
      throw new Failure(
        `The package for ${name} would lack ${missing.join(", ")}. Build for it first: ` +
          `npm run build on such a machine, or node scripts/build.mjs --target ${target}`,
      );
    for (const file of binaries) {
      copyFileSync(join(made, file), join(staged, file));
      // A store of build results may have lost the bit without which the programs cannot be started.
      chmodSync(join(staged, file), 0o755);
    }
  });
}

/**
 * Where the binaries of a platform lie that was asked for by name: in the folder of its package, or else, of this
 * platform, where the build leaves them.
 * @param {import("./platforms.mjs").Platform} platform
 */
function madeIn({ name, addon }) {
  const folder = join(root, "npm", name);
  return existsSync(join(folder, addon)) || !existsSync(join(root, addon)) ? folder : root;
}

/** @param {string} name */
function named(name) {
  const platform = known.find((platform) => platform.name === name);
  if (platform !== undefined) return platform;
  throw new Failure(`There is no platform ${name}. There are: ${known.map(({ name }) => name).join(", ")}`);
}

/**
 * Pack the main package and those for the platforms.
 * @param {string} folder where the tarballs go; it is made where it is missing
 * @param {string[]} [names] of the platforms; without them, this one as `npm run build` has left it
 * @returns {{ main: string, platforms: Record<string, string> }} the paths of the tarballs
 */
export function packAll(folder, names) {
  const into = resolve(folder);
  mkdirSync(into, { recursive: true });
  const wanted = (names ?? [builtPlatform()]).map(named);
  const packed = wanted.map((platform) => [
    platform.name,
    packPlatform(into, platform, names === undefined ? root : madeIn(platform)),
  ]);
  return { main: packMain(into), platforms: Object.fromEntries(packed) };
}

if (isProgram(import.meta.url)) {
  await runMain(() => {
    const [folder, ...platforms] = process.argv.slice(2);
    if (folder === undefined) throw new Failure("Say into which folder: node scripts/pack.mjs FOLDER");
    const packed = packAll(folder, platforms.length > 0 ? platforms : undefined);
    for (const file of [packed.main, ...Object.values(packed.platforms)]) console.log(file);
  });
}
