/**
 * A place to install into: an empty folder with a home, caches and temporary files of its own, and a PATH that leads to
 * Node, git and what a shell script of a package manager calls, and to nothing that could build anything.
 */

import { spawn } from "node:child_process";
import {
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
import { delimiter, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { program } from "../../../scripts/install/managers.mjs";

/** In milliseconds; on a machine that has ten times as much to do, everything takes ten times as long. */
const PATIENCE = 120_000;

const isWindows = process.platform === "win32";

/** What is in PATH besides Node: the shims of pnpm are shell scripts, and npm runs a command by the shell. */
const NEEDED = ["git", "sh", "env", "dirname", "sed", "uname"];

/** @param {string} name */
function inPath(name) {
  const places = (process.env.PATH ?? "").split(delimiter);
  const found = places.map((place) => join(place, isWindows ? `${name}.exe` : name)).find(existsSync);
  if (found === undefined) throw new Error(`${name} is not in PATH`);
  return found;
}

/** @param {number} pid */
function end(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/** @typedef {{ code: number | null, stdout: string, stderr: string }} Finished */

export class Place {
  #base = realpathSync(mkdtempSync(join(tmpdir(), "fusion-cursor-install-")));

  /** Where a user would work. */
  project = join(this.#base, "pro ject");
  home = join(this.#base, "home");
  temporary = join(this.#base, "tmp");
  #bin = join(this.#base, "bin");
  /** How long any single command may take, in milliseconds. */
  patience = PATIENCE;

  /** @param {string} registry its address @param {Record<string, string>} [more] environment */
  constructor(registry, more = {}) {
    for (const folder of [this.project, this.home, this.temporary, this.#bin]) mkdirSync(folder);
    this.write("package.json", '{\n  "name": "harbour",\n  "version": "1.0.0",\n  "private": true\n}\n');
    if (!isWindows) {
      symlinkSync(process.execPath, join(this.#bin, "node"));
      for (const name of NEEDED) symlinkSync(inPath(name), join(this.#bin, name));
    }
    const system = process.env.SystemRoot ?? "C:\\Windows";
    const places = [
      dirname(process.execPath),
      dirname(isWindows ? inPath("git") : ""),
      join(system, "System32"),
    ];
    /** @type {Record<string, string>} */
    this.env = {
      PATH: isWindows ? places.join(delimiter) : this.#bin,
      ...(isWindows ? { SystemRoot: system, ComSpec: join(system, "System32", "cmd.exe") } : {}),
      HOME: this.home,
      USERPROFILE: this.home,
      APPDATA: join(this.home, "roaming"),
      LOCALAPPDATA: join(this.home, "local"),
      TMPDIR: this.temporary,
      TEMP: this.temporary,
      TMP: this.temporary,
      GIT_CONFIG_NOSYSTEM: "1",
      npm_config_registry: registry,
      npm_config_globalconfig: join(this.home, "no-such-npmrc"),
      npm_config_audit: "false",
      npm_config_fund: "false",
      npm_config_update_notifier: "false",
      YARN_NPM_REGISTRY_SERVER: registry,
      YARN_UNSAFE_HTTP_WHITELIST: "127.0.0.1",
      YARN_ENABLE_TELEMETRY: "0",
      ...more,
    };
  }

  /** @param {string} name @param {string} text */
  write(name, text) {
    writeFileSync(join(this.project, name), text);
  }

  /** @param {string} name */
  read(name) {
    return readFileSync(join(this.project, name), "utf8");
  }

  /** @param {string[]} parts */
  has(...parts) {
    return existsSync(join(this.project, ...parts));
  }

  /**
   * Run a script with Node, and resolve when it has ended, with whatever code.
   * @param {string} script
   * @param {string[]} args
   * @returns {Promise<Finished>}
   */
  node(script, ...args) {
    return this.run(join(isWindows ? dirname(process.execPath) : this.#bin, "node"), script, ...args);
  }

  /**
   * @param {import("../../../scripts/install/managers.mjs").Manager} manager
   * @param {string[]} args
   */
  manager(manager, ...args) {
    return this.node(program(manager), ...args);
  }

  /** Run a line in the shell that this place has. @param {string} line */
  shell(line) {
    return isWindows
      ? this.run(this.env.ComSpec ?? "cmd.exe", "/d", "/s", "/c", line)
      : this.run(join(this.#bin, "sh"), "-c", line);
  }

  /**
   * @param {string} command
   * @param {string[]} args
   * @returns {Promise<Finished>}
   */
  run(command, ...args) {
    // In the group of the tests, so that it ends with them where they are ended.
    const child = spawn(command, args, {
      cwd: this.project,
      env: this.env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const output = { stdout: "", stderr: "" };
    for (const name of /** @type {const} */ (["stdout", "stderr"])) {
      child[name].setEncoding("utf8").on("data", (text) => {
        output[name] += text;
      });
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        child.kill("SIGKILL");
        for (const { pid } of this.#processes()) end(pid);
        reject(
          new Error(`not within ${this.patience} ms: ${[command, ...args].join(" ")}\n${output.stderr}`),
        );
      }, this.patience);
      child.once("error", reject);
      child.once("close", (code) => {
        clearTimeout(timer);
        resolve({ code, ...output });
      });
    });
  }

  /** The processes that were started here and have not ended; on Linux alone. */
  #processes() {
    if (process.platform !== "linux") return [];
    const mark = Buffer.from(`HOME=${this.home}\0`);
    return readdirSync("/proc").flatMap((name) => {
      try {
        if (!/^\d+$/.test(name) || !readFileSync(`/proc/${name}/environ`).includes(mark)) return [];
        const command = readFileSync(`/proc/${name}/cmdline`, "latin1").replaceAll("\0", " ");
        return [{ pid: Number(name), command }];
      } catch {
        // It has ended, or is another user's.
        return [];
      }
    });
  }

  /** What the package has left: processes, once those that end with their host have, and temporary files. */
  async left() {
    const giveUp = performance.now() + this.patience;
    while (this.#processes().length > 0 && performance.now() < giveUp) await pause(20);
    const files = readdirSync(this.temporary).filter((name) => /fusion|cursor/i.test(name));
    return [...this.#processes().map(({ command }) => command), ...files];
  }

  remove() {
    rmSync(this.#base, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * The output of a command that has to succeed.
 * @param {Promise<Finished>} running
 */
export async function succeeded(running) {
  const { code, stdout, stderr } = await running;
  if (code !== 0) throw new Error(`ended with code ${code}\n${stdout}\n${stderr}`);
  return stdout;
}
