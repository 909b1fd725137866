// `npm run setup`, and what `npm run demo` and `npm test` call first: makes a fresh clone ready.
// Installs and builds only what is missing or older than its sources; silent where there is nothing to do.
//
//   --no-build  only the versions and node_modules

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { capture, Failure, guard, isProgram, isStale, root, run, runMain, standIn } from "./common.mjs";
import { npmScript } from "./npm.mjs";

const CRATE = ["src", "build.rs", "Cargo.toml", "Cargo.lock"];

/** `1.95.0` → `[1, 95, 0]`. @param {string} version */
const numbers = (version) => version.split(".").map(Number);

/** True where version `a` is at least version `b`. @param {string} a @param {string} b */
function atLeast(a, b) {
  const have = numbers(a);
  const difference = numbers(b).map((part, index) => (have[index] ?? 0) - part);
  return (difference.find((part) => part !== 0) ?? 0) >= 0;
}

/** Node as package.json asks for it. */
function checkNode() {
  const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const want = engines.node.replace(">=", "");
  if (atLeast(process.versions.node, want)) return;
  throw new Failure(
    `Node ${want} or later is needed; this is ${process.versions.node}. Get it from https://nodejs.org`,
  );
}

/** Rust as Cargo.toml asks for it. Called only before something is built: asking rustup takes a while. */
export function checkRust() {
  const want = readFileSync(join(root, "Cargo.toml"), "utf8").match(/^rust-version = "(.+)"$/m)?.[1] ?? "";
  const get = "Get it from https://rustup.rs";
  // rustc, and not cargo: an old compiler beside a new cargo is what fails late and unclearly.
  const have = capture("cargo", "--version") && capture("rustc", "--version")?.split(" ")[1];
  if (have === undefined)
    throw new Failure(`Rust ${want} or later is needed, and no working cargo and rustc are in PATH. ${get}`);
  // A nightly is `1.97.0-nightly`.
  if (!atLeast(have.replace(/-.*/, ""), want))
    throw new Failure(`Rust ${want} or later is needed; this is ${have}. ${get}, or run: rustup update`);
}

/** node_modules as package-lock.json says. npm writes the hidden lock file last, so its time is that of the install. */
async function installModules() {
  if (!isStale("node_modules/.package-lock.json", "package-lock.json")) return;
  console.log("Installing the development packages (npm ci)…");
  // The level: warnings about the engines of packages that are not run here say nothing to a reader.
  await run(process.execPath, [npmScript(), "ci", "--loglevel=error"]);
}

/** The addon, whose name ends in the platform, the processor, and on some platforms the C library. */
function addon() {
  const start = `fusion-cursor-native.${process.platform}-${process.arch}`;
  return readdirSync(root).find((name) => name.startsWith(start) && name.endsWith(".node")) ?? "none.node";
}

/** What is missing or stale, as functions that make it. */
async function pending() {
  /** @type {[string, () => Promise<void>][]} */
  const steps = [];
  const build = await import("./build.mjs");
  if (isStale(addon(), ...CRATE)) {
    steps.push(["Building the addon…", build.buildAddon]);
  }
  const programs = guard === undefined ? [standIn] : [standIn, guard];
  const sources = [...CRATE, "guard", "testing/agent", "testing/scenarios"];
  if (programs.some((program) => isStale(program, ...sources))) {
    steps.push(["Building the guard and the stand-in agent…", build.buildPrograms]);
  }
  const rust = steps.length > 0;
  if (
    isStale("native.js", "lib/loader", "package.json") ||
    isStale("index.js", "lib") ||
    isStale("dist/fusion-cursor.mjs", "lib", "cli", "scripts/bundle.mjs")
  ) {
    steps.push(["Bundling the JavaScript…", build.bundle]);
  }
  return { steps, rust };
}

/** Make the clone ready. */
export async function setup({ build = true } = {}) {
  checkNode();
  await installModules();
  if (!build) return;
  const { steps, rust } = await pending();
  if (rust) checkRust();
  for (const [heading, step] of steps) {
    console.log(heading);
    await step();
  }
}

if (isProgram(import.meta.url)) await runMain(() => setup({ build: !process.argv.includes("--no-build") }));
