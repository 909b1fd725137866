import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import {
  type CursorError,
  type CursorPromptInput,
  type CursorStreamEvent,
  launchCursorPrompt,
} from "fusion-cursor-native";
import { standInAgentPath } from "fusion-cursor-native/testing";
import { describe, expect, test, vi } from "vitest";
import {
  blockUntil,
  completed,
  init,
  result,
  runs,
  Stage,
  type Step,
  started,
  text,
  thinking,
} from "./support/stage.js";

const usage = { inputTokens: 18, outputTokens: 4, cacheReadTokens: 2, cacheWriteTokens: 0 };

/** A turn that shows everything once. */
const everything = [
  init,
  { line: { type: "user", message: { role: "user", content: [{ type: "text", text: "${prompt}" }] } } },
  thinking("Hm, "),
  thinking("한中😀"),
  { line: { type: "thinking", subtype: "completed" } },
  text("I look. ", { model_call_id: "m-1", timestamp_ms: 1 }),
  started("c-1\nfc", "shell", { command: "make", timeout: 10 }),
  started("c-2", "mcp", { name: "srv-fn_task", toolName: "fn_task", args: { n: 1 } }),
  completed("c-2", "mcp", { success: { content: [{ text: { text: "ok" } }], isError: false } }),
  completed("c-1\nfc", "shell", { failure: { exitCode: 2 } }, { command: "make", timeout: 10 }),
  completed("c-3", "edit", { rejected: { reason: "" } }),
  { line: { type: "connection", subtype: "reconnecting", attempt: 1 } },
  { line: { type: "retry", subtype: "starting", attempt: 2 } },
  {
    line: {
      type: "interaction_query",
      subtype: "request",
      query_type: "webSearchRequestQuery",
      query: { id: 8, webSearchRequestQuery: {} },
    },
  },
  { line: { type: "novel", subtype: "thing" } },
  { text: "no json\n" },
  text("Füße."),
  result("I look. Füße.", { usage, request_id: "r-1", duration_ms: 5.5 }),
];

test("every event arrives typed and in order, and the result sums them up", async () => {
  const events: CursorStreamEvent[] = [];
  const stage = new Stage(everything);
  const outcome = await stage.launch({ prompt: "do it", onEvent: (event) => void events.push(event) });
  expect(JSON.parse(JSON.stringify(events))).toEqual([
    { type: "system-init", sessionId: "s-1", cwd: stage.folder, model: "Auto" },
    { type: "user", text: "do it" },
    { type: "thinking-delta", text: "Hm, " },
    { type: "thinking-delta", text: "한中😀" },
    { type: "thinking-completed" },
    { type: "assistant-text", text: "I look. " },
    {
      type: "tool-call-started",
      callId: "c-1\nfc",
      name: "shell",
      kind: "shell",
      args: { command: "make", timeout: 10 },
    },
    {
      type: "tool-call-started",
      callId: "c-2",
      name: "srv-fn_task",
      kind: "mcp",
      args: { name: "srv-fn_task", toolName: "fn_task", args: { n: 1 } },
    },
    {
      type: "tool-call-completed",
      callId: "c-2",
      name: "srv-fn_task",
      kind: "mcp",
      outcome: "success",
      isError: false,
      args: { name: "srv-fn_task", toolName: "fn_task", args: { n: 1 } },
      result: { success: { content: [{ text: { text: "ok" } }], isError: false } },
    },
    {
      type: "tool-call-completed",
      callId: "c-1\nfc",
      name: "shell",
      kind: "shell",
      outcome: "failure",
      isError: true,
      args: { command: "make", timeout: 10 },
      result: { failure: { exitCode: 2 } },
    },
    {
      type: "tool-call-completed",
      callId: "c-3",
      name: "edit",
      kind: "edit",
      outcome: "rejected",
      isError: true,
      result: { rejected: { reason: "" } },
    },
    { type: "connection", state: "reconnecting", attempt: 1 },
    { type: "retry", state: "starting", attempt: 2 },
    {
      type: "interaction-query",
      phase: "request",
      queryType: "webSearchRequestQuery",
      payload: { id: 8, webSearchRequestQuery: {} },
    },
    {
      type: "unknown",
      reason: "new-type",
      recordType: "novel",
      recordSubtype: "thing",
      raw: '{"type":"novel","subtype":"thing"}',
    },
    { type: "unknown", reason: "not-json", raw: "no json" },
    { type: "assistant-text", text: "Füße." },
    {
      type: "result",
      sessionId: "s-1",
      subtype: "success",
      text: "I look. Füße.",
      isError: false,
      usage,
      requestId: "r-1",
      durationMs: 5.5,
    },
  ]);
  expect(outcome).toEqual({
    sessionId: "s-1",
    text: "I look. Füße.",
    usage,
    requestId: "r-1",
    model: "Auto",
    durationMs: expect.any(Number),
    toolCalls: { started: 2, completed: 3, failed: 1, rejected: 1, abandoned: 0 },
    dropped: { lines: 1, bytes: 7 },
    exitCode: 0,
    signal: null,
    leftovers: [],
  });
});

test("the four callbacks get their part, in the order of the stream", async () => {
  const calls: unknown[] = [];
  const note =
    (name: string) =>
    (...args: unknown[]): void =>
      void calls.push([name, ...args]);
  await new Stage(everything).launch({
    onText: note("text"),
    onThinking: note("thinking"),
    onToolStart: note("start"),
    onToolEnd: note("end"),
  });
  const mcp = { name: "srv-fn_task", toolName: "fn_task", args: { n: 1 } };
  const make = { command: "make", timeout: 10 };
  expect(calls).toEqual([
    ["thinking", "Hm, "],
    ["thinking", "한中😀"],
    ["text", "I look. "],
    ["start", "shell", make, { kind: "shell", callId: "c-1\nfc", args: make }],
    ["start", "srv-fn_task", mcp, { kind: "mcp", callId: "c-2", args: mcp }],
    [
      "end",
      "srv-fn_task",
      false,
      { success: { content: [{ text: { text: "ok" } }], isError: false } },
      { kind: "mcp", callId: "c-2", outcome: "success", args: mcp },
    ],
    [
      "end",
      "shell",
      true,
      { failure: { exitCode: 2 } },
      { kind: "shell", callId: "c-1\nfc", outcome: "failure", args: make },
    ],
    ["end", "edit", true, { rejected: { reason: "" } }, { kind: "edit", callId: "c-3", outcome: "rejected" }],
    ["text", "Füße."],
  ]);
});

test("what tools were asked and what they said arrives in every script", async () => {
  const words = ["plain", "größer", "灯台 für später", "😀".repeat(40), "\ud83d", 'a"\\\n\u0001', ""];
  const payloads = words.map((word) => ({ [`key ${word}`]: [word, { word }] }));
  const seen: unknown[] = [];
  await new Stage([
    init,
    ...payloads.map((payload, at) => started(`c-${at}`, "read", payload)),
    ...payloads.map((payload, at) => completed(`c-${at}`, "read", { success: payload })),
    result(""),
  ]).launch({
    onToolStart: (_name, args) => void seen.push(args),
    onToolEnd: (_name, _isError, end, info) => void seen.push(end, info?.args),
  });
  expect(seen).toEqual([...payloads, ...payloads.flatMap((payload) => [{ success: payload }, payload])]);
});

test("callbacks are called as methods of the input", async () => {
  const seen: unknown[] = [];
  const input = new Stage([init, text("x"), result("x")]).input({
    onText(this: unknown) {
      seen.push(this);
    },
  });
  await launchCursorPrompt(input);
  expect(seen).toEqual([input]);
});

test("an answer that only the result holds is delivered as text too", async () => {
  const onText = vi.fn();
  const outcome = await new Stage([init, result("all of it")]).launch({ onText });
  expect(onText.mock.calls).toEqual([["all of it"]]);
  expect(outcome.text).toBe("all of it");
});

test("an error's text is never an answer", async () => {
  const onText = vi.fn();
  const stage = new Stage([init, result("Request timed out", { is_error: true })]);
  const failure = stage.launch({ onText });
  await expect(failure).rejects.toMatchObject({
    name: "CursorError",
    code: "CURSOR_REPORTED_ERROR",
    message: "Cursor CLI reported an error: Request timed out",
    retryable: false,
    exitCode: 0,
    signal: null,
    partial: { sessionId: "s-1", text: "" },
  });
  expect(onText).not.toHaveBeenCalled();
});

test("payloads mean what JSON.parse makes of them", async () => {
  const raw =
    '{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"shellToolCall":{"args":' +
    '{"a":1e400,"b":18446744073709551616,"c":"\\ud83d","d":1,"d":2,"__proto__":{"x":1},"deep":"${nested:5000}"}' +
    ',"result":{"success":{"n":"한"}}}}}\n';
  const events: CursorStreamEvent[] = [];
  const stage = new Stage([{ text: raw }, result("x")]);
  await stage.launch({ onEvent: (event) => void events.push(event) });
  const [event] = events;
  if (event?.type !== "tool-call-completed") throw new Error(`a ${event?.type}`);
  const args = event.args as Record<string, unknown>;
  expect(args.a).toBe(Number.POSITIVE_INFINITY);
  expect(args.b).toBe(2 ** 64);
  expect(args.c).toBe("\ud83d");
  expect(args.d).toBe(2);
  expect(Object.hasOwn(args, "__proto__")).toBe(true);
  expect(event.args).toBe(args);
  expect(event.result).toEqual({ success: { n: "한" } });
});

describe("failures", () => {
  test("the CLI's own words have a class, and what came before is kept", async () => {
    const stage = new Stage([
      init,
      text("half"),
      { text: "ActionRequiredError: You've hit your usage limit\n", to: "stderr" },
      { exit: 1 },
    ]);
    await expect(stage.launch()).rejects.toMatchObject({
      code: "CURSOR_USAGE_LIMIT",
      message: "Cursor CLI exited 1: ActionRequiredError: You've hit your usage limit",
      retryable: false,
      exitCode: 1,
      stderrTail: "ActionRequiredError: You've hit your usage limit\n",
      partial: { sessionId: "s-1", text: "half", exitCode: 1 },
    });
  });

  test("no key is repeated, neither ours nor one that looks like it", async () => {
    const said = "bad key correct horse battery, and sk-abcdefghijklmnop1234 too\n";
    const key = "correct horse battery";
    for (const steps of [
      [init, { text: said, to: "stderr" }, { exit: 1 }],
      [{ text: said }, { exit: 1 }],
      [init, result(said, { is_error: true })],
    ]) {
      const failure = await new Stage(steps)
        .launch({ env: { CURSOR_API_KEY: key } })
        .catch((error: CursorError) => error);
      const shown = `${(failure as CursorError).message} ${(failure as CursorError).stderrTail}`;
      expect(shown).toContain("bad key ***, and *** too");
      expect(shown).not.toMatch(/horse|sk-abc/);
    }
  });

  test("a passing shortage is retryable", async () => {
    const stage = new Stage([
      { text: "ConnectError: [resource_exhausted] Error\n", to: "stderr" },
      { exit: 1 },
    ]);
    await expect(stage.launch()).rejects.toMatchObject({ code: "CURSOR_CAPACITY", retryable: true });
  });

  test("no result is no success", async () => {
    await expect(new Stage([init, text("x")]).launch()).rejects.toMatchObject({
      code: "CURSOR_NO_RESULT",
      message: "Cursor CLI stream ended without a result event.",
    });
  });

  test("a relative workspace, or program, is the one of the moment of the call, by flag too", async () => {
    const stage = new Stage([{ echo: "echo.json" }, init, result("x")]);
    mkdirSync(stage.path("sub"));
    symlinkSync(standInAgentPath(), stage.path("sub/agent"));
    const before = process.cwd();
    process.chdir(stage.folder);
    const turn = stage.launch({ cwd: "sub", binary: "./sub/agent", workspaceFlagRequired: true });
    process.chdir(before);
    await turn;
    const { argv, cwd } = stage.echo();
    expect([cwd, ...argv.slice(-2)]).toEqual([stage.path("sub"), "--workspace", stage.path("sub")]);
  });

  test("a workspace or a program that is not there has a code and starts nothing", async () => {
    const stage = new Stage([{ touch: "started" }]);
    await expect(stage.launch({ cwd: stage.path("none") })).rejects.toMatchObject({
      code: "CURSOR_CWD_MISSING",
    });
    const failure = stage.launch({ binary: stage.path("none") });
    await expect(failure).rejects.toMatchObject({ code: "CURSOR_NOT_FOUND" });
    await expect(failure).rejects.not.toHaveProperty("exitCode");
    await expect(stage.launch({ binary: stage.folder })).rejects.toMatchObject({
      code: "CURSOR_NOT_RUNNABLE",
    });
  });

  test("an error has the fields of its kind and no others", async () => {
    const failure = await new Stage([init, { exit: 3 }]).launch().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Error);
    expect(Object.keys(failure as Error).sort()).toEqual(
      ["code", "exitCode", "partial", "retryable", "signal", "stderrTail"].sort(),
    );
  });
});

describe("limits", () => {
  test("come from the options", async () => {
    const stage = new Stage([{ linger: true }]);
    await expect(stage.launch({ firstLineTimeoutMs: 200, killGraceMs: 500 })).rejects.toMatchObject({
      code: "CURSOR_FIRST_LINE_TIMEOUT",
      message: "Cursor CLI first-line timeout",
    });
  });

  test.each<[string, Step[], string, string]>([
    ["PI_CURSOR_CLI_TIMEOUT_MS", [init], "CURSOR_INACTIVITY_TIMEOUT", "Cursor CLI inactivity timeout"],
    ["PI_CURSOR_CLI_FIRST_LINE_TIMEOUT_MS", [], "CURSOR_FIRST_LINE_TIMEOUT", "Cursor CLI first-line timeout"],
  ])("come from %s of this process, read at the call", async (variable, steps, code, message) => {
    const stage = new Stage([...steps, { linger: true }]);
    process.env[variable] = "200";
    try {
      const turn = stage.launch({ killGraceMs: 500 });
      process.env[variable] = "no number";
      await expect(turn).rejects.toMatchObject({ code, message });
      const other = new Stage([...steps, { sleep: 400 }, init, result("x")]);
      await expect(other.launch()).resolves.toMatchObject({ text: "x" });
      // It is this process's to say, not the agent's.
      await expect(other.launch({ env: { [variable]: "1" } })).resolves.toMatchObject({ text: "x" });
    } finally {
      delete process.env[variable];
    }
  });

  test.each<[string, Step[], Partial<CursorPromptInput>, string]>([
    ["the first line", [], { firstLineTimeoutMs: 1500 }, "CURSOR_FIRST_LINE_TIMEOUT"],
    ["silence", [init], { inactivityTimeoutMs: 500 }, "CURSOR_INACTIVITY_TIMEOUT"],
    ["an open tool", [init, started("c", "shell")], { toolTimeoutMs: 500 }, "CURSOR_TOOL_TIMEOUT"],
  ])("on %s end the process while the event loop is blocked", async (_name, steps, limits, code) => {
    const stage = new Stage([...steps, { touch: "leader" }, { linger: true }]);
    const turn = expect(stage.launch({ ...limits, killGraceMs: 500 })).rejects.toMatchObject({ code });
    // From here to the second one nothing of the event loop runs.
    blockUntil("the process runs", () => existsSync(stage.path("leader")));
    const leader = Number(readFileSync(stage.path("leader"), "utf8"));
    blockUntil("the process is gone", () => !runs(leader));
    await turn;
  });
});

test("a line over maxLineBytes is skipped, counted and reported, and the turn goes on", async () => {
  const seen: unknown[] = [];
  const { text: answer, dropped } = await new Stage([
    init,
    text("${fill:300}"),
    text("short"),
    result(""),
  ]).launch({
    maxLineBytes: 300,
    onEvent: (event) => void seen.push(event.type === "unknown" ? event.reason : event.type),
  });
  expect(seen).toEqual(["system-init", "too-long", "assistant-text", "result"]);
  expect(answer).toBe("short");
  expect(dropped).toMatchObject({ lines: 1 });
});

test("a model, a resume id and the other options reach the command line", async () => {
  const stage = new Stage([{ echo: "echo.json" }, init, result("x")]);
  await stage.launch({ model: "cursor-cli/m", tools: "coding", resumeId: "s-0", approveMcps: true });
  expect(stage.echo().argv.slice(1).join(" ")).toBe(
    "--print --output-format stream-json --model m --trust --force --approve-mcps --resume s-0",
  );
});

test("the environment of this process is inherited as it is now, and `env` wins", async () => {
  const stage = new Stage([{ echo: "echo.json" }, init, result("x")]);
  Object.assign(process.env, {
    FC_KEPT: "1",
    FC_OVER: "1",
    NODE_OPTIONS_SAVED: "",
    ELECTRON_RUN_AS_NODE: "1",
  });
  try {
    await stage.launch({ env: { FC_OVER: "2", FC_ADDED: "", CURSOR_API_KEY: "k" } });
    const { env } = stage.echo();
    expect(env).toMatchObject({ FC_KEPT: "1", FC_OVER: "2", FC_ADDED: "", CURSOR_API_KEY: "k" });
    expect(env).not.toHaveProperty("ELECTRON_RUN_AS_NODE");
  } finally {
    for (const name of ["FC_KEPT", "FC_OVER", "NODE_OPTIONS_SAVED", "ELECTRON_RUN_AS_NODE"])
      delete process.env[name];
  }
});
