/** The official clients of MCP in front of a real bridge: its SDK for TypeScript, and its Inspector. */

import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { type CallToolResult, ErrorCode, type McpError } from "@modelcontextprotocol/sdk/types.js";
import type { CursorToolBridge, ToolLike } from "fusion-cursor-native";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { bridgeOf } from "./support/bridge.js";
import { eventually, runs } from "./support/stage.js";

const MIB = 1024 * 1024;
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

function tools(more: Record<string, ToolLike["execute"]> = {}): ToolLike[] {
  const add: ToolLike = {
    name: "fn_add",
    label: "Add",
    description: "Adds two numbers",
    parameters: {
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"],
    },
    execute: (_id, { a, b }) => String((a as number) + (b as number)),
  };
  return [add, ...Object.entries(more).map(([name, execute]) => ({ name, execute }) as ToolLike)];
}

interface Connected {
  client: Client;
  pid: number;
  /** What is wrong with the protocol; nothing else may be on stdout. */
  errors: Error[];
}

async function connect({ serverEntry }: CursorToolBridge): Promise<Connected> {
  const transport = new StdioClientTransport({ ...serverEntry, stderr: "pipe" });
  const client = new Client({ name: "test", version: "1" });
  const errors: Error[] = [];
  client.onerror = (error) => errors.push(error);
  onTestFinished(() => client.close());
  await client.connect(transport);
  return { client, pid: transport.pid as number, errors };
}

async function call(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<CallToolResult> {
  return (await client.callTool({ name, arguments: args })) as CallToolResult;
}

const text = ({ content: [first] }: CallToolResult): string => (first?.type === "text" ? first.text : "");

describe("the SDK's client", () => {
  test("greets, lists, and calls", async () => {
    const { client, errors } = await connect(await bridgeOf(tools(), { serverName: "fusion-x" }));
    expect(client.getServerVersion()?.name).toBe("fusion-x");
    expect(client.getServerCapabilities()).toEqual({ tools: {} });
    await client.ping();
    const listed = await client.listTools();
    expect(listed.tools).toMatchObject([
      {
        name: "fn_add",
        description: "Adds two numbers",
        inputSchema: { type: "object", required: ["a", "b"] },
      },
    ]);
    expect(await call(client, "fn_add", { a: 1, b: 2 })).toEqual({
      content: [{ type: "text", text: "3" }],
      isError: false,
    });
    expect(errors).toEqual([]);
  });

  test("calls side by side", async () => {
    const open: (() => void)[] = [];
    const wait = (_id: string, args: Record<string, unknown>): Promise<string> =>
      new Promise((resolve) => open.push(() => resolve(`done ${args.n}`)));
    const { client } = await connect(await bridgeOf(tools({ fn_wait: wait })));
    const calls = Array.from({ length: 20 }, (_, n) => call(client, "fn_wait", { n }));
    await eventually("all of them run", () => open.length === 20);
    for (const finish of open.reverse()) finish();
    expect((await Promise.all(calls)).map(text)).toEqual(calls.map((_, n) => `done ${n}`));
  });

  test("gets large text, images and resources unchanged", async () => {
    const large = '한\u0000\u2028"\\x'.repeat(MIB / 8);
    const content = [
      { type: "image", data: PIXEL, mimeType: "image/png" },
      { type: "audio", data: PIXEL, mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "file:///a.txt", mimeType: "text/plain", text: "a" } },
      { type: "resource", resource: { uri: "file:///a.bin", blob: PIXEL } },
    ];
    const { client, errors } = await connect(
      await bridgeOf(tools({ fn_large: () => large, fn_mixed: async () => ({ content }) })),
    );
    expect(text(await call(client, "fn_large"))).toBe(large);
    expect((await call(client, "fn_mixed")).content).toEqual(content);
    expect(errors).toEqual([]);
  });

  test("gets errors as results, and an unknown tool as an error", async () => {
    const { client } = await connect(
      await bridgeOf(
        tools({
          fn_throw: () => {
            throw new Error("the board is locked");
          },
          fn_refuse: () => ({ content: [{ type: "text", text: "no" }], isError: true }),
        }),
      ),
    );
    const thrown = await call(client, "fn_throw");
    expect([thrown.isError, text(thrown)]).toEqual([true, "the board is locked"]);
    const refused = await call(client, "fn_refuse");
    expect([refused.isError, text(refused)]).toEqual([true, "no"]);
    const unknown = call(client, "fn_none").catch((error: McpError) => error.code);
    expect(await unknown).toBe(ErrorCode.InvalidParams);
  });

  test("cancels: the closure's signal is aborted, and the next call goes well", async () => {
    const seen: string[] = [];
    let started = 0;
    const wait = (_id: string, _args: object, signal: AbortSignal): Promise<string> => {
      started += 1;
      return new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          seen.push((signal.reason as Error).name);
          resolve("too late");
        });
      });
    };
    const { client } = await connect(await bridgeOf(tools({ fn_wait: wait })));
    const controller = new AbortController();
    const cancelled = client.callTool({ name: "fn_wait", arguments: {} }, undefined, {
      signal: controller.signal,
    });
    await eventually("the call runs", () => started === 1);
    controller.abort("changed my mind");
    await expect(cancelled).rejects.toThrow();
    await eventually("the closure is told", () => seen.length > 0);
    expect(seen).toEqual(["AbortError"]);
    expect(text(await call(client, "fn_add", { a: 2, b: 2 }))).toBe("4");
  });

  test("connects again, and beside another", async () => {
    const execute = vi.fn(() => "x");
    const bridge = await bridgeOf(tools({ fn_count: execute }));
    const first = await connect(bridge);
    await call(first.client, "fn_count");
    const second = await connect(bridge);
    await Promise.all([call(first.client, "fn_count"), call(second.client, "fn_count")]);
    await first.client.close();
    await eventually("the first child is gone", () => !runs(first.pid));
    const third = await connect(bridge);
    await Promise.all([call(second.client, "fn_count"), call(third.client, "fn_count")]);
    expect(execute).toHaveBeenCalledTimes(5);
  });

  test("sees the end of the bridge: running calls fail, and the child is gone", async () => {
    let started = 0;
    const wait = (): Promise<string> => {
      started += 1;
      return new Promise(() => {});
    };
    const bridge = await bridgeOf(tools({ fn_wait: wait }));
    const { client, pid } = await connect(bridge);
    const running = call(client, "fn_wait");
    await eventually("the call runs", () => started === 1);
    await bridge.dispose();
    expect((await running).isError).toBe(true);
    await eventually("the child is gone", () => !runs(pid));
  });
});

test("the Inspector's command line lists and calls", { timeout: 120_000 }, async () => {
  const bridge = await bridgeOf(tools());
  const { command, args, env } = bridge.serverEntry;
  const inspector = createRequire(import.meta.url).resolve(
    "@modelcontextprotocol/inspector-cli/build/cli.js",
  );
  const variables = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  const inspect = async (...method: string[]): Promise<unknown> => {
    const words = [inspector, ...variables, "--cli", command, ...args, "--method", ...method];
    // It looks for its own package.json from where it was started.
    const cwd = dirname(inspector);
    const { stdout } = await promisify(execFile)(process.execPath, words, { cwd, timeout: 50_000 });
    return JSON.parse(stdout);
  };
  expect(await inspect("tools/list")).toMatchObject({ tools: [{ name: "fn_add" }] });
  const called = await inspect("tools/call", "--tool-name", "fn_add", "--tool-arg", "a=1", "b=2");
  expect(called).toEqual({ content: [{ type: "text", text: "3" }], isError: false });
});
