// The soak itself: rounds in which everybody acts, and between them the looks at what is left.

import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { root } from "../common.mjs";
import { Acts } from "./acts.mjs";
import { writeScenarios } from "./agents.mjs";
import { faults, leak } from "./faults.mjs";
import { Ground } from "./ground.mjs";
import { host, worker } from "./hosts.mjs";
import { Log } from "./log.mjs";
import { descriptors, holdings, marked } from "./machine.mjs";
import { grown, LEAST, mega, sample } from "./memory.mjs";
import { Operator } from "./operator.mjs";
import { Random } from "./random.mjs";

const require = createRequire(import.meta.url);

/** At once in this process. */
const LANES = 10;
const ROUND_MS = 8000;
/** One that drives the turns, and at most eight for what may block, which stay once there was work for them all. */
const RUNTIME_THREADS = 9;
/** How long anything may take to go away when all is over. */
const PATIENCE_MS = 30_000;

/** @typedef {{ minutes: number, seed: number, json: boolean, inject: string[] }} Options */

/** True where all was well. @param {Options} options */
export async function soak(options) {
  const again = `npm run soak -- ${options.minutes} --seed ${options.seed}`;
  console.log(`seed ${options.seed}; the same again: ${again}`);
  const base = realpathSync(mkdtempSync(join(tmpdir(), "fusion-cursor-soak-")));
  const before = process.env.TMPDIR;
  const temp = join(base, "temp");
  mkdirSync(temp);
  // Of everybody here, and what they are found by.
  process.env.TMPDIR = temp;
  const stage = new Stage(options, base, temp);
  try {
    await stage.play();
  } finally {
    stage.end();
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(base, { recursive: true, force: true });
  }
  stage.tell();
  const wrong = stage.log.wrong.length;
  const rounds = stage.samples.length;
  if (rounds < LEAST)
    console.log(
      `Whether memory grows was not looked at: ${rounds} rounds say nothing, ${LEAST} do. Take more minutes.`,
    );
  console.log(
    wrong === 0
      ? "Nothing was left, and nothing was wrong."
      : `${wrong + stage.log.more} things were wrong. Again: ${again}`,
  );
  if (options.json)
    console.log(
      JSON.stringify({
        seed: options.seed,
        ...stage.log.report(),
        rounds: stage.samples.length,
        samples: stage.samples,
      }),
    );
  return wrong === 0;
}

class Stage {
  log = new Log();
  /** @type {import("./memory.mjs").Sample[]} */
  samples = [];
  #options;
  #temp;
  #base;
  #random;
  #cursor;
  #ground;
  #world;
  /** @type {Operator[]} */
  #operators;
  /** @type {ReturnType<typeof holdings>} */
  #before;
  #descriptors = descriptors();
  #told = 0;
  /** The guard of this process, which stays as long as it. @type {number[]} */
  #ours = [];

  /** @param {Options} options @param {string} base @param {string} temp */
  constructor(options, base, temp) {
    this.#options = options;
    this.#temp = temp;
    this.#base = base;
    this.#random = new Random(options.seed);
    /** @type {typeof import("fusion-cursor-native")} */
    this.#cursor = require(root);
    this.#ground = new Ground(base);
    const { places } = this.#ground;
    const scenarios = join(base, "scenarios");
    mkdirSync(scenarios);
    writeScenarios(scenarios);
    const { standInAgentPath } = require(join(root, "testing"));
    this.#world = { places, scenarios, agent: standInAgentPath(), programs: programsIn(base) };
    this.#operators = places.map(
      (place) =>
        new Operator(
          place,
          this.#random.fork(`operator-${place.name}`),
          this.log,
          join(base, `${place.name}.new`),
        ),
    );
    process.on("unhandledRejection", (error) =>
      this.log.fail(`an unhandled rejection: ${/** @type {Error} */ (error)?.stack ?? error}`),
    );
  }

  async play() {
    const until = performance.now() + this.#options.minutes * 60_000;
    const acts = new Acts(this.#cursor, this.#world, this.log);
    // Threads and buffers that stay are made by the first acts, and so is the guard; and the descriptor that Node puts
    // aside with its first pipe.
    for (const place of this.#ground.places) await this.#ground.look(place, this.log);
    await acts.session(new Random(1));
    await acts.turn(new Random(2));
    this.#ours = marked(this.#base);
    await sleep(500);
    const now = holdings();
    this.#before = now && { ...now, runtime: RUNTIME_THREADS };
    this.#descriptors = descriptors();
    const most = Math.min(ROUND_MS, Math.max(1000, this.#options.minutes * 15_000));
    for (let round = 0, last = false; !last && this.log.wrong.length <= 20; round += 1) {
      const end = Math.min(performance.now() + most, Math.max(until, performance.now() + 1000));
      // In every third, nothing happens that has to be put in order.
      const gently = round % 3 === 1;
      await this.#round(acts, this.#random.fork(`round-${round}`), end, gently);
      last = performance.now() >= until;
      await this.#rest(last, gently);
      this.#tellRound(round);
    }
    for (const what of grown(this.samples)) this.log.fail(what);
    const lost = this.#operators.reduce((sum, { lost }) => sum + lost, 0);
    if (lost > 0) this.log.count("operator", "saved again, overwritten in the same moment", lost);
  }

  /** Everybody at once, until it is time. @param {Acts} acts @param {Random} random @param {number} until @param {boolean} gently */
  async #round(acts, random, until, gently) {
    const left = () => until - performance.now();
    /** @param {string} name @param {(random: Random) => Promise<unknown>} act */
    const lane = async (name, act) => {
      for (let number = 0; left() > 0; number += 1) await act(random.fork(`${name}-${number}`));
    };
    const mostMs = Math.max(200, Math.min(5000, left()));
    await Promise.all([
      ...Array.from({ length: LANES }, (_, number) => lane(`act-${number}`, (its) => acts.any(its))),
      ...this.#operators.map((operator, number) =>
        lane(`operator-${number}`, async (its) => {
          await sleep(its.between(0, 1500));
          await operator.act(gently);
        }),
      ),
      lane("git", async (its) => {
        await this.#ground.look(its.pick(this.#ground.places), this.log);
        await sleep(its.between(0, 200));
      }),
      lane("worker", (its) => worker(this.#world, its, this.log, mostMs)),
      ...(gently
        ? []
        : [lane("host", (its) => host(this.#world, its, this.log, mostMs, join(this.#base, "order.json")))]),
    ]);
  }

  /** Nobody acts: what is left? @param {boolean} last @param {boolean} inOrder nothing has to be put in order */
  async #rest(last, inOrder) {
    await this.#settled();
    await this.#swept();
    if (last) await this.#inject();
    if (inOrder) await this.#orderly();
    for (const { cwd, name } of inOrder ? [] : this.#ground.places) {
      const { clean, problems } = await this.#cursor.reconcileCursorWorktree(cwd, {
        lockTimeoutMs: this.#patience(10_000),
      });
      if (!clean) this.log.fail(`${name}: not clean: ${JSON.stringify(problems)}`);
    }
    for (const what of await this.#ground.wrong(this.#cursor)) this.log.fail(what);
    for (const operator of this.#operators) {
      const what = operator.wrong();
      if (what !== undefined) this.log.fail(`${operator.file} ${what}`);
    }
    if (this.#options.inject.includes("memory")) leak();
    this.samples.push(await sample());
    const after = await this.#settled();
    for (const [what, count] of Object.entries(after ?? {})) {
      const most = this.#before?.[/** @type {"children"} */ (what)] ?? 0;
      const which = what === "descriptors" ? `: ${this.#newDescriptors().join(", ")}` : "";
      if (count > most) this.log.fail(`${count} ${what} at rest; ${most} is the most${which}`);
    }
    for (const pid of this.#strangers()) this.log.fail(`process ${pid} is left: ${commandOf(pid)}`);
    for (const name of readdirSync(this.#temp)) this.log.fail(`${name} is left in the temporary folder`);
  }

  /** Wait until the leases of workers that were terminated are disposed behind them. */
  async #orderly() {
    const giveUp = performance.now() + this.#patience(PATIENCE_MS);
    while ((await this.#ground.wrong(this.#cursor)).length > 0 && performance.now() < giveUp)
      await sleep(100);
  }

  /** Wait until what was begun has gone; what is there then. */
  async #settled() {
    const giveUp = performance.now() + this.#patience(PATIENCE_MS);
    for (;;) {
      const now = holdings();
      const over = Object.entries(now ?? {}).some(
        ([name, count]) => count > (this.#before?.[/** @type {"children"} */ (name)] ?? 0),
      );
      if ((!over && this.#strangers().length === 0) || performance.now() > giveUp) return now;
      await sleep(50);
    }
  }

  /** The next bridge removes the folders of those who were killed. */
  async #swept() {
    const bridge = await this.#cursor.startCursorToolBridge([{ name: "fn_x", execute: () => "" }]);
    await bridge?.dispose();
  }

  async #inject() {
    const scene = {
      places: this.#ground.places,
      ground: this.#ground,
      temp: this.#temp,
      operators: this.#operators,
      log: this.log,
    };
    for (const name of this.#options.inject) await faults[name]?.(scene);
    // What takes its time must have had it.
    if (this.#options.inject.length > 0) await sleep(500);
  }

  /** What is injected does not go away, however long one waits. @param {number} ms */
  #patience(ms) {
    return this.#options.inject.length > 0 ? 2000 : ms;
  }

  #newDescriptors() {
    return Object.entries(descriptors())
      .filter(([kind, count]) => count > (this.#descriptors[kind] ?? 0))
      .map(([kind, count]) => `${count} ${kind}, ${this.#descriptors[kind] ?? 0} before`);
  }

  #strangers() {
    return marked(this.#base).filter((pid) => !this.#ours.includes(pid));
  }

  /** End by number what is left, so that no soak leaves anything behind. */
  end() {
    for (const pid of this.#strangers()) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has gone by itself.
      }
    }
  }

  /** One line now and then, of what takes long: and what is wrong, as soon as it is known. @param {number} round */
  #tellRound(round) {
    const { rss = 0, heap = 0 } = this.samples.at(-1) ?? {};
    const wrong = this.log.wrong.length - this.#told;
    if (wrong > 0 || round % 10 === 9)
      console.log(
        `round ${round + 1}: rss ${mega(rss)}, heap ${mega(heap)}${wrong > 0 ? `, ${wrong} things were wrong` : ""}`,
      );
    for (const what of this.log.wrong.slice(this.#told)) console.log(`  ✗ ${what}`);
    this.#told = this.log.wrong.length;
  }

  tell() {
    const { acts, wrong, more } = this.log.report();
    for (const [name, times] of Object.entries(acts).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      console.log(`${String(times).padStart(7)}  ${name}`);
    const told = [0, Math.floor(this.samples.length / 2), this.samples.length - 1];
    for (const at of new Set(told)) {
      const { rss = 0, heap = 0 } = this.samples[at] ?? {};
      console.log(`round ${at + 1} of ${this.samples.length}: rss ${mega(rss)}, heap ${mega(heap)}`);
    }
    for (const what of wrong) console.log(`✗ ${what}`);
    if (more > 0) console.log(`✗ and ${more} more`);
  }
}

/** What a probe may come upon. @param {string} base */
function programsIn(base) {
  const folder = join(base, "programs");
  mkdirSync(folder);
  const bodies = {
    hangs: "exec sleep 300",
    babbles: "while :; do echo '\u0001 no \u00ff version'; done",
    fails: "echo boom >&2; exit 9",
  };
  for (const [name, body] of Object.entries(bodies)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${body}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

/** @param {number} pid */
function commandOf(pid) {
  try {
    return require("node:fs")
      .readFileSync(`/proc/${pid}/cmdline`, "utf8")
      .replaceAll("\0", " ")
      .slice(0, 200);
  } catch {
    return "gone by now";
  }
}
