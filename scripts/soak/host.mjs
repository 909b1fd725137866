// A host of a soak: a worker, or a process of its own. It acts until its time is up and tells what came of it, if nobody
// ends it before.
//
//   node host.mjs ORDER      a JSON file; as a worker, the order is its data

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { Acts } from "./acts.mjs";
import { Log } from "./log.mjs";
import { Random } from "./random.mjs";

/**
 * @typedef {object} Order
 * @property {import("./acts.mjs").World} world
 * @property {number} seed
 * @property {number} lanes how much it does at once
 * @property {number} ms how long it goes on
 * @property {boolean} exits calls `process.exit` when that time is over, in the middle of everything
 */

/** @type {Order} */
const order = isMainThread ? JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) : workerData;
// Before the addon is loaded, so that this is cut off too.
parentPort?.postMessage("here");
const cursor = createRequire(import.meta.url)("../..");
const log = new Log();
const acts = new Acts(cursor, order.world, log);
const random = new Random(order.seed);
const until = performance.now() + order.ms;
const tell = () => {
  const report = JSON.stringify(log.report());
  if (parentPort === null) process.stdout.write(`${report}\n`);
  else parentPort.postMessage(report);
};

process.on("unhandledRejection", (error) =>
  log.fail(`an unhandled rejection: ${/** @type {Error} */ (error)?.stack ?? error}`),
);
if (order.exits) setTimeout(() => process.exit(0), order.ms);
await Promise.all(
  Array.from({ length: order.lanes }, async (_, lane) => {
    for (let number = 0; performance.now() < until; number += 1)
      await acts.any(random.fork(`${lane}-${number}`));
  }),
);
tell();
