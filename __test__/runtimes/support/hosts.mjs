/** Hosts in each of the runtimes: rooms with the package in them, and what is to be seen of a host from outside. */

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { isHere, RUNTIMES, runtime } from "../../../scripts/runtimes.mjs";
import { runs } from "../../support/runs.mjs";

export { runs };

/** @typedef {import("../../../scripts/runtimes.mjs").Runtime} Runtime */

export const root = fileURLToPath(new URL("../../..", import.meta.url));

const programs = join(root, "__test__", "runtimes", "programs");

/** How long any single thing may take before a test gives up on it, in milliseconds. */
export const PATIENCE = 60_000;

/** With this variable only some of them: `FUSION_CURSOR_RUNTIMES=bun,deno`. */
const asked = process.env.FUSION_CURSOR_RUNTIMES?.split(",");

/** The runtimes of this machine. */
export const HERE = RUNTIMES.filter(isHere).filter((name) => asked?.includes(name) ?? true);

/** What stands between a runtime and the name of a script. @param {Runtime} name */
export function flags(name) {
  return name === "deno" ? ["run", "--allow-all", "--quiet"] : [];
}

/** Folders that are removed when all tests of a file are over. @type {string[]} */
const rooms = [];

after(() => {
  for (const room of rooms) rmSync(room, { recursive: true, force: true });
});

/**
 * A folder of a user's project: a repository that has the package among its modules, with the test programs in it.
 * `tmp` is for what hosts leave in the folder for temporary files, which is nothing.
 */
export function room() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "fusion-cursor-runtime-")));
  rooms.push(folder);
  mkdirSync(join(folder, "tmp"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "fusion-cursor-native"), "junction");
  const about = { name: "room", private: true, dependencies: { "fusion-cursor-native": "*" } };
  writeFileSync(join(folder, "package.json"), JSON.stringify(about));
  cpSync(programs, folder, { recursive: true });
  return folder;
}

/**
 * A repository without a commit.
 * @param {string} folder
 */
export function repository(folder) {
  mkdirSync(folder, { recursive: true });
  execFileSync("git", ["init", "--quiet", folder], { stdio: "pipe" });
  return folder;
}

/** A host that is under way. */
export class Host {
  out = "";
  error = "";
  /** When it printed the last line, by `performance.now()`. */
  said = 0;
  /** @type {import("node:child_process").ChildProcess} */
  child;
  /** @type {Promise<{ code: number | null, signal: string | null }>} */
  ended;

  /**
   * @param {string} command
   * @param {string[]} args
   * @param {string} folder a room
   * @param {NodeJS.ProcessEnv} [env] what is added to the environment
   */
  constructor(command, args, folder, env = {}) {
    const temporary = join(folder, "tmp");
    // What a test run says to its own processes is not for the hosts.
    const { NODE_TEST_CONTEXT, NODE_OPTIONS, ...inherited } = process.env;
    this.child = spawn(command, args, {
      cwd: folder,
      env: { ...inherited, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", TMPDIR: temporary, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child.stdout?.setEncoding("utf8").on("data", (text) => {
      this.out += text;
      this.said = performance.now();
    });
    this.child.stderr?.setEncoding("utf8").on("data", (text) => {
      this.error += text;
    });
    const late = setTimeout(() => this.child.kill("SIGKILL"), PATIENCE);
    this.ended = once(this.child, "close").then(([code, signal]) => {
      clearTimeout(late);
      return { code, signal };
    });
  }

  /** What it has printed, line by line. */
  lines() {
    return this.out.split("\n").filter((line) => line !== "");
  }

  /** Its end with all that it said, for messages. */
  async end() {
    return { ...(await this.ended), out: this.lines(), error: this.error };
  }
}

/**
 * A program of the room in a runtime.
 * @param {Runtime} name
 * @param {string} folder a room
 * @param {string[]} args the program, and its arguments
 * @param {{ env?: NodeJS.ProcessEnv, flags?: string[] }} [more] `flags`: in place of those of the runtime
 */
export async function host(name, folder, args, more = {}) {
  const before = more.flags ?? flags(name);
  return new Host(await runtime(name), [...before, ...args], folder, more.env);
}

/**
 * @param {string} what
 * @param {() => boolean} so
 */
export async function eventually(what, so) {
  const giveUp = performance.now() + PATIENCE;
  while (!so()) {
    if (performance.now() > giveUp) throw new Error(`${what}: not within ${PATIENCE} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/**
 * All files below a folder, by their paths from it. Not what git keeps.
 * @param {string} folder
 * @returns {string[]}
 */
export function files(folder) {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true });
  return all
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1))
    .filter((path) => !path.split(/[\\/]/).includes(".git"))
    .sort();
}

/**
 * Wait until no process of the stand-in agent runs that wrote its number below this folder, and see that nothing is left
 * of a lease or a bridge. How many processes there were.
 * @param {string} folder a room
 * @param {string[]} theirs files of `.cursor` and the temporary folder that are not ours
 */
export async function nothingLeft(folder, theirs = []) {
  const noted = files(folder).filter((path) => ["leader", "child"].includes(basename(path)));
  const pids = noted.map((path) => Number(readFileSync(join(folder, path), "utf8")));
  await eventually("every agent is gone", () => !pids.some(runs));
  const left = files(folder).filter((path) => /(^|[\\/])(\.cursor|tmp)[\\/]/.test(path));
  const ours = left
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !theirs.some((own) => path.endsWith(own)));
  if (ours.length > 0) throw new Error(`left behind: ${ours.join(", ")}`);
  return pids.length;
}

export { existsSync as isThere };
