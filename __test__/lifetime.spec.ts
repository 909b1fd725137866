/** What is left when a host ends, in each of the ways that hosts end. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually, init, result, runs, Stage, type Step } from "./support/stage.js";

const root = join(__dirname, "..");

/** A turn that does not end, and says when it is under way. */
const endless: Step[] = [
  init,
  { start: [{ touch: "child" }, { linger: true }], args: ["worker-server"] },
  { waitFile: "child" },
  { touch: "leader" },
  { linger: true },
];

/** A Node of its own that runs `code` with `turn`, the input of a turn on the stage. */
function host(stage: Stage, code: string, loads = true): ChildProcess {
  const program = `${loads ? `const { launchCursorPrompt } = require(${JSON.stringify(root)});` : ""}
    const { Worker } = require("node:worker_threads");
    const { existsSync } = require("node:fs");
    const turn = ${JSON.stringify(stage.input())};
    const under = ${JSON.stringify(stage.path("leader"))};
    const whenUnderWay = (then) => { const look = setInterval(() => existsSync(under) && (clearInterval(look), then()), 5); };
    ${code}`;
  const child = spawn(process.execPath, ["--eval", program], { stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  });
  return child;
}

async function ended(child: ChildProcess): Promise<{ code: number | null; out: string }> {
  let out = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      out += text;
    });
  }
  const [code] = await once(child, "close");
  return { code, out };
}

describe("a host that ends by itself", () => {
  test("does so as soon as its turn is over", async () => {
    const stage = new Stage([init, result("x")]);
    const { code, out } = await ended(
      host(stage, "launchCursorPrompt({ ...turn, onText() {} }).then((r) => console.log(r.text));"),
    );
    expect({ code, out }).toEqual({ code: 0, out: "x\n" });
  });

  test.each([
    [
      "fails",
      "launchCursorPrompt({ ...turn, binary: '/none' }).catch((e) => console.log(e.code));",
      "CURSOR_NOT_FOUND",
    ],
    [
      "times out",
      "launchCursorPrompt({ ...turn, inactivityTimeoutMs: 200, killGraceMs: 200 }).catch((e) => console.log(e.code));",
      "CURSOR_INACTIVITY_TIMEOUT",
    ],
    [
      "is aborted",
      `const c = new AbortController(); whenUnderWay(() => c.abort());
       launchCursorPrompt({ ...turn, signal: c.signal, killGraceMs: 200 }).catch((e) => console.log(e.code));`,
      "CURSOR_ABORTED",
    ],
  ])("and also where the turn %s", async (_name, code, expected) => {
    const stage = new Stage(endless);
    const end = await ended(host(stage, code));
    expect(end).toEqual({ code: 0, out: `${expected}\n` });
  });

  test("waits for a turn that nobody awaits", async () => {
    const stage = new Stage([init, { sleep: 300 }, { touch: "leader" }, result("x")]);
    expect((await ended(host(stage, "void launchCursorPrompt(turn);"))).code).toBe(0);
    await stage.touched("leader");
  });

  test("is not held by having loaded the package, or by a logger", async () => {
    const stage = new Stage([]);
    const code = `require(${JSON.stringify(root)}).setLogger("trace", () => {});`;
    expect((await ended(host(stage, code))).code).toBe(0);
  });
});

describe("a host that is ended in the middle of a turn leaves no process", () => {
  const ways: [string, string][] = [
    ["process.exit", "launchCursorPrompt(turn); whenUnderWay(() => process.exit(0));"],
    ["an uncaught error", "launchCursorPrompt(turn); whenUnderWay(() => { throw new Error('x'); });"],
    [
      "an unhandled rejection",
      "launchCursorPrompt(turn); whenUnderWay(() => Promise.reject(new Error('x')));",
    ],
    [
      "process.exit in a worker",
      `new Worker(\`const { launchCursorPrompt } = require(${JSON.stringify(root)});
         const { existsSync } = require("node:fs");
         launchCursorPrompt(JSON.parse(process.env.TURN));
         const look = setInterval(() => existsSync(process.env.UNDER) && process.exit(0), 5);\`,
         { eval: true, env: { ...process.env, TURN: JSON.stringify(turn), UNDER: under } });`,
    ],
    [
      "the end of its only worker",
      `const w = new Worker(\`const { launchCursorPrompt } = require(${JSON.stringify(root)});
         launchCursorPrompt(JSON.parse(process.env.TURN));\`,
         { eval: true, env: { ...process.env, TURN: JSON.stringify(turn) } });
       whenUnderWay(() => w.terminate());`,
    ],
  ];
  test.each(ways)("by %s", async (_name, code) => {
    const stage = new Stage(endless);
    await ended(host(stage, code));
    const [leader, child] = [await stage.pid("leader"), await stage.pid("child")];
    await eventually("both are gone", () => !runs(leader) && !runs(child));
  });
});

// Node joins the workers of a host that ends one after the other.
test("a host whose workers alone have the package does not wait for each of them in turns", async () => {
  const stage = new Stage([{ ignore: ["SIGTERM"] }, init, { linger: true }]);
  const workers = 8;
  const code = `let workersUnderWay = 0;
    for (let number = 0; number < ${workers}; number++) {
      new Worker(\`const { launchCursorPrompt } = require(${JSON.stringify(root)});
        const { parentPort } = require("node:worker_threads");
        launchCursorPrompt({ ...JSON.parse(process.env.TURN), killGraceMs: 60_000,
          onEvent() { parentPort.postMessage("under way"); } });\`,
        { eval: true, env: { ...process.env, TURN: JSON.stringify(turn) } }).on("message", () => {
          if (++workersUnderWay === ${workers}) { console.log(Date.now()); process.exit(0); }
        });
    }`;
  const { code: exit, out } = await ended(host(stage, code, false));
  expect(exit).toBe(0);
  const took = Date.now() - Number(out);
  // Two seconds for the first, and again for the rest; of eight in turns it would be eighteen.
  expect(took).toBeLessThan(12_000);
});

describe("a worker that is terminated", () => {
  const worker = (stage: Stage): Worker =>
    new Worker(
      `const { workerData, parentPort } = require("node:worker_threads");
       const { launchCursorPrompt } = require(${JSON.stringify(root)});
       launchCursorPrompt({ ...workerData, onEvent() {} }).then((r) => parentPort.postMessage(r.text));`,
      { eval: true, workerData: stage.input() },
    );

  test("takes its own turn with it, and leaves that of the main thread", async () => {
    const mine = new Stage([init, { touch: "leader" }, { waitFile: "go" }, result("mine")]);
    const turn = mine.launch();
    const theirs = new Stage(endless);
    const running = worker(theirs);
    const [leader, child] = [await theirs.pid("leader"), await theirs.pid("child")];
    await running.terminate();
    await eventually("the worker's processes are gone", () => !runs(leader) && !runs(child));
    expect(runs(await mine.pid("leader"))).toBe(true);
    const { writeFileSync } = await import("node:fs");
    writeFileSync(mine.path("go"), "");
    await expect(turn).resolves.toMatchObject({ text: "mine" });
  });

  test("twenty at once, each in another state, do no harm", async () => {
    const stages = Array.from({ length: 20 }, () => new Stage(endless));
    const workers = stages.map(worker);
    await Promise.all(
      workers.map(async (running, number) => {
        if (number % 2 === 0) await stages[number]?.touched("leader");
        await running.terminate();
      }),
    );
    for (const [number, stage] of stages.entries()) {
      if (number % 2 === 1) continue;
      const [leader, child] = [await stage.pid("leader"), await stage.pid("child")];
      await eventually("all are gone", () => !runs(leader) && !runs(child));
    }
    await expect(new Stage([init, result("still here")]).launch()).resolves.toMatchObject({
      text: "still here",
    });
  });

  // The moment before the process of its turn is there, and before anybody waits for the turn.
  test("in the moment of the launch does no harm, and no process comes after it", async () => {
    const stage = new Stage([init, { linger: true }]);
    const code = `const { readdirSync, readFileSync } = require("node:fs");
      const children = () => readdirSync("/proc").filter((pid) => {
        if (!/^\\d+$/.test(pid)) return false;
        try {
          const stat = readFileSync(\`/proc/\${pid}/stat\`, "utf8");
          // The guard is one, and stays.
          return !stat.includes("(fusion-cursor-g") && stat.split(") ").pop().split(" ")[1] === String(process.pid);
        } catch {
          return false;
        }
      });
      const launch = (left) => {
        if (left === 0) return setTimeout(() => console.log("children:", process.platform === "linux" ? children().length : 0), 500);
        new Worker(\`require(${JSON.stringify(root)}).launchCursorPrompt(JSON.parse(process.env.TURN));
          for (const until = performance.now() + (\${left} % 4) * 0.7; performance.now() < until; );
          process.exit(0);\`, { eval: true, env: { ...process.env, TURN: JSON.stringify(turn) } }).on("exit", () => launch(left - 1));
      };
      launch(40);`;
    expect(await ended(host(stage, code))).toEqual({ code: 0, out: "children: 0\n" });
  });

  test("its own environment may hold what no process can be given", async () => {
    const stage = new Stage([init, result("x")]);
    const running = new Worker(
      `const { workerData, parentPort } = require("node:worker_threads");
       require(${JSON.stringify(root)}).launchCursorPrompt(workerData).then((r) => parentPort.postMessage(r.text));`,
      {
        eval: true,
        workerData: stage.input(),
        env: { ...process.env, "A=B": "1", NUL: "a\0b" },
      },
    );
    expect(await once(running, "message")).toEqual(["x"]);
    await running.terminate();
  });

  test("a turn in a worker ends as it does elsewhere", async () => {
    const running = worker(new Stage([init, result("from a worker")]));
    const [message] = await once(running, "message");
    expect(message).toBe("from a worker");
    await running.terminate();
  });
});

// Its own host, since what this guards against is a crash of the whole process.
test.each([
  ["a turn", "launchCursorPrompt(turn)"],
  ["a probe", "probeCursorBinary({ binaryPath: turn.binary, env: turn.env })"],
  ["a validation", "validateCursorBinaryPath(turn.binary, { env: turn.env })"],
  ["a list of models", "discoverCursorModels(turn.binary, undefined, { env: turn.env })"],
  ["a provider's list", "discoverCursorProviderModels({ binaryPath: turn.binary, env: turn.env })"],
])("workers that end the moment they have asked for %s do no harm", async (_name, call) => {
  const stage = new Stage(endless);
  const worker = `const { workerData: turn } = require("node:worker_threads");
    const { launchCursorPrompt, probeCursorBinary, validateCursorBinaryPath, discoverCursorModels,
      discoverCursorProviderModels } = require(${JSON.stringify(root)});
    for (let i = 0; i < 6; i++) ${call}.catch(() => {});
    process.exit(0);`;
  const code = `(async () => {
    const ended = () => new Promise((resolve) =>
      new Worker(${JSON.stringify(worker)}, { eval: true, workerData: turn }).on("exit", resolve));
    for (let round = 0; round < 12; round++) await Promise.all(Array.from({ length: 8 }, ended));
    console.log("survived");
  })();`;
  expect(await ended(host(stage, code))).toEqual({ code: 0, out: "survived\n" });
});

test("Node's own child processes keep getting their exit events", async () => {
  const own = (code: number): Promise<unknown> =>
    new Promise((resolve) => {
      execFile(process.execPath, ["--eval", `process.exit(${code})`], (error) => resolve(error?.code ?? 0));
    });
  const turns = Array.from({ length: 5 }, () => new Stage([init, result("x")]).launch());
  const codes = [own(3), own(0), own(9)];
  await Promise.all(turns);
  await expect(Promise.all(codes)).resolves.toEqual([3, 0, 9]);
  await expect(own(5)).resolves.toBe(5);
});
