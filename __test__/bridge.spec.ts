/** A bridge from its start to its end, and the calls in between. */

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { inspect } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  cursorMcpSchemaServerPath,
  type LogRecord,
  setLogger,
  startCursorToolBridge,
} from "fusion-cursor-native";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { bridgeOf, call, post, texts, tool } from "./support/bridge.js";
import { eventually } from "./support/stage.js";

const schemaFile = (bridge: { serverEntry: { args: string[] } }): string => bridge.serverEntry.args[1] ?? "";

/** A tool that waits for its signal, and what it saw of it. */
function waiting(): { tool: ReturnType<typeof tool>; aborts: unknown[]; started: () => number } {
  const aborts: unknown[] = [];
  let started = 0;
  const execute = (_id: string, _args: object, signal: AbortSignal): Promise<string> => {
    started++;
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => {
        aborts.push((signal.reason as Error).name);
        resolve("too late");
      });
    });
  };
  return { tool: tool(execute), aborts, started: () => started };
}

describe("a call", () => {
  test("runs the closure once, with what belongs to it", async () => {
    const execute = vi.fn(function (this: unknown, ..._args: unknown[]) {
      return { text: String((this as { name: string }).name) };
    });
    const bridge = await bridgeOf([tool(execute)], { context: { session: 5 } });
    const args = { __proto__: null, a: [1, "ä\u0000", { b: null }], c: 1e21 };
    const result = await call(bridge, "fn_x", args, { callId: "call-7" });
    expect(texts(result)).toEqual(["fn_x"]);
    expect(execute).toHaveBeenCalledTimes(1);
    const [id, given, signal, update, context] = execute.mock.calls[0] ?? [];
    expect([id, given, context]).toEqual(["call-7", { ...args }, { session: 5 }]);
    expect((signal as AbortSignal).aborted).toBe(false);
    expect((update as (...some: unknown[]) => unknown)({ content: [] })).toBe(undefined);
  });

  test("may have any arguments that JSON has", async () => {
    const bridge = await bridgeOf([
      tool(
        (_: never, args: object) =>
          JSON.stringify(args) + String(Object.getPrototypeOf(args) === Object.prototype),
      ),
    ]);
    const text = `{"__proto__":{"x":1},"n":1e400,"deep":${"[".repeat(500)}${"]".repeat(500)}}`;
    const response = await post(bridge, null, { body: `{"name":"fn_x","arguments":${text}}` });
    const { content } = (await response.json()) as { content: [{ text: string }] };
    expect(content[0].text).toContain('{"__proto__":{"x":1},"n":null,"deep":[[[');
    expect(content[0].text).toMatch(/true$/);
    const deep = `{"name":"fn_x","arguments":{"deep":${"[".repeat(1e6)}${"]".repeat(1e6)}}}`;
    expect((await post(bridge, null, { body: deep })).status).toBe(200);
    for (const without of [{ name: "fn_x" }, { name: "fn_x", arguments: null }]) {
      expect(await (await post(bridge, without)).text()).toContain('"{}true"');
    }
  });

  test("runs beside others", async () => {
    const open: (() => void)[] = [];
    const bridge = await bridgeOf([
      tool((id: string) => new Promise((resolve) => open.push(() => resolve(id)))),
    ]);
    const ids = Array.from({ length: 40 }, (_, i) => `id-${i}`);
    const calls = ids.map((callId) => call(bridge, "fn_x", {}, { callId }));
    await eventually("all of them run", () => open.length === ids.length);
    for (const one of open.reverse()) one();
    expect((await Promise.all(calls)).flatMap(texts)).toEqual(ids);
  });

  test("that nobody waits for any more aborts its signal, once", async () => {
    const { tool, aborts, started } = waiting();
    const bridge = await bridgeOf([tool]);
    const controller = new AbortController();
    const lost = call(bridge, "fn_x", {}, { signal: controller.signal });
    await eventually("it runs", () => started() === 1);
    controller.abort();
    await expect(lost).rejects.toThrow();
    await eventually("the signal is aborted", () => aborts.length > 0);
    await bridge.dispose();
    expect(aborts).toEqual(["AbortError"]);
  });

  test("that takes too long is an error result, and aborts its signal", async () => {
    const { tool, aborts } = waiting();
    const bridge = await bridgeOf([tool], { callTimeoutMs: 100 });
    const result = await call(bridge);
    expect(result.isError).toBe(true);
    expect(texts(result)[0]).toBe("fn_x did not answer within 100 ms, and was given up.");
    await eventually("the signal is aborted", () => aborts.length > 0);
    expect(aborts).toEqual(["TimeoutError"]);
  });

  test("that never ends is forgotten once nobody waits for it", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const signals: WeakRef<AbortSignal>[] = [];
    const never = (_id: never, _args: never, signal: AbortSignal) => {
      signals.push(new WeakRef(signal));
      return new Promise(() => {});
    };
    const bridge = await bridgeOf([tool(never)], { callTimeoutMs: 50 });
    await Promise.all([call(bridge), call(bridge)]);
    await eventually("their signals are collected", () => {
      collect();
      return signals.length === 2 && signals.every((signal) => signal.deref() === undefined);
    });
  });

  test("costs little", async () => {
    const bridge = await bridgeOf([tool(() => "x")]);
    // What the same costs with a server that does nothing, on this machine with all that it does now.
    const idle = createServer((request, response) => {
      request.resume().on("end", () => response.end('{"content":[]}'));
    });
    await new Promise<void>((listens) => idle.listen(0, "127.0.0.1", listens));
    onTestFinished(() => {
      idle.close();
      idle.closeAllConnections();
    });
    const { port } = idle.address() as AddressInfo;
    const { env } = bridge.serverEntry;
    const nothing = {
      serverEntry: {
        ...bridge.serverEntry,
        env: { ...env, FUSION_CURSOR_TOOL_BRIDGE_URL: `http://127.0.0.1:${port}/` },
      },
    };
    const took: [number[], number[]] = [[], []];
    for (let i = 0; i < 300; i++) {
      for (const [list, which] of [
        [took[0], bridge],
        [took[1], nothing],
      ] as const) {
        const began = performance.now();
        await call(which);
        list.push(performance.now() - began);
      }
    }
    const [[median = 0, p99 = 0], [least = 0]] = took.map((list) => {
      list.sort((a, b) => a - b);
      return [list[150], list[297]];
    }) as [number[], number[]];
    console.log(
      `a call by fetch: ${median.toFixed(2)} ms (median), ${p99.toFixed(2)} ms (p99); with nothing done ${least.toFixed(2)} ms`,
    );
    // Less than what a delayed acknowledgement costs.
    expect(median).toBeLessThan(20 + 10 * least);
  });
});

describe("a bridge", () => {
  test("has an entry that stays the same, and shows its token to nobody who does not ask", async () => {
    const bridge = await bridgeOf([tool(() => "")]);
    const { command, args, env } = bridge.serverEntry;
    expect(bridge.serverEntry).toEqual({ command, args, env });
    expect(command).toBe(process.execPath);
    expect(args).toEqual([cursorMcpSchemaServerPath(), expect.stringMatching(/schema\.json$/)]);
    expect(env).toEqual({
      FUSION_CURSOR_TOOL_BRIDGE_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/tool-call$/),
      FUSION_CURSOR_TOOL_BRIDGE_TOKEN: bridge.token,
    });
    expect(bridge.token).toMatch(/^[0-9a-f]{64}$/);
    const printed = [inspect(bridge, { depth: 9, showHidden: true }), JSON.stringify(bridge), `${bridge}`];
    expect(printed.join()).not.toContain(bridge.token);
    expect(args.join()).not.toContain(bridge.token);
    const folder = dirname(schemaFile(bridge));
    for (const name of readdirSync(folder)) {
      expect(readFileSync(`${folder}/${name}`, "utf8")).not.toContain(bridge.token);
    }
  });

  test("keeps its files to itself, whatever the umask is", async () => {
    const before = process.umask(0);
    try {
      for (const umask of [0o000, 0o777, before]) {
        process.umask(umask);
        const bridge = await bridgeOf([tool(() => "")]);
        const folder = dirname(schemaFile(bridge));
        const mode = (path: string): number => statSync(path).mode & 0o7777;
        expect(mode(folder)).toBe(0o700);
        expect(readdirSync(folder).sort()).toEqual(["owner.json", "schema.json"]);
        for (const name of readdirSync(folder)) expect(mode(`${folder}/${name}`)).toBe(0o600);
      }
    } finally {
      process.umask(before);
    }
  });

  test("that is disposed answers its calls, and leaves nothing", async () => {
    const { tool, aborts, started } = waiting();
    const bridge = await bridgeOf([tool]);
    const calls = [call(bridge), call(bridge)];
    await eventually("they run", () => started() === 2);
    await Promise.all([bridge.dispose(), bridge.dispose(), bridge[Symbol.asyncDispose]()]);
    for (const result of await Promise.all(calls)) {
      expect(result.isError).toBe(true);
      expect(texts(result)[0]).toMatch(/has ended/);
    }
    expect(aborts).toEqual(["AbortError", "AbortError"]);
    expect(existsSync(dirname(schemaFile(bridge)))).toBe(false);
    await expect(call(bridge)).rejects.toThrow();
    await bridge.dispose();
  });

  test("says nothing secret in its records", async () => {
    const records: LogRecord[] = [];
    setLogger("trace", (record) => void records.push(record));
    try {
      const bridge = await bridgeOf([tool(() => "the result nobody may log"), { name: "read" }]);
      await call(bridge, "fn_x", { secret: "the argument nobody may log" });
      await post(bridge, {}, { headers: { authorization: "Bearer wr0ng" } });
      await bridge.dispose();
      await eventually("the records are there", () =>
        records.some(({ message }) => message === "a tool bridge refused a request"),
      );
      const all = JSON.stringify(records);
      expect(all).toContain("tools are not published");
      for (const secret of [bridge.token, "nobody may log", "wr0ng"]) expect(all).not.toContain(secret);
    } finally {
      setLogger("off");
    }
  });

  test("that cannot be opened says why, and leaves nothing", async () => {
    const before = process.env.TMPDIR;
    try {
      process.env.TMPDIR = "/none/at/all";
      await expect(startCursorToolBridge([tool(() => "")])).rejects.toMatchObject({
        name: "CursorError",
        code: "bridge-start-failed",
        reason: "io",
        path: "/none/at/all",
        message: expect.stringMatching(/list of tools .*\/none\/at\/all.*TMPDIR/),
      });
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
  });
});
