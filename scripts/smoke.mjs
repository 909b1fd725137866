// Whether the packages work on this machine as they are: node scripts/smoke.mjs FOLDER
//
// Installs the tarballs in FOLDER, the main one and the one for this platform, into an empty project, and uses them
// there: see scripts/smoke/project.mjs. Needs Node with npm, and of this repository only the folder scripts/: no Rust,
// no development packages.

import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Failure, isMusl, isProgram, runMain } from "./common.mjs";
import { npmScript } from "./npm.mjs";
import { readTarball } from "./tarball.mjs";

const PROJECT = new URL("smoke/project.mjs", import.meta.url);

/** This platform as its package is named, such as `linux-x64-musl`. */
function here() {
  const [os, cpu] = [process.platform, process.arch];
  if (os === "darwin") return `${os}-${cpu}`;
  if (os === "win32") return `${os}-${cpu}-msvc`;
  return `${os}-${cpu}-${isMusl() ? "musl" : "gnu"}`;
}

/**
 * The tarballs of a folder by the names of their packages.
 * @param {string} folder
 */
function tarballs(folder) {
  const files = readdirSync(folder).filter((file) => file.endsWith(".tgz"));
  return new Map(
    files.map((file) => {
      const manifest = readTarball(join(folder, file)).find(({ path }) => path === "package.json");
      const { name, version } = JSON.parse(String(manifest?.data));
      return [String(name), { file, version: String(version) }];
    }),
  );
}

/**
 * Run a script in the project with its output shown.
 * @param {string} script
 * @param {string[]} args
 * @param {string} cwd
 */
function run(script, args, cwd) {
  const { error, status, signal } = spawnSync(process.execPath, [script, ...args], {
    cwd,
    stdio: "inherit",
    timeout: 300_000,
  });
  const command = ["node", script, ...args].join(" ");
  if (error !== undefined) throw new Failure(`\`${command}\` did not run: ${error.message}`);
  if (status !== 0) throw new Failure(`\`${command}\` ended with ${signal ?? `code ${status}`}.`);
}

/**
 * Install and use the packages of a folder.
 * @param {string} folder
 */
export function smoke(folder) {
  const found = tarballs(folder);
  const platform = here();
  const names = ["fusion-cursor-native", `fusion-cursor-native-${platform}`];
  const packages = names.map((name) => {
    const listed = found.get(name);
    if (listed === undefined) throw new Failure(`There is no package ${name} in ${folder}.`);
    return listed;
  });
  // The real path, as modules know theirs: the folder for temporary files may be a link.
  const project = realpathSync.native(mkdtempSync(join(tmpdir(), "fusion-cursor-smoke-")));
  try {
    for (const { file } of packages) copyFileSync(join(folder, file), join(project, file));
    writeFileSync(
      join(project, "package.json"),
      JSON.stringify({ name: "smoke", private: true, type: "module" }),
    );
    const options = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
    run(npmScript(), ["install", ...options, ...packages.map(({ file }) => `./${file}`)], project);
    writeFileSync(join(project, "smoke.mjs"), readFileSync(PROJECT));
    run("smoke.mjs", [platform, packages[0]?.version ?? ""], project);
  } finally {
    // An addon that a process has just let go of may still be held by Windows for a moment.
    rmSync(project, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

if (isProgram(import.meta.url)) {
  await runMain(() => {
    const [folder, more] = process.argv.slice(2);
    if (folder === undefined || more !== undefined)
      throw new Failure("Say where the packages are: node scripts/smoke.mjs FOLDER");
    return smoke(folder);
  });
}
