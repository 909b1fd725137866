// Hosts beside the soak's own process: workers that are terminated, and Nodes that are killed.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

const HOST = join(import.meta.dirname, "host.mjs");

/**
 * How one ends. `killed`: by us, without a word. `exits`: by itself, in the middle of everything. `done`: with all that it
 * began.
 * @param {import("./random.mjs").Random} random
 */
function endOf(random) {
  return random.pick(/** @type {const} */ (["killed", "killed", "exits", "done"]));
}

/**
 * What such a host is told.
 * @param {import("./acts.mjs").World} world
 * @param {import("./random.mjs").Random} random
 * @param {number} mostMs
 */
function orderFor(world, random, mostMs) {
  const end = endOf(random);
  const ms = random.chance(0.2) ? random.below(20) : random.between(20, mostMs);
  /** @type {import("./host.mjs").Order} */
  const order = {
    world,
    seed: random.below(2 ** 31),
    lanes: random.between(1, 4),
    ms,
    exits: end === "exits",
  };
  return { end, ms, order };
}

/**
 * @param {import("./acts.mjs").World} world
 * @param {import("./random.mjs").Random} random
 * @param {import("./log.mjs").Log} log
 * @param {number} mostMs
 */
export async function worker(world, random, log, mostMs) {
  const { end, ms, order } = orderFor(world, random, mostMs);
  const thread = new Worker(HOST, { workerData: order, execArgv: [] });
  thread.on("error", (error) => log.fail(`a worker failed: ${error.stack}`));
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  thread.on("message", (said) => {
    if (said !== "here") log.add(JSON.parse(said), "a worker");
    // Not before: a worker that is terminated while Node reads a module of it leaves that file open in its process.
    else if (end === "killed") timer = setTimeout(() => void thread.terminate(), ms);
  });
  // 1 where it is terminated.
  const ended = once(thread, "exit");
  await log.settles("worker", ended, { limitMs: 90_000, codes: [] });
  clearTimeout(timer);
  log.count("worker", end);
}

/**
 * @param {import("./acts.mjs").World} world
 * @param {import("./random.mjs").Random} random
 * @param {import("./log.mjs").Log} log
 * @param {number} mostMs
 * @param {string} file for its order
 */
export async function host(world, random, log, mostMs, file) {
  const { end, ms, order } = orderFor(world, random, mostMs);
  writeFileSync(file, JSON.stringify(order));
  const child = spawn(process.execPath, [HOST, file], { stdio: ["ignore", "pipe", "pipe"] });
  const said = { stdout: "", stderr: "" };
  for (const name of /** @type {const} */ (["stdout", "stderr"])) {
    child[name].setEncoding("utf8").on("data", (text) => {
      said[name] += text;
    });
  }
  const timer = end === "killed" ? setTimeout(() => child.kill("SIGKILL"), ms) : undefined;
  const ended = await log.settles("host", once(child, "close"), { limitMs: 90_000, codes: [] });
  clearTimeout(timer);
  rmSync(file, { force: true });
  const [code, signal] = ended ?? [];
  if (said.stderr !== "") log.fail(`a host wrote to stderr: ${said.stderr.slice(0, 2000)}`);
  if (said.stdout !== "") log.add(JSON.parse(said.stdout), "a host");
  if (end !== "killed" && code !== 0)
    log.fail(`a host that was to end by itself ended with ${code ?? signal}`);
  log.count("host", end);
}
