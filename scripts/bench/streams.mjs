// Measures every row in one process: `node --expose-gc streams.mjs PROGRAM ROUNDS` prints JSON. The rows take
// turns, so that whatever else the machine does falls on all of them, and the first turn only warms up.

import { deepStrictEqual } from "node:assert";
import { performance } from "node:perf_hooks";
import { REFERENCE, rows } from "./rows.mjs";

const [program = "", rounds = "1"] = process.argv.slice(2);

/** @type {Record<string, { wallMs: number, activeMs: number }[]>} */
const measured = Object.fromEntries(Object.keys(rows).map((name) => [name, []]));
/** @type {Record<string, object>} */
const seen = {};
for (let round = 0; round <= Number(rounds); round += 1) {
  for (const [name, row] of Object.entries(rows)) {
    globalThis.gc?.();
    const before = performance.eventLoopUtilization();
    const began = performance.now();
    seen[name] = await row(program);
    const wallMs = performance.now() - began;
    const { active: activeMs } = performance.eventLoopUtilization(before);
    if (round > 0) measured[name]?.push({ wallMs, activeMs });
  }
}
const reference = seen[REFERENCE];
deepStrictEqual(seen["four callbacks"], reference);
deepStrictEqual({ ...seen["onEvent, payloads unread"], payload: 0 }, { ...reference, payload: 0 });
console.log(JSON.stringify(measured));
