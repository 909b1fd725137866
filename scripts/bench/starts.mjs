// Measures what starting programs costs the event loop: `node starts.mjs PROGRAM COUNT MEGABYTES ours|node` prints
// JSON. In a process of its own, so that its memory is its own.
//
// The loop is kept turning, and every turn of it is timed: the longest one is the block that the host feels. Where
// the system tells (Linux), time in which the loop only waited for a processor, which the started programs take from
// it too, does not count.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readSync } from "node:fs";
import { performance } from "node:perf_hooks";
import native from "../../index.js";

const [program = "", count = "1", megabytes = "0", which] = process.argv.slice(2);

/** Memory that is there, and not only promised. */
const held = Array.from({ length: Number(megabytes) / 16 }, () => Buffer.alloc(16 << 20, 1));

const start = {
  ours: () => native.launchCursorPrompt({ cwd: "/", prompt: "x", binary: program }),
  node: async () => {
    const child = spawn(program, ["-p"], { cwd: "/", stdio: "pipe", detached: true });
    child.stdout.resume();
    child.stderr.resume();
    child.stdin.on("error", () => {}).end("x");
    await once(child, "close");
  },
}[which === "ours" ? "ours" : "node"];

const text = Buffer.alloc(100);
const schedule = process.platform === "linux" ? openSync("/proc/self/schedstat", "r") : undefined;

/** Milliseconds in which this thread has run, slept or been blocked. */
function now() {
  const wall = performance.now();
  if (schedule === undefined) return wall;
  const length = readSync(schedule, text, 0, text.length, 0);
  const waitedNs = Number(text.toString("latin1", 0, length).split(" ")[1]);
  return wall - waitedNs / 1e6;
}

// Everything loaded, compiled and started that comes with the first ones.
for (let warm = 0; warm < 5; warm += 1) await start();

let longestTurnMs = 0;
let turning = true;
let last = now();
const turn = () => {
  const time = now();
  longestTurnMs = Math.max(longestTurnMs, time - last);
  last = time;
  if (turning) setImmediate(turn);
};
setImmediate(turn);
await new Promise((resolve) => setTimeout(resolve, 50));
longestTurnMs = 0;
last = now();
let longestCallMs = 0;
const wallBegan = performance.now();
const began = now();
const running = Array.from({ length: Number(count) }, () => {
  const before = now();
  const one = start();
  longestCallMs = Math.max(longestCallMs, now() - before);
  return one;
});
const callsMs = now() - began;
await Promise.all(running);
turning = false;
console.log(
  JSON.stringify({
    longestCallMs,
    callsMs,
    longestTurnMs,
    wallMs: performance.now() - wallBegan,
    held: held.length,
  }),
);
