/** A turn as a stream: what is given out and when, what holds the turn, and what leaving the loop does. */

import { readdirSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { CursorStreamEvent } from "fusion-cursor-native";
import { describe, expect, onTestFinished, test } from "vitest";
import { begins, errorOf, fails, parrot, play, repeats, staged } from "./support/session.js";
import { eventually, runs, type Step, started, text } from "./support/stage.js";

const turn: Step[] = [{ touch: "turn-${pid}" }, begins, text("a"), text("b"), repeats];
const TYPES = ["system-init", "assistant-text", "assistant-text", "result"];

async function typesOf(events: AsyncIterable<CursorStreamEvent>): Promise<string[]> {
  const types: string[] = [];
  for await (const event of events) types.push(event.type);
  return types;
}

/** None of them may reach Node, which would end the host. */
function unhandled(): unknown[] {
  const found: unknown[] = [];
  const note = (reason: unknown): void => void found.push(reason);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  return found;
}

describe("the iteration", () => {
  test("gives every event in order, and the result beside it", async () => {
    const { session } = await staged(turn, { resumeId: "r" });
    const stream = session.stream("hi");
    expect(await typesOf(stream)).toEqual(TYPES);
    expect((await stream.result).text).toBe("ab");
    expect(session.turns).toBe(1);
    expect(await typesOf(session.stream("again"))).toEqual(TYPES);
  });

  test("comes after the session's own callbacks, which hold it", async () => {
    const seen: string[] = [];
    const { session } = await staged(turn, {
      onEvent: ({ type }) => void seen.push(`event ${type}`),
      onText: async (text) => {
        await setImmediate();
        seen.push(`text ${text}`);
      },
    });
    for await (const { type } of session.stream("hi")) seen.push(`out ${type}`);
    const of = (kind: string): string[] =>
      seen.filter((line) => line.startsWith(kind)).map((line) => line.slice(kind.length));
    expect([of("event "), of("out "), of("text ")]).toEqual([TYPES, TYPES, ["a", "b"]]);
    for (const [index, line] of seen.entries()) {
      if (!line.startsWith("out ")) continue;
      const count = (kind: string): number =>
        seen.slice(0, index).filter((before) => before.startsWith(kind)).length;
      // It was with all of them before. The one behind it may be with them already, and none after that.
      const out = count("out ");
      expect(count("event ") - out).toBeOneOf([1, 2]);
      expect(count("text ")).toBeGreaterThanOrEqual(Math.min(out, 2));
    }
  });

  test("reads no further than it is asked to", async () => {
    const seen: string[] = [];
    const { stage, session } = await staged(
      [begins, { ...text("${fill:60000}"), repeat: 100 }, { touch: "written" }, repeats],
      { onEvent: ({ type }) => void seen.push(type) },
    );
    const iterator = session.stream("hi")[Symbol.asyncIterator]();
    expect((await iterator.next()).value?.type).toBe("system-init");
    await eventually("the next is held", () => seen.length === 2);
    await setImmediate();
    expect(seen).toEqual(["system-init", "assistant-text"]);
    // Six megabytes fit into no buffer on the way.
    expect(readdirSync(stage.folder)).not.toContain("written");
    let rest = 0;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) rest += 1;
    expect(rest).toBe(101);
  });

  test("answers those who ask ahead in order, and all after the end", async () => {
    const { session } = await staged(turn);
    const iterator = session.stream("hi")[Symbol.asyncIterator]();
    const asked = await Promise.all(Array.from({ length: 7 }, () => iterator.next()));
    expect(asked.map(({ value, done }) => value?.type ?? done)).toEqual([...TYPES, true, true, true]);
    expect(await iterator.next()).toEqual({ value: undefined, done: true });
  });

  test("can be done once", async () => {
    const { session } = await staged(turn);
    const stream = session.stream("hi");
    await typesOf(stream);
    expect(() => stream[Symbol.asyncIterator]()).toThrow(TypeError);
    await expect(typesOf(stream)).rejects.toThrow(/iterated already/);
  });
});

test("an event that is kept can be read after the turn", async () => {
  const args = { command: "make", n: 1e21 };
  const { session } = await staged([begins, started("c", "shell", args), repeats]);
  const kept: CursorStreamEvent[] = [];
  for await (const event of session.stream("hi")) kept.push(event);
  await session.dispose();
  expect(kept[1]).toMatchObject({ type: "tool-call-started", name: "shell", args });
});

describe("the result", () => {
  test("is there for who does not iterate, and the events go by", async () => {
    const { session } = await staged(turn, { resumeId: "r" });
    const stream = session.stream("hi");
    expect((await stream.result).text).toBe("ab");
    await expect(typesOf(stream)).rejects.toThrow(/^the events of this stream have gone by/);
    await expect(typesOf(stream)).rejects.toThrow(TypeError);
  });

  test("can be read late, when an event is held already", async () => {
    const seen: string[] = [];
    const { session } = await staged(turn, { onEvent: ({ type }) => void seen.push(type) });
    const stream = session.stream("hi");
    await eventually("an event is held", () => seen.length === 1);
    expect((await stream.result).text).toBe("ab");
  });

  test("can be read before the iteration, in the same breath", async () => {
    const seen: string[] = [];
    const { session } = await staged(turn, { onEvent: ({ type }) => void seen.push(type) });
    const stream = session.stream("hi");
    await eventually("an event is held", () => seen.length === 1);
    const { result } = stream;
    expect(await typesOf(stream)).toEqual(TYPES);
    expect((await result).text).toBe("ab");
  });
});

describe("leaving the loop", () => {
  test.each(["break", "an error"])("by %s stops the turn, and its processes are gone then", async (how) => {
    const found = unhandled();
    const { stage, session } = await staged(
      [...turn.slice(0, 3), { ignore: ["SIGTERM"] }, { linger: true }],
      {
        killGraceMs: 200,
      },
    );
    const stream = session.stream("hi");
    const failure = new Error("mine");
    const loop = async (): Promise<void> => {
      for await (const event of stream) {
        if (event.type !== "assistant-text") continue;
        if (how === "break") break;
        throw failure;
      }
    };
    if (how === "break") await loop();
    else expect(await errorOf(loop())).toBe(failure);
    const pids = readdirSync(stage.folder).flatMap((name) => /^turn-(\d+)$/.exec(name)?.[1] ?? []);
    expect(pids).toHaveLength(1);
    expect(pids.map(Number).filter(runs)).toEqual([]);
    expect(await errorOf(stream.result)).toMatchObject({ code: "CURSOR_ABORTED", name: "AbortError" });
    expect(session.sessionId).toBeUndefined();
    play(stage, parrot);
    expect((await session.prompt("next")).text).toMatch(/next$/);
    expect(found).toEqual([]);
  });

  test("at the result loses nothing", async () => {
    const { session } = await staged([...turn, { linger: true }], { exitGraceMs: 100 });
    const stream = session.stream("hi");
    for await (const event of stream) if (event.type === "result") break;
    expect((await stream.result).sessionId).toBe(session.sessionId);
    expect(session.sessionId).toBeDefined();
    expect(session.turns).toBe(1);
  });

  test("of a turn that waits takes it out of the line", async () => {
    const { stage, session } = await staged([{ touch: "turn" }, { waitFile: "gate" }, ...turn]);
    const one = session.prompt("one");
    await stage.touched("turn");
    const two = session.stream("two");
    const iterator = two[Symbol.asyncIterator]();
    const next = iterator.next();
    const three = session.prompt("three");
    expect(await iterator.return?.()).toEqual({ value: undefined, done: true });
    expect(await next).toEqual({ value: undefined, done: true });
    expect(await errorOf(two.result)).toMatchObject({ code: "CURSOR_ABORTED" });
    stage.release("gate");
    await Promise.all([one, three]);
    expect(session.turns).toBe(2);
  });
});

describe("a turn that fails", () => {
  test("throws in the loop behind its events, and nobody has to catch the result", async () => {
    const found = unhandled();
    const { session } = await staged([begins, text("a"), ...fails.slice(1)]);
    const types: string[] = [];
    const loop = async (): Promise<void> => {
      for await (const { type } of session.stream("hi")) types.push(type);
    };
    expect(await errorOf(loop())).toMatchObject({ code: "CURSOR_EXITED", exitCode: 3 });
    expect(types).toEqual(["system-init", "assistant-text"]);
    await setImmediate();
    expect(found).toEqual([]);
  });

  test("by a callback throws its error", async () => {
    const failure = new Error("mine");
    const { session } = await staged(turn, {
      onText: () => {
        throw failure;
      },
    });
    const stream = session.stream("hi");
    expect(await errorOf(typesOf(stream))).toBe(failure);
    expect(await errorOf(stream.result)).toBe(failure);
  });

  test.each<[string, string, number]>([
    ["its signal", "nothing", 1],
    ["its signal", "an event", 2],
    ["dispose", "an event", 2],
  ])("by %s throws at once, where %s is held", async (way, _what, come) => {
    const came: string[] = [];
    const steps = [...turn.slice(0, come + 1), { linger: true }];
    const { session } = await staged(steps, { onEvent: ({ type }) => void came.push(type) });
    const controller = new AbortController();
    const stream = session.stream("hi", { signal: controller.signal });
    const iterator = stream[Symbol.asyncIterator]();
    await iterator.next();
    await eventually("the last one has come", () => came.length === come);
    if (way === "dispose") await session.dispose();
    else controller.abort(new Error("enough"));
    const error = await errorOf(iterator.next());
    expect(error.code).toBe("CURSOR_ABORTED");
    if (way !== "dispose") expect(error.cause).toMatchObject({ message: "enough" });
    expect(await errorOf(stream.result)).toBe(error);
    expect(await iterator.next()).toEqual({ value: undefined, done: true });
  });

  test("before it began throws as well", async () => {
    const found = unhandled();
    const { session } = await staged(turn);
    const never = session.stream("hi", { signal: AbortSignal.abort() });
    expect(await errorOf(typesOf(never))).toMatchObject({ code: "CURSOR_ABORTED" });
    await session.dispose();
    expect(await errorOf(typesOf(session.stream("hi")))).toMatchObject({ code: "CURSOR_SESSION_DISPOSED" });
    session.stream("forgotten");
    await setImmediate();
    expect(found).toEqual([]);
  });

  test("by dispose throws in the loop, which may have called it", async () => {
    const { session } = await staged([...turn.slice(0, 3), { linger: true }]);
    const loop = async (): Promise<void> => {
      for await (const { type } of session.stream("hi"))
        if (type === "assistant-text") await session.dispose();
    };
    expect(await errorOf(loop())).toMatchObject({ code: "CURSOR_ABORTED" });
  });
});

test("a stream that nobody looks at ends with the session", async () => {
  const { session } = await staged(turn);
  session.stream("forgotten");
  const waiting = errorOf(session.prompt("behind it"));
  await session.dispose();
  expect(await waiting).toMatchObject({ code: "CURSOR_SESSION_DISPOSED" });
});
