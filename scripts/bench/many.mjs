// Measures many streams at once: `node --expose-gc many.mjs PROGRAM COUNT four|event` prints JSON. In a process of
// its own, so that its memory is its own.

import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { fourCallbacks, onEventAlone } from "./rows.mjs";

const [program = "", count = "1", which] = process.argv.slice(2);
const read = which === "four" ? fourCallbacks : onEventAlone;
/** How often the delay is sampled, in milliseconds; every sample holds that much of waiting as it should be. */
const RESOLUTION = 1;

// The idle program: everything loaded and used once.
await read(program);
globalThis.gc?.();
await sleep(200);
const idle = process.memoryUsage.rss();
let highest = idle;
const sampler = setInterval(() => {
  highest = Math.max(highest, process.memoryUsage.rss());
}, 5);
const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
delay.enable();
const before = performance.eventLoopUtilization();
const began = performance.now();
await Promise.all(Array.from({ length: Number(count) }, () => read(program)));
const wallMs = performance.now() - began;
const { active: activeMs } = performance.eventLoopUtilization(before);
delay.disable();
clearInterval(sampler);
/** @param {number} percent */
const percentile = (percent) => Math.max(0, delay.percentile(percent) / 1e6 - RESOLUTION);
console.log(
  JSON.stringify({
    wallMs,
    activeMs,
    p50Ms: percentile(50),
    p99Ms: percentile(99),
    rssBytes: highest - idle,
  }),
);
