// Measures what staging a server in git worktrees costs: `node leases.mjs CYCLES WAY SYNCS WORKTREE…` prints JSON.
//
//   ours   the time of each cycle, and the main thread's part of it; in all of the worktrees at once
//   node   the least that anybody needs, done by Node itself: the same programs and as many syncs
//   loop   for how long the event loop stands still in a cycle
//   parts  what the records of the log say: how long git ran, and how long was waited for the disk

import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { open, rename } from "node:fs/promises";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { promisify } from "node:util";
import native from "../../../index.js";
import { busyMs, median, Turning } from "./clock.mjs";

const [count = "1", which, syncs = "13", ...worktrees] = process.argv.slice(2);
const [alone = ""] = worktrees;
const cycles = Number(count);

/** @param {string} worktreePath */
async function cycle(worktreePath) {
  const lease = await native.stageCursorMcpLease({
    worktreePath,
    serverKey: `fusion-custom-tools-${randomUUID()}`,
    serverEntry: { command: process.execPath, args: ["server.cjs"], env: { TOKEN: "t" } },
    lockTimeoutMs: 60_000,
  });
  await lease.dispose();
}

const run = promisify(execFile);
const paths = [".cursor/mcp.json", ".cursor/.fusion-mcp-state.json", ".cursor/.fusion-mcp.lock"];

/**
 * The same three programs, and as many syncs: of a file that takes another's place, and of its folder.
 * @param {string} cwd
 */
async function least(cwd) {
  /** @param {string[]} args */
  const git = (...args) => run("git", args, { cwd }).catch(() => {});
  await Promise.all([
    git("rev-parse", "--is-inside-work-tree", "--show-cdup", "--git-dir"),
    git("ls-files", "-z", "--", ...paths),
  ]);
  await git("check-ignore", ...paths);
  const folder = join(cwd, ".cursor");
  // Each process its own file, and no lock.
  const name = join(folder, `bench-${process.pid}`);
  for (let left = Number(syncs); left > 0; left -= 2) {
    const file = await open(`${name}.new`, "w", 0o600);
    await file.write("x".repeat(300));
    await file.datasync();
    await file.close();
    await rename(`${name}.new`, name);
    if (left > 1) {
      const handle = await open(folder);
      await handle.sync();
      await handle.close();
    }
  }
}

/** @param {(worktree: string) => Promise<void>} one */
async function timed(one) {
  const round = () => Promise.all(worktrees.map(one));
  for (let warm = 0; warm < 3; warm += 1) await round();
  const busy = busyMs();
  const began = performance.now();
  const all = [];
  for (let number = 0; number < cycles; number += 1) {
    const before = performance.now();
    await round();
    all.push((performance.now() - before) / worktrees.length);
  }
  const done = cycles * worktrees.length;
  return { cycleMs: median(all), busyMs: (busyMs() - busy) / done, allMs: performance.now() - began };
}

/** The longest turn of a loop that is kept turning, in each cycle. */
async function stoodStill() {
  for (let warm = 0; warm < 20; warm += 1) await cycle(alone);
  const loop = new Turning();
  const all = [];
  for (let number = 0; number < cycles; number += 1) {
    loop.again();
    await cycle(alone);
    all.push(loop.longestMs);
  }
  loop.stop();
  return { longestTurnMs: median(all) };
}

/** @typedef {{ message: string, fields: Record<string, unknown> }} Said */

/** @param {Said} record */
const isFirst = (record) => !String(record.fields.args).includes("check-ignore");

async function parts() {
  /** @type {Said[]} */
  let said = [];
  native.setLogger("trace", (record) => said.push(record));
  /** @type {Record<"gits" | "gitMs" | "syncs" | "syncMs" | "wallMs", number>[]} */
  const all = [];
  for (let number = 0; number < cycles; number += 1) {
    said = [];
    const began = performance.now();
    await cycle(alone);
    const wallMs = performance.now() - began;
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
      wallMs,
    });
  }
  native.setLogger("off");
  const middle = (/** @type {"gits" | "gitMs" | "syncs" | "syncMs" | "wallMs"} */ name) =>
    median(all.map((one) => one[name]));
  return {
    gits: middle("gits"),
    gitMs: middle("gitMs"),
    syncs: middle("syncs"),
    syncMs: middle("syncMs"),
    wallMs: middle("wallMs"),
  };
}

const measured = { ours: () => timed(cycle), node: () => timed(least), loop: stoodStill, parts };
console.log(JSON.stringify(await measured[/** @type {keyof typeof measured} */ (which)]()));
