/** The plugin's sessions as Fusion's engine drives them, without tools: prompts, aborts, the end, what it reads of them. */

import { describe, expect, onTestFinished, test, vi } from "vitest";
import { kinds, Task } from "./support/fusion.js";
import { begins, errorOf, fails, repeats } from "./support/session.js";
import { completed, runs, type Step, started, text, thinking } from "./support/stage.js";

const turn: Step[] = [
  begins,
  thinking("Hm"),
  text("Tides "),
  started("c-1", "shell", { command: "ls" }),
  completed("c-1", "shell", { success: { exitCode: 0 } }),
  started("c-2", "shell", { command: "rm" }),
  completed("c-2", "shell", { failure: { exitCode: 1 } }),
  text("mended"),
  repeats,
];

describe("a prompt", () => {
  test("streams, and what it used and said is on the session", async () => {
    const task = new Task();
    task.play(turn);
    const session = await task.session({ tools: "coding", defaultModelId: "cursor-cli/gpt-5" });
    const events = kinds(session);
    expect(task.runtime.describeModel(session)).toBe("cursor-cli/gpt-5");
    expect(session.model).toEqual({ provider: "cursor-cli", id: "gpt-5", name: "gpt-5" });
    expect(await task.runtime.promptWithFallback(session, "Mend them")).toBeUndefined();

    expect(task.heard).toEqual({
      texts: ["Tides ", "mended"],
      thoughts: ["Hm"],
      started: [
        ["shell", { command: "ls" }],
        ["shell", { command: "rm" }],
      ],
      ended: [
        ["shell", false],
        ["shell", true],
      ],
    });
    expect(events).toEqual([
      "agent_start",
      "thinking_delta",
      "text_delta",
      "tool_execution_start",
      "tool_execution_end",
      "tool_execution_start",
      "tool_execution_end",
      "text_delta",
      "message_end",
      "agent_end",
    ]);
    const now = expect.any(Number);
    expect(session.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "Mend them" }], timestamp: now },
      {
        role: "assistant",
        content: [{ type: "text", text: "Tides mended" }],
        timestamp: now,
        stopReason: "stop",
      },
    ]);
    expect(session.state).toEqual({ messages: session.messages });
    expect(session).toMatchObject({
      turns: 1,
      usage: { inputTokens: 10, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 },
      toolCalls: { started: 2, completed: 2, failed: 1 },
    });
    expect(session.getSessionStats()).toEqual({
      sessionId: session.sessionId,
      userMessages: 1,
      assistantMessages: 1,
      totalMessages: 2,
      toolCalls: 2,
      toolResults: 2,
      tokens: { input: 10, output: 2, cacheRead: 3, cacheWrite: 4, total: 19 },
      cost: 0,
    });
    expect(task.context.logged).toEqual([]);
  });

  test("is the first with the context, and then goes on with the conversation", async () => {
    const task = new Task();
    task.play([begins, repeats]);
    const session = await task.session({ tools: "coding", skills: ["review"] });
    expect(session.getSessionStats()).toMatchObject({ sessionId: "", totalMessages: 0 });
    await task.runtime.promptWithFallback(session, "one");
    const first = task.echo();
    expect(first.args).toEqual("--print --output-format stream-json --model auto --trust --force".split(" "));
    expect(first.prompt).toMatch(/^You mend tide tables\.\n[\s\S]*review[\s\S]*\nUser request:\none$/);
    await task.runtime.promptWithFallback(session, "two");
    expect(task.echo()).toMatchObject({ prompt: "two" });
    expect(task.echo().args.slice(-2)).toEqual(["--resume", session.sessionId]);
    expect(session.usage.inputTokens).toBe(20);
    expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  });

  test.each([["readonly" as const], [undefined]])("with tools %j only plans", async (tools) => {
    const task = new Task();
    task.play([begins, repeats]);
    const session = await task.session({ tools });
    await session.prompt("look");
    expect(task.echo().args).toEqual(
      "--print --output-format stream-json --model auto --trust --mode plan".split(" "),
    );
    expect(task.echo().prompt).toContain("read-only");
  });

  test("that fails rejects with the sentence that Fusion knows, and the session goes on", async () => {
    const task = new Task();
    task.play([begins, text("half"), ...fails.slice(1)]);
    const session = await task.session();
    const error = await errorOf(task.runtime.promptWithFallback(session, "one"));
    expect(error).toMatchObject({ code: "CURSOR_EXITED", message: "Cursor CLI exited 3: Error: it broke" });
    expect(session.state.errorMessage).toBe(error.message);
    expect(session.messages[1]).toMatchObject({
      content: [{ type: "text", text: "half" }],
      stopReason: "error",
      errorMessage: error.message,
    });
    task.play([begins, repeats]);
    await session.prompt("two");
    expect(session.state).toEqual({ messages: session.messages });
    expect([session.messages.length, session.turns]).toEqual([4, 1]);
  });

  test("waits for the one before, and each has its own messages", async () => {
    const task = new Task();
    task.play([begins, repeats]);
    const session = await task.session();
    const events = kinds(session);
    await Promise.all(["a", "b", "c"].map((text) => task.runtime.promptWithFallback(session, text)));
    expect(session.messages.flatMap(({ content }) => content.map(({ text }) => text.slice(-1)))).toEqual([
      "a",
      "a",
      "b",
      "b",
      "c",
      "c",
    ]);
    expect(events).toEqual(Array(3).fill(["agent_start", "text_delta", "message_end", "agent_end"]).flat());
  });

  test.each([
    [new Error("no more"), "no more"],
    ["no more", "no more"],
    [null, "null"],
  ])("of a callback that throws %j ends with that", async (broken, errorMessage) => {
    const task = new Task();
    task.play(turn);
    const session = await task.session({
      onText() {
        throw broken;
      },
    });
    await expect(session.prompt("one")).rejects.toBe(broken);
    expect(session.state).toMatchObject({ errorMessage, messages: [{}, { stopReason: "error" }] });
  });

  test("tells that images are left out", async () => {
    const task = new Task();
    task.play([begins, repeats]);
    const session = await task.session();
    await task.runtime.promptWithFallback(session, "look", { images: [{}, {}] });
    expect(task.context.logged).toEqual(["warn: Cursor's CLI takes no images: 2 left out"]);
  });

  test.each<[string, unknown[], RegExp]>([
    ["a session of another runtime", [{}, "x"], /^session must be one that createSession/],
    ["a prompt that is no string", [undefined, 7], /prompt must be a string/],
    ["a signal that is none", [undefined, "x", { signal: {} }], /signal/],
  ])("with %s is a TypeError", async (_what, [given, prompt, options], message) => {
    const task = new Task();
    task.play([begins, repeats]);
    const session = await task.session();
    const error = await errorOf(
      task.runtime.promptWithFallback((given ?? session) as object, prompt as string, options),
    );
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toMatch(message);
    await session.prompt("on");
    expect(session.messages).toHaveLength(2);
  });
});

describe("an abort", () => {
  const stuck: Step[] = [begins, text("half"), { touch: "pid" }, { linger: true }];

  test("by a signal ends that turn alone", async () => {
    const task = new Task();
    task.play(stuck);
    const session = await task.session();
    const controller = new AbortController();
    const prompted = errorOf(task.runtime.promptWithFallback(session, "one", { signal: controller.signal }));
    const pid = await task.stage.pid("pid");
    task.play([begins, repeats]);
    const next = session.prompt("two");
    controller.abort("enough");
    expect(await prompted).toMatchObject({
      name: "AbortError",
      message: "Cursor CLI aborted",
      cause: "enough",
    });
    expect(session.messages[1]).toMatchObject({ stopReason: "aborted", errorMessage: "Cursor CLI aborted" });
    await next;
    expect(runs(pid)).toBe(false);
    expect(session.turns).toBe(1);
  });

  test("of the session ends the turn that runs and those that wait, and it can go on", async () => {
    const task = new Task();
    task.play(stuck);
    const session = await task.session();
    const events = kinds(session);
    const [one, two] = [errorOf(session.prompt("one")), errorOf(session.prompt("two"))];
    await task.stage.touched("pid");
    await session.abort();
    // They have settled: there is nothing more to wait for.
    expect(session.messages[1]).toMatchObject({ stopReason: "aborted" });
    expect([(await one).code, (await two).code]).toEqual(["CURSOR_ABORTED", "CURSOR_ABORTED"]);
    // The second never began.
    expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(events).toEqual(["agent_start", "text_delta", "message_end", "agent_end"]);
    task.play([begins, repeats]);
    await session.prompt("three");
    expect(session.turns).toBe(1);
    await session.abort();
  });
});

describe("the end of a session", () => {
  test("aborts the turn that runs, and says of later ones that it is disposed", async () => {
    const task = new Task();
    task.play([begins, { touch: "pid" }, { linger: true }]);
    const session = await task.session();
    const one = errorOf(session.prompt("one"));
    const pid = await task.stage.pid("pid");
    await Promise.all([session.dispose(), session.dispose()]);
    expect(session.disposed).toBe(true);
    expect(await one).toMatchObject({ code: "CURSOR_ABORTED", name: "AbortError" });
    expect(runs(pid)).toBe(false);
    await expect(task.runtime.promptWithFallback(session, "two")).rejects.toMatchObject({
      code: "CURSOR_SESSION_DISPOSED",
      message: "Cursor session is disposed.",
    });
    expect(session.messages).toHaveLength(2);
  });

  test("comes with `await using`", async () => {
    const task = new Task();
    const session = await task.session();
    {
      await using used = session;
      expect(used.disposed).toBe(false);
    }
    expect(session.disposed).toBe(true);
  });
});

describe("a listener", () => {
  test("that throws disturbs nobody, is told of, and can leave", async () => {
    const task = new Task();
    task.play([begins, text("x"), repeats]);
    const session = await task.session();
    const [bad, good] = [vi.fn(() => expect.unreachable("on purpose")), vi.fn()];
    const leave = session.subscribe(bad);
    session.subscribe(good);
    await session.prompt("one");
    expect(bad).toHaveBeenCalledTimes(4);
    expect(good).toHaveBeenCalledTimes(4);
    expect(task.context.logged).toContain("warn: A listener of a Cursor session failed at message_update:");
    leave();
    leave();
    await session.prompt("two");
    expect(bad).toHaveBeenCalledTimes(4);
    expect(good).toHaveBeenCalledTimes(8);
  });

  test("that is async and rejects is told of too, and does not end the host", async () => {
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    onTestFinished(() => void process.off("unhandledRejection", unhandled));
    const task = new Task();
    task.play([begins, repeats]);
    const session = await task.session();
    const rejects: () => unknown = () => Promise.reject(new Error("on purpose"));
    session.subscribe(rejects);
    await session.prompt("one");
    // Node tells of an unhandled rejection when the microtasks are done.
    await new Promise(setImmediate);
    expect(unhandled).not.toHaveBeenCalled();
    expect(task.context.logged).toContain("warn: A listener of a Cursor session failed at agent_end:");
  });

  test("that is no function is a TypeError", async () => {
    const session = await new Task().session();
    expect(() => session.subscribe(7 as never)).toThrow(new TypeError("listener must be a function"));
  });
});

describe("the engine", () => {
  test("can put its own methods in the place of a session's", async () => {
    const session: { promptWithFallback?: unknown; dispose: () => Promise<void> } =
      await new Task().session();
    const own = session.dispose.bind(session);
    session.promptWithFallback = () => {};
    session.dispose = async () => own();
    await session.dispose();
  });

  test("has the last word before anything runs: what it throws takes the session down", async () => {
    const task = new Task();
    const paused = new Error("the engine is paused");
    const beforeSpawnSession = vi.fn(async () => {
      throw paused;
    });
    const fusionTools = [{ name: "fn_add", execute: () => "1" }];
    const before = task.picture();
    await expect(task.session({ beforeSpawnSession, fusionTools })).rejects.toBe(paused);
    expect(beforeSpawnSession).toHaveBeenCalledTimes(1);
    expect(task.isLike(before)).toBe(true);
  });
});
