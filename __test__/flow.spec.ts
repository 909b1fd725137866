/** Who waits for whom: slow callbacks, failing ones, and aborts. */

import { getEventListeners } from "node:events";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { CursorError } from "fusion-cursor-native";
import { describe, expect, test, vi } from "vitest";
import { completed, eventually, init, result, runs, Stage, text, thinking } from "./support/stage.js";

const numbered = (count: number): Record<string, unknown> => ({
  line: { type: "thinking", subtype: "delta", text: "${n}." },
  repeat: count,
});

describe("slow callbacks", () => {
  test("one that blocks for 50 ms an event loses nothing and keeps the order", async () => {
    const seen: string[] = [];
    const block = new Int32Array(new SharedArrayBuffer(4));
    await new Stage([init, numbered(40), result("x")]).launch({
      onThinking(text) {
        seen.push(text);
        Atomics.wait(block, 0, 0, 50);
      },
    });
    expect(seen).toEqual(Array.from({ length: 40 }, (_, n) => `${n}.`));
  });

  test("one that returns a promise holds the stream until it settles", async () => {
    const log: string[] = [];
    await new Stage([init, numbered(30), result("x")]).launch({
      async onThinking(text) {
        log.push(`+${text}`);
        await sleep(text === "3." ? 30 : 1);
        log.push(`-${text}`);
      },
      onText: () => void log.push("text"),
    });
    const expected = Array.from({ length: 30 }, (_, n) => [`+${n}.`, `-${n}.`]).flat();
    expect(log).toEqual([...expected, "text"]);
  });

  test("one that returns something like a promise, which settles twice, is still called in order", async () => {
    const log: string[] = [];
    await new Stage([init, numbered(1500), text("end"), result("x")]).launch({
      onEvent: () =>
        ({
          // biome-ignore lint/suspicious/noThenProperty: this is what it is about
          then(done: () => void) {
            done();
            done();
          },
        }) as Promise<void>,
      onThinking(text) {
        log.push(text);
      },
      onText: (text) => void log.push(text),
    });
    expect(log).toEqual([...Array.from({ length: 1500 }, (_, n) => `${n}.`), "end"]);
  });

  test("the process is read no further than a bounded buffer", async () => {
    const stage = new Stage([
      init,
      { line: { type: "thinking", subtype: "delta", text: "${fill:16000}" }, repeat: 1000, write: "lines" },
      { touch: "written" },
      result("x"),
    ]);
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    let pieces = 0;
    const turn = stage.launch({
      onThinking() {
        pieces += 1;
        return pieces === 1 ? gate : undefined;
      },
    });
    await eventually("the first piece is there", () => pieces === 1);
    await sleep(300);
    expect(existsSync(stage.path("written"))).toBe(false);
    open();
    await turn;
    expect(pieces).toBe(1000);
  });
});

// It sees small objects, and would let hundreds of megabytes of tool results pile up behind them.
test("the garbage collector is told of the payloads that events hold", async () => {
  const [count, size] = [200, 2_000_000];
  const end = completed("c-1", "read", { success: { content: `\${fill:${size}}` } });
  let most = 0;
  const before = process.memoryUsage.rss();
  await new Stage([init, { ...end, repeat: count, write: "lines" }, result("x")]).launch({
    onEvent() {
      most = Math.max(most, process.memoryUsage.rss());
    },
  });
  expect(most - before).toBeLessThan((count * size) / 2);
});

describe("failing callbacks", () => {
  const steps = [init, { touch: "leader" }, text("a"), text("b"), { linger: true }];

  test.each([
    [
      "throws",
      () => {
        throw new RangeError("mine");
      },
    ],
    ["rejects", () => Promise.reject(new RangeError("mine"))],
  ])("one that %s ends the turn with that very error and its process", async (_name, onText) => {
    const stage = new Stage(steps);
    const failure = await stage.launch({ onText, killGraceMs: 300 }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RangeError);
    expect((failure as Error).message).toBe("mine");
    expect(runs(await stage.pid("leader"))).toBe(false);
  });

  test("none is called after it", async () => {
    const onText = vi.fn(() => {
      throw new Error("stop");
    });
    const onEvent = vi.fn();
    const stage = new Stage([init, text("a"), thinking("b"), text("c"), result("x")]);
    await expect(stage.launch({ onText, onEvent })).rejects.toThrow("stop");
    expect(onText).toHaveBeenCalledTimes(1);
    expect(onEvent.mock.calls.map(([event]) => event.type)).toEqual(["system-init", "assistant-text"]);
  });

  test("even a thrown undefined is a failure", async () => {
    const stage = new Stage(steps);
    const launched = stage.launch({
      onText() {
        // biome-ignore lint/style/useThrowOnlyError: JavaScript lets them
        throw undefined;
      },
    });
    await expect(
      launched.then(
        () => "resolved",
        () => "rejected",
      ),
    ).resolves.toBe("rejected");
  });
});

describe("aborts", () => {
  test("before the call: nothing is started", async () => {
    const stage = new Stage([{ touch: "started" }, init, result("x")]);
    const failure = stage.launch({ signal: AbortSignal.abort("why") });
    await expect(failure).rejects.toMatchObject({
      name: "AbortError",
      code: "CURSOR_ABORTED",
      message: "Cursor CLI aborted",
      retryable: false,
      cause: "why",
    });
    await sleep(100);
    expect(existsSync(stage.path("started"))).toBe(false);
  });

  test("in the middle: rejects at once with what there was, and the process goes", async () => {
    const stage = new Stage([
      { ignore: ["SIGTERM"] },
      init,
      text("so far"),
      { touch: "leader" },
      { linger: true },
    ]);
    const controller = new AbortController();
    const seen = vi.fn();
    const turn = stage.launch({ signal: controller.signal, onText: seen, killGraceMs: 300 });
    await eventually("text came", () => seen.mock.calls.length > 0);
    const leader = await stage.pid("leader");
    const reason = new Error("enough");
    controller.abort(reason);
    const before = performance.now();
    const failure = (await turn.catch((error: unknown) => error)) as CursorError;
    expect(performance.now() - before).toBeLessThan(200);
    expect(failure).toMatchObject({ name: "AbortError", code: "CURSOR_ABORTED", cause: reason });
    expect(failure.partial).toMatchObject({ sessionId: "s-1", text: "so far" });
    await eventually("the process is gone", () => !runs(leader));
  });

  test("leave no listener, whether they come or not", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    await new Stage([init, result("x")]).launch({ signal });
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
    const turn = new Stage([init, { linger: true }]).launch({ signal, killGraceMs: 300 });
    controller.abort();
    await expect(turn).rejects.toThrow("aborted");
    await eventually("the listener is gone", () => getEventListeners(signal, "abort").length === 0);
  });

  test("one signal for many turns has one listener, and ends them all", async () => {
    const controller = new AbortController();
    const stage = new Stage([init, { linger: true }]);
    const turns = Array.from({ length: 12 }, () =>
      stage.launch({ signal: controller.signal, killGraceMs: 300 }).catch((error: CursorError) => error.code),
    );
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
    controller.abort();
    expect(new Set(await Promise.all(turns))).toEqual(new Set(["CURSOR_ABORTED"]));
  });

  test("are heard even where another listener stops the event", async () => {
    const controller = new AbortController();
    controller.signal.addEventListener("abort", (event) => event.stopImmediatePropagation());
    const turn = new Stage([init, { linger: true }]).launch({ signal: controller.signal, killGraceMs: 300 });
    controller.abort();
    await expect(turn).rejects.toThrow("aborted");
  });

  test("call no callback any more", async () => {
    const controller = new AbortController();
    let after = 0;
    const stage = new Stage([init, numbered(5000), { linger: true }]);
    const turn = stage.launch({
      signal: controller.signal,
      killGraceMs: 300,
      onThinking() {
        if (controller.signal.aborted) after += 1;
        controller.abort();
      },
    });
    await expect(turn).rejects.toThrow("aborted");
    await sleep(50);
    expect(after).toBe(0);
  });
});
