// A Windows to run programs in: a Wine prefix in .tools/windows/, in which nothing runs when a check is over.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bounded, onExit } from "../bounded.mjs";
import { capture, Failure, root } from "../common.mjs";
import { dll, PACKAGES, windowsDir } from "./toolchain.mjs";

const prefix = join(windowsDir, "prefix");
const ready = join(prefix, "fusion-cursor.ready");

/**
 * What a program under Wine is given: nothing of this machine's own environment but where things are, so that a
 * token or a proxy of the developer is not part of the test.
 */
export const wineEnv = {
  PATH: process.env.PATH,
  // Wine makes the user's Documents and the like lead into the home.
  HOME: join(windowsDir, "home"),
  // Names outside ASCII are lost without a locale that has them.
  LC_ALL: "C.UTF-8",
  WINEPREFIX: prefix,
  // Its complaints about what it lacks would be part of the output under test.
  WINEDEBUG: "-all",
  // No entries in the menus of a desktop, and no offers to download what is not used.
  WINEDLLOVERRIDES: "winemenubuilder.exe,mscoree,mshtml=",
};

/** End every process of the prefix, and wait until it has. */
export function endWine() {
  if (!existsSync(prefix)) return;
  for (const verb of ["-k", "-w"]) spawnSync("wineserver", [verb], { env: wineEnv, timeout: 20_000 });
}

/** The version of Wine; a {@link Failure} where there is none. */
export function wineVersion() {
  const version = capture("wine", "--version");
  if (version !== undefined) return version;
  throw new Failure(`Wine is missing. On Debian: apt-get install ${PACKAGES.wine.join(" ")}`);
}

/** Make the prefix, where it is missing or of another Wine. */
export async function prepareWine() {
  const version = wineVersion();
  const stub = join(windowsDir, "stubs", "bcryptprimitives.dll");
  await dll(stub, join(root, "scripts", "windows", "bcryptprimitives.c"), "-lbcrypt");
  if (existsSync(ready) && readFileSync(ready, "utf8") === version) return;
  endWine();
  rmSync(prefix, { recursive: true, force: true });
  mkdirSync(wineEnv.HOME, { recursive: true });
  await wine(["wineboot", "--init"], { seconds: 180 });
  await wine(["reg", "add", "HKCU\\Software\\Wine", "/v", "Version", "/d", "win10", "/f"], { seconds: 60 });
  const system = join(prefix, "drive_c", "windows", "system32");
  await bounded("cp", [stub, join(system, "bcryptprimitives.dll")], { seconds: 10 });
  writeFileSync(`${ready}.next`, version);
  renameSync(`${ready}.next`, ready);
}

onExit(endWine);

/**
 * Run a program under Wine.
 * @param {string[]} words the program and its arguments
 * @param {import("../bounded.mjs").Bounds} bounds
 */
export function wine(words, bounds) {
  return bounded("wine", words, { ...bounds, env: { ...wineEnv, ...bounds.env } });
}
