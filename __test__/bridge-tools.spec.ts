/** Which tools are published, and what becomes of what they return. */

import { readFileSync } from "node:fs";
import vm from "node:vm";
import { nativeInfo, startCursorToolBridge, type ToolLike } from "fusion-cursor-native";
import { describe, expect, test } from "vitest";
import { bridgeOf, call, type Result, texts, tool } from "./support/bridge.js";

function published(bridge: { serverEntry: { args: string[] } }): {
  serverInfo: object;
  tools: Record<string, unknown>[];
} {
  return JSON.parse(readFileSync(bridge.serverEntry.args[1] ?? "", "utf8"));
}

describe("what is published", () => {
  test("is named fn_* and can be executed; the rest is left out", async () => {
    const execute = (): string => "x";
    const bridge = await bridgeOf([
      {
        name: "fn_a",
        label: "A",
        description: "does a",
        parameters: { type: "object", required: ["b"] },
        execute,
      },
      { name: "fn_b", inputSchema: { properties: { c: {} } }, execute },
      { name: "read", execute },
      { name: "FN_c", execute },
      { name: "fn_", execute },
      { name: "fn_d" },
      { name: "fn_e", execute: "x" as never },
      { name: "read", execute },
    ]);
    expect(bridge.toolCount).toBe(2);
    const object = { type: "object" };
    expect(published(bridge)).toEqual({
      serverInfo: { name: "fusion-custom-tools", version: nativeInfo().version },
      tools: [
        {
          name: "fn_a",
          title: "A",
          description: "does a",
          inputSchema: { ...object, properties: {}, required: ["b"] },
        },
        { name: "fn_b", inputSchema: { ...object, properties: { c: {} } } },
      ],
    });
    for (const name of ["read", "FN_c", "fn_d", "fn_e", "fn_none", "__proto__", "constructor"]) {
      await expect(call(bridge, name), name).resolves.toMatchObject({ unknownTool: true, isError: true });
    }
  });

  test("is nothing where no tool is left, and then nothing is opened", async () => {
    await expect(startCursorToolBridge([])).resolves.toBe(null);
    await expect(startCursorToolBridge([{ name: "read", execute() {} }, { name: "fn_a" }])).resolves.toBe(
      null,
    );
  });

  test("a schema may come from another realm, have no prototype, or hold what JSON leaves out", async () => {
    const bare = Object.assign(Object.create(null), { type: "object", [Symbol("kind")]: 1, x: undefined });
    const foreign = vm.runInNewContext('({ type: "object", properties: { a: {} } })');
    const bridge = await bridgeOf([
      tool(() => "", { name: "fn_bare", parameters: bare }),
      tool(() => "", { name: "fn_foreign", parameters: foreign }),
      tool(() => "", { name: "fn_lone", parameters: { description: "\ud800 \\ud800" } }),
    ]);
    expect(published(bridge).tools.map(({ inputSchema }) => inputSchema)).toEqual([
      { type: "object", properties: {} },
      { type: "object", properties: { a: {} } },
      { type: "object", properties: {}, description: "\ufffd \\ud800" },
    ]);
  });

  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const bad: [string, unknown, RegExp][] = [
    ["no array", {}, /^tools must be an array/],
    ["a hole", new Array(1), /^tools\[0\] must be an object/],
    ["null", [null], /^tools\[0\] must be an object/],
    ["no name", [{ execute() {} }], /^tools\[0\].name must be a string/],
    ["an empty name", [{ name: "", execute() {} }], /^tools\[0\].name must be .*not blank/],
    ["a blank name", [{ name: " " }], /^tools\[0\].name must be .*not blank/],
    ["a name with a lone surrogate", [{ name: "fn_\ud800", execute() {} }], /lone surrogates/],
    ["a name twice", [tool(() => ""), tool(() => "")], /^tools\[1\].name .*no other tool has.*"fn_x"/],
    [
      "a schema that is a string",
      [tool(() => "", { parameters: "{}" as never })],
      /"fn_x" must be a JSON schema/,
    ],
    ["a schema that is an array", [tool(() => "", { parameters: [] })], /"fn_x" must be a JSON schema/],
    ["a schema of a class", [tool(() => "", { parameters: new Map() })], /"fn_x" must be a JSON schema/],
    [
      "a schema in a circle",
      [tool(() => "", { parameters: circular })],
      /"fn_x" must be a JSON schema: .*circular/i,
    ],
    [
      "a schema with a BigInt",
      [tool(() => "", { inputSchema: { a: 1n } })],
      /"fn_x" must be a JSON schema: .*BigInt/,
    ],
    [
      "a schema that is none",
      [tool(() => "", { parameters: { toJSON: () => 5 } })],
      /"fn_x" must be a JSON schema/,
    ],
    ["a schema of a string", [tool(() => "", { parameters: { type: "string" } })], /of the type "object"/],
  ];
  test.each(bad)("%s is a TypeError", (_, tools, says) => {
    expect(() => startCursorToolBridge(tools as ToolLike[])).toThrow(TypeError);
    expect(() => startCursorToolBridge(tools as ToolLike[])).toThrow(says);
  });

  test("a wrong option is a TypeError", () => {
    const start = (options: unknown) => () => startCursorToolBridge([], options as never);
    expect(start(5)).toThrow(/^the options of startCursorToolBridge must be an object/);
    expect(start(null)).toThrow(TypeError);
    for (const callTimeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, "5"]) {
      expect(start({ callTimeoutMs })).toThrow(/^callTimeoutMs must be/);
    }
    expect(start({ serverName: "" })).toThrow(/^serverName must be/);
  });
});

describe("a result", () => {
  const image = { type: "image", data: "aGk=", mimeType: "image/png", annotations: { audience: ["user"] } };
  const resource = { type: "resource", resource: { uri: "file:///x", text: "hi", mimeType: "text/plain" } };
  const blob = { type: "resource", resource: { uri: "file:///x", blob: "aGk=" } };
  const link = { type: "resource_link", uri: "file:///x", name: "x" };
  const audio = { type: "audio", data: "aGk=", mimeType: "audio/wav" };
  const plain = (text: string, isError = false): Result => ({ content: [{ type: "text", text }], isError });
  const cases: [string, unknown, Result][] = [
    ["a string", "hi", plain("hi")],
    ["an empty string", "", plain("")],
    ["a string with all sorts", "ä\u0000\u2028😀\\ud800", plain("ä\u0000\u2028😀\\ud800")],
    ["a lone surrogate", "a\ud800b\udc00", plain("a\ufffdb\ufffd")],
    ["a lone surrogate within", { a: "\ud800" }, plain('{"a":"\ufffd"}')],
    ["undefined", undefined, plain("")],
    ["null", null, plain("null")],
    ["a number", 5, plain("5")],
    ["an array", [1, "a"], plain('[1,"a"]')],
    ["an object", { a: 1 }, plain('{"a":1}')],
    ["{ text }", { text: "hi", details: { x: 1 } }, plain("hi")],
    ["{ text, isError }", { text: "no", isError: true }, plain("no", true)],
    ["isError that is no boolean", { text: "hi", isError: "yes" }, plain("hi")],
    ["an Error that is returned", new Error("no"), plain("no", true)],
    ["{ content: [] }", { content: [] }, { content: [], isError: false }],
    [
      "content that MCP knows",
      {
        content: [image, resource, blob, link, audio, { type: "text", text: "t", _meta: { a: 1 } }],
        details: 5,
      },
      {
        content: [image, resource, blob, link, audio, { type: "text", text: "t", _meta: { a: 1 } }],
        isError: false,
      },
    ],
    [
      "content that nobody knows",
      { content: ["a", { type: "image" }, { type: "text" }, 5, null, { type: "new", x: 1 }], isError: true },
      {
        content: ["a", '{"type":"image"}', '{"type":"text"}', "5", "null", '{"type":"new","x":1}'].map(
          (text) => ({
            type: "text",
            text,
          }),
        ),
        isError: true,
      },
    ],
    [
      "content that turns into something else as JSON",
      {
        content: [{ type: "text", text: "t", toJSON: () => 5 }],
        structuredContent: new Date(0),
      },
      plain("5"),
    ],
    [
      "structured content",
      { content: [], structuredContent: { a: 1 } },
      { content: [], isError: false, structuredContent: { a: 1 } },
    ],
  ];
  test.each(cases)("%s", async (_, value, result) => {
    for (const execute of [() => value, async () => value]) {
      const bridge = await bridgeOf([tool(execute)]);
      await expect(call(bridge)).resolves.toEqual(result);
    }
  });

  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const throws = (error: unknown) => () => {
    throw error;
  };
  const unreadable = {
    get message() {
      throw new Error("again");
    },
  };
  const failures: [string, () => unknown, RegExp][] = [
    ["a throw", throws(new Error("mine")), /^mine$/],
    ["a rejection", async () => throws(new TypeError("mine"))(), /^mine$/],
    ["a string that is thrown", throws("mine"), /^mine$/],
    ["null that is thrown", throws(null), /^null$/],
    ["undefined that is thrown", throws(undefined), /^undefined$/],
    ["an error without words", throws(new Error()), /^Error$/],
    ["an error that cannot be read", throws(unreadable), /cannot be read/],
    ["a symbol that is thrown", throws(Symbol("s")), /Symbol\(s\)/],
    ["a long message", throws(new Error("x".repeat(100_000))), /^x{4096}…$/],
    ["a circle", () => circular, /circular/i],
    ["a BigInt", () => ({ a: 1n }), /BigInt/],
    ["more than any text can hold", () => "\u0001".repeat(2 ** 29 / 6), /longer than any text can be/],
    ["a function", () => () => 5, /a function, which has no JSON/],
    ["a toJSON that throws", () => ({ toJSON: throws(new Error("mine")) }), /^mine$/],
    [
      "a getter that throws",
      () => Object.defineProperty({}, "content", { get: throws(new Error("mine")) }),
      /^mine$/,
    ],
    // biome-ignore lint/suspicious/noThenProperty: it is what is tried
    ["a thenable that throws", () => ({ then: throws(new Error("mine")) }), /^mine$/],
  ];
  test.each(failures)("%s is an error result with the message alone", async (_, execute, says) => {
    const bridge = await bridgeOf([tool(execute)]);
    const result = await call(bridge);
    expect(result.isError).toBe(true);
    expect(result.content).toHaveLength(1);
    expect(texts(result)[0]).toMatch(says);
    expect(JSON.stringify(result)).not.toContain(".ts:");
    await expect(call(bridge)).resolves.toEqual(result);
  });

  test("may have 16 MiB, and over it is an error that says so", async () => {
    const bridge = await bridgeOf([tool((_: never, { bytes }: { bytes: number }) => "ä".repeat(bytes / 2))]);
    const frame = JSON.stringify({ content: [{ type: "text", text: "" }], isError: false }).length;
    const most = (16 << 20) - frame;
    const result = await call(bridge, "fn_x", { bytes: most - (most % 2) });
    expect((texts(result)[0] as string).length).toBe(Math.floor(most / 2));
    const over = await call(bridge, "fn_x", { bytes: most + 2 });
    expect(over.isError).toBe(true);
    expect(texts(over)[0]).toMatch(/fn_x is 17 MiB as JSON, over the limit of 16 MiB/);
  });
});
