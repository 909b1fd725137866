/** What becomes of leases when hosts and workers end, and what many of them cost. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import {
  inspectCursorWorktree,
  reconcileCursorWorktree,
  releaseHeldLeasesSync,
  stageCursorMcpLease,
} from "fusion-cursor-native";
import { describe, expect, onTestFinished, test } from "vitest";
import { ended, inHost, root, told } from "./support/host.js";
import { eventually } from "./support/stage.js";
import { CONFIG, LOCK, STATE, Worktree } from "./support/worktree.js";

/** A Node of its own. `code` finds `stage`, which stages one more server in the worktree, and `tell`. */
function startHost(worktree: Worktree, code: string): ChildProcess {
  const program = `const cursor = require(${JSON.stringify(root)});
    const { Worker } = require("node:worker_threads");
    const options = ${JSON.stringify(worktree.options())};
    let number = 0;
    const stage = (more) => cursor.stageCursorMcpLease(
      { ...options, serverKey: options.serverKey + "-" + process.pid + "-" + number++, ...more });
    const tell = (line) => require("node:fs").writeSync(1, JSON.stringify(line) + "\\n");
    process.on("message", (code) => eval(code));
    (async () => { ${code} })();`;
  const child = spawn(process.execPath, ["--eval", program], { stdio: ["ignore", "pipe", "pipe", "ipc"] });
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  });
  return child;
}

describe("a host that ends with a lease in its hands leaves nothing", () => {
  const ways: [string, string, object][] = [
    ["its own end", "process.channel.unref(); await stage(); await stage();", { code: 0, signal: null }],
    ["process.exit", "await stage(); process.exit(3);", { code: 3, signal: null }],
    [
      "process.exit in the middle",
      "stage(); stage(); setTimeout(() => process.exit(4), 5);",
      { code: 4, signal: null },
    ],
    [
      "an uncaught error",
      "await stage(); setImmediate(() => { throw new Error('x'); });",
      { code: 1, signal: null },
    ],
    ["an unhandled rejection", "await stage(); Promise.reject(new Error('x'));", { code: 1, signal: null }],
    [
      "process.exit with a worker's lease",
      `const worker = new Worker(\`require(${JSON.stringify(root)}).stageCursorMcpLease(require("node:worker_threads").workerData)
         .then(() => require("node:worker_threads").parentPort.postMessage("staged")); setInterval(() => {}, 1000);\`,
         { eval: true, workerData: options });
       worker.once("message", () => process.exit(5));`,
      { code: 5, signal: null },
    ],
  ];
  test.each(ways)("by %s", async (name, code, end) => {
    const worktree = new Worktree();
    worktree.write(CONFIG, "{ /* mine */ }\n", 0o640);
    const before = worktree.picture();
    expect(await ended(startHost(worktree, code))).toEqual(end);
    // A staging that was under way is the next session's to clean up.
    if (name.endsWith("in the middle")) await reconcileCursorWorktree(worktree.folder);
    expect(worktree.picture()).toEqual(before);
  });

  test("unless somebody else has the lock: then it does not wait, and the next session sees to it", async () => {
    const worktree = new Worktree();
    const before = worktree.picture();
    const host = startHost(worktree, "await stage({ lockTimeoutMs: 60_000 }); tell('staged');");
    const lines = told(host);
    await eventually("it is staged", () => lines.length > 0);
    worktree.lock();
    const began = performance.now();
    host.send("process.exit(0)");
    expect(await ended(host)).toEqual({ code: 0, signal: null });
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(worktree.has(`${LOCK}/owner.json`)).toBe(true);
    expect(Object.keys(worktree.entries())).toHaveLength(1);
    const { leases } = await inspectCursorWorktree(worktree.folder);
    expect(leases).toMatchObject([{ pid: host.pid, live: false, owner: "dead" }]);
    worktree.unlock();
    await expect(reconcileCursorWorktree(worktree.folder)).resolves.toMatchObject({ clean: true });
    expect(worktree.picture()).toEqual(before);
  });
});

describe("a host that is killed", () => {
  test("leaves its lease to reconcile", async () => {
    const worktree = new Worktree();
    worktree.write(CONFIG, '{"mcpServers": {"a": {}}} // mine');
    const before = worktree.picture();
    const host = startHost(worktree, "await stage(); tell('staged');");
    const lines = told(host);
    await eventually("it is staged", () => lines.length > 0);
    await expect(reconcileCursorWorktree(worktree.folder)).resolves.toMatchObject({
      clean: true,
      leasesLeft: 1,
    });
    host.kill("SIGKILL");
    await ended(host);
    expect(worktree.git("status", "--porcelain")).toBe("");
    const report = await reconcileCursorWorktree(worktree.folder);
    expect(report).toMatchObject({ clean: true, leasesLeft: 0, problems: [], quarantine: null });
    expect(report.actions.map((action) => action.kind)).toContain("lease-dropped");
    expect(worktree.picture()).toEqual(before);
    await expect(reconcileCursorWorktree(worktree.folder)).resolves.toMatchObject({
      clean: true,
      actions: [],
    });
  });

  test("leaves it to the next session, too", async () => {
    const worktree = new Worktree();
    const before = worktree.picture();
    const host = startHost(worktree, "await stage(); tell('staged');");
    const lines = told(host);
    await eventually("it is staged", () => lines.length > 0);
    host.kill("SIGKILL");
    await ended(host);
    const lease = await stageCursorMcpLease(worktree.options());
    expect(Object.keys(worktree.entries())).toEqual([lease.serverKey]);
    await lease.dispose();
    expect(worktree.picture()).toEqual(before);
  });
});

test("two hosts share a worktree, and the last of their leases gives the file back", async () => {
  const worktree = new Worktree();
  worktree.write(CONFIG, "{}\n");
  const before = worktree.picture();
  const mine = await stageCursorMcpLease(worktree.options());
  const host = startHost(
    worktree,
    "const lease = await stage(); tell('staged'); globalThis.go = () => lease.dispose().then(() => process.exit());",
  );
  const lines = told(host);
  await eventually("it is staged", () => lines.length > 0);
  const { leases } = await inspectCursorWorktree(worktree.folder);
  expect(leases.map(({ heldHere, owner, live }) => [heldHere, owner, live]).sort()).toEqual([
    [false, "alive", true],
    [true, "alive", true],
  ]);
  await mine.dispose();
  expect(Object.keys(worktree.entries())).toHaveLength(1);
  host.send("go()");
  expect(await ended(host)).toEqual({ code: 0, signal: null });
  expect(worktree.picture()).toEqual(before);
});

test("hosts that come and go at the same time all get in, and leave nothing", async () => {
  const worktree = new Worktree();
  worktree.write(CONFIG, "{ // mine\n}", 0o600);
  const before = worktree.picture();
  const cycles = `for (let i = 0; i < 10; i++) { const lease = await stage({ lockTimeoutMs: 60_000 });
    if (!await lease.heartbeat()) process.exit(9); await lease.dispose(); } process.exit(0);`;
  const hosts = Array.from({ length: 3 }, () => startHost(worktree, cycles));
  const ends = await Promise.all(hosts.map(ended));
  expect(ends).toEqual(hosts.map(() => ({ code: 0, signal: null })));
  expect(worktree.picture()).toEqual(before);
});

describe("a worker", () => {
  /** One that stages and stays. */
  async function staged(worktree: Worktree): Promise<Worker> {
    const worker = new Worker(
      `const { workerData, parentPort } = require("node:worker_threads");
       const cursor = require(${JSON.stringify(root)});
       parentPort.on("message", (code) => eval(code));
       cursor.stageCursorMcpLease(workerData).then(() => parentPort.postMessage("staged"));`,
      { eval: true, workerData: worktree.options() },
    );
    onTestFinished(() => void worker.terminate());
    // The entry can be seen before the lock is given back.
    expect(await once(worker, "message")).toEqual(["staged"]);
    return worker;
  }

  test("that is terminated takes its own lease with it, and no other", async () => {
    const worktree = new Worktree();
    const before = worktree.picture();
    const mine = await stageCursorMcpLease(worktree.options());
    const worker = await staged(worktree);
    await worker.terminate();
    await eventually("its lease is gone", () => Object.keys(worktree.entries()).length === 1);
    expect(Object.keys(worktree.entries())).toEqual([mine.serverKey]);
    await expect(mine.heartbeat()).resolves.toBe(true);
    await mine.dispose();
    expect(worktree.picture()).toEqual(before);
  });

  test("gives up its own at once, and no other", async () => {
    const worktree = new Worktree();
    const mine = await stageCursorMcpLease(worktree.options());
    const worker = await staged(worktree);
    worker.postMessage("cursor.releaseHeldLeasesSync(); parentPort.postMessage('released')");
    expect(await once(worker, "message")).toEqual(["released"]);
    expect(Object.keys(worktree.entries())).toEqual([mine.serverKey]);
    releaseHeldLeasesSync();
    expect(worktree.has(STATE)).toBe(false);
    await worker.terminate();
  });

  // Its own host, since what this guards against is a crash of the whole process.
  test("that ends the moment it has asked does no harm", async () => {
    const worktree = new Worktree();
    const before = worktree.picture();
    const code = `(async () => {
      const { Worker } = require("node:worker_threads");
      const program = \`const { workerData } = require("node:worker_threads");
        const cursor = require(${JSON.stringify(root)});
        const key = workerData.options.serverKey + "-" + workerData.round;
        for (let i = 0; i < 3; i++) {
          cursor.stageCursorMcpLease({ ...workerData.options, serverKey: key + i }).catch(() => {});
          cursor.inspectCursorWorktree(workerData.options.worktreePath).catch(() => {});
          cursor.reconcileCursorWorktree(workerData.options.worktreePath).catch(() => {});
        }
        setTimeout(() => process.exit(0), workerData.round % 4 * 8);\`;
      const one = (round) => new Promise((resolve) =>
        new Worker(program, { eval: true, workerData: { options: given, round } }).on("exit", resolve));
      for (let round = 0; round < 12; round++) await Promise.all([one(round), one(round + 100), one(round + 200)]);
      await cursor().reconcileCursorWorktree(given.worktreePath);
    })().then(() => "survived")`;
    await expect(inHost(`return ${code}`, worktree.options())).resolves.toBe("survived");
    await eventually("nothing is left", () => worktree.isLike(before));
  });
});

describe("in numbers", () => {
  test.runIf(process.platform === "linux")(
    "200 leases one after the other hold nothing of the process",
    { timeout: 120_000 },
    async () => {
      const worktree = new Worktree();
      const before = worktree.picture();
      const seen = await inHost<{ before: number[]; after: number[] }>(
        `const { readdirSync } = require("node:fs");
       const holdings = () => ["fd", "task"].map((name) => readdirSync("/proc/self/" + name).length);
       const { stageCursorMcpLease } = cursor();
       let beats = 0;
       const cycle = async () => {
         const lease = await stageCursorMcpLease(given);
         if (beats++ % 10 === 0) await lease.heartbeat();
         await lease.dispose();
       };
       // Threads for what may block are made once, and stay.
       await Promise.all(Array.from({ length: 20 }, (_, i) =>
         stageCursorMcpLease({ ...given, serverKey: given.serverKey + i }).then((lease) => lease.dispose())));
       for (let i = 0; i < 20; i++) await cycle();
       const before = holdings();
       for (let i = 0; i < 200; i++) await cycle();
       // What is only on its way out is given time; what was lost stays.
       const late = Date.now() + 10_000;
       let after = holdings();
       while (after.some((count, i) => count > before[i] + 2) && Date.now() < late) {
         await new Promise((resolve) => setTimeout(resolve, 50));
         after = holdings();
       }
       return { before, after };`,
        worktree.options(),
      );
      expect(seen.after[0]).toBeLessThanOrEqual((seen.before[0] ?? 0) + 2);
      expect(seen.after[1]).toBeLessThanOrEqual((seen.before[1] ?? 0) + 2);
      expect(worktree.picture()).toEqual(before);
    },
  );

  test("50 stagings at once, and for how long they hold up the event loop", async () => {
    const worktree = new Worktree();
    const before = worktree.picture();
    const seen = await inHost<{ longest: number; median: number; entries: number; took: number }>(
      `const { monitorEventLoopDelay } = require("node:perf_hooks");
       const { stageCursorMcpLease } = cursor();
       await stageCursorMcpLease(given).then((lease) => lease.dispose());
       const delay = monitorEventLoopDelay({ resolution: 1 });
       delay.enable();
       const began = performance.now();
       const leases = await Promise.all(Array.from({ length: 50 }, (_, i) =>
         stageCursorMcpLease({ ...given, serverKey: given.serverKey + i, lockTimeoutMs: 60_000 })));
       const took = performance.now() - began;
       const all = JSON.parse(require("node:fs").readFileSync(given.worktreePath + "/${CONFIG}", "utf8")).mcpServers;
       await Promise.all(leases.map((lease) => lease.dispose()));
       delay.disable();
       return { longest: delay.max / 1e6, median: delay.percentile(50) / 1e6, entries: Object.keys(all).length, took };`,
      worktree.options(),
    );
    console.log(
      `50 stagings in ${seen.took.toFixed(0)} ms; the loop came round in ${seen.median.toFixed(2)} ms (median), ` +
        `${seen.longest.toFixed(2)} ms at most`,
    );
    expect(seen.entries).toBe(50);
    expect(worktree.picture()).toEqual(before);
  });
});

test("a lease keeps no host alive, and says nothing at its end", async () => {
  const worktree = new Worktree();
  const host = startHost(worktree, "process.channel.unref(); await stage();");
  let said = "";
  host.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  expect(await ended(host)).toEqual({ code: 0, signal: null });
  expect(said).toBe("");
  expect(worktree.has(join(".cursor"))).toBe(false);
});
