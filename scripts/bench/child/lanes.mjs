// Measures many streams at once: `node --expose-gc lanes.mjs PROGRAM LANES STREAMS WAY` prints JSON. In each lane one
// stream is read after the other, STREAMS in all, so that the work is the same for any number of lanes.

import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { busyMs, Lateness } from "./clock.mjs";
import { ways } from "./ways.mjs";

const [program = "", lanes = "1", streams = "1", name = ""] = process.argv.slice(2);
const read = ways[/** @type {import("./ways.mjs").Way} */ (name)];

// The idle program: everything loaded, compiled and used.
for (let warm = 0; warm < 3; warm += 1) await read(program);
globalThis.gc?.();
await sleep(200);
const idle = process.memoryUsage.rss();
let highest = idle;
const sampler = setInterval(() => {
  highest = Math.max(highest, process.memoryUsage.rss());
}, 5);
const delay = new Lateness();
const before = busyMs();
const began = performance.now();
let left = Number(streams);
await Promise.all(
  Array.from({ length: Number(lanes) }, async () => {
    while (left > 0) {
      left -= 1;
      await read(program);
    }
  }),
);
const wallMs = performance.now() - began;
const busy = busyMs() - before;
const late = delay.stop();
clearInterval(sampler);
console.log(
  JSON.stringify({
    wallMs,
    busyMs: busy,
    p50Ms: late(50),
    p99Ms: late(99),
    longestMs: late(100),
    rssBytes: highest - idle,
  }),
);
