// Measures many sessions at once: `node --expose-gc crowd.mjs PROGRAM GATE WORKTREES COUNT ours|hand` prints JSON.
// Each has a tool and a worktree of its own. When all are in the middle of a turn, what they hold is counted.

import { openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import native from "../../../index.js";
import { busyMs } from "./clock.mjs";
import * as hand from "./hand.mjs";

const [binary = "", pipe = "", worktrees = "", count = "1", whose] = process.argv.slice(2);
// For reading too: so it opens before an agent waits at the other end, and stays open.
const gate = openSync(pipe, "r+");

/** @param {string} cwd @param {() => void} begun */
async function ours(cwd, begun) {
  const session = await native.CursorSession.create({
    cwd,
    binary,
    fusionTools: [{ name: "fn_x", async execute() {} }],
    lockTimeoutMs: 60_000,
    onEvent: ({ type }) => type === "system-init" && begun(),
  });
  if (session.fusionToolBridgeError !== undefined) throw new Error(session.fusionToolBridgeError.detail);
  return session;
}

/** @param {string} cwd @param {() => void} begun */
const create = (cwd, begun) =>
  whose === "ours" ? ours(cwd, begun) : hand.session({ cwd, binary, tool: true, begun });

/**
 * What this process holds, in bytes and numbers. Outside of Linux threads are not told, nor descriptors outside of
 * Unix.
 */
function holdings() {
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  const linux = process.platform === "linux";
  const threads = linux
    ? /^Threads:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]
    : undefined;
  return {
    rssBytes: rss,
    heapBytes: heapUsed,
    threads: Number(threads),
    descriptors: readdirSync(linux ? "/proc/self/fd" : "/dev/fd").length,
  };
}

let wallMs = 0;
let busy = 0;
/** What counts. @template T @param {() => Promise<T>} work */
async function timed(work) {
  const before = busyMs();
  const began = performance.now();
  const done = await work();
  wallMs += performance.now() - began;
  busy += busyMs() - before;
  return done;
}

/** @param {number} many */
async function live(many) {
  /** @type {Promise<void>[]} */
  const begun = [];
  const sessions = await timed(() =>
    Promise.all(
      Array.from({ length: many }, (_, number) => {
        const { promise, resolve } = withResolvers();
        begun.push(promise);
        return create(join(worktrees, String(number)), resolve);
      }),
    ),
  );
  /** @type {Promise<unknown>[]} */
  let turns = [];
  await timed(async () => {
    turns = sessions.map((session) => session.prompt("x"));
    await Promise.race([Promise.all(begun), Promise.all(turns)]);
  });
  await sleep(50);
  const held = holdings();
  await timed(async () => {
    writeSync(gate, "\n".repeat(many));
    await Promise.all(turns);
    await Promise.all(sessions.map((session) => session.dispose()));
  });
  return held;
}

function withResolvers() {
  /** @type {() => void} */
  let resolve = () => {};
  /** @type {Promise<void>} */
  const promise = new Promise((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

// Everything loaded, compiled and started that comes with the first ones.
for (let warm = 0; warm < 3; warm += 1) await live(2);
await sleep(50);
const idle = holdings();
// As many as later: a host lives on, and what its first crowd has left behind is a part of what it holds in the next.
await live(Number(count));
[wallMs, busy] = [0, 0];
const held = await live(Number(count));
/** @param {keyof typeof held} name */
const each = (name) => (held[name] - idle[name]) / Number(count);
console.log(
  JSON.stringify({
    wallMs,
    busyMs: busy,
    rssBytes: each("rssBytes"),
    heapBytes: each("heapBytes"),
    threads: each("threads"),
    descriptors: each("descriptors"),
  }),
);
