// What the other scripts share: where things are, and how a program is run.

import { spawn, spawnSync } from "node:child_process";
import { readdirSync, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of package.json. Every command runs there, wherever the script was called from. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Where `npm run tools` puts the check tools. */
export const toolsDir = join(root, ".tools");

/** The stand-in agent's file name on this platform. */
export const standIn = process.platform === "win32" ? "fusion-cursor-stand-in.exe" : "fusion-cursor-stand-in";

/** The file name of the guard, which has no twin on Windows: there the system does what it does. */
export const guard = process.platform === "win32" ? undefined : "fusion-cursor-guard";

/** The addon whose exports panic on purpose, for the tests that show what JavaScript sees. */
export const panicsAddon = join(root, "__test__", "native-panics", "fusion-cursor-native.node");

/** Files that the build writes and git keeps. */
export const generatedFiles = ["native.js", "native.d.ts", "index.js", "plugin/index.js"];

/** @type {NodeJS.ProcessEnv} */
const env = { ...process.env, PATH: [join(toolsDir, "bin"), process.env.PATH].join(delimiter) };

/** A failure whose message is all that a reader needs: no stack is printed for it. */
export class Failure extends Error {
  /** What a failed command printed, without colours. */
  output = "";
}

/**
 * Run `main`, print a {@link Failure} as one sentence, and leave the exit code behind.
 * @param {() => unknown} main
 */
export async function runMain(main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Failure ? `\n${error.message}` : error);
    process.exitCode = 1;
  }
}

/**
 * True where the script is the program and not an import of another one.
 * @param {string} url
 */
export function isProgram(url) {
  return process.argv[1] !== undefined && fileURLToPath(url) === realpathSync(process.argv[1]);
}

/**
 * The output of a short command, or `undefined` where it is missing or fails.
 * @param {string} command
 * @param {string[]} args
 */
export function capture(command, ...args) {
  const done = spawnSync(command, args, { cwd: root, env, encoding: "utf8", maxBuffer: 1 << 28 });
  return done.status === 0 ? done.stdout.trim() : undefined;
}

/**
 * Run a command with its output shown, and resolve with its standard output and error, without colours.
 * Rejects with a {@link Failure} where the command cannot start or does not end with 0; `output` is on it too.
 * @param {string} command
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [extraEnv]
 * @returns {Promise<string>}
 */
export function run(command, args, extraEnv) {
  // Only cargo is told to use colours: a variable for all would reach the programs under test too.
  const colours = process.stdout.isTTY ? { CARGO_TERM_COLOR: "always" } : {};
  const child = spawn(command, args, {
    cwd: root,
    env: { ...env, ...colours, ...extraEnv },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const name of /** @type {const} */ (["stdout", "stderr"])) {
    child[name].setEncoding("utf8").on("data", (text) => {
      output += text;
      process[name].write(text);
    });
  }
  return new Promise((resolve, reject) => {
    const fail = (/** @type {string} */ why) => {
      const failure = new Failure(`\`${[command, ...args].join(" ")}\` ${why}.`);
      failure.output = plain(output);
      reject(failure);
    };
    child.on("error", (error) => fail(`did not start: ${error.message}`));
    child.on("close", (code, signal) => {
      if (code === 0) resolve(plain(output));
      else fail(signal ? `was ended by ${signal}` : `ended with code ${code}`);
    });
  });
}

/**
 * Run a program of a devDependency by its file, which works where `.bin` holds shell wrappers too.
 * @param {string} file
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [extraEnv]
 */
export function runModule(file, args, extraEnv) {
  return run(process.execPath, [join(root, "node_modules", file), ...args], extraEnv);
}

/** Whether this is a Linux with musl. */
export function isMusl() {
  const { header } = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (process.report.getReport());
  return process.platform === "linux" && header.glibcVersionRuntime === undefined;
}

/** Without terminal colours. @param {string} text */
function plain(text) {
  return text.replace(/\u001b\[[0-9;]*m/g, "");
}

/**
 * The newest change below `paths` (files or folders), in milliseconds; 0 where none exists.
 * @param {string[]} paths
 * @returns {number}
 */
export function newest(...paths) {
  let time = 0;
  for (const path of paths) {
    const found = statSync(join(root, path), { throwIfNoEntry: false });
    if (found === undefined) continue;
    time = Math.max(time, found.mtimeMs);
    if (found.isDirectory())
      time = Math.max(time, newest(...readdirSync(join(root, path)).map((name) => join(path, name))));
  }
  return time;
}

/**
 * True where `output` is missing or older than the newest of `sources`.
 * @param {string} output
 * @param {string[]} sources
 */
export function isStale(output, ...sources) {
  const made = newest(output);
  return made === 0 || made < newest(...sources);
}
