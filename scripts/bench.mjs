// `npm run bench`: how fast streams are read, what a start costs the event loop, what staging a server costs, what a
// tool call costs, and what a session costs, on the release addon. Needs no network and no account: a program that is nothing but `cat` replays
// a generated session. What it prints is this machine's, so figures are compared with the readline loop of the same
// run, starts with Node's own, the staging of a server with the least that Node could do for it, and a tool call with
// one of a plain server.
//
//   --size MB      the size of the session; 20 without it
//   --rounds N     every figure is the median of so many; 5 without it
//   --streams N    how many streams are read at once; 16 without it
//   --starts N     how many turns are started at once; 40 without it
//   --held MB      the memory of the large host that starts them; 1536 without it
//   --cycles N     how often a server is staged and taken out again, and a session made and ended; 50 without it
//   --calls N      how many tools are called, one after the other; 3000 without it
//   --json FILE    write the figures there too
//   --as-built     measure the addon that is there, even one without optimizations

import { deepStrictEqual } from "node:assert";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { measureLoad, median } from "./bench/load.mjs";
import { REFERENCE, rows as waysToRead } from "./bench/rows.mjs";
import { measureStaging, worktree } from "./bench/staging.mjs";
import { agent, measureStarts } from "./bench/starting.mjs";
import { writeTranscript } from "./bench/transcript.mjs";
import { buildAddon } from "./build.mjs";
import { capture, Failure, root, runMain } from "./common.mjs";
import { setup } from "./setup.mjs";

const { values: options } = parseArgs({
  options: {
    size: { type: "string", default: "20" },
    rounds: { type: "string", default: "5" },
    streams: { type: "string", default: "16" },
    starts: { type: "string", default: "40" },
    held: { type: "string", default: "1536" },
    cycles: { type: "string", default: "50" },
    calls: { type: "string", default: "3000" },
    json: { type: "string" },
    "as-built": { type: "boolean", default: false },
  },
});

const NUMBERS = /** @type {const} */ (["size", "rounds", "streams", "starts", "held", "cycles", "calls"]);

/** @param {(typeof NUMBERS)[number]} name */
function positive(name) {
  const value = Number(options[name]);
  if (!(value > 0)) throw new Failure(`--${name} takes a number above 0, not ${options[name]}.`);
  return value;
}

/** What an expression about the addon gives, in a Node of its own: this one must not hold a file that is built anew. */
function ask(/** @type {string} */ expression) {
  const printed = capture(process.execPath, "--print", expression);
  if (printed === undefined) throw new Failure(`The addon does not load. To see why: node -e 'require(".")'`);
  return printed;
}

const isDebug = () => ask('require("./native.js").coreIsDebug()') === "true";

/** The addon that is measured. */
async function addon() {
  await setup({ build: !options["as-built"] });
  if (!options["as-built"] && isDebug()) {
    console.log("The addon that is there has no optimizations. Building one that has…");
    await buildAddon();
  }
  return { file: ask('require(".").nativeInfo().file'), debug: isDebug() };
}

/**
 * Run a script of the folder bench, and read what it prints.
 * @param {string} script
 * @param {string[]} args
 */
function measure(script, ...args) {
  const file = join(root, "scripts", "bench", script);
  const printed = capture(process.execPath, "--expose-gc", file, ...args);
  if (printed === undefined)
    throw new Failure(`${script} failed. To see why: node ${file} ${args.join(" ")}`);
  return JSON.parse(printed);
}

/**
 * The medians of every row, with its part of the readline loop's. The rows take turns, so that whatever else the
 * machine does falls on all of them.
 * @param {string} program
 * @param {number} bytes
 */
function measureStreams(program, bytes) {
  const names = Object.keys(waysToRead);
  /** @type {Record<string, { wallMs: number, activeMs: number, seen: object }>[]} */
  const rounds = Array.from({ length: positive("rounds") }, () =>
    Object.fromEntries(names.map((name) => [name, measure("streams.mjs", program, name)])),
  );
  for (const round of rounds) {
    const expected = round[REFERENCE]?.seen;
    deepStrictEqual(round["four callbacks"]?.seen, expected);
    deepStrictEqual({ ...round["onEvent, payloads unread"]?.seen, payload: 0 }, { ...expected, payload: 0 });
  }
  const rows = names.map((name) => {
    /** @param {"wallMs" | "activeMs"} figure */
    const middle = (figure) => median(rounds.map((round) => round[name]?.[figure] ?? Number.NaN));
    const wallMs = middle("wallMs");
    return { name, wallMs, activeMs: middle("activeMs"), bytesPerSecond: (bytes / wallMs) * 1000 };
  });
  const reference = rows.find(({ name }) => name === REFERENCE);
  if (reference === undefined) throw new Failure("The readline loop was not measured.");
  return rows.map((row) => ({
    ...row,
    throughputRatio: row.bytesPerSecond / reference.bytesPerSecond,
    activeRatio: row.activeMs / reference.activeMs,
  }));
}

/**
 * Many streams at once: the medians of a few processes.
 * @param {string} program
 * @param {number} bytes
 * @param {"four" | "event"} which
 */
function measureMany(program, bytes, which) {
  const rounds = Math.min(3, positive("rounds"));
  /** @type {Record<"wallMs" | "activeMs" | "p50Ms" | "p99Ms" | "rssBytes", number>[]} */
  const all = Array.from({ length: rounds }, () => measure("many.mjs", program, options.streams, which));
  /** @param {keyof (typeof all)[number]} name */
  const middle = (name) => median(all.map((one) => one[name]));
  const wallMs = middle("wallMs");
  return {
    wallMs,
    activeMs: middle("activeMs"),
    p50Ms: middle("p50Ms"),
    p99Ms: middle("p99Ms"),
    rssBytes: middle("rssBytes"),
    bytesPerSecond: ((bytes * positive("streams")) / wallMs) * 1000,
  };
}

/** Tool calls, by our bridge and by a plain server that does the same; the medians of a few processes each. */
function measureCalls() {
  /** @type {Record<"ours" | "node", Record<"medianMs" | "p99Ms", number>[]>} */
  const all = { ours: [], node: [] };
  for (let round = 0; round < Math.min(3, positive("rounds")); round += 1) {
    all.ours.push(measure("bridge.mjs", "ours", options.calls));
    all.node.push(measure("bridge.mjs", "node", options.calls));
  }
  /** @param {"ours" | "node"} which @param {"medianMs" | "p99Ms"} figure */
  const middle = (which, figure) => median(all[which].map((one) => one[figure]));
  const reference = middle("node", "medianMs");
  return [
    { name: "startCursorToolBridge", which: /** @type {const} */ ("ours") },
    { name: "plain node:http", which: /** @type {const} */ ("node") },
  ].map(({ name, which }) => {
    const medianMs = middle(which, "medianMs");
    return { name, medianMs, p99Ms: middle(which, "p99Ms"), ratio: medianMs / reference };
  });
}

/**
 * Sessions from their creation to their end, and the turn in them alone. The rows take turns.
 * @param {string} folder
 */
function measureSessions(folder) {
  const [program, top] = [agent(folder), worktree(folder, "sessions")];
  const rows = /** @type {const} */ ([
    { name: "a session with a tool, one turn", which: "tools" },
    { name: "a session without tools, one turn", which: "bare" },
    { name: "launchCursorPrompt alone", which: "turn" },
  ]);
  /** @typedef {"wallMs" | "busyMs" | "createMs" | "turnMs" | "disposeMs"} Figure */
  const rounds = Array.from({ length: Math.min(3, positive("rounds")) }, () =>
    rows.map(
      ({ which }) =>
        /** @type {Record<Figure, number>} */ (measure("sessions.mjs", program, top, options.cycles, which)),
    ),
  );
  return rows.map(({ name }, row) => {
    /** @param {Figure} figure */
    const middle = (figure) => median(rounds.map((round) => round[row]?.[figure] ?? Number.NaN));
    return {
      name,
      wallMs: middle("wallMs"),
      busyMs: middle("busyMs"),
      createMs: middle("createMs"),
      turnMs: middle("turnMs"),
      disposeMs: middle("disposeMs"),
    };
  });
}

/** @param {number} value */
const megabytes = (value) => (value / 1e6).toFixed(1);

/** Rows of text in columns: the first to the left, the others to the right. @param {string[][]} rows */
function table(rows) {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    console.log(`  ${cells.join("   ")}`);
  }
}

/** @param {number} ms */
const milliseconds = (ms) => `${ms.toFixed(2)} ms`;

/** @param {Awaited<ReturnType<typeof measureStaging>>} staging */
function printStaging(staging) {
  const { crowd } = staging;
  console.log(
    "\nA server staged in a git worktree and taken out again, medians; × is to the least that Node could do",
  );
  table([
    ["a session alone", milliseconds(staging.cycleMs), `${(staging.cycleMs / staging.leastMs).toFixed(2)} ×`],
    ["  of it until the server is staged", milliseconds(staging.stageMs), ""],
    [`  of it ${staging.syncs} syncs to the disk`, milliseconds(staging.syncMs), ""],
    [`  of it ${staging.gits} git processes`, milliseconds(staging.gitMs), ""],
    ["the least: as many git processes and syncs", milliseconds(staging.leastMs), ""],
    ["CPU time of this process", milliseconds(staging.cpuMs), ""],
    ["longest turn of the event loop", milliseconds(staging.longestTurnMs), ""],
    ["  the highest of all cycles", milliseconds(staging.highestTurnMs), ""],
    [`each of ${crowd.processes} processes' in one worktree`, milliseconds(crowd.cycleMs), ""],
    ["  CPU time of a process for its own", milliseconds(crowd.cpuMs), ""],
  ]);
}

/** @param {Awaited<ReturnType<typeof figures>>} all */
function print({ machine, transcript, streams, many, starts, staging, calls, sessions, load, built }) {
  console.log(`\nNode ${machine.node} on ${machine.cpu}, ${machine.cpus} processors`);
  console.log(`The addon: ${relative(root, built.file)}, ${megabytes(load.addonBytes)} MB`);
  if (built.debug) console.log("It has no optimizations, so these figures say nothing about speed.");
  console.log(
    `\nOne stream of ${megabytes(transcript.bytes)} MB in ${transcript.lines} lines, medians of ${options.rounds}; × is to the readline loop`,
  );
  table([
    ["", "throughput", "×", "main thread", "×"],
    ...streams.map((row) => [
      row.name,
      `${(row.bytesPerSecond / 1e6).toFixed(0)} MB/s`,
      row.throughputRatio.toFixed(2),
      `${row.activeMs.toFixed(0)} ms`,
      row.activeRatio.toFixed(2),
    ]),
  ]);
  console.log(`\n${options.streams} such streams at once`);
  table([
    ["", "throughput", "main thread", "loop delay p50", "p99", "memory over idle"],
    ...many.map(({ name, ...row }) => [
      name,
      `${(row.bytesPerSecond / 1e6).toFixed(0)} MB/s`,
      `${row.activeMs.toFixed(0)} ms`,
      `${row.p50Ms.toFixed(1)} ms`,
      `${row.p99Ms.toFixed(1)} ms`,
      `${megabytes(row.rssBytes)} MB`,
    ]),
  ]);
  console.log(
    `\n${options.starts} starts at once, by the memory of the host; a call holds up the event loop`,
  );
  table([
    ["", "host", "longest call", "highest", "all calls", "longest turn of the loop", "all done"],
    ...starts.map((row) => [
      row.name,
      row.heldMegabytes === 0 ? "small" : `${row.heldMegabytes} MB`,
      ...[row.longestCallMs, row.highestCallMs, row.callsMs, row.longestTurnMs, row.wallMs].map(
        (ms) => `${ms.toFixed(ms < 10 ? 2 : 0)} ms`,
      ),
    ]),
  ]);
  printStaging(staging);
  console.log("\nA tool call from another process, without the tool; × is to the plain server");
  table([
    ["", "median", "p99", "×"],
    ...calls.map(({ name, medianMs, p99Ms, ratio }) => [
      name,
      `${medianMs.toFixed(3)} ms`,
      `${p99Ms.toFixed(3)} ms`,
      ratio.toFixed(2),
    ]),
  ]);
  console.log("\nA session from its creation to its end, on an agent that answers at once, medians");
  table([
    ["", "wall", "main thread", "create", "turn", "dispose"],
    ...sessions.map(({ name, ...row }) => [
      name,
      ...[row.wallMs, row.busyMs, row.createMs, row.turnMs, row.disposeMs].map(milliseconds),
    ]),
  ]);
  console.log("\nLoading");
  const empty =
    load.emptyMs === undefined ? "left out: there is no C compiler `cc`" : `${load.emptyMs.toFixed(2)} ms`;
  table([
    ["the addon", `${load.addonMs.toFixed(2)} ms`],
    ["an empty addon", empty],
    ["the whole package", `${load.packageMs.toFixed(2)} ms`],
  ]);
}

/**
 * @param {string} folder
 * @param {{ file: string, debug: boolean }} built
 */
async function figures(folder, built) {
  const [session, program] = [join(folder, "session.jsonl"), join(folder, "replay")];
  const transcript = writeTranscript(session, positive("size") * 1e6);
  writeFileSync(program, `#!/bin/sh\nexec cat '${session}'\n`);
  chmodSync(program, 0o755);
  const processors = cpus();
  return {
    machine: {
      node: process.versions.node,
      cpu: processors[0]?.model ?? process.arch,
      cpus: processors.length,
    },
    built,
    transcript,
    streams: measureStreams(program, transcript.bytes),
    many: [
      { name: "four callbacks", ...measureMany(program, transcript.bytes, "four") },
      { name: "onEvent, payloads unread", ...measureMany(program, transcript.bytes, "event") },
    ],
    starts: measureStarts(folder, {
      atOnce: positive("starts"),
      heldMegabytes: positive("held"),
      rounds: Math.min(3, positive("rounds")),
    }),
    staging: await measureStaging(folder, {
      cycles: positive("cycles"),
      processes: 8,
      rounds: Math.min(3, positive("rounds")),
    }),
    calls: measureCalls(),
    sessions: measureSessions(folder),
    load: measureLoad(folder, built.file, positive("rounds") * 2 + 1),
  };
}

await runMain(async () => {
  if (process.platform === "win32")
    throw new Failure("The sessions are replayed by a shell script; Windows has none.");
  for (const name of NUMBERS) positive(name);
  const built = await addon();
  const folder = mkdtempSync(join(tmpdir(), "fusion-cursor-bench-"));
  try {
    const all = await figures(folder, built);
    print(all);
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(all, undefined, 2)}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
