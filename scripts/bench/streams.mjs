// Measures one way to read a stream: `node streams.mjs PROGRAM ROW` prints JSON. In a process of its own, so that
// each way pays for its own garbage and its own memory, and for nobody else's. Garbage is collected when V8 sees fit.

import { performance } from "node:perf_hooks";
import { median } from "./load.mjs";
import { rows } from "./rows.mjs";

/** Times that are not counted: V8 needs a few to have compiled what is measured. */
const WARM_UP = 3;
const COUNTED = 3;

const [program = "", name = ""] = process.argv.slice(2);
const row = /** @type {Record<string, (program: string) => Promise<object>>} */ (rows)[name];
if (row === undefined) throw new Error(`there is no row ${name}`);

/** @type {number[]} */
const wallMs = [];
/** @type {number[]} */
const activeMs = [];
let seen = {};
for (let time = -WARM_UP; time < COUNTED; time += 1) {
  const before = performance.eventLoopUtilization();
  const began = performance.now();
  seen = await row(program);
  const wall = performance.now() - began;
  const { active } = performance.eventLoopUtilization(before);
  if (time < 0) continue;
  wallMs.push(wall);
  activeMs.push(active);
}
console.log(JSON.stringify({ wallMs: median(wallMs), activeMs: median(activeMs), seen }));
