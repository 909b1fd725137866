/** The end of sessions with tools, at any moment: by dispose, by an abort of their making, and by the end of their host. */

import { mkdirSync, readdirSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { CursorSession } from "fusion-cursor-native";
import { describe, expect, onTestFinished, test } from "vitest";
import { ended, inHost, root, startHost } from "./support/host.js";
import {
  begins,
  calls,
  errorOf,
  listens,
  OPERATOR,
  ownTemporaryFolder,
  repeats,
  scene,
  tool,
  traces,
} from "./support/session.js";
import { eventually, runs, Stage } from "./support/stage.js";
import { CONFIG, LOCK, STATE } from "./support/worktree.js";

describe("dispose", () => {
  test("aborts the tools that run, and may be called and waited for in one", async () => {
    const one = scene([begins, calls([{ tool: "fn_add" }]), repeats]);
    const reasons: unknown[] = [];
    let inside: Promise<void> | undefined;
    const session: CursorSession = await one.session({
      fusionTools: [
        tool(async (_id: string, _args: object, signal: AbortSignal) => {
          signal.addEventListener("abort", () => reasons.push(signal.reason));
          inside = session.dispose();
          await inside;
          return "too late";
        }),
      ],
    });
    expect(await errorOf(session.prompt("hi"))).toMatchObject({ code: "CURSOR_ABORTED" });
    await inside;
    expect(reasons).toMatchObject([{ name: "AbortError" }]);
    expect(one.has(".cursor")).toBe(false);
  });

  test("says what it could not take out, has ended all else, and can be tried again", async () => {
    const one = scene([begins, { touch: "began" }, { linger: true }]);
    const session = await CursorSession.create(
      one.sessionOptions({ fusionTools: [tool(() => "x")], lockTimeoutMs: 300 }),
    );
    const { port } = traces(one);
    const turn = errorOf(session.prompt("hi"));
    await eventually("it runs", () => one.has("../began"));
    one.lock();
    const error = await errorOf(session.dispose());
    expect(error).toMatchObject({ code: "bridge-start-failed", reason: "lock-timeout", retryable: true });
    expect(await turn).toMatchObject({ code: "CURSOR_ABORTED" });
    expect(await listens(port)).toBe(false);
    one.unlock();
    await session.dispose();
    expect(one.has(".cursor")).toBe(false);
    expect(one.has(LOCK)).toBe(false);
  });

  test("can be called at any moment", { timeout: 120_000 }, async () => {
    const one = scene([begins, calls([{ tool: "fn_add" }]), repeats]);
    one.write(CONFIG, OPERATOR);
    for (let ms = 0; ms < 300; ms += 20) {
      const session = await CursorSession.create(one.sessionOptions({ fusionTools: [tool(() => "x")] }));
      const turn = session.prompt("hi").then(
        () => "well",
        ({ code }: { code: string }) => code,
      );
      await new Promise((resolve) => setTimeout(resolve, ms));
      await session.dispose();
      expect(["well", "CURSOR_ABORTED", "CURSOR_SESSION_DISPOSED"]).toContain(await turn);
      expect(one.read(CONFIG)).toBe(OPERATOR);
      expect(one.has(STATE)).toBe(false);
    }
  });
});

describe("create", () => {
  test("puts a worktree in order that a killed host has left", async () => {
    const one = scene();
    one.write(CONFIG, OPERATOR);
    const host = startHost(
      new Stage([]),
      `require(${JSON.stringify(root)}).CursorSession.create({ ...${JSON.stringify(one.sessionOptions())},
         fusionTools: [{ name: "fn_x", execute() {} }] }).then(() => process.kill(process.pid, "SIGKILL"));`,
    );
    expect(await ended(host)).toEqual({ code: null, signal: "SIGKILL" });
    expect(Object.keys(one.entries())).toHaveLength(1);
    const session = await one.session();
    expect(one.read(CONFIG)).toBe(OPERATOR);
    expect(one.has(STATE)).toBe(false);
    expect(session.fusionToolBridgeError).toBeUndefined();
  });

  test("that is aborted rejects at once at any moment, and leaves nothing", {
    timeout: 120_000,
  }, async () => {
    const one = scene();
    const temporary = ownTemporaryFolder();
    one.write(CONFIG, OPERATOR);
    const before = one.picture();
    const reason = new Error("mine");
    for (let ms = 0; ms < 60; ms += 3) {
      const controller = new AbortController();
      const creating = CursorSession.create(
        one.sessionOptions({ fusionTools: [tool(() => "x")], signal: controller.signal }),
      );
      setTimeout(() => controller.abort(reason), ms);
      const session = await creating.catch((error: unknown) => {
        expect(error).toMatchObject({ code: "CURSOR_ABORTED", name: "AbortError", cause: reason });
      });
      await session?.dispose();
    }
    await eventually("all is as before", () => one.isLike(before) && readdirSync(temporary).length === 0);
  });

  test("that waits for a lock can be aborted", async () => {
    const one = scene();
    const temporary = ownTemporaryFolder();
    one.lock();
    const controller = new AbortController();
    const creating = errorOf(
      CursorSession.create(one.sessionOptions({ fusionTools: [tool(() => "x")], signal: controller.signal })),
    );
    await eventually("the bridge is open", () => readdirSync(temporary).length > 0);
    controller.abort();
    expect(await creating).toMatchObject({ code: "CURSOR_ABORTED" });
    await eventually("the bridge is gone", () => readdirSync(temporary).length === 0);
    one.unlock();
  });
});

test("a session that is forgotten ends with its worker", async () => {
  const one = scene([begins, { touch: "began" }, { linger: true }]);
  one.write(CONFIG, OPERATOR);
  const mine = await one.session({ fusionTools: [tool(() => "x")] });
  const worker = new Worker(
    `const { CursorSession } = require(${JSON.stringify(root)});
     const { workerData } = require("node:worker_threads");
     CursorSession.create({ ...workerData, fusionTools: [{ name: "fn_x", execute() {} }] })
       .then((session) => session.prompt("hi"));`,
    { eval: true, workerData: one.sessionOptions() },
  );
  onTestFinished(() => void worker.terminate());
  await eventually("its turn runs", () => one.has("../began"));
  expect(Object.keys(one.entries())).toHaveLength(2);
  const pid = Number(one.read("../began"));
  await worker.terminate();
  await eventually("it is gone", () => !runs(pid) && Object.keys(one.entries()).length === 1);
  expect(mine.toolNames[0]).toContain(Object.keys(one.entries())[0]);
  await mine.dispose();
  expect(one.read(CONFIG)).toBe(OPERATOR);
});

test("a session that is forgotten ends with its host", async () => {
  const one = scene([begins, { touch: "began" }, { linger: true }]);
  one.write(CONFIG, OPERATOR);
  mkdirSync(one.path("temporary"));
  const pid = await inHost<number>(
    `process.env.TMPDIR = given.temporary;
     const { existsSync, readFileSync } = require("node:fs");
     const session = await cursor().CursorSession.create({ ...given.options, fusionTools: [{ name: "fn_x", execute() {} }] });
     session.prompt("hi").catch(() => {});
     while (!existsSync(given.began)) await new Promise((resolve) => setTimeout(resolve, 5));
     setImmediate(() => process.exit());
     return Number(readFileSync(given.began, "utf8"));`,
    { options: one.sessionOptions(), began: one.path("began"), temporary: one.path("temporary") },
  );
  expect(runs(pid)).toBe(false);
  expect(one.read(CONFIG)).toBe(OPERATOR);
  expect(one.has(STATE)).toBe(false);
  expect(readdirSync(one.path("temporary"))).toEqual([]);
});
