// What a host does with the package, one part by its name. What it says is JSON, a line for each thing; after the line
// "done" nothing is to keep the process.

import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const init = {
  line: { type: "system", subtype: "init", session_id: "s-1", model: "Auto", cwd: "${cwd}" },
};
const result = {
  line: { type: "result", subtype: "success", is_error: false, result: "ok", session_id: "s-1" },
};

/** A turn that does not end by itself, with a process of its own that it starts. */
const endless = [
  init,
  { start: [{ touch: "child" }, { linger: true }], args: ["worker-server"] },
  { waitFile: "child" },
  { touch: "leader" },
  { linger: true },
];

const folder = join(process.cwd(), "work");

function say(value) {
  writeSync(1, `${JSON.stringify(value)}\n`);
}

async function until(so) {
  while (!so()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** What a rejection says of itself. */
function code(promise) {
  return promise.then(
    () => "none",
    ({ code, name }) => ({ code, name }),
  );
}

function parts(cursor, testing) {
  const binary = testing.standInAgentPath();
  const turn = (steps, more) => {
    const file = join(folder, "scenario.json");
    writeFileSync(file, JSON.stringify({ turn: steps }));
    return { cwd: folder, prompt: "hi", binary, env: testing.scenarioEnv(file), ...more };
  };
  const underWay = () => until(() => existsSync(join(folder, "leader")));
  const lease = () =>
    cursor.stageCursorMcpLease({
      worktreePath: folder,
      serverKey: `fusion-custom-tools-${randomUUID()}`,
      serverEntry: { command: "server", args: ["x"] },
    });
  const add = {
    name: "fn_add",
    description: "Adds",
    parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
    execute: (_id, { a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }),
  };

  return {
    load() {
      const { version, target, file } = cursor.nativeInfo();
      say({ version, target: typeof target, file: existsSync(file) });
    },

    parse() {
      const text =
        '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"hé 😀"}]}}';
      say(cursor.parseCursorStreamLine(text));
      const parser = new cursor.CursorStreamParser();
      const bytes = Buffer.from(`${text}\n`);
      say([...bytes].flatMap((byte) => parser.push(Uint8Array.of(byte))).map((event) => event.text));
      try {
        cursor.parseCursorModels(1);
      } catch (error) {
        say({ typeError: error instanceof TypeError });
      }
    },

    async probe() {
      const found = await cursor.probeCursorBinary({ binaryPath: binary });
      say({ available: found.available, state: found.state, binaryPath: found.binaryPath === binary });
    },

    async "probe-missing"() {
      const found = await cursor.probeCursorBinary({
        binaryPath: "/none",
        env: { PATH: "/none", HOME: "/none" },
      });
      say({ available: found.available, state: found.state });
    },

    async "probe-aborted"() {
      const file = join(folder, "scenario.json");
      writeFileSync(file, JSON.stringify({ version: [{ touch: "leader" }, { linger: true }] }));
      const controller = new AbortController();
      const { signal } = controller;
      const asked = cursor.probeCursorBinary({ binaryPath: binary, env: testing.scenarioEnv(file), signal });
      await underWay();
      controller.abort();
      say(await code(asked));
    },

    async turn() {
      const seen = [];
      const answer = await cursor.launchCursorPrompt({
        ...turn([
          init,
          { line: { type: "thinking", subtype: "delta", text: "hm" } },
          {
            line: {
              type: "assistant",
              message: { role: "assistant", content: [{ type: "text", text: "hé 😀" }] },
            },
          },
          {
            line: {
              type: "tool_call",
              subtype: "started",
              call_id: "c",
              tool_call: { readToolCall: { args: { path: "x" } } },
            },
          },
          {
            line: {
              type: "tool_call",
              subtype: "completed",
              call_id: "c",
              tool_call: { readToolCall: { args: { path: "x" }, result: { success: { content: "é" } } } },
            },
          },
          result,
        ]),
        onThinking: (text) => void seen.push(["thinking", text]),
        // Held up by a promise, as a callback may be.
        onText: async (text) => {
          await new Promise((resolve) => setTimeout(resolve, 1));
          seen.push(["text", text]);
        },
        onToolStart: (name, args) => void seen.push(["start", name, args]),
        onToolEnd: (name, isError, value) => void seen.push(["end", name, isError, value]),
        onEvent: (event) => void seen.push([event.type]),
      });
      say(seen);
      say({
        text: answer.text,
        sessionId: answer.sessionId,
        exitCode: answer.exitCode,
        calls: answer.toolCalls,
      });
    },

    async "callback-throws"() {
      const error = new Error("from a callback");
      const running = cursor.launchCursorPrompt({
        ...turn(endless, { killGraceMs: 200 }),
        onEvent() {
          throw error;
        },
      });
      say({ same: (await running.catch((caught) => caught)) === error });
    },

    async missing() {
      say(await code(cursor.launchCursorPrompt({ ...turn([]), binary: "/none" })));
    },

    async timeout() {
      say(
        await code(cursor.launchCursorPrompt(turn(endless, { inactivityTimeoutMs: 200, killGraceMs: 200 }))),
      );
    },

    async abort() {
      const controller = new AbortController();
      const running = cursor.launchCursorPrompt(
        turn(endless, { signal: controller.signal, killGraceMs: 200 }),
      );
      await underWay();
      controller.abort("why");
      say(await running.catch(({ code, name, cause }) => ({ code, name, cause })));
    },

    async "abort-by-timeout"() {
      const signal = AbortSignal.any([AbortSignal.timeout(200), new AbortController().signal]);
      const running = cursor.launchCursorPrompt(turn(endless, { signal, killGraceMs: 200 }));
      say(await running.catch(({ code, name, cause }) => ({ code, name, cause: cause.name })));
    },

    async lease() {
      const config = join(folder, ".cursor", "mcp.json");
      const staged = await lease();
      const servers = JSON.parse(readFileSync(config, "utf8")).mcpServers;
      say({ beat: await staged.heartbeat(), staged: servers[staged.serverKey]?.command, own: servers.mine });
      await staged.dispose();
      await staged.dispose();
    },

    async session() {
      const report = join(folder, "report.json");
      const file = join(folder, "scenario.json");
      const call = { callTools: [{ tool: "fn_add", arguments: { a: 1, b: 2 } }], report };
      writeFileSync(file, JSON.stringify({ turn: [init, call, result] }));
      const session = await cursor.CursorSession.create({
        cwd: folder,
        binary,
        env: testing.scenarioEnv(file),
        fusionTools: [add],
      });
      const first = await session.prompt("hi");
      const { answers } = JSON.parse(readFileSync(report, "utf8"));
      const events = [];
      for await (const event of session.stream("hi again")) events.push(event.type);
      await session.dispose();
      say({
        problem: session.fusionToolBridgeError,
        calls: first.toolCalls,
        answer: answers[0].result.content,
      });
      say({ events, turns: session.turns, after: await code(session.prompt("x")) });
    },

    async logger() {
      const records = [];
      cursor.setLogger("trace", (record) => records.push(record));
      await cursor.probeCursorBinary({ binaryPath: binary });
      await until(() => records.length > 0);
      say({ level: typeof records[0].level, time: typeof records[0].time });
    },

    // What is left to itself at the end of a host.

    async "held-lease"() {
      await lease();
      say("held");
    },

    async "held-bridge"() {
      const bridge = await cursor.startCursorToolBridge([add]);
      say({ tools: bridge.toolCount });
    },

    async "held-session"() {
      await cursor.CursorSession.create({ cwd: folder, binary, fusionTools: [add] });
      say("held");
    },

    async unawaited() {
      const steps = [init, { sleep: 300 }, { touch: "ended" }, result];
      void cursor.launchCursorPrompt({ ...turn(steps), onText() {} });
      say("left");
    },

    /** Ends the host in one of the ways that hosts end, with all kinds of things under way. */
    async end(way) {
      await lease();
      await cursor.startCursorToolBridge([add]);
      cursor.launchCursorPrompt({ ...turn(endless), onEvent() {} }).catch(() => {});
      await underWay();
      const ways = {
        exit: () => process.exit(0),
        "deno-exit": () => globalThis.Deno.exit(0),
        throw: () => {
          setTimeout(() => {
            throw new Error("as it is meant");
          });
        },
        reject: () => void Promise.reject(new Error("as it is meant")),
        kill: () => process.kill(process.pid, "SIGKILL"),
      };
      ways[way]();
    },

    /** Ten thousand probes of nothing; how much memory the second half has kept. */
    async probes() {
      const gc = globalThis.gc ?? (() => globalThis.Bun?.gc(true));
      const env = { PATH: "/none", HOME: "/none" };
      const some = async (count) => {
        const ask = () => cursor.probeCursorBinary({ binaryPath: "/none", env });
        for (let i = 0; i < count; i += 50) await Promise.all(Array.from({ length: 50 }, ask));
        gc();
        return process.memoryUsage().rss / 2 ** 20;
      };
      const before = await some(5_000);
      say({ grown: (await some(5_000)) - before });
    },
  };
}

export async function play(cursor, testing) {
  const [, , part, ...args] = process.argv;
  await parts(cursor, testing)[part](...args);
  say("done");
}
