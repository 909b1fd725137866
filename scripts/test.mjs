// `npm test` and `npm run check`: every check, in order, up to the first that fails.
//
//   --fast         only those that need no build (`npm run check`)
//   --only a,b     only these stages
//   --extended     also those that are left out otherwise, for the time that they take
//   --list         the names of the stages
//
// The last line is `N passed, N failed`: the tests of Rust and of JavaScript together, and a stage that fails without a
// test of its own counts as one that failed. A tool that is missing is named and its stage left out; with CI=true it is
// a failure.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { bounded } from "./bounded.mjs";
import { buildAddon, buildPanicsAddon, buildPrograms, bundle } from "./build.mjs";
import { Failure, generatedFiles, panicsAddon, root, run, runMain, runModule } from "./common.mjs";
import { emulated } from "./emulated.mjs";
import { testInstall } from "./install.mjs";
import { checkPacked } from "./packed.mjs";
import { checkPlatforms } from "./platforms.mjs";
import { testRuntimes } from "./runtimes.mjs";
import { checkRust, setup } from "./setup.mjs";
import { checkTargets } from "./targets.mjs";
import { checkThirdParty } from "./third-party.mjs";
import { hasTool, howToGet } from "./tools.mjs";
import { windows } from "./windows.mjs";
import { checkWorkflows } from "./workflows.mjs";

const ci = process.env.CI === "true";
const tests = { passed: 0, failed: 0, skipped: 0 };
/** @type {string[]} */
const leftOut = [];

/**
 * Every stage: its name, what it does, the tools it cannot do without, whether it needs no build, and whether it is
 * left out unless asked for.
 * @typedef {{ name: string, what: string, tools?: import("./tools.mjs").Tool[], fast?: boolean, extended?: boolean, run: () => unknown }} Stage
 * @type {Stage[]}
 */
const stages = [
  {
    name: "fmt",
    what: "Rust formatting",
    tools: ["rustfmt"],
    fast: true,
    run: rustfmt,
  },
  {
    name: "clippy",
    what: "Rust lints, for each set of features",
    tools: ["clippy"],
    fast: true,
    run: clippy,
  },
  { name: "doc", what: "Rust documentation", run: doc },
  { name: "rust", what: "Rust tests, without Node", run: rustTests },
  {
    name: "build",
    what: "Addon, guard, stand-in agent, bundles; generated files are up to date",
    run: build,
  },
  { name: "biome", what: "JavaScript and TypeScript lints and formatting", fast: true, run: biome },
  { name: "tsc", what: "Types", fast: true, run: () => runModule("typescript/bin/tsc", ["--noEmit"]) },
  { name: "vitest", what: "JavaScript tests, on the addon", run: vitest },
  {
    name: "workflows",
    what: "The workflows of the repository",
    tools: ["zizmor"],
    fast: true,
    run: checkWorkflows,
  },
  {
    name: "runtimes",
    what: "JavaScript tests in each Node, in Bun and in Deno; bundles",
    run: () => reported(testRuntimes()),
  },
  {
    name: "install",
    what: "The packages, as npm, pnpm and Yarn install them",
    run: () => reported(testInstall()),
  },
  {
    name: "windows",
    what: "The Windows version under Wine: Rust tests, and JavaScript tests on the addon",
    tools: ["wine", "mingw"],
    run: () => windows({ rust: counted, js: reported }),
  },
  { name: "targets", what: "Types for every other target", extended: true, run: () => checkTargets() },
  {
    name: "emulated",
    what: "arm64 and musl, on this machine",
    tools: ["qemu-aarch64", "musl-gcc"],
    extended: true,
    run: () => emulated(counted),
  },
  {
    name: "written",
    what: "What scripts write from package.json and Cargo.lock is up to date",
    fast: true,
    run: written,
  },
  {
    name: "soak",
    what: "Everything at once and at random, for five minutes",
    extended: true,
    // A seed of the day, so that a failure in the evening is that of the morning.
    run: () => bounded(process.execPath, ["scripts/soak.mjs", "5", "--seed", today()], { seconds: 1200 }),
  },
  {
    name: "publint",
    what: "What package.json promises",
    run: () => runModule("publint/src/cli.js", ["run", "--strict"]),
  },
  { name: "packed", what: "The files of the packages", run: checkPacked },
  {
    name: "deny",
    what: "Licences and sources of the dependencies",
    tools: ["cargo-deny"],
    fast: true,
    run: deny,
  },
  { name: "typos", what: "Spelling", tools: ["typos"], fast: true, run: () => run("typos", []) },
];

async function rustfmt() {
  await run("cargo", ["fmt", "--check"]);
  await run("cargo", ["fmt", "--check", "--manifest-path", "fuzz/Cargo.toml"]);
}

async function clippy() {
  const core = "--no-default-features";
  for (const features of [[core], [core, "--features", "failpoints"], [], ["--features", "panic-hooks"]]) {
    await run("cargo", ["clippy", "--locked", "--all-targets", ...features, "--", "-D", "warnings"]);
  }
}

function doc() {
  return run("cargo", ["doc", "--locked", "--no-deps", "--lib"], { RUSTDOCFLAGS: "-D warnings" });
}

async function rustTests() {
  const core = ["--locked", "--no-default-features", "--features", "failpoints"];
  if (wanted("cargo-nextest")) {
    const profile = ci ? ["--profile", "ci"] : [];
    await counted(run("cargo", ["nextest", "run", "--no-fail-fast", ...profile, ...core]));
    // nextest runs no documentation tests.
    await counted(run("cargo", ["test", "--doc", ...core]));
  } else {
    await counted(run("cargo", ["test", "--no-fail-fast", ...core]));
  }
}

/**
 * Add up the tests that the output of nextest or `cargo test` tells of, whether they passed or not.
 * @param {Promise<string>} running
 */
async function counted(running) {
  const output = await running.catch((failure) => {
    count(failure.output ?? "");
    throw failure;
  });
  count(output);
}

/** @param {string} output */
function count(output) {
  const lines = output.match(/^ *Summary \[.*tests? run:.*$|^test result: .*$/gm) ?? [];
  for (const line of lines) {
    for (const [, number, kind] of line.matchAll(
      /(\d+) (passed|failed|exec failed|timed out|skipped|ignored)\b/g,
    )) {
      const passed = kind === "passed";
      const skipped = kind === "skipped" || kind === "ignored";
      tests[passed ? "passed" : skipped ? "skipped" : "failed"] += Number(number);
    }
  }
}

/**
 * Build everything, and fail where that changes a generated file that git keeps. The files are compared with
 * what they were before the build, so a tree with uncommitted work passes as long as it is built.
 */
async function build() {
  const before = generatedFiles.map(contents);
  await buildAddon();
  await buildPrograms();
  await bundle();
  await buildPanicsAddon();
  const changed = generatedFiles.filter((file, index) => contents(file) !== before[index]);
  if (changed.length > 0)
    throw new Failure(`The build has changed ${changed.join(", ")}. Commit the new text with its source.`);
  if (ci) await run("git", ["diff", "--exit-code", "--", ...generatedFiles]);
}

/**
 * The text of a file, by its absolute path or its path from the root; `undefined` where there is none.
 * @param {string} file
 */
function contents(file) {
  try {
    return readFileSync(resolve(root, file), "utf8");
  } catch {
    return undefined;
  }
}

/** The packages of the platforms, the table of them, and the licences of others. */
function written() {
  checkPlatforms();
  checkThirdParty();
}

function biome() {
  return runModule("@biomejs/biome/bin/biome", ["check", "--error-on-warnings", "--no-errors-on-unmatched"]);
}

async function vitest() {
  const folder = mkdtempSync(join(tmpdir(), "fusion-cursor-vitest-"));
  const report = join(folder, "report.json");
  const options = ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  try {
    await runModule("vitest/vitest.mjs", options, { FUSION_CURSOR_PANICS_ADDON: panicsAddon });
  } finally {
    const text = contents(report);
    if (text !== undefined) addReport(JSON.parse(text));
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Add up the tests of a report of vitest. @param {import("./windows.mjs").Report} report */
function addReport({ numPassedTests, numFailedTests, numPendingTests, numTodoTests }) {
  tests.passed += numPassedTests;
  tests.failed += numFailedTests;
  tests.skipped += numPendingTests + numTodoTests;
}

/**
 * Add up the tests of a run that resolves with its report, or rejects with one on the failure.
 * @param {Promise<import("./windows.mjs").Report>} running
 */
async function reported(running) {
  const report = await running.catch((failure) => {
    if (failure.report !== undefined) addReport(failure.report);
    throw failure;
  });
  addReport(report);
}

/** As in `20261201`. */
function today() {
  return new Date().toISOString().slice(0, 10).replaceAll("-", "");
}

function deny() {
  // Not `advisories`: its answer changes without a change here. `npm run audit` asks for them.
  return run("cargo-deny", ["--all-features", "check", "bans", "licenses", "sources"]);
}

/**
 * True where the tool is there. Where it is not: noted, and in CI a failure.
 * @param {import("./tools.mjs").Tool} name
 */
function wanted(name) {
  if (hasTool(name)) return true;
  const how = `${name} is missing. To get it: ${howToGet(name)}`;
  if (ci) throw new Failure(how);
  if (!leftOut.includes(how)) leftOut.push(how);
  return false;
}

/** The stages that the command line asks for. @param {string[]} args */
function chosen(args) {
  if (args.includes("--fast")) return stages.filter((stage) => stage.fast);
  const at = args.indexOf("--only");
  if (at === -1) {
    const extended = args.includes("--extended") || process.env.FUSION_CURSOR_EXTENDED === "1";
    return stages.filter((stage) => extended || !stage.extended);
  }
  const names = (args[at + 1] ?? "").split(",");
  const unknown = names.filter((name) => !stages.some((stage) => stage.name === name));
  if (unknown.length > 0) throw new Failure(`No such stage: ${unknown.join(", ")}. See --list.`);
  return stages.filter((stage) => names.includes(stage.name));
}

/** Run one stage; the line for the summary. @param {Stage} stage @returns {Promise<{ line: string, error?: unknown }>} */
async function runStage(stage) {
  console.log(`\n━━ ${stage.name}: ${stage.what}`);
  const start = performance.now();
  const line = (/** @type {string} */ sign, /** @type {string} */ more) =>
    `  ${sign} ${stage.name.padEnd(9)} ${more}`;
  try {
    const missing = (stage.tools ?? []).filter((tool) => !wanted(tool));
    if (missing.length > 0) return { line: line("–", `left out: no ${missing.join(", no ")}`) };
    await stage.run();
  } catch (error) {
    return { line: line("✗", "failed"), error };
  }
  return { line: line("✓", `${((performance.now() - start) / 1000).toFixed(1)} s`) };
}

async function main() {
  const args = process.argv.slice(2);
  if (args.includes("--list")) {
    for (const stage of stages) console.log(`${stage.name.padEnd(9)} ${stage.what}`);
    return;
  }
  const picked = chosen(args);
  await setup({ build: false });
  checkRust();
  const lines = [];
  let failure;
  for (const stage of picked) {
    const { line, error } = await runStage(stage);
    lines.push(line);
    if (error === undefined) continue;
    failure = { stage, error };
    break;
  }
  console.log(`\n━━ Summary\n${lines.join("\n")}`);
  for (const how of leftOut) console.log(`Left out: ${how}`);
  if (tests.skipped > 0) console.log(`Tests skipped: ${tests.skipped}`);
  if (failure !== undefined) {
    const { stage, error } = failure;
    console.log(`The stage ${stage.name} failed, and what comes after it did not run.`);
    console.log(error instanceof Failure ? error.message : error);
    console.log(`Run it alone with: node scripts/test.mjs --only ${stage.name}`);
    process.exitCode = 1;
    tests.failed = Math.max(tests.failed, 1);
  }
  console.log(`${tests.passed} passed, ${tests.failed} failed`);
}

await runMain(main);
