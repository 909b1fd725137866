// What a server that is staged in a git worktree and taken out again costs: one session that is alone, beside the
// least that Node itself could do, and several processes that all want the same worktree.

import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { capture, Failure, root } from "../common.mjs";
import { median } from "./load.mjs";

const script = join(root, "scripts", "bench", "leases.mjs");

/** A worktree with a config of the operator's. @param {string} folder */
export function worktree(folder, name = "worktree") {
  const top = join(folder, name);
  mkdirSync(join(top, ".cursor"), { recursive: true });
  writeFileSync(join(top, ".cursor", "mcp.json"), '{\n  "mcpServers": {}\n}\n');
  execFileSync("git", ["init", "-q"], { cwd: top });
  return top;
}

/** @param {string[]} args */
function measure(...args) {
  const printed = capture(process.execPath, script, ...args);
  if (printed === undefined)
    throw new Failure(`leases.mjs failed. To see why: node ${script} ${args.join(" ")}`);
  return JSON.parse(printed);
}

/** @typedef {{ wallMs: number, stageMs: number, cpuMs: number, allMs: number }} Timed */

/**
 * @param {string} folder
 * @param {{ cycles: number, processes: number, rounds: number }} options
 */
export async function measureStaging(folder, { cycles, processes, rounds }) {
  const top = worktree(folder);
  const parts = measure(top, String(cycles), "parts");
  /** @type {Record<"ours" | "node", Timed>[]} */
  const all = [];
  // They take turns, so that whatever else the machine does falls on both.
  for (let round = 0; round < rounds; round += 1) {
    const [ours, node] = ["ours", "node"].map((which) =>
      measure(top, String(cycles), which, String(parts.syncs)),
    );
    all.push({ ours, node });
  }
  /** @param {"ours" | "node"} which @param {keyof Timed} name */
  const middle = (which, name) => median(all.map((one) => one[which][name]));
  const run = promisify(execFile);
  const crowd = Array.from({ length: processes }, () =>
    run(process.execPath, [script, top, String(cycles), "ours"]),
  );
  /** @type {Timed[]} */
  const crowded = (await Promise.all(crowd)).map(({ stdout }) => JSON.parse(stdout));
  return {
    cycleMs: middle("ours", "wallMs"),
    stageMs: middle("ours", "stageMs"),
    cpuMs: middle("ours", "cpuMs"),
    leastMs: middle("node", "wallMs"),
    ...parts,
    ...measure(top, String(cycles), "loop"),
    crowd: {
      processes,
      // All of them together did so many in the time of the slowest.
      cycleMs: Math.max(...crowded.map(({ allMs }) => allMs)) / (cycles * processes),
      cpuMs: median(crowded.map(({ cpuMs }) => cpuMs)),
    },
  };
}
