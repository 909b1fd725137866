/** What becomes of the processes of a turn, as JavaScript sees it: after a good turn, an abort, and the host's end. */

import { type ChildProcess, spawn } from "node:child_process";
import { getEventListeners, once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { type CursorError, launchCursorPrompt } from "fusion-cursor-native";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually, init, result, runs, Stage, type Step, text } from "./support/stage.js";

const root = join(__dirname, "..");
const BONDS = ["member", "group", "session", "daemon"];
/** Those that left the group are found by what Linux tells of a process. */
const ALL = process.platform === "linux" ? BONDS : ["member"];

function child(bond: string, more: { deaf?: boolean; args?: string[] } = {}): Step {
  const deaf = more.deaf === true ? [{ ignore: ["SIGTERM", "SIGHUP"] }] : [];
  const args = more.args ?? ["worker-server"];
  return { start: [...deaf, { touch: bond }, { linger: true }], as: bond, hold: "none", args };
}

/** A process for each bond, all of them there before what follows. */
function children(bonds: string[], deaf = false): Step[] {
  return [...bonds.map((bond) => child(bond, { deaf })), ...bonds.map((bond) => ({ waitFile: bond }))];
}

/** A turn that does not end, with processes everywhere that cannot be asked to. */
function endless(deaf = true): Step[] {
  const leader = deaf ? [{ ignore: ["SIGTERM", "SIGHUP"] }] : [];
  return [...leader, init, ...children(ALL, deaf), { touch: "leader" }, { linger: true }];
}

async function pids(stage: Stage, names: string[]): Promise<number[]> {
  return Promise.all(names.map((name) => stage.pid(name)));
}

/** Ends what a test keeps, by its number, when the test is over. */
function endLater(kept: number[]): void {
  onTestFinished(() => {
    for (const pid of kept) if (runs(pid)) process.kill(pid, "SIGKILL");
  });
}

describe("after a good turn", () => {
  test("nothing of it is there, and nothing is listed", async () => {
    const stage = new Stage([init, ...children(ALL), result("x")]);
    const { leftovers } = await stage.launch();
    expect(leftovers).toEqual([]);
    expect((await pids(stage, ALL)).filter(runs)).toEqual([]);
  });

  test("what is kept lives on and is listed, without keys", async () => {
    const args = ["worker-server", "--api-key", "sk-abcdef123456", "x".repeat(300)];
    const stage = new Stage([init, child("daemon", { args }), { waitFile: "daemon" }, result("x")]);
    const { leftovers } = await stage.launch({ leftovers: "keep" });
    const daemon = await stage.pid("daemon");
    endLater([daemon]);
    expect(leftovers).toEqual([
      { pid: daemon, command: expect.stringContaining("worker-server --api-key *** xx") },
    ]);
    expect(leftovers[0]?.command.length).toBe(200);
    expect(runs(daemon)).toBe(true);
  });

  test("a failed one keeps nothing", async () => {
    const stage = new Stage([init, ...children(ALL, true), { exit: 3 }]);
    const failure = await stage.launch({ leftovers: "keep", killGraceMs: 100 }).catch((error) => error);
    expect(failure).toMatchObject({ code: "CURSOR_EXITED", partial: { leftovers: [] } });
    expect((await pids(stage, ALL)).filter(runs)).toEqual([]);
  });

  test("nor does one whose callback throws", async () => {
    const stage = new Stage([init, ...children(ALL), result("x")]);
    const onEvent = (event: { type: string }): void => {
      if (event.type === "result") throw new Error("mine");
    };
    await expect(stage.launch({ leftovers: "keep", onEvent })).rejects.toThrow("mine");
    expect((await pids(stage, ALL)).filter(runs)).toEqual([]);
  });

  test.each([["stay"], [true], [1], [{}]])("leftovers: %j is a TypeError", (leftovers) => {
    const input = { ...new Stage([]).input(), leftovers } as never;
    expect(() => launchCursorPrompt(input)).toThrow(
      new TypeError(
        `leftovers must be one of "kill", "keep", not ${typeof leftovers === "object" ? "a value of type object" : JSON.stringify(leftovers)}`,
      ),
    );
  });

  test.runIf(process.platform === "linux")(
    "those who left the group stay while another turn runs in the workspace, in a worker too",
    async () => {
      const other = new Stage([init, { touch: "there" }, { waitFile: "go" }, result("y")]);
      const good = new Stage([init, ...children(["member", "daemon"]), result("x")]);
      const worker = new Worker(
        `const { workerData, parentPort } = require("node:worker_threads");
         require(${JSON.stringify(root)}).launchCursorPrompt(workerData).then((r) => parentPort.postMessage(r.text));`,
        { eval: true, workerData: other.input({ cwd: good.folder }) },
      );
      await other.touched("there");
      const { leftovers } = await good.launch();
      const [member, daemon] = (await pids(good, ["member", "daemon"])) as [number, number];
      expect(leftovers.map(({ pid }) => pid)).toEqual([daemon]);
      expect([runs(member), runs(daemon)]).toEqual([false, true]);
      writeFileSync(other.path("go"), "");
      expect(await once(worker, "message")).toEqual(["y"]);
      expect(runs(daemon)).toBe(false);
      await worker.terminate();
    },
  );
});

describe("an abort", () => {
  const listeners = (signal: AbortSignal): unknown[] => getEventListeners(signal, "abort");

  test("before the call starts nothing", async () => {
    const stage = new Stage([{ touch: "started" }, init, result("x")]);
    const reason = new Error("why");
    const signal = AbortSignal.abort(reason);
    const failure: CursorError = await stage.launch({ signal }).catch((error) => error);
    expect(failure).toMatchObject({ name: "AbortError", code: "CURSOR_ABORTED" });
    expect(failure.cause).toBe(reason);
    expect(failure.partial).toBeUndefined();
    expect(listeners(signal)).toEqual([]);
  });

  test("in mid-turn rejects at once, and the processes end behind it", async () => {
    const stage = new Stage(endless());
    const controller = new AbortController();
    const turn = stage.launch({ signal: controller.signal, killGraceMs: 300 }).catch((error) => error);
    const all = await pids(stage, [...ALL, "leader"]);
    const reason = { any: "value" };
    const began = performance.now();
    controller.abort(reason);
    const failure = await turn;
    expect(performance.now() - began).toBeLessThan(250);
    expect(failure).toMatchObject({ name: "AbortError", code: "CURSOR_ABORTED", partial: { leftovers: [] } });
    expect(failure.cause).toBe(reason);
    expect(listeners(controller.signal)).toEqual([]);
    await eventually("all are gone", () => !all.some(runs));
  });

  test.each([
    ["a success", [init, result("x")]],
    ["a failure", [init, { exit: 3 }]],
  ])("that never comes leaves no listener after %s", async (_name, steps) => {
    const { signal } = new AbortController();
    await new Stage(steps).launch({ signal }).catch(() => {});
    await eventually("the listeners are gone", () => listeners(signal).length === 0);
  });
});

/** A Node of its own that runs `code` with `turn`, the input of a turn on the stage. */
function host(stage: Stage, code: string, more: Record<string, unknown> = {}): ChildProcess {
  const program = `const { launchCursorPrompt } = require(${JSON.stringify(root)});
    const { Worker } = require("node:worker_threads");
    const { existsSync } = require("node:fs");
    const turn = ${JSON.stringify(stage.input(more))};
    const whenUnderWay = (then) => {
      const look = setInterval(() => existsSync(${JSON.stringify(stage.path("leader"))}) && (clearInterval(look), then()), 5);
    };
    ${code}`;
  const node = spawn(process.execPath, ["--eval", program], { stdio: ["ignore", "ignore", "ignore"] });
  onTestFinished(() => {
    if (node.exitCode === null && node.signalCode === null) node.kill("SIGKILL");
  });
  return node;
}

describe("a host that ends in the middle of a turn waits until all of it is gone", () => {
  const inWorker = `const run = (more) => new Worker(\`const { workerData } = require("node:worker_threads");
      require(${JSON.stringify(root)}).launchCursorPrompt(workerData).catch(() => {});\`,
      { eval: true, workerData: { ...turn, ...more } });`;
  const ways: [string, string][] = [
    ["at process.exit", "launchCursorPrompt(turn); whenUnderWay(() => process.exit(0));"],
    ["at an uncaught error", "launchCursorPrompt(turn); whenUnderWay(() => { throw new Error('x'); });"],
    [
      "at process.exit right behind an abort",
      `const c = new AbortController(); launchCursorPrompt({ ...turn, signal: c.signal }).catch(() => process.exit(0));
       whenUnderWay(() => c.abort());`,
    ],
    [
      "at a natural end behind an abort that nobody awaits",
      `const c = new AbortController(); launchCursorPrompt({ ...turn, signal: c.signal }).catch(() => {});
       whenUnderWay(() => c.abort());`,
    ],
    ["with the turn in a worker", `${inWorker} run(); whenUnderWay(() => process.exit(0));`],
    [
      "behind the end of a worker",
      `${inWorker} const w = run(); whenUnderWay(() => w.terminate().then(() => process.exit(0)));`,
    ],
  ];
  test.each(ways)("%s", async (_name, code) => {
    const stage = new Stage(endless());
    const node = host(stage, code, { killGraceMs: 300 });
    const all = await pids(stage, [...ALL, "leader"]);
    await once(node, "exit");
    expect(all.filter(runs)).toEqual([]);
  });

  test("within about two seconds, whatever grace the turn has", async () => {
    const stage = new Stage(endless());
    const node = host(stage, "launchCursorPrompt(turn); whenUnderWay(() => process.exit(0));", {
      killGraceMs: 60_000,
    });
    const all = await pids(stage, [...ALL, "leader"]);
    const began = performance.now();
    await once(node, "exit");
    expect(performance.now() - began).toBeLessThan(4000);
    expect(all.filter(runs)).toEqual([]);
  });

  test("from within a callback, with more to come than is read ahead", async () => {
    const flood = { ...text("y".repeat(4000)), repeat: 2000, write: "lines" };
    const stage = new Stage([init, ...children(ALL), { touch: "leader" }, flood, { linger: true }]);
    const code = `launchCursorPrompt({ ...turn, onText() {
      for (const until = performance.now() + 300; performance.now() < until; );
      process.exit(0);
    } });`;
    const node = host(stage, code);
    const all = await pids(stage, [...ALL, "leader"]);
    const began = performance.now();
    await once(node, "exit");
    expect(performance.now() - began).toBeLessThan(1800);
    expect(all.filter(runs)).toEqual([]);
  });

  test("with nothing running it ends at once", async () => {
    const stage = new Stage([init, result("x")]);
    const code = `launchCursorPrompt(turn).then(() => {
      const began = performance.now();
      process.once("exit", () => require("node:fs").writeFileSync(${JSON.stringify(stage.path("took"))}, String(performance.now() - began)));
      process.exit(0);
    });`;
    await once(host(stage, code), "exit");
    expect(Number(await stage.touched("took"))).toBeLessThan(100);
  });
});

test("a worker that is terminated takes all of its turn with it, and its host lives on", async () => {
  const stage = new Stage(endless());
  const worker = new Worker(
    `const { workerData } = require("node:worker_threads");
     require(${JSON.stringify(root)}).launchCursorPrompt(workerData).catch(() => {});`,
    { eval: true, workerData: stage.input({ killGraceMs: 200 }) },
  );
  const all = await pids(stage, [...ALL, "leader"]);
  await worker.terminate();
  await eventually("all are gone", () => !all.some(runs));
  await expect(new Stage([init, result("still here")]).launch()).resolves.toMatchObject({
    text: "still here",
  });
});
