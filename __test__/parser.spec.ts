/** The stream for those who own the bytes: `parseCursorStreamLine` and `CursorStreamParser`. */

import { inspect } from "node:util";
import { type CursorStreamEvent, CursorStreamParser, parseCursorStreamLine } from "fusion-cursor-native";
import { describe, expect, test } from "vitest";

const assistant = (text: string, more: object = {}): string =>
  JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text }] }, ...more });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const call = (subtype: string, tool: string): string =>
  `{"type":"tool_call","subtype":"${subtype}","call_id":"c","tool_call":${tool}}`;
const plain = (event: CursorStreamEvent): unknown => JSON.parse(JSON.stringify(event));

/** A property that only some events have. */
function of(event: CursorStreamEvent | undefined, name: string): unknown {
  return (event as unknown as Record<string, unknown>)[name];
}

describe("parseCursorStreamLine", () => {
  test.each([
    [
      "system-init",
      '{"type":"system","subtype":"init","session_id":"s"}',
      { type: "system-init", sessionId: "s" },
    ],
    [
      "user",
      '{"type":"user","message":{"content":[{"type":"text","text":"hi"}]}}',
      { type: "user", text: "hi" },
    ],
    ["thinking-delta", '{"type":"thinking","subtype":"delta","text":"hm"}', { text: "hm" }],
    ["thinking-completed", '{"type":"thinking","subtype":"completed"}', {}],
    ["assistant-text", assistant("a"), { text: "a" }],
    ["tool-call-started", call("started", '{"readToolCall":{"args":{"path":"/x"}}}'), { kind: "read" }],
    [
      "tool-call-completed",
      call("completed", '{"readToolCall":{"result":{"success":{}}}}'),
      { outcome: "success" },
    ],
    [
      "interaction-query",
      '{"type":"interaction_query","subtype":"request","query":{"a":1}}',
      { payload: { a: 1 } },
    ],
    ["connection", '{"type":"connection","subtype":"reconnecting","attempt":2}', { attempt: 2 }],
    ["retry", '{"type":"retry","subtype":"starting","attempt":1.0}', { state: "starting", attempt: 1 }],
    [
      "result",
      '{"type":"result","subtype":"success","duration_ms":12,"usage":{"inputTokens":1}}',
      { isError: false, durationMs: 12, usage: { inputTokens: 1 } },
    ],
    [
      "unknown",
      '{"type":"news","subtype":"x"}',
      { reason: "new-type", recordType: "news", recordSubtype: "x" },
    ],
  ])("%s, from a string and from bytes", (type, line, fields) => {
    for (const given of [line, bytes(line), Buffer.from(line), `${line}\n`, `${line}\r\n`, `\uFEFF${line}`]) {
      expect(plain(parseCursorStreamLine(given))).toMatchObject({ type, ...fields });
    }
  });

  test.each([
    ["", "blank"],
    [" \t\r\n", "blank"],
    ["Loading…", "not-json"],
    ["[1]", "not-json"],
    ['{"type":"result"', "not-json"],
    ["{}", "new-type"],
  ])("%j is unknown: %s", (line, reason) => {
    expect(parseCursorStreamLine(line)).toMatchObject({ type: "unknown", reason });
    expect(parseCursorStreamLine(bytes(line))).toMatchObject({ type: "unknown", reason });
  });

  test("text is given as it stands: empty, cut in a pair, and again", () => {
    expect(parseCursorStreamLine(assistant(""))).toEqual({ type: "assistant-text", text: "" });
    expect(parseCursorStreamLine('{"type":"thinking","subtype":"delta"}')).toEqual({
      type: "thinking-delta",
      text: "",
    });
    for (let time = 0; time < 2; time += 1) {
      expect(parseCursorStreamLine(assistant("\ude00x\ud83d"))).toEqual({
        type: "assistant-text",
        text: "\ufffdx\ufffd",
      });
    }
  });

  test("of several things on a line, the first of a known type counts", () => {
    const known = { type: "assistant-text", text: "a" };
    expect(parseCursorStreamLine(`${assistant("a")}${assistant("b")}`)).toEqual(known);
    expect(parseCursorStreamLine(`{"type":"news"}${assistant("a")}`)).toEqual(known);
    expect(parseCursorStreamLine(`Loading…${assistant("a")}`)).toEqual(known);
    expect(parseCursorStreamLine(`${assistant("a")}\n${assistant("b")}`)).toEqual(known);
    expect(parseCursorStreamLine('{"type":"x"}{"type":"y"}')).toMatchObject({ recordType: "x" });
  });

  test("a string with lone surrogates loses nothing of what JSON.parse would have seen", () => {
    // As a decoder leaves them that is not strict: in the line itself, not escaped.
    const line = call("started", '{"readToolCall":{"args":{"k\ud83d":"a\ude00","pair":"\ud83d\\ude00"}}}');
    const event = parseCursorStreamLine(line);
    expect(of(event, "args")).toEqual({ "k\ud83d": "a\ude00", pair: "😀" });
    const said = parseCursorStreamLine('{"type":"thinking","subtype":"delta","text":"a\ud83d"}');
    expect(said).toEqual({ type: "thinking-delta", text: "a\ufffd" });
    expect(parseCursorStreamLine("no json \ud83d")).toMatchObject({
      reason: "not-json",
      raw: "no json \\ud83d",
    });
  });

  test("bytes that are no UTF-8 are read as U+FFFD", () => {
    const line = Buffer.from(assistant("a@b"));
    line[line.indexOf("@")] = 0xff;
    expect(parseCursorStreamLine(line)).toEqual({ type: "assistant-text", text: "a\ufffdb" });
  });

  test("a line over the highest limit is too long, and throws nothing", () => {
    const line = Buffer.alloc(64 * 1024 * 1024 + 1, "x");
    expect(parseCursorStreamLine(line)).toMatchObject({ reason: "too-long", raw: "x".repeat(4096) });
    expect(parseCursorStreamLine(line.subarray(1))).toMatchObject({ reason: "not-json" });
  });

  test.each([[undefined], [null], [7], [{}], [["x"]], [new Uint16Array(2)], [new ArrayBuffer(2)]])(
    "%o is a TypeError",
    (line) => {
      expect(() => parseCursorStreamLine(line as unknown as string)).toThrow(TypeError);
      expect(() => parseCursorStreamLine(line as unknown as string)).toThrow(/string or a Uint8Array/);
    },
  );
});

describe("CursorStreamParser", () => {
  test("gives the events of lines as they end, and of the last one at the end", () => {
    const parser = new CursorStreamParser();
    expect(parser.push(bytes(`${assistant("a")}\n${assistant("b").slice(0, 9)}`))).toEqual([
      { type: "assistant-text", text: "a" },
    ]);
    expect(parser.push(new Uint8Array())).toEqual([]);
    expect(parser.push(bytes(assistant("b").slice(9)))).toEqual([]);
    expect(parser.finish()).toEqual([{ type: "assistant-text", text: "b" }]);
    expect(parser.finish()).toEqual([]);
  });

  test("remembers what a stream has to remember", () => {
    const lines = [
      call("started", '{"mcpToolCall":{"args":{"name":"find","q":1}}}'),
      call("completed", '{"mcpToolCall":{"result":{"rejected":{}}}}'),
      assistant("half \ud83d", { timestamp_ms: 1 }),
      assistant("\ude00", { timestamp_ms: 2 }),
      assistant("half 😀"),
    ];
    const events = new CursorStreamParser({ partialOutput: true }).push(bytes(`${lines.join("\n")}\n`));
    expect(events.map(plain)).toEqual([
      { type: "tool-call-started", callId: "c", name: "find", kind: "mcp", args: { name: "find", q: 1 } },
      {
        type: "tool-call-completed",
        callId: "c",
        name: "find",
        kind: "mcp",
        args: { name: "find", q: 1 },
        outcome: "rejected",
        isError: true,
        result: { rejected: {} },
      },
      { type: "assistant-text", text: "half " },
      { type: "assistant-text", text: "😀" },
    ]);
  });

  test("partialOutput: what is no delta is a repeat, however it is spelt", () => {
    const lines = [assistant("a  b", { timestamp_ms: 1 }), assistant("a b")].join("\n");
    expect(new CursorStreamParser({ partialOutput: true }).push(bytes(`${lines}\n`))).toHaveLength(1);
    expect(new CursorStreamParser().push(bytes(`${lines}\n`))).toHaveLength(2);
  });

  test("skips a line over the limit, counts it, and goes on", () => {
    const parser = new CursorStreamParser({ maxLineBytes: 100 });
    const events = parser.push(bytes(`${"x".repeat(101)}\n${assistant("a")}\nno json\n\n`));
    expect(events.map((event) => of(event, "reason") ?? event.type)).toEqual([
      "too-long",
      "assistant-text",
      "not-json",
      "blank",
    ]);
    expect(parser.dropped).toEqual({ lines: 2, bytes: 108 });
  });

  test("begins anew after finish, and goes on counting", () => {
    const parser = new CursorStreamParser();
    parser.push(bytes(`no json\n${call("started", '{"readToolCall":{"args":{"p":1}}}')}\n{"half`));
    expect(parser.finish()).toMatchObject([{ type: "unknown", reason: "not-json", raw: '{"half' }]);
    expect(parser.dropped).toEqual({ lines: 2, bytes: 13 });
    const events = parser.push(bytes(`${call("completed", '{"readToolCall":{}}')}\nno\n`));
    expect(of(events[0], "args")).toBeUndefined();
    expect(parser.dropped).toEqual({ lines: 3, bytes: 15 });
  });

  test("does not look at the bytes again once push has returned", () => {
    const parser = new CursorStreamParser();
    const chunk = bytes(`${call("started", '{"readToolCall":{"args":{"p":"kept"}}}')}\n{"type":"ne`);
    const [event] = parser.push(chunk);
    chunk.fill(0);
    expect(of(event, "args")).toEqual({ p: "kept" });
    expect(parser.push(bytes('ws"}\n'))).toMatchObject([{ recordType: "news" }]);
  });

  test("takes bytes of every kind: views, shared memory, and none", () => {
    const line = bytes(`${assistant("a")}\n`);
    const shared = new Uint8Array(new SharedArrayBuffer(line.length + 2), 1, line.length);
    shared.set(line);
    const detached = new Uint8Array(8);
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    const parser = new CursorStreamParser();
    for (const chunk of [
      line,
      Buffer.from(line),
      shared,
      Buffer.concat([line, line]).subarray(line.length),
    ]) {
      expect(parser.push(chunk)).toEqual([{ type: "assistant-text", text: "a" }]);
    }
    expect(parser.push(detached)).toEqual([]);
  });

  test("one push may hold more than is read at once", () => {
    const line = `${assistant("é".repeat(1_000_000))}\n`;
    const events = new CursorStreamParser().push(Buffer.from(line.repeat(20)));
    expect(events).toHaveLength(20);
    expect(of(events[19], "text")).toBe("é".repeat(1_000_000));
  });

  test.each([
    [[{ maxLineBytes: 0 }], /maxLineBytes must be a whole number of bytes from 1 to 67108864, not 0/],
    [[{ maxLineBytes: 1.5 }], /maxLineBytes/],
    [[{ maxLineBytes: 2 ** 26 + 1 }], /maxLineBytes/],
    [[{ maxLineBytes: "1" }], /maxLineBytes/],
    [[{ partialOutput: 1 }], /partialOutput must be true or false/],
    [["x"], /the options must be an object/],
  ])("new CursorStreamParser(...%j) is a TypeError", (options, message) => {
    const make = (): unknown => new CursorStreamParser(...(options as [object]));
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
  });

  test("a chunk that is no Uint8Array is a TypeError, and harms nothing", () => {
    const parser = new CursorStreamParser();
    for (const chunk of ["x", undefined, new DataView(new ArrayBuffer(1))]) {
      expect(() => parser.push(chunk as unknown as Uint8Array)).toThrow(/chunk must be a Uint8Array/);
    }
    expect(parser.push(bytes(`${assistant("a")}\n`))).toHaveLength(1);
  });
});

describe("a payload that JSON.parse does not take", () => {
  test.each([
    ['{"n":NaN}', "args of a tool"],
    ['{"p":"C:\\q"}', "an escape that JSON does not know"],
    ["[-Infinity]", "not even an object"],
  ])("%s reads as its text", (text) => {
    const event = parseCursorStreamLine(call("started", `{"readToolCall":{"args":${text}}}`));
    expect(of(event, "args")).toBe(text);
    expect(of(event, "args")).toBe(text);
    expect(inspect(event)).toContain("tool-call-started");
    expect(plain(event)).toMatchObject({ args: text });
  });

  test("wherever a payload is", () => {
    const at = (line: string, name: string): unknown => of(parseCursorStreamLine(line), name);
    expect(at(call("completed", '{"xToolCall":{"result":{"success":NaN}}}'), "result")).toBe(
      '{"success":NaN}',
    );
    expect(at('{"type":"result","usage":{"inputTokens":NaN}}', "usage")).toBe('{"inputTokens":NaN}');
    expect(at('{"type":"interaction_query","subtype":"request","query":[NaN]}', "payload")).toBe("[NaN]");
  });

  test("raw control characters are no reason", () => {
    const event = parseCursorStreamLine(call("started", '{"readToolCall":{"args":{"a\t":"\u0000\u001b"}}}'));
    expect(of(event, "args")).toEqual({ "a\t": "\u0000\u001b" });
  });
});

describe("the arguments of a function", () => {
  const args = (tool: string): unknown =>
    of(parseCursorStreamLine(call("started", `{"function":${tool}}`)), "args");

  test.each([
    ["an object in a string", { name: "f", arguments: '{"a":[1,"\ud83d"]}' }, { a: [1, "\ud83d"] }],
    ["an object as it is", { name: "f", arguments: { a: 1 } }, { a: 1 }],
    ["args before arguments", { name: "f", args: { b: 2 }, arguments: '{"a":1}' }, { b: 2 }],
    ["a string that holds no object", { name: "f", arguments: "plain text" }, "plain text"],
    ["a string that holds half an object", { name: "f", arguments: '{"a":' }, '{"a":'],
    ["nothing", { name: "f", arguments: null }, undefined],
  ])("%s", (_name, tool, expected) => {
    expect(args(JSON.stringify(tool))).toEqual(expected);
  });

  test("an object in a string that JSON.parse does not take reads as its text", () => {
    expect(args('{"name":"f","arguments":"{\\"a\\":NaN}"}')).toBe('{"a":NaN}');
  });
});
