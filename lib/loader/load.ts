/** Finds the addon, in the order in which a user would look for it, and loads it. */

import { join, resolve } from "node:path";
import { isCutOff, type Read } from "./elf.js";
import { type Problem, unavailable } from "./failure.js";
import { nameOf, PLATFORMS, type Platform } from "./platforms.js";

/** The package, whose name its platforms' packages begin with. */
export const PACKAGE = "fusion-cursor-native";

/** Where the addon is looked for, and by what means. */
export interface Host {
  readonly platform: Platform;
  /** The version that the addon has to have. */
  readonly version: string;
  /** The folder of the loader. */
  readonly folder: string;
  /** What `NAPI_RS_NATIVE_LIBRARY_PATH` says. */
  readonly variable: string | undefined;
  readonly exists: (file: string) => boolean;
  readonly load: (file: string) => unknown;
  /** Does something with what a file holds. */
  readonly open: <T>(file: string, look: (read: Read) => T) => T;
  /** The file that a name leads to, seen from the loader. */
  readonly find: (name: string) => string;
}

/** An addon that was loaded. */
export interface Loaded {
  readonly addon: object;
  readonly file: string;
}

/** Load it, or throw the one error that says why not. */
export function loadAddon(host: Host): Loaded {
  if (host.variable) {
    // Nothing else is tried: who names a file wants that one, and would not notice another.
    const found = attempt(host, resolve(host.variable));
    return "kind" in found ? unavailable(host, [found]) : found;
  }
  const problems: Problem[] = [];
  for (const look of [beside, installed]) {
    const found = look(host);
    if (found === undefined) continue;
    if (!("kind" in found)) return found;
    problems.push(found);
  }
  return unavailable(host, problems);
}

/** The file beside the loader, which a build in a clone puts there. */
function beside(host: Host): Loaded | Problem | undefined {
  const file = join(host.folder, `${PACKAGE}.${nameOf(host.platform)}.node`);
  return host.exists(file) ? attempt(host, file) : undefined;
}

/** The package of this platform, wherever the package manager has put it. */
function installed(host: Host): Loaded | Problem | undefined {
  const name = nameOf(host.platform);
  if (!PLATFORMS.has(name)) return undefined;
  const from = `${PACKAGE}-${name}`;
  try {
    return attempt(host, join(placeOf(host, from), `${PACKAGE}.${name}.node`), from);
  } catch (cause) {
    const others = [...PLATFORMS.keys()].map((other) => `${PACKAGE}-${other}`);
    return { kind: "missing", from, instead: others.find((other) => canFind(host, other)), cause };
  }
}

/** The folder of a package, or throws. */
function placeOf(host: Host, name: string): string {
  try {
    return join(host.find(`${name}/package.json`), "..");
  } catch (cause) {
    // Beside this one, too: a `node_modules` that leads to a folder of another name is not looked through from within.
    const folder = join(host.folder, "..", name);
    if (host.exists(join(folder, "package.json"))) return folder;
    throw cause;
  }
}

function canFind(host: Host, name: string): boolean {
  try {
    placeOf(host, name);
    return true;
  } catch {
    return false;
  }
}

function attempt(host: Host, file: string, from?: string): Loaded | Problem {
  try {
    // As an installation leaves it that broke off. Loaded, it would end Node with SIGBUS, and nothing would tell why.
    if (isCut(host, file)) throw new Error("file too short");
    const addon = host.load(file) as { coreVersion?: () => string };
    const found = addon.coreVersion?.();
    if (found === host.version) return { addon, file };
    if (found !== undefined) return { kind: "version", file, from, found };
    return { kind: "refused", file, from, cause: new Error(`it is not the addon of ${PACKAGE}`) };
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    // Both: a file may be there and not be seen, where Deno was not given the right to read it.
    const absent = /MODULE_NOT_FOUND$/.test(String(code)) && !host.exists(file);
    return { kind: absent ? "absent" : "refused", file, from, cause };
  }
}

function isCut(host: Host, file: string): boolean {
  try {
    return host.open(file, isCutOff);
  } catch {
    // It is not there, or may not be read, and loading it tells which.
    return false;
  }
}
