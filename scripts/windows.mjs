// The Windows version, built and run on Linux under Wine: `node scripts/windows.mjs [WHAT]`.
//
//   (nothing)              both of the following
//   rust [ARGS]            the Rust tests; ARGS go to `cargo test`, such as: --lib process:: -- --nocapture
//   js [ARGS]              the JavaScript tests in Node for Windows; ARGS go to `vitest run`
//   run PROGRAM [ARGS]     any program: a .exe by its path, or `node` for Node for Windows with the package around it
//   prepare                only what the others need first
//   versions               what is used, in which version
//
// Needs, on Debian: apt-get install wine wine64 gcc-mingw-w64-x86-64, and rustc-web cargo-web rust-web-src where no
// Rust at hand has the target. All else goes into .tools/windows/, and only one of these runs at a time in a
// checkout: at its end it ends every process of its Wine.

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bounded } from "./bounded.mjs";
import { capture, Failure, isProgram, runMain } from "./common.mjs";
import { checkout, node, prepareCheckout } from "./windows/checkout.mjs";
import { PACKAGES, toolchainFor, WINDOWS, windowsDir, windowsToolchain } from "./windows/toolchain.mjs";
import { endWine, prepareWine, wine, wineEnv, wineVersion } from "./windows/wine.mjs";

/**
 * Run the Rust tests of the core, and resolve with what cargo says of them.
 * @param {string[]} args
 */
async function rust(args = []) {
  const { cargo, flags, env } = await windowsToolchain();
  const core = ["--locked", "--no-default-features", "--features", "failpoints"];
  const all = ["test", "--no-fail-fast", "--target", WINDOWS, ...flags, ...core, ...args];
  const runner = {
    CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER: "wine",
    ...wineEnv,
    HOME: env.HOME,
    PATH: env.PATH,
  };
  return bounded(cargo, all, { env: { ...env, ...runner }, seconds: 1200 });
}

/**
 * What vitest says at its end.
 * @typedef {{ numPassedTests: number, numFailedTests: number, numPendingTests: number, numTodoTests: number }} Report
 */

/**
 * Run the JavaScript tests, and resolve with vitest's report.
 * @param {string[]} args
 * @returns {Promise<Report>}
 */
async function js(args = []) {
  await prepareCheckout();
  const report = join(checkout, "report.json");
  rmSync(report, { force: true });
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--no-color"];
  const reporters = ["--reporter=default", "--reporter=json", "--outputFile.json=report.json"];
  let failure;
  try {
    await wineNode([...vitest, ...reporters, ...args], 600);
  } catch (error) {
    failure = error;
  }
  let said;
  try {
    said = JSON.parse(readFileSync(report, "utf8"));
  } catch {
    throw failure ?? new Failure("vitest has left no report.");
  }
  if (failure !== undefined) throw Object.assign(/** @type {object} */ (failure), { report: said });
  return said;
}

/**
 * Run Node for Windows in the checkout. Under Wine its output must be a file: it cannot open a pipe of Linux.
 * @param {string[]} args
 * @param {number} seconds
 */
function wineNode(args, seconds) {
  return wine([node, ...args], { cwd: checkout, seconds, file: join(windowsDir, "output.txt") });
}

/** The versions of everything that the tests stand on. */
export function versions() {
  const lines = [`wine ${wineVersion()}`, toolchainFor(WINDOWS).version];
  for (const name of Object.values(PACKAGES).flat()) {
    const version = capture("dpkg-query", "--show", name);
    if (version !== undefined) lines.push(version.replace("\t", " "));
  }
  const { optionalDependencies } = JSON.parse(
    readFileSync(new URL("./windows/node/package.json", import.meta.url), "utf8"),
  );
  for (const [name, version] of Object.entries(optionalDependencies)) lines.push(`${name} ${version}`);
  return lines;
}

/**
 * All of it, for `npm test`. Whatever happens, nothing of Wine runs on.
 * @param {{ rust: (running: Promise<string>) => Promise<unknown>, js: (running: Promise<Report>) => Promise<unknown> }} counted
 */
export async function windows(counted) {
  for (const line of versions()) console.log(line);
  await prepareWine();
  try {
    await counted.rust(rust());
    await counted.js(js());
  } finally {
    endWine();
  }
}

/** @param {string[]} args */
async function main([what, ...args]) {
  if (what === "versions") return console.log(versions().join("\n"));
  await prepareWine();
  try {
    if (what === undefined) {
      await rust();
      await js();
    } else if (what === "rust") await rust(args);
    else if (what === "js") await js(args);
    else if (what === "run" && args[0] === "node") await wineNode(args.slice(1), 600);
    else if (what === "run" && args.length > 0) await wine(args, { seconds: 600 });
    else if (what === "prepare") await prepareCheckout();
    else throw new Failure(`What is ${what}? The head of scripts/windows.mjs says what there is.`);
  } finally {
    endWine();
  }
}

if (isProgram(import.meta.url)) await runMain(() => main(process.argv.slice(2)));
