// Measures what a session costs: `node session.mjs PROGRAM WORKTREE CYCLES ours|hand tool|bare|turn` prints JSON.
//
//   tool  a session with a tool is created in the worktree, runs one turn, and is disposed
//   bare  the same without tools
//   turn  the turn alone

import { performance } from "node:perf_hooks";
import native from "../../../index.js";
import { busyMs, median } from "./clock.mjs";
import * as hand from "./hand.mjs";

const [binary = "", cwd = "", cycles = "1", whose, which] = process.argv.slice(2);
const tool = which === "tool";

async function ours() {
  const fusionTools = tool ? [{ name: "fn_x", execute() {} }] : [];
  const session = await native.CursorSession.create({ cwd, binary, fusionTools });
  if (session.fusionToolBridgeError !== undefined) throw new Error(session.fusionToolBridgeError.detail);
  return session;
}

async function session() {
  const began = performance.now();
  const session = await (whose === "ours" ? ours() : hand.session({ cwd, binary, tool }));
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
  if (whose === "ours") await native.launchCursorPrompt({ cwd, prompt: "x", binary });
  else await hand.turn(binary, cwd);
  return { createMs: 0, turnMs: performance.now() - began, disposeMs: 0 };
}

const one = which === "turn" ? turn : session;
for (let warm = 0; warm < 10; warm += 1) await one();
/** @typedef {"wallMs" | "busyMs" | "createMs" | "turnMs" | "disposeMs"} Figure */
/** @type {Record<Figure, number>[]} */
const all = [];
for (let number = 0; number < Number(cycles); number += 1) {
  const before = busyMs();
  const began = performance.now();
  const parts = await one();
  all.push({ wallMs: performance.now() - began, busyMs: busyMs() - before, ...parts });
}
/** @param {Figure} figure */
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
