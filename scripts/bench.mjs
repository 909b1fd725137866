// `npm run bench`: how fast streams are read, for how long the event loop is held up, what a start, a staged server, a
// tool call, a probe and a session cost, and how each grows, on the release addon. Needs no network and no account:
// programs that do nothing of their own take the agent's place. It prints one table, in which every figure stands
// beside a yardstick that was measured in the same run, in turns with it. The figures are this machine's at that hour;
// the ratios say more. docs/performance.md tells how to read them.
//
//   --only a,b     only these parts
//   --list         the names of the parts
//   --rounds N     every figure is the median of so many
//   --quick        little of everything: it shows that all works, and no more
//   --json FILE    write the figures there too
//   --as-built     measure the addon that is there, even one without optimizations

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir, totalmem } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { parts } from "./bench/parts.mjs";
import { table } from "./bench/table.mjs";
import { buildAddon } from "./build.mjs";
import { capture, Failure, root, runMain } from "./common.mjs";
import { setup } from "./setup.mjs";

/** @type {import("./bench/figures.mjs").Options} */
const FULL = {
  rounds: 3,
  streamMegabytes: 20,
  laneMegabytes: 5,
  lanes: [1, 4, 16, 64],
  streams: 64,
  heldMegabytes: [0, 256, 512, 1024, 1536],
  starts: 20,
  cycles: 40,
  processes: [1, 4, 16],
  worktrees: [1, 10, 20, 40, 80],
  calls: 3000,
  probes: 5,
  loads: 15,
  sessions: [10, 20, 40, 80],
};

/** @type {import("./bench/figures.mjs").Options} */
const QUICK = {
  rounds: 1,
  streamMegabytes: 0.1,
  laneMegabytes: 0.1,
  lanes: [1, 4],
  streams: 4,
  heldMegabytes: [0, 16],
  starts: 2,
  cycles: 3,
  processes: [1, 2],
  worktrees: [1, 2],
  calls: 20,
  probes: 1,
  loads: 1,
  sessions: [1, 2],
};

/**
 * What a Node of its own prints for an expression: this one must not hold an addon that is built anew.
 * @param {string} expression
 */
function ask(expression) {
  const printed = capture(process.execPath, "--print", expression);
  if (printed === undefined) throw new Failure(`The addon does not load. To see why: node -e 'require(".")'`);
  return printed;
}

const isDebug = () => ask('require("./native.js").coreIsDebug()') === "true";

/** The addon that is measured. @param {boolean} asBuilt */
async function addon(asBuilt) {
  await setup({ build: !asBuilt });
  if (!asBuilt && isDebug()) {
    console.log("The addon that is there has no optimizations. Building one that has…");
    await buildAddon();
  }
  return { file: ask('require(".").nativeInfo().file'), debug: isDebug() };
}

/** The parts that the command line asks for. @param {string | undefined} only */
function chosen(only) {
  const names = only?.split(",") ?? Object.keys(parts);
  const unknown = names.filter((name) => !(name in parts));
  if (unknown.length > 0)
    throw new Failure(`--only knows no ${unknown.join(", ")}. There are: ${Object.keys(parts).join(", ")}.`);
  return Object.entries(parts).filter(([name]) => names.includes(name));
}

/** @param {{ quick: boolean, rounds?: string }} asked */
function optionsFor({ quick, rounds }) {
  const options = quick ? QUICK : FULL;
  if (rounds === undefined) return options;
  const number = Number(rounds);
  if (!(Number.isInteger(number) && number > 0))
    throw new Failure(`--rounds takes a whole number above 0, not ${rounds}.`);
  return { ...options, rounds: number };
}

/** What was measured where, with which load on it. */
function circumstances() {
  const processors = cpus();
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: {
      system: `${process.platform} ${process.arch}`,
      processor: processors[0]?.model ?? process.arch,
      processors: processors.length,
      memoryMegabytes: Math.round(totalmem() / 1e6),
      load: loadavg().map((load) => Number(load.toFixed(2))),
    },
    versions: {
      package: version,
      node: process.versions.node,
      git: capture("git", "--version")?.replace("git version ", ""),
    },
  };
}

function commandLine() {
  try {
    return parseArgs({
      options: {
        only: { type: "string" },
        list: { type: "boolean", default: false },
        rounds: { type: "string" },
        quick: { type: "boolean", default: false },
        json: { type: "string" },
        "as-built": { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new Failure(error instanceof Error ? error.message : String(error));
  }
}

await runMain(async () => {
  const values = commandLine();
  if (values.list) {
    for (const [name, { what }] of Object.entries(parts)) console.log(`${name.padEnd(8)} ${what}`);
    return;
  }
  const [wanted, options] = [chosen(values.only), optionsFor(values)];
  if (process.platform === "win32")
    throw new Failure("The agents of the bench are shell scripts; Windows has none.");
  const { file, debug } = await addon(values["as-built"]);
  const about = circumstances();
  console.log(
    `Node ${about.versions.node} on ${about.machine.processor}, ${about.machine.processors} processors`,
  );
  console.log(`The addon: ${relative(root, file)}`);
  if (debug) console.log("It has no optimizations, so these figures say nothing about speed.");
  const folder = mkdtempSync(join(tmpdir(), "fusion-cursor-bench-"));
  const rows = [];
  try {
    for (const [name, { what, measure }] of wanted) {
      if (process.stderr.isTTY) console.error(`${name}: ${what}…`);
      rows.push(...(await measure({ folder, addon: file, options })));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`\n${table(rows).join("\n")}`);
  if (values.json !== undefined) {
    const all = { format: 1, ...about, debug, options, rows };
    writeFileSync(values.json, `${JSON.stringify(all, undefined, 2)}\n`);
  }
});
