// What the parts of the bench share: how a figure is come by, and the shape of a row.

import { join } from "node:path";
import { capture, Failure, root } from "../common.mjs";
import { median } from "./child/clock.mjs";

/**
 * One line of the table.
 * @typedef {object} Row
 * @property {string} part
 * @property {string} name what is measured
 * @property {{ value: number, unit: string }} [at] for rows that show how something grows: with how many of what
 * @property {number} value ours
 * @property {string} unit of both
 * @property {number | null} reference the yardstick's; null where this machine cannot measure it
 * @property {number | null} ratio ours to the yardstick's; null where it says nothing
 * @property {string} against what the yardstick is
 * @property {true} [more] more is better; otherwise less is
 */

/**
 * What is measured, and how thoroughly.
 * @typedef {object} Options
 * @property {number} rounds a figure is the median of so many
 * @property {number} streamMegabytes the size of one stream that is read alone
 * @property {number} laneMegabytes the size of each of many streams
 * @property {number[]} lanes how many streams are read at once
 * @property {number} streams how many are read in all, however many at once
 * @property {number[]} heldMegabytes the memory of the host that starts programs
 * @property {number} starts how many programs are started at once
 * @property {number} cycles how often a server is staged, and a session made and ended
 * @property {number[]} processes that stage in one worktree
 * @property {number[]} worktrees in which one process stages at once
 * @property {number} calls of a tool
 * @property {number} probes
 * @property {number} loads
 * @property {number[]} sessions at once
 */

/**
 * What a part is given.
 * @typedef {object} Job
 * @property {string} folder for what it makes
 * @property {string} addon
 * @property {Options} options
 */

/**
 * Below this a figure of so many of its unit is noise, and a ratio of two such says nothing.
 * @type {Record<string, number>}
 */
const NOISE = { MB: 0.1, kB: 1 };

/**
 * @param {number} value
 * @param {number | null} reference
 * @param {string} unit
 */
function ratioOf(value, reference, unit) {
  if (reference === null || !(reference > 0)) return null;
  const noise = NOISE[unit] ?? 0;
  return value < noise && reference < noise ? null : rounded(value / reference);
}

/** To four digits, which is more than any of them is worth. @param {number} value */
const rounded = (value) => Number(value.toPrecision(4));

/**
 * @param {Omit<Row, "ratio" | "reference"> & { reference: number | undefined }} figures
 * @returns {Row}
 */
export function row({ part, name, at, value, unit, reference, against, more }) {
  const measured = reference === undefined || Number.isNaN(reference) ? null : rounded(reference);
  const ratio = ratioOf(value, measured, unit);
  const where = at === undefined ? {} : { at };
  const better = more === undefined ? {} : { more };
  return {
    part,
    name,
    ...where,
    value: rounded(value),
    unit,
    reference: measured,
    ratio,
    against,
    ...better,
  };
}

/**
 * Every way as often as there are rounds. The ways take turns, so that whatever else the machine does falls on all.
 * @template T
 * @template {string} Way
 * @param {number} rounds
 * @param {Record<Way, () => T | Promise<T>>} ways
 * @returns {Promise<Record<Way, T[]>>}
 */
export async function inTurns(rounds, ways) {
  const names = /** @type {Way[]} */ (Object.keys(ways));
  /** @type {Partial<Record<Way, T[]>>} */
  const all = {};
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) {
      const done = await ways[name]();
      all[name] = [...(all[name] ?? []), done];
    }
  }
  return /** @type {Record<Way, T[]>} */ (all);
}

/**
 * The median of one figure of all rounds.
 * @template {Record<string, number>} Figures
 * @param {Figures[]} rounds
 * @param {keyof Figures & string} figure
 */
export function middle(rounds, figure) {
  return median(rounds.map((round) => round[figure] ?? Number.NaN));
}

/**
 * Where it is measured for how long the loop stands still: the collector has one thread there. Where it waits for
 * others that have no processor yet, on a busy machine, the loop stands still for that.
 */
const ONE_COLLECTOR = ["starts.mjs", "lanes.mjs", "leases.mjs"];

/** The command line of a script of the folder `child`. @param {string} script @param {(string | number)[]} args */
export function childArgs(script, args) {
  const collector = ONE_COLLECTOR.includes(script) ? ["--single-threaded-gc"] : [];
  return ["--expose-gc", ...collector, join(root, "scripts", "bench", "child", script), ...args.map(String)];
}

/**
 * Run a script of the folder `child`, and read what it prints. In a process of its own, each way pays for its own
 * garbage, threads and memory, and for nobody else's.
 * @param {string} script
 * @param {(string | number)[]} args
 */
export function inChild(script, ...args) {
  const line = childArgs(script, args);
  const printed = capture(process.execPath, ...line);
  if (printed === undefined)
    throw new Failure(`${script} failed. To see why: ${["node", ...line].join(" ")}`);
  return JSON.parse(printed);
}
