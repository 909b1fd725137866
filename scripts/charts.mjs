// `node scripts/charts.mjs`: what the figures of the bench give in docs/: a chart for each growth curve, and the tables
// between the markers of docs/performance.md. They are committed with the figures, in docs/performance/bench.json:
//
//   npm run bench -- --json docs/performance/bench.json && node scripts/charts.mjs
//
// Both show ratios alone: the absolute figures are one machine's at one hour.
//
//   --check   write nothing; fail where anything is not what the figures give

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { draw } from "./bench/chart.mjs";
import { sections } from "./bench/table.mjs";
import { Failure, isProgram, root, runMain } from "./common.mjs";

const FOLDER = join(root, "docs", "performance");
const PAGE = join(root, "docs", "performance.md");

/** @typedef {import("./bench/figures.mjs").Row} Row */

/**
 * What a run of the bench has written.
 * @typedef {object} Bench
 * @property {number} format
 * @property {string} date
 * @property {{ system: string, processor: string, processors: number, load: number[] }} machine
 * @property {{ package: string, node: string, git?: string }} versions
 * @property {boolean} debug
 * @property {{ rounds: number }} options
 * @property {Row[]} rows
 */

/**
 * A way in which something grows: the rows that show it, and how their chart is called.
 * @typedef {object} Curve
 * @property {string} file
 * @property {string} part
 * @property {string} name of the rows
 * @property {string} title
 * @property {string} xAxis
 * @property {string} what is shown on the y axis
 * @property {string} ours
 * @property {string} yardstick
 * @property {boolean} [doubling] see the chart
 * @property {true} [each] the rows are of one of many, and the chart is of all
 */

/** @type {Curve[]} */
export const curves = [
  {
    file: "streams.svg",
    part: "delay",
    name: "delay of the loop, p99",
    title: "Delay of the event loop while streams are read",
    xAxis: "streams read at once (64 in all)",
    what: "p99 of the delay",
    ours: "this package, four callbacks",
    yardstick: "readline and JSON.parse",
    doubling: true,
  },
  {
    file: "spawn.svg",
    part: "spawn",
    name: "the call that starts a turn",
    title: "For how long starting a turn holds up the event loop",
    xAxis: "memory that the host holds, MB",
    what: "time in the call",
    ours: "this package",
    yardstick: "child_process.spawn",
  },
  {
    file: "leases.svg",
    part: "lease",
    name: "a cycle, in worktrees of one repository at once",
    title: "Servers staged and taken out in many worktrees at once",
    xAxis: "worktrees of one repository",
    what: "time of all of them",
    ours: "this package",
    yardstick: "as many git processes and syncs by Node",
    each: true,
  },
  {
    file: "sessions.svg",
    part: "growth",
    name: "wall time of all",
    title: "Sessions from their creation to their end",
    xAxis: "sessions at once, each in a worktree of its own",
    what: "wall time of all",
    ours: "this package",
    yardstick: "the CLI driven by hand",
  },
  {
    file: "main-thread.svg",
    part: "growth",
    name: "main thread, each",
    title: "What sessions take of the main thread",
    xAxis: "sessions at once, each in a worktree of its own",
    what: "main-thread time of all",
    ours: "this package",
    yardstick: "the CLI driven by hand",
    each: true,
  },
  {
    file: "memory.svg",
    part: "growth",
    name: "memory of the host, each",
    title: "What sessions hold of the host's memory",
    xAxis: "sessions in the middle of a turn",
    what: "resident memory of all",
    ours: "this package",
    yardstick: "the CLI driven by hand",
    each: true,
  },
];

/**
 * The points of a curve, as parts of the yardstick's last one.
 * @param {Bench} bench
 * @param {Curve} curve
 */
function pointsOf({ rows }, { part, name, each, file }) {
  const found = rows.filter((row) => row.part === part && row.name === name && row.at !== undefined);
  /** @param {Row} row @param {number | null} value */
  const point = ({ at }, value) => ({ x: at?.value ?? 0, y: (value ?? 0) * (each ? (at?.value ?? 0) : 1) });
  const ours = found.map((row) => point(row, row.value));
  const yardstick = found.map((row) => point(row, row.reference));
  const whole = yardstick.at(-1);
  if (found.length < 2 || whole === undefined || whole.y === 0)
    throw new Failure(`The figures have no curve for ${file}. Run the whole bench for it.`);
  /** @param {{ x: number, y: number }[]} points */
  const parts = (points) => points.map(({ x, y }) => ({ x, y: y / whole.y }));
  return { ours: parts(ours), yardstick: parts(yardstick), last: whole.x };
}

/** @param {Bench} bench @param {Curve} curve */
function chart(bench, curve) {
  const { ours, yardstick, last } = pointsOf(bench, curve);
  /** @param {{ x: number, y: number }[]} points */
  const said = (points) => points.map(({ x, y }) => `${Number(y.toPrecision(2))} at ${x}`).join(", ");
  return draw({
    title: curve.title,
    description: `${curve.what}, where 1 is that of ${curve.yardstick} at ${last}; by ${curve.xAxis}. ${curve.ours}: ${said(ours)}. ${curve.yardstick}: ${said(yardstick)}.`,
    xAxis: curve.xAxis,
    yAxis: `${curve.what}, 1 = yardstick at ${last}`,
    ...(curve.doubling ? { doubling: true } : {}),
    ours: { label: curve.ours, points: ours },
    yardstick: { label: curve.yardstick, points: yardstick },
  });
}

/** What the charts show, in numbers: how often the last point of a line holds its first. @param {Bench} bench */
function growth(bench) {
  const lines = curves.map((curve) => {
    const { ours, yardstick } = pointsOf(bench, curve);
    /** @param {{ x: number, y: number }[]} points */
    const grown = (points) => {
      const [first, last] = [points[0]?.y ?? 0, points.at(-1)?.y ?? 0];
      return first > 0 ? `${short(last / first)} ×` : "–";
    };
    const [from = 0, to = 0] = [ours[0]?.x, ours.at(-1)?.x];
    return `| [${curve.title}](performance/${curve.file}) | ${from} to ${to} | ${grown(ours)} | ${grown(yardstick)} |`;
  });
  return [
    "| What | From, to | This package grows | The yardstick grows |",
    "| --- | --- | --- | --- |",
    ...lines,
  ];
}

/** Two digits, which is as much as they are worth. @param {number | null} ratio */
function short(ratio) {
  if (ratio === null) return "–";
  if (ratio > 0 && ratio < 0.01) return "under 0.01";
  return ratio < 1 ? String(Number(ratio.toPrecision(2))) : ratio.toFixed(ratio < 10 ? 1 : 0);
}

/** The rows of one name as one of the page, which says with how many of what each ratio is. @param {Row[]} rows */
function line(rows) {
  const [first] = rows;
  if (first === undefined) return "";
  const unit = rows.at(-1)?.at?.unit;
  const name = `${first.name}${unit === undefined ? "" : `, by ${unit}`}${first.more ? " (more is better)" : ""}`;
  const ratios = rows.map(({ at, ratio }) =>
    at === undefined ? short(ratio) : `${at.value}: ${short(ratio)}`,
  );
  return `| ${name} | ${ratios.join("; ")} | ${first.against} |`;
}

/** @param {Bench} bench */
function ratios({ rows }) {
  return sections(rows).flatMap(({ what, rows }) => {
    /** @type {Map<string, Row[]>} */
    const named = new Map();
    for (const row of rows) {
      const name = `${row.name} ${row.at !== undefined}`;
      named.set(name, [...(named.get(name) ?? []), row]);
    }
    return [`| **${what}** | | |`, ...[...named.values()].map(line)];
  });
}

/** @param {Bench} bench */
function circumstances({ date, machine, versions, options }) {
  const { processors, processor, system, load } = machine;
  return [
    `Measured on ${date}: version ${versions.package} on Node ${versions.node}, git ${versions.git ?? "unknown"}, ${system},`,
    `${processors} processors (${processor}), with a load of ${load.join(", ")} on them when it began. Every figure is the`,
    `median of ${options.rounds} rounds.`,
  ];
}

/** The page with what belongs between its markers. @param {string} text @param {Bench} bench */
function page(text, bench) {
  /** @type {Record<string, string[]>} */
  const blocks = {
    where: circumstances(bench),
    ratios: ["| What | Ratio | The yardstick |", "| --- | --- | --- |", ...ratios(bench)],
    growth: growth(bench),
  };
  let written = text;
  for (const [name, lines] of Object.entries(blocks)) {
    const [begin, end] = [`<!-- bench: ${name} -->\n`, `<!-- end: ${name} -->`];
    const [from, to] = [written.indexOf(begin), written.indexOf(end)];
    if (from === -1 || to < from) throw new Failure(`docs/performance.md has lost the markers of ${name}.`);
    written = `${written.slice(0, from + begin.length)}\n${lines.join("\n")}\n\n${written.slice(to)}`;
  }
  return written;
}

/** Every file that the figures give, by its path. @param {Bench} bench @returns {Map<string, string>} */
export function filesOf(bench) {
  if (bench.format !== 1)
    throw new Failure(`The figures are of format ${bench.format}, and not of format 1.`);
  if (bench.debug) throw new Failure("The figures are of an addon without optimizations.");
  const charts = curves.map(
    (curve) => /** @type {const} */ ([join(FOLDER, curve.file), chart(bench, curve)]),
  );
  return new Map([...charts, [PAGE, page(readFileSync(PAGE, "utf8"), bench)]]);
}

/** @param {string} file */
function contents(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** The charts that belong to no curve. @param {Map<string, string>} files */
const strays = (files) =>
  readdirSync(FOLDER)
    .map((name) => join(FOLDER, name))
    .filter((path) => path.endsWith(".svg") && !files.has(path));

/** @param {string[]} args */
export function main(...args) {
  mkdirSync(FOLDER, { recursive: true });
  const figures = contents(join(FOLDER, "bench.json"));
  if (figures === undefined)
    throw new Failure("There are no figures: npm run bench -- --json docs/performance/bench.json");
  const files = filesOf(JSON.parse(figures));
  const changed = [...files].filter(([path, text]) => contents(path) !== text).map(([path]) => path);
  const wrong = [...changed, ...strays(files)].map((path) => path.slice(root.length + 1));
  if (args.includes("--check")) {
    if (wrong.length > 0)
      throw new Failure(
        `Not what docs/performance/bench.json gives: ${wrong.join(", ")}. Run scripts/charts.mjs.`,
      );
    return;
  }
  for (const stray of strays(files)) rmSync(stray);
  for (const [path, text] of files) writeFileSync(path, text);
  console.log(wrong.length === 0 ? "All as it was." : `Written: ${wrong.join(", ")}`);
}

if (isProgram(import.meta.url)) await runMain(() => main(...process.argv.slice(2)));
