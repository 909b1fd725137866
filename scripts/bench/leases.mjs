// Measures what staging a server in a git worktree costs: `node leases.mjs WORKTREE CYCLES ours|node|loop|parts`
// prints JSON. In a process of its own, so that its CPU time is its own.
//
//   ours   the time of each cycle, and the CPU time of all
//   node   the least that anybody needs, done by Node itself: the same programs and as many syncs
//   loop   for how long the event loop stands still in a cycle
//   parts  what the records of the log say: how long git ran, and how long was waited for the disk

import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { openSync, readSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { promisify } from "node:util";
import native from "../../index.js";
import { median } from "./load.mjs";

const [worktree = "", count = "1", which, syncs = "13"] = process.argv.slice(2);
const cycles = Number(count);

async function cycle() {
  const began = performance.now();
  const lease = await native.stageCursorMcpLease({
    worktreePath: worktree,
    serverKey: `fusion-custom-tools-${randomUUID()}`,
    serverEntry: { command: process.execPath, args: ["server.cjs"], env: { TOKEN: "t" } },
  });
  const staged = performance.now();
  await lease.dispose();
  return { stageMs: staged - began, wallMs: performance.now() - began };
}

const run = promisify(execFile);
/** @param {string[]} args */
const git = (...args) => run("git", args, { cwd: worktree }).catch(() => {});
const paths = [".cursor/mcp.json", ".cursor/.fusion-mcp-state.json", ".cursor/.fusion-mcp.lock"];

/** The same three programs, and as many syncs: of a file that takes another's place, and of its folder. */
async function least() {
  const began = performance.now();
  await Promise.all([
    git("rev-parse", "--is-inside-work-tree", "--show-cdup", "--git-dir"),
    git("ls-files", "-z", "--", ...paths),
  ]);
  await git("check-ignore", ...paths);
  const info = join(worktree, ".git", "info");
  for (let left = Number(syncs); left > 0; left -= 2) {
    const file = await open(join(info, "bench.new"), "w", 0o600);
    await file.write("x".repeat(300));
    await file.datasync();
    await file.close();
    await rename(join(info, "bench.new"), join(info, "bench"));
    if (left > 1) {
      const folder = await open(info);
      await folder.sync();
      await folder.close();
    }
  }
  return { stageMs: 0, wallMs: performance.now() - began };
}

/** @param {() => Promise<{ stageMs: number, wallMs: number }>} one */
async function timed(one) {
  for (let warm = 0; warm < 5; warm += 1) await one();
  const before = process.cpuUsage();
  const began = performance.now();
  const all = [];
  for (let number = 0; number < cycles; number += 1) all.push(await one());
  const allMs = performance.now() - began;
  const { user, system } = process.cpuUsage(before);
  return {
    wallMs: median(all.map((one) => one.wallMs)),
    stageMs: median(all.map((one) => one.stageMs)),
    cpuMs: (user + system) / 1000 / cycles,
    allMs,
  };
}

const text = Buffer.alloc(100);
const schedule = process.platform === "linux" ? openSync("/proc/self/schedstat", "r") : undefined;

/** Milliseconds in which this thread has run, slept or been blocked. */
function now() {
  const wall = performance.now();
  if (schedule === undefined) return wall;
  const length = readSync(schedule, text, 0, text.length, 0);
  return wall - Number(text.toString("latin1", 0, length).split(" ")[1]) / 1e6;
}

/** The longest turn of a loop that is kept turning, in each cycle. */
async function stoodStill() {
  for (let warm = 0; warm < 20; warm += 1) await cycle();
  let longest = 0;
  let last = now();
  let turning = true;
  const turn = () => {
    const time = now();
    longest = Math.max(longest, time - last);
    last = time;
    if (turning) setImmediate(turn);
  };
  setImmediate(turn);
  const all = [];
  for (let number = 0; number < cycles; number += 1) {
    longest = 0;
    await cycle();
    all.push(longest);
  }
  turning = false;
  return { longestTurnMs: median(all), highestTurnMs: Math.max(...all) };
}

/** @typedef {{ message: string, fields: Record<string, unknown> }} Said */

async function parts() {
  /** @type {Said[]} */
  let said = [];
  native.setLogger("trace", (record) => said.push(record));
  /** @type {Record<"gits" | "gitMs" | "syncs" | "syncMs", number>[]} */
  const all = [];
  for (let number = 0; number < cycles; number += 1) {
    said = [];
    await cycle();
    // Records come on a turn of the loop of their own.
    await new Promise((resolve) => setTimeout(resolve, 5));
    /** @param {string} message */
    const of = (message) => said.filter((record) => record.message === message);
    const micros = (/** @type {Said} */ record) => Number(record.fields.duration_us);
    const [before, after] = [of("asked git").filter(isFirst), of("asked git").filter((one) => !isFirst(one))];
    const synced = of("synced").map(micros);
    all.push({
      gits: before.length + after.length,
      // Two at the same time, and one after them.
      gitMs: (Math.max(...before.map(micros)) + Math.max(...after.map(micros))) / 1000,
      syncs: synced.length,
      syncMs: synced.reduce((sum, one) => sum + one, 0) / 1000,
    });
  }
  native.setLogger("off");
  const middle = (/** @type {"gits" | "gitMs" | "syncs" | "syncMs"} */ name) =>
    median(all.map((one) => one[name]));
  return { gits: middle("gits"), gitMs: middle("gitMs"), syncs: middle("syncs"), syncMs: middle("syncMs") };
}

/** @param {Said} record */
const isFirst = (record) => !String(record.fields.args).includes("check-ignore");

const measured = { ours: () => timed(cycle), node: () => timed(least), loop: stoodStill, parts };
console.log(JSON.stringify(await measured[/** @type {keyof typeof measured} */ (which)]()));
