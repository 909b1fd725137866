// Programs that a deadline bounds: one that hangs, as under Wine, must not hang the checks.

import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { Failure, root } from "./common.mjs";

/**
 * The groups of processes that are under way.
 * @type {Set<number>}
 */
const groups = new Set();

/** What else is to end with this process; called once, at its exit. @type {(() => void)[]} */
const atExit = [];

/** @param {() => void} end */
export function onExit(end) {
  atExit.push(end);
}

process.on("exit", () => {
  for (const group of groups) endGroup(group);
  for (const end of atExit) end();
});
for (const [signal, code] of /** @type {const} */ ([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
])) {
  process.on(signal, () => process.exit(code));
}

/** @param {number} group */
function endGroup(group) {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/**
 * @typedef {object} Bounds
 * @property {number} seconds the deadline
 * @property {NodeJS.ProcessEnv} [env] the whole environment
 * @property {string} [cwd] the root of the project without it
 * @property {string} [file] where standard output and error go; they are shown when it has ended. Without it
 *   they are shown as they come.
 */

/**
 * Run a command, show what it prints, and resolve with that. Rejects with a {@link Failure} where it cannot start,
 * does not end with 0, or not in time; `output` is on it too.
 * @param {string} command
 * @param {string[]} args
 * @param {Bounds} bounds
 * @returns {Promise<string>}
 */
export function bounded(command, args, { seconds, env = process.env, cwd = root, file }) {
  const sink = file === undefined ? "pipe" : openSync(file, "w");
  // A group of its own, so that what it starts ends with it.
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ["ignore", sink, sink] });
  if (typeof sink === "number") closeSync(sink);
  const group = child.pid;
  if (group !== undefined) groups.add(group);
  let output = "";
  for (const name of /** @type {const} */ (["stdout", "stderr"])) {
    child[name]?.setEncoding("utf8").on("data", (text) => {
      output += text;
      process[name].write(text);
    });
  }
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    if (group !== undefined) endGroup(group);
    // What left the group may hold the pipes open.
    child.stdout?.destroy();
    child.stderr?.destroy();
  }, seconds * 1000);
  return new Promise((resolve, reject) => {
    const over = () => {
      clearTimeout(timer);
      if (group !== undefined) groups.delete(group);
      if (file !== undefined) {
        output = readFileSync(file, "utf8");
        process.stdout.write(output);
      }
      output = output.replace(/\u001b\[[0-9;]*m|\r/g, "");
    };
    const fail = (/** @type {string} */ why) => {
      const failure = new Failure(`\`${[command, ...args].join(" ")}\` ${why}.`);
      failure.output = output;
      reject(failure);
    };
    child.on("error", (error) => {
      over();
      fail(`did not start: ${error.message}`);
    });
    child.on("close", (code, signal) => {
      over();
      if (late) fail(`was ended after ${seconds} seconds, its deadline`);
      else if (code === 0) resolve(output);
      else fail(signal ? `was ended by ${signal}` : `ended with code ${code}`);
    });
  });
}
