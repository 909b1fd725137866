// Measures every row in one process: `node streams.mjs PROGRAM ROUNDS` prints JSON. The rows take
// turns, so that whatever else the machine does falls on all of them, and the first turns only warm up.
// Garbage is collected when V8 sees fit: a collection before each row would have the rows pay for fresh memory,
// and not equally.

import { deepStrictEqual } from "node:assert";
import { performance } from "node:perf_hooks";
import { REFERENCE, rows } from "./rows.mjs";

/** Rounds that are not counted: V8 needs a few to have compiled what is measured. */
const WARM_UP = 3;

const [program = "", rounds = "1"] = process.argv.slice(2);

/** @type {Record<string, { wallMs: number, activeMs: number }[]>} */
const measured = Object.fromEntries(Object.keys(rows).map((name) => [name, []]));
/** @type {Record<string, object>} */
const seen = {};
for (let round = -WARM_UP; round < Number(rounds); round += 1) {
  for (const [name, row] of Object.entries(rows)) {
    const before = performance.eventLoopUtilization();
    const began = performance.now();
    seen[name] = await row(program);
    const wallMs = performance.now() - began;
    const { active: activeMs } = performance.eventLoopUtilization(before);
    if (round >= 0) measured[name]?.push({ wallMs, activeMs });
  }
}
const reference = seen[REFERENCE];
deepStrictEqual(seen["four callbacks"], reference);
deepStrictEqual({ ...seen["onEvent, payloads unread"], payload: 0 }, { ...reference, payload: 0 });
console.log(JSON.stringify(measured));
