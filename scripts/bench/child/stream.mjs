// Measures one way to read a stream: `node stream.mjs PROGRAM WAY` prints JSON. Garbage is collected when V8 sees fit.

import { performance } from "node:perf_hooks";
import { busyMs, median } from "./clock.mjs";
import { ways } from "./ways.mjs";

/** Times that are not counted: V8 needs a few to have compiled what is measured. */
const WARM_UP = 3;
const COUNTED = 3;

const [program = "", name = ""] = process.argv.slice(2);
const read = ways[/** @type {import("./ways.mjs").Way} */ (name)];

/** @type {number[]} */
const wall = [];
/** @type {number[]} */
const busy = [];
let seen = {};
for (let time = -WARM_UP; time < COUNTED; time += 1) {
  const before = busyMs();
  const began = performance.now();
  seen = await read(program);
  if (time < 0) continue;
  wall.push(performance.now() - began);
  busy.push(busyMs() - before);
}
console.log(JSON.stringify({ wallMs: median(wall), busyMs: median(busy), seen }));
