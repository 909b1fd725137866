// What a server that is staged in a git worktree and taken out again costs: one that is alone, several processes
// that all want the same worktree, and one process in many worktrees of one repository.

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { childArgs, inChild, inTurns, middle, row } from "./figures.mjs";
import { repository, worktrees } from "./places.mjs";

const LEAST = "as many git processes and syncs by Node";
/** From so many processes on, each does fewer cycles, so that a crowd takes not much longer than one. */
const CROWD = 4;

/** @typedef {Record<"cycleMs" | "busyMs" | "allMs", number>} Timed */
/** @typedef {import("./figures.mjs").Row} Row */
/** @typedef {import("./figures.mjs").Options} Options */

/**
 * @param {string} top
 * @param {Options} options
 */
async function alone(top, { cycles, rounds }) {
  const parts = inChild("leases.mjs", cycles, "parts", 0, top);
  const { ours, node, loop } = await inTurns(rounds, {
    ours: () => inChild("leases.mjs", cycles, "ours", 0, top),
    node: () => inChild("leases.mjs", cycles, "node", parts.syncs, top),
    loop: () => inChild("leases.mjs", cycles, "loop", 0, top),
  });
  const share = { part: "lease", unit: "ms", reference: parts.wallMs, against: "the whole cycle" };
  /** @param {string} name @param {"cycleMs" | "busyMs"} figure */
  const line = (name, figure) =>
    row({
      part: "lease",
      name,
      value: middle(ours, figure),
      unit: "ms",
      reference: middle(node, figure),
      against: LEAST,
    });
  const rows = [
    line("a server staged and taken out", "cycleMs"),
    line("main thread of it", "busyMs"),
    row({
      part: "lease",
      name: "the longest turn of the loop in it",
      value: middle(loop, "longestTurnMs"),
      unit: "ms",
      reference: middle(ours, "cycleMs"),
      against: "the whole cycle",
    }),
    row({ ...share, name: `waiting for ${parts.gits} git processes`, value: parts.gitMs }),
    row({ ...share, name: `waiting for ${parts.syncs} syncs to the disk`, value: parts.syncMs }),
  ];
  return { syncs: Number(parts.syncs), rows };
}

/**
 * Several processes at once in one worktree.
 * @param {string} top
 * @param {number} syncs
 * @param {Options} options
 */
async function crowded(top, syncs, { cycles, rounds, processes }) {
  const run = promisify(execFile);
  /** @type {Row[]} */
  const rows = [];
  for (const count of processes) {
    const each = Math.max(3, Math.round((cycles * CROWD) / (count + CROWD)));
    /** @param {"ours" | "node"} way */
    const all = (way) => async () => {
      const line = childArgs("leases.mjs", [each, way, syncs, top]);
      const done = await Promise.all(Array.from({ length: count }, () => run(process.execPath, line)));
      const timed = done.map(({ stdout }) => /** @type {Timed} */ (JSON.parse(stdout)));
      // All of them together did so many in the time of the slowest.
      return { cycleMs: Math.max(...timed.map(({ allMs }) => allMs)) / (each * count) };
    };
    const { ours, node } = await inTurns(rounds, { ours: all("ours"), node: all("node") });
    rows.push(
      row({
        part: "lease",
        name: "a cycle, with others in the same worktree",
        at: { value: count, unit: count === 1 ? "process" : "processes" },
        value: middle(ours, "cycleMs"),
        unit: "ms",
        reference: middle(node, "cycleMs"),
        against: `${LEAST}, without a lock`,
      }),
    );
  }
  return rows;
}

/**
 * One process in many worktrees of one repository at once.
 * @param {string} folder
 * @param {number} syncs
 * @param {Options} options
 */
async function spread(folder, syncs, { cycles, rounds, sessions, worktrees: counts }) {
  const base = worktrees(folder, Math.max(...counts, ...sessions));
  /** @type {Row[]} */
  const rows = [];
  for (const count of counts) {
    const tops = Array.from({ length: count }, (_, number) => join(base, String(number)));
    const each = Math.max(3, Math.round(cycles / count));
    /** @param {"ours" | "node"} way @returns {() => Timed} */
    const all = (way) => () => inChild("leases.mjs", each, way, syncs, ...tops);
    const { ours, node } = await inTurns(rounds, { ours: all("ours"), node: all("node") });
    /** @param {string} name @param {keyof Timed} figure */
    const line = (name, figure) =>
      row({
        part: "lease",
        name,
        at: { value: count, unit: count === 1 ? "worktree" : "worktrees" },
        value: middle(ours, figure),
        unit: "ms",
        reference: middle(node, figure),
        against: LEAST,
      });
    rows.push(
      line("a cycle, in worktrees of one repository at once", "cycleMs"),
      line("main thread of it", "busyMs"),
    );
  }
  return rows;
}

/** @param {import("./figures.mjs").Job} job */
export async function measure({ folder, options }) {
  const top = repository(folder, "leases");
  const { syncs, rows } = await alone(top, options);
  return [...rows, ...(await crowded(top, syncs, options)), ...(await spread(folder, syncs, options))];
}
