// Measures what a session costs: `node sessions.mjs PROGRAM WORKTREE CYCLES tools|bare|turn` prints JSON. In a process
// of its own, so that its threads are its own.
//
//   tools  a session with a tool is created in the worktree, runs one turn, and is disposed
//   bare   the same without tools
//   turn   the turn alone, by launchCursorPrompt

import { openSync, readSync } from "node:fs";
import { performance } from "node:perf_hooks";
import native from "../../index.js";
import { median } from "./load.mjs";

const [binary = "", cwd = "", cycles = "1", which = "tools"] = process.argv.slice(2);

/** @param {import("../../index.js").ToolLike[]} fusionTools */
async function session(fusionTools) {
  const began = performance.now();
  const session = await native.CursorSession.create({ cwd, binary, fusionTools });
  if (session.fusionToolBridgeError !== undefined) throw new Error(session.fusionToolBridgeError.detail);
  const created = performance.now();
  await session.prompt("x");
  const prompted = performance.now();
  await session.dispose();
  return {
    createMs: created - began,
    turnMs: prompted - created,
    disposeMs: performance.now() - prompted,
  };
}

async function turn() {
  const began = performance.now();
  await native.launchCursorPrompt({ cwd, prompt: "x", binary });
  return { createMs: 0, turnMs: performance.now() - began, disposeMs: 0 };
}

const ways = { tools: () => session([{ name: "fn_x", execute() {} }]), bare: () => session([]), turn };
const one = ways[/** @type {keyof typeof ways} */ (which)];

const text = Buffer.alloc(100);
const schedule = process.platform === "linux" ? openSync("/proc/self/schedstat", "r") : undefined;

/** Milliseconds in which this thread has been busy; on Linux without those in which it waited for a processor. */
function busy() {
  if (schedule === undefined) return performance.eventLoopUtilization().active;
  const length = readSync(schedule, text, 0, text.length, 0);
  return Number(text.toString("latin1", 0, length).split(" ")[0]) / 1e6;
}

for (let warm = 0; warm < 10; warm += 1) await one();
/** @type {Record<"wallMs" | "busyMs" | "createMs" | "turnMs" | "disposeMs", number>[]} */
const all = [];
for (let number = 0; number < Number(cycles); number += 1) {
  const before = busy();
  const began = performance.now();
  const parts = await one();
  all.push({ wallMs: performance.now() - began, busyMs: busy() - before, ...parts });
}
/** @param {"wallMs" | "busyMs" | "createMs" | "turnMs" | "disposeMs"} figure */
const middle = (figure) => median(all.map((one) => one[figure]));
console.log(
  JSON.stringify({
    wallMs: middle("wallMs"),
    busyMs: middle("busyMs"),
    createMs: middle("createMs"),
    turnMs: middle("turnMs"),
    disposeMs: middle("disposeMs"),
  }),
);
