// A soak: many turns on the stand-in agent in this one process, a third of them aborted at random moments, a third
// with agents that misbehave. It prints one line of JSON: what became of the turns, and what was left when all
// were over.
//
//   node --expose-gc --max-semi-space-size=2 scripts/soak.mjs [TURNS] [SEED]
//
// With the memory of both heaps given back at once, what it holds is what it needs; see the test.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { root, runMain } from "./common.mjs";
import { bad, good } from "./soak/agents.mjs";
import { holdings, marked } from "./soak/machine.mjs";

const require = createRequire(import.meta.url);
/** @type {typeof import("fusion-cursor-native")} */
const { launchCursorPrompt } = require(root);
const { standInAgentPath } = require(join(root, "testing"));

const [turns = 1000, seed = Math.floor(Math.random() * 2 ** 31)] = process.argv.slice(2).map(Number);
/** At once. */
const LANES = 12;
/** Between two looks at the memory, at which nothing runs. */
const ROUND = 100;
/** One that drives the turns, and at most eight for what may block, which stay once there was work for them all. */
const RUNTIME_THREADS = 9;
/** How long anything may take to go away when all turns are over. */
const PATIENCE_MS = 20_000;

/** A mulberry32: the same numbers for the same seed. */
let state = seed;
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}

/** @template T @param {Record<string, T>} from @returns {[string, T]} */
function anyOf(from) {
  const all = Object.entries(from);
  return /** @type {[string, T]} */ (all[Math.floor(random() * all.length)]);
}

const folder = realpathSync(mkdtempSync(join(tmpdir(), "fusion-cursor-soak-")));
/** @type {Map<string, number>} */
const outcomes = new Map();
/** @type {string[]} */
const wrong = [];

/**
 * @typedef {object} Plan
 * @property {string} name
 * @property {import("./soak/agents.mjs").Agent} agent
 * @property {number} [abortAfterMs]
 */

/** One third behaves, one misbehaves, one is aborted, whichever it does. @param {number} number @returns {Plan} */
function plan(number) {
  const third = number % 3;
  const [name, agent] = anyOf(third === 0 || (third === 2 && random() < 0.5) ? good : bad);
  // More of them early: a turn is short.
  return { name, agent, ...(third === 2 ? { abortAfterMs: random() ** 2 * 120 } : {}) };
}

/** @param {Plan} plan @param {string} cwd */
async function turn({ name, agent, abortAfterMs }, cwd) {
  const controller = new AbortController();
  const aborting =
    abortAfterMs === undefined ? undefined : setTimeout(() => controller.abort(), abortAfterMs);
  let seen = 0;
  const input = {
    cwd,
    prompt: name === "one that never reads" ? "x".repeat(1 << 20) : name,
    binary: standInAgentPath(),
    env: { FUSION_CURSOR_SCENARIO: join(folder, `${name}.json`) },
    signal: controller.signal,
    exitGraceMs: 50,
    killGraceMs: 50,
    maxLineBytes: 1 << 20,
    onEvent: () => {
      seen += 1;
    },
    ...agent.limits,
  };
  const end = await launchCursorPrompt(input).then(
    () => "done",
    (error) => String(error.code ?? error),
  );
  clearTimeout(aborting);
  outcomes.set(end, (outcomes.get(end) ?? 0) + 1);
  const allowed = abortAfterMs === undefined ? agent.ends : [...agent.ends, "CURSOR_ABORTED"];
  if (!allowed.includes(end)) wrong.push(`${name}: ${end}`);
  if (end === "done" && seen < 2) wrong.push(`${name}: ${seen} events`);
}

/** Run these in lanes, each with a workspace of its own. @param {Plan[]} plans */
async function runAll(plans) {
  // Those that take long by design begin first, so that nobody waits for them at the end.
  const waiting = plans.toSorted((a, b) => Number(b.agent.slow ?? false) - Number(a.agent.slow ?? false));
  const lane = async (/** @type {string} */ cwd) => {
    mkdirSync(cwd, { recursive: true });
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await turn(next, cwd);
  };
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(join(folder, `lane-${number}`))));
}

/**
 * Wait until there is no more of these than there was.
 * @param {ReturnType<typeof holdings>} before
 * @param {("children" | "zombies" | "descriptors" | "runtime" | "threads")[]} names
 */
async function settled(before, names) {
  const giveUp = performance.now() + PATIENCE_MS;
  for (;;) {
    const now = holdings();
    const over = names.some((name) => (now?.[name] ?? 0) > (before?.[name] ?? 0));
    if (!over || performance.now() > giveUp) return now;
    await sleep(20);
  }
}

/** Memory when nothing runs. */
async function memory() {
  // The second time, what the first one's finalizers let go of.
  for (let time = 0; time < 2; time += 1) {
    globalThis.gc?.();
    await sleep(20);
  }
  return process.memoryUsage.rss();
}

/** @param {number[]} values */
function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

await runMain(async () => {
  console.error(`seed ${seed}`);
  for (const [name, { turn }] of Object.entries({ ...good, ...bad })) {
    writeFileSync(
      join(folder, `${name}.json`),
      JSON.stringify({ turn, ...(name === "one that never reads" ? { stdin: "never" } : {}) }),
    );
  }
  try {
    // Threads and buffers that stay are made by the first turns.
    await runAll(
      Array.from({ length: 2 * LANES }, () => ({
        name: "plain",
        agent: /** @type {import("./soak/agents.mjs").Agent} */ (good.plain),
      })),
    );
    outcomes.clear();
    const before = holdings();
    const rss = [];
    for (let number = 0; number < turns; number += ROUND) {
      const size = Math.min(ROUND, turns - number);
      await runAll(Array.from({ length: size }, (_, inRound) => plan(number + inRound)));
      // An abort rejects before its processes have gone.
      await settled(before, ["children", "descriptors"]);
      rss.push(await memory());
    }
    // The first two rounds fill caches and pools; then the beginning and the end of the rest are compared.
    const rest = rss.slice(Math.min(2, rss.length - 1));
    const some = Math.ceil(rest.length / 3);
    const grown = median(rest.slice(-some)) - median(rest.slice(0, some));
    const allowed = before && { ...before, runtime: RUNTIME_THREADS };
    // What tears down has a thread that is its maker's namesake for a moment, and gone in the next.
    const after = await settled(allowed, ["children", "zombies", "descriptors", "runtime", "threads"]);
    const left = marked(folder);
    const ended = Object.fromEntries(outcomes);
    console.log(
      JSON.stringify({
        seed,
        turns,
        outcomes: ended,
        wrong,
        before: allowed,
        after,
        left: left.length,
        grown,
        rss,
      }),
    );
  } finally {
    for (const pid of marked(folder)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has gone by itself.
      }
    }
    rmSync(folder, { recursive: true, force: true });
  }
});
