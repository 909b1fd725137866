// Measures what starting programs costs the event loop: `node starts.mjs PROGRAM COUNT MEGABYTES ours|node` prints
// JSON. First they are started one after the other, then all at once.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { performance } from "node:perf_hooks";
import native from "../../../index.js";
import { median, ownMs, Turning } from "./clock.mjs";

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

// Everything loaded, compiled and started that comes with the first ones.
for (let warm = 0; warm < 5; warm += 1) await start();

const calls = [];
for (let number = 0; number < Number(count); number += 1) {
  const before = ownMs();
  const one = start();
  calls.push(ownMs() - before);
  await one;
}

const loop = new Turning();
await new Promise((resolve) => setTimeout(resolve, 50));
loop.again();
const began = performance.now();
let longestCallMs = 0;
const running = Array.from({ length: Number(count) }, () => {
  const before = ownMs();
  const one = start();
  longestCallMs = Math.max(longestCallMs, ownMs() - before);
  return one;
});
await Promise.all(running);
loop.stop();
console.log(
  JSON.stringify({
    callMs: median(calls),
    longestCallMs,
    longestTurnMs: loop.longestMs,
    wallMs: performance.now() - began,
    held: held.length,
  }),
);
