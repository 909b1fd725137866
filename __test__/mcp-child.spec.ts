/** `mcp-schema-server.cjs`: what it answers, message by message. */

import { describe, expect, test } from "vitest";
import { FakeBridge, McpChild, reply, said, schemaFile, TOKEN, TOOLS } from "./support/mcp-child.js";
import { eventually } from "./support/stage.js";

async function started(): Promise<{ bridge: FakeBridge; child: McpChild }> {
  const bridge = await FakeBridge.start();
  return { bridge, child: new McpChild(bridge.env) };
}

describe("initialize", () => {
  test("takes each version that it knows, and offers its newest for any other", async () => {
    const { child } = await started();
    const known = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
    const others = ["1.0", "2099-01-01", "", 7, null];
    for (const protocolVersion of [...known, ...others]) {
      child.request(`v ${protocolVersion}`, "initialize", {
        protocolVersion,
        capabilities: {},
        clientInfo: {},
      });
    }
    child.request("bare", "initialize");
    for (const version of known) {
      const { result } = await child.answer(`v ${version}`);
      expect(result).toEqual({
        protocolVersion: version,
        capabilities: { tools: {} },
        serverInfo: { name: "fusion", version: "1" },
      });
    }
    for (const id of [...others.map((version) => `v ${version}`), "bare"]) {
      expect((await child.answer(id)).result.protocolVersion).toBe("2025-11-25");
    }
  });
});

describe("requests", () => {
  test("ping and tools/list are answered, also before initialize", async () => {
    const { child } = await started();
    child.request(1, "ping");
    child.request(2, "tools/list", {});
    expect(await child.answer(1)).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    expect((await child.answer(2)).result).toEqual({ tools: TOOLS });
    child.request(3, "tools/list", { cursor: "2" });
    expect((await child.answer(3)).error.code).toBe(-32602);
  });

  test("ids come back as they are", async () => {
    const { child } = await started();
    const ids = [0, -1, 1.5, 9_007_199_254_740_991, "", "0", 'a "quoted" \u2028 한 \ud83d\ude00'];
    for (const id of ids) child.request(id, "ping");
    for (const id of ids) expect(await child.answer(id)).toEqual({ jsonrpc: "2.0", id, result: {} });
  });

  test.each([
    ["an unknown method", { jsonrpc: "2.0", id: 1, method: "resources/list" }, -32601, 1],
    ["another", { jsonrpc: "2.0", id: "x", method: "__proto__" }, -32601, "x"],
    ["no version", { id: 1, method: "ping" }, -32600, 1],
    ["a wrong version", { jsonrpc: "1.0", id: 1, method: "ping" }, -32600, 1],
    ["no method", { jsonrpc: "2.0", id: 1 }, -32600, 1],
    ["a method that is no string", { jsonrpc: "2.0", id: 1, method: 7 }, -32600, 1],
    ["an id of null", { jsonrpc: "2.0", id: null, method: "ping" }, -32600, null],
    ["an id that is an object", { jsonrpc: "2.0", id: {}, method: "ping" }, -32600, null],
    ["a number", 7, -32600, null],
    ["null", null, -32600, null],
    ["an empty batch", [], -32600, null],
    ["a call without params", { jsonrpc: "2.0", id: 1, method: "tools/call" }, -32602, 1],
    ["a call without a name", { jsonrpc: "2.0", id: 1, method: "tools/call", params: {} }, -32602, 1],
    [
      "arguments that are a list",
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "fn_add", arguments: [] } },
      -32602,
      1,
    ],
    [
      "an unknown tool",
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "fn_none" } },
      -32602,
      1,
    ],
  ])("%s is refused", async (_what, message, code, id) => {
    const { bridge, child } = await started();
    child.send(message);
    await child.settled();
    expect(child.answers[0]).toEqual({ jsonrpc: "2.0", id, error: { code, message: expect.any(String) } });
    expect(child.answers).toHaveLength(2);
    expect(bridge.calls).toHaveLength(0);
  });

  test("what is no JSON is a parse error, and the next line is read", async () => {
    const { child } = await started();
    child.write('{"jsonrpc":"2.0","id":1,\n\u0000\n{"a":1}}\n');
    await child.settled();
    expect(child.answers.slice(0, 3)).toEqual(
      Array(3).fill({ jsonrpc: "2.0", id: null, error: { code: -32700, message: expect.any(String) } }),
    );
    expect(child.answers).toHaveLength(4);
  });

  test("notifications and answers are not answered, whatever they hold", async () => {
    const { child } = await started();
    for (const message of [
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", method: "notifications/cancelled" },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "none" } },
      { jsonrpc: "2.0", method: "tools/call", params: { name: "fn_add" } },
      { jsonrpc: "2.0", method: "no/such" },
      { jsonrpc: "2.0", id: 9, result: {} },
      { jsonrpc: "2.0", id: 9, error: { code: 1, message: "no" } },
      [{ jsonrpc: "2.0", method: "notifications/initialized" }],
    ]) {
      child.send(message);
    }
    await child.settled();
    expect(child.answers).toHaveLength(1);
  });

  test("a batch is answered as one, when all of it is", async () => {
    const { bridge, child } = await started();
    bridge.answer = (call) => reply(call, said("3"));
    child.send([
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "fn_add" } },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 2, method: "ping" },
      7,
    ]);
    await expect.poll(() => child.answers.length).toBe(1);
    expect(child.answers[0]).toHaveLength(3);
    expect(child.answers[0]).toContainEqual({ jsonrpc: "2.0", id: 1, result: said("3") });
    expect(child.answers[0]).toContainEqual({ jsonrpc: "2.0", id: 2, result: {} });
  });
});

describe("lines", () => {
  test("a batch may be as long as a message may", async () => {
    const { child } = await started();
    const many = Array.from({ length: 200_000 }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" }));
    child.send(many);
    await eventually("it is answered", () => child.answers.length > 0);
    expect(child.answers[0]).toHaveLength(many.length);
    expect(child.answers[0].at(-1)).toEqual({ jsonrpc: "2.0", id: many.length - 1, result: {} });
    await child.settled();
  });

  test("CRLF, blank lines and a byte order mark do no harm", async () => {
    const { child } = await started();
    child.write(
      '\ufeff{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n\r\n \n{"jsonrpc":"2.0","id":2,"method":"ping"}\r\n',
    );
    await child.settled();
    expect(child.answers.map((answer) => answer.id).slice(0, 2)).toEqual([1, 2]);
    expect(child.answers).toHaveLength(3);
  });

  test("bytes may come one by one, in the middle of a character too", async () => {
    const { child } = await started();
    const id = "한 \u{1f600}";
    for (const byte of Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })}\n`)) {
      child.write(Buffer.of(byte));
      await new Promise(setImmediate);
    }
    expect((await child.answer(id)).result).toEqual({});
  });

  test("many messages may come in one write, and the last without a line feed", async () => {
    const { child } = await started();
    const lines = Array.from({ length: 500 }, (_, id) =>
      JSON.stringify({ jsonrpc: "2.0", id, method: "ping" }),
    );
    child.write(lines.join("\n"));
    child.end();
    expect(await child.ended()).toEqual({ code: 0, signal: null });
    expect(child.answers.map((answer) => answer.id)).toEqual(lines.map((_, id) => id));
  });

  test("a line over the limit is refused and skipped", async () => {
    const { child } = await started();
    child.write(`{"jsonrpc":"2.0","id":1,"method":"${"x".repeat(33 * 1024 * 1024)}"}\n`);
    child.request(2, "ping");
    await child.answer(2);
    expect(child.answers).toHaveLength(2);
    expect(child.answers[0]).toMatchObject({ id: null, error: { code: -32700 } });
    expect(child.answers[0].error.message).toContain("33554432 bytes");
  });
});

describe("calls", () => {
  test("go to the bridge with the token, each with an id of its own", async () => {
    const { bridge, child } = await started();
    bridge.answer = (call) => reply(call, said(String(call.body.arguments.a)));
    const args = { a: 1, text: '한 "\n\u2028', nested: { list: [null, true, 1.5] } };
    child.call(1, "fn_add", args);
    expect((await child.answer(1)).result).toEqual(said("1"));
    child.request(2, "tools/call", { name: "fn_add" });
    await child.answer(2);
    const [first, second] = bridge.calls;
    expect(first?.request.method).toBe("POST");
    expect(first?.request.url).toBe("/tool-call");
    expect(first?.request.headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      "content-type": "application/json",
      host: new URL(bridge.env.FUSION_CURSOR_TOOL_BRIDGE_URL ?? "").host,
    });
    expect(first?.body).toEqual({
      name: "fn_add",
      arguments: args,
      callId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(second?.body.arguments).toEqual({});
    expect(second?.body.callId).not.toBe(first?.body.callId);
  });

  test("may have null for arguments, as some clients write none", async () => {
    const { bridge, child } = await started();
    bridge.answer = (call) => reply(call, said("3"));
    child.request(1, "tools/call", { name: "fn_add", arguments: null });
    expect((await child.answer(1)).result).toEqual(said("3"));
    expect(bridge.calls[0]?.body.arguments).toEqual({});
  });

  test("run side by side, and are answered as they end", async () => {
    const { bridge, child } = await started();
    for (const id of [1, 2, "1"]) child.call(id, "fn_wait", { id });
    await bridge.call(2);
    const of = (id: unknown) => bridge.calls.find((call) => call.body.arguments.id === id);
    for (const id of ["1", 2, 1]) {
      reply(of(id) as never, said(`${typeof id} ${id}`));
      expect((await child.answer(id)).result).toEqual(said(`${typeof id} ${id}`));
    }
  });

  test("more than the bridge has connections wait for their turn", async () => {
    const { bridge, child } = await started();
    for (let id = 0; id < 200; id += 1) child.call(id, "fn_wait", { id });
    await bridge.call(31);
    await child.settled();
    expect(bridge.calls).toHaveLength(32);
    bridge.answer = (call) => reply(call, said("done"));
    for (const call of bridge.calls.slice()) reply(call, said("done"));
    for (let id = 0; id < 200; id += 1) expect((await child.answer(id)).result).toEqual(said("done"));
    const made = bridge.calls.map((call) => Number(call.body.arguments.id));
    expect(made.sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, id) => id));
  });

  test("results pass through as they are", async () => {
    const { bridge, child } = await started();
    const results = [
      { content: [{ type: "image", data: "aGk=", mimeType: "image/png" }], isError: false },
      { content: [{ type: "resource", resource: { uri: "file:///a", text: "b" } }], isError: false },
      { content: [{ type: "text", text: "no" }], isError: true, structuredContent: { unknownTool: true } },
      { content: [{ type: "text", text: '{"unknownTool":true}' }], isError: false },
    ];
    for (const [id, result] of results.entries()) {
      // Spread over lines, which one message of the protocol must not be.
      bridge.answer = (call) => reply(call, JSON.stringify(result, undefined, 2).replaceAll("\n", "\r\n"));
      child.call(id, "fn_add");
      expect((await child.answer(id)).result).toEqual(result);
    }
  });

  test("a tool that the bridge does not know is an unknown tool", async () => {
    const { bridge, child } = await started();
    bridge.answer = (call) => reply(call, { unknownTool: true, content: [], isError: true });
    child.call(1, "fn_add");
    expect((await child.answer(1)).error).toEqual({ code: -32602, message: "Unknown tool: fn_add" });
  });

  test.each([
    [401, '{"error":"The token is wrong."}', "(401): The token is wrong."],
    [503, '{"error":"Too many connections."}', "(503): Too many connections."],
    [500, "<html>", "(500): no reason given"],
    [404, "", "(404): no reason given"],
    [200, "hello", "no result"],
    [200, "", "no result"],
    [200, '"unknownTool"', "no result"],
  ])("an answer %s %s is an error of the call", async (status, body, part) => {
    const { bridge, child } = await started();
    bridge.answer = (call) => reply(call, body, status);
    child.call(1, "fn_add");
    const { result } = await child.answer(1);
    expect(result.isError).toBe(true);
    expect(result.content[0].text).toContain(part);
    expect(JSON.stringify(child.answers) + child.stderr).not.toContain(TOKEN);
  });

  test("an answer that breaks off is an error of the call", async () => {
    const { bridge, child } = await started();
    bridge.answer = ({ response }) => {
      response.writeHead(200, { "Content-Length": 100 });
      response.write('{"content":[');
      setImmediate(() => response.destroy());
    };
    child.call(1, "fn_add");
    const { result } = await child.answer(1);
    expect(result.isError).toBe(true);
    expect(result.content[0].text).toContain("before the tool answered");
  });

  test("arguments that are too large or too deep never leave the child", async () => {
    const { bridge, child } = await started();
    child.call(1, "fn_add", { text: "x".repeat(4 * 1024 * 1024) });
    expect((await child.answer(1)).result.content[0].text).toContain("too large: 41943");
    const deep = `{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
    child.write(
      `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"fn_add","arguments":${deep}}}\n`,
    );
    expect((await child.answer(2)).result.content[0].text).toContain("nested too deeply");
    expect(bridge.calls).toHaveLength(0);
  });

  test("a second call with the id of one under way is refused, and the first goes on", async () => {
    const { bridge, child } = await started();
    child.call(1, "fn_wait");
    const call = await bridge.call(0);
    child.call(1, "fn_wait");
    expect((await child.answer(1)).error.code).toBe(-32600);
    reply(call, said("done"));
    await expect.poll(() => child.answers.at(-1)).toEqual({ jsonrpc: "2.0", id: 1, result: said("done") });
    expect(bridge.calls).toHaveLength(1);
  });

  test("a cancelled call is given up in the bridge, and not answered", async () => {
    const { bridge, child } = await started();
    child.call(1, "fn_wait");
    child.call("1", "fn_wait");
    await bridge.call(1);
    child.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1, reason: "no" } });
    await expect.poll(() => bridge.vanished).toBe(1);
    const left = bridge.calls.find((call) => !call.response.destroyed);
    reply(left as never, said("done"));
    await child.answer("1");
    await child.settled();
    expect(child.answers.map((answer) => answer.id)).not.toContain(1);
    // The id is free again.
    bridge.answer = (call) => reply(call, said("again"));
    child.call(1, "fn_wait");
    expect((await child.answer(1)).result).toEqual(said("again"));
  });

  test("a call that is cancelled while it waits for its turn never reaches the bridge", async () => {
    const { bridge, child } = await started();
    for (let id = 0; id < 33; id += 1) child.call(id, "fn_wait", { id });
    await bridge.call(31);
    child.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 32 } });
    await child.settled();
    for (const call of bridge.calls.slice()) reply(call, said("done"));
    await child.answer(31);
    await child.settled();
    expect(bridge.calls).toHaveLength(32);
    expect(child.answers.map((answer) => answer.id)).not.toContain(32);
  });
});

describe("the start", () => {
  const env = {
    FUSION_CURSOR_TOOL_BRIDGE_URL: "http://127.0.0.1:1/tool-call",
    FUSION_CURSOR_TOOL_BRIDGE_TOKEN: TOKEN,
  };
  const url = (value: string) => ({ ...env, FUSION_CURSOR_TOOL_BRIDGE_URL: value });

  test.each([
    ["no url", { FUSION_CURSOR_TOOL_BRIDGE_TOKEN: TOKEN }, "FUSION_CURSOR_TOOL_BRIDGE_URL is not set"],
    [
      "no token",
      { ...env, FUSION_CURSOR_TOOL_BRIDGE_TOKEN: "" },
      "FUSION_CURSOR_TOOL_BRIDGE_TOKEN is not set",
    ],
    ["a token that splits a header", { ...env, FUSION_CURSOR_TOOL_BRIDGE_TOKEN: "a\r\nb" }, "is no token"],
    ["a url elsewhere", url("http://example.com:80/tool-call"), "must be http://127.0.0.1:<port>/"],
    [
      "a url that only looks local",
      url("http://127.0.0.1@example.com:80/"),
      "must be http://127.0.0.1:<port>/",
    ],
    ["another scheme", url("https://127.0.0.1:1/"), "must be http://127.0.0.1:<port>/"],
    ["no url at all", url("tool-call"), "must be http://127.0.0.1:<port>/"],
  ])("%s is said on stderr", async (_what, given, part) => {
    const child = new McpChild(given);
    expect(await child.ended()).toEqual({ code: 1, signal: null });
    await expect.poll(() => child.stderr).toContain(part);
    expect(child.stderr).not.toContain(TOKEN);
    expect(child.bytes).toBe(0);
  });

  test.each([
    ["is not there", "/nowhere/schema.json", "ENOENT"],
    ["is no JSON", schemaFile.bind(undefined, "{"), "cannot be read"],
    ["holds no tools", schemaFile.bind(undefined, { serverInfo: {} }), "must hold serverInfo and tools"],
    [
      "has a tool without a name",
      schemaFile.bind(undefined, { serverInfo: {}, tools: [{}] }),
      "must hold serverInfo and tools",
    ],
  ])("a schema file that %s is said on stderr", async (_what, given, part) => {
    const file = typeof given === "string" ? given : given();
    const child = new McpChild(env, { file });
    expect(await child.ended()).toEqual({ code: 1, signal: null });
    await expect.poll(() => child.stderr).toContain(part);
    expect(child.stderr).toContain(file);
    expect(child.stderr).not.toContain("\n    at ");
  });
});
