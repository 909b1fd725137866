/** What becomes of bridges when hosts and workers end, stand still, or are killed. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { startCursorToolBridge } from "fusion-cursor-native";
import { describe, expect, onTestFinished, test } from "vitest";
import { call, texts, tool } from "./support/bridge.js";
import { ended, root, told } from "./support/host.js";
import { McpChild } from "./support/mcp-child.js";
import { eventually, PATIENCE } from "./support/stage.js";

type Entry = { args: string[]; env: Record<string, string> };

/** A folder for what hosts leave. */
function room(): string {
  const folder = mkdtempSync(join(tmpdir(), "fusion-cursor-room-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const OPEN = `const cursor = require(${JSON.stringify(root)});
  const open = (execute = () => "x", options) => cursor.startCursorToolBridge([{ name: "fn_x", execute }], options);
  const block = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);`;

/** A Node of its own. `code` finds `open`, `block` and `tell`. */
function startHost(temporary: string, code: string): ChildProcess {
  const program = `${OPEN}
    const tell = (line) => require("node:fs").writeSync(1, JSON.stringify(line) + "\\n");
    process.on("message", (code) => eval(code));
    (async () => { ${code} })();`;
  const child = spawn(process.execPath, ["--eval", program], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
    env: { ...process.env, TMPDIR: temporary },
  });
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  });
  return child;
}

/** The first thing that a host tells. */
async function first<T>(host: ChildProcess): Promise<T> {
  const lines = told(host);
  await eventually("it has told", () => lines.length > 0);
  return lines[0] as T;
}

describe("a host with an open bridge", () => {
  const ways: [string, string, object][] = [
    ["by itself", "await open(); process.channel.unref();", { code: 0, signal: null }],
    ["by process.exit", "await open(); process.exit(3);", { code: 3, signal: null }],
    ["in the middle of a start", "open(); setTimeout(() => process.exit(4), 3);", { code: 4, signal: null }],
    [
      "by an uncaught error",
      "await open(); process.stderr.write = () => true; process.on('uncaughtException', () => process.exit(5)); throw new Error('x');",
      { code: 5, signal: null },
    ],
    [
      "with a bridge of a worker",
      `const { Worker } = require("node:worker_threads");
       const worker = new Worker(${JSON.stringify(`${OPEN} open().then(() => require("node:worker_threads").parentPort.postMessage(1)); setInterval(() => {}, 1000)`)}, { eval: true });
       worker.once("message", () => process.exit(6));`,
      { code: 6, signal: null },
    ],
  ];
  test.each(ways)("ends %s, and leaves nothing", async (_how, code, end) => {
    const temporary = room();
    const exit = once(
      startHost(
        temporary,
        code.replace("throw new Error('x')", "setImmediate(() => { throw new Error('x'); })"),
      ),
      "exit",
    );
    const [exited, signal] = await exit;
    expect({ code: exited, signal }).toEqual(end);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("is killed, and the next bridge of anybody removes what it left", async () => {
    const temporary = room();
    const host = startHost(temporary, "const { serverEntry } = await open(); tell(serverEntry);");
    const entry = await first<Entry>(host);
    const left = dirname(entry.args[1] ?? "");
    const living = startHost(temporary, "const { serverEntry } = await open(); tell(serverEntry);");
    const other = dirname((await first<Entry>(living)).args[1] ?? "");
    expect(existsSync(left)).toBe(true);
    host.kill("SIGKILL");
    await ended(host);
    expect(existsSync(left)).toBe(true);
    const next = startHost(
      temporary,
      "const bridge = await open(); await bridge.dispose(); process.exit(0);",
    );
    await ended(next);
    expect(readdirSync(temporary)).toEqual([other.slice(temporary.length + 1)]);
  });

  test("is killed, and who gets its port is told nothing", async () => {
    const host = startHost(room(), "const { serverEntry } = await open(); tell(serverEntry);");
    const { args, env } = await first<Entry>(host);
    const options = { file: args[1] ?? "" };
    const early = new McpChild(env, options);
    early.call(1, "fn_x");
    expect((await early.answer(1)).result.content).toEqual([{ type: "text", text: "x" }]);
    host.kill("SIGKILL");
    await ended(host);
    let told = "";
    const stranger = createServer((socket) => {
      socket
        .on("error", () => {})
        .on("data", (bytes) => {
          told += bytes;
        });
    });
    onTestFinished(() => void stranger.close());
    stranger.listen(Number(new URL(env.FUSION_CURSOR_TOOL_BRIDGE_URL ?? "").port), "127.0.0.1");
    await once(stranger, "listening");
    // From a config that nobody has cleaned up yet.
    const late = new McpChild(env, options);
    for (const child of [early, late]) child.call(2, "fn_x");
    for (const child of [early, late]) expect(await child.ended()).toEqual({ code: 0, signal: null });
    expect(told).toBe("");
  });

  test("stands still, and the deadline of a call passes all the same", async () => {
    const folder = room();
    const go = join(folder, "go");
    const host = startHost(
      folder,
      `let ran = 0;
       const { existsSync } = require("node:fs");
       const stand = () => { ran += 1; while (!existsSync(${JSON.stringify(go)})) block(5); return "late"; };
       const bridge = await open(stand, { callTimeoutMs: 300 });
       globalThis.end = async () => { await bridge.dispose(); tell({ ran }); };
       tell(bridge.serverEntry);`,
    );
    const lines = told(host);
    await eventually("it has told", () => lines.length > 0);
    const serverEntry = lines[0] as never;
    // The closure comes to no end before both are answered.
    const both = await Promise.all([call({ serverEntry }), call({ serverEntry })]);
    for (const result of both) expect(texts(result)[0]).toMatch(/did not answer within 300 ms/);
    writeFileSync(go, "");
    host.send("end()");
    await eventually("the loop goes on", () => lines.length > 1);
    // The second call was over before the loop came to it.
    expect(lines[1]).toEqual({ ran: 1 });
  });
});

describe("a worker with an open bridge", () => {
  async function opened(code: string): Promise<{ worker: Worker; serverEntry: Entry }> {
    const worker = new Worker(
      `${OPEN} const { parentPort } = require("node:worker_threads");
       (async () => { const bridge = await open(${code}); parentPort.postMessage(bridge.serverEntry); setInterval(() => {}, 1000); })();`,
      { eval: true },
    );
    onTestFinished(() => void worker.terminate());
    const [serverEntry] = await once(worker, "message");
    return { worker, serverEntry };
  }

  test("is terminated in the middle of calls, and takes its bridge with it", async () => {
    const mine = await startCursorToolBridge([tool(() => "mine")]);
    if (mine === null) throw new Error("not open");
    const { worker, serverEntry } = await opened("() => new Promise(() => {})");
    const entry = { serverEntry } as never;
    const calls = Array.from({ length: 5 }, () => call(entry));
    const settled = Promise.allSettled(calls);
    expect(texts(await call(mine))).toEqual(["mine"]);
    await worker.terminate();
    for (const one of await settled) {
      expect(one.status === "rejected" || one.value.isError, JSON.stringify(one)).toBe(true);
    }
    await eventually("its folder is gone", () => !existsSync(dirname(serverEntry.args[1] ?? "")));
    await expect(call(entry)).rejects.toThrow();
    expect(texts(await call(mine))).toEqual(["mine"]);
    await mine.dispose();
  });

  test("is terminated while its loop stands still", async () => {
    const { worker, serverEntry } = await opened("() => block(60_000)");
    const lost = call({ serverEntry } as never).catch(() => "lost");
    await new Promise((resolve) => setTimeout(resolve, 100));
    const began = performance.now();
    await worker.terminate();
    await lost;
    expect(performance.now() - began).toBeLessThan(PATIENCE);
    await eventually("its folder is gone", () => !existsSync(dirname(serverEntry.args[1] ?? "")));
  });

  // Its own host, since what this guards against is a crash of the whole process.
  test("ends the moment it has asked, and does no harm", async () => {
    const temporary = room();
    const program = `${OPEN} open(); open(); setTimeout(() => process.exit(0), require("node:worker_threads").workerData % 4 * 3);`;
    const host = startHost(
      temporary,
      `const { Worker } = require("node:worker_threads");
       const one = (round) => new Promise((resolve) =>
         new Worker(${JSON.stringify(program)}, { eval: true, workerData: round }).on("exit", resolve));
       for (let round = 0; round < 12; round++) await Promise.all([one(round), one(round + 1)]);
       // What was under way when a worker ended comes to its end behind it.
       const late = Date.now() + ${PATIENCE};
       while (require("node:fs").readdirSync(require("node:os").tmpdir()).length > 0 && Date.now() < late) block(5);
       process.exit(0);`,
    );
    expect(await ended(host)).toEqual({ code: 0, signal: null });
    expect(readdirSync(temporary)).toEqual([]);
  });
});

test("a built package without the file that Cursor starts says which one is missing, and where", () => {
  const copy = room();
  for (const name of readdirSync(root)) {
    if (/\.node$|^(index|native)\.js$|^package\.json$/.test(name)) cpSync(join(root, name), join(copy, name));
  }
  const program = `const cursor = require(${JSON.stringify(copy)});
    const said = ({ name, code, path, message, retryable }) => ({ name, code, path, message, retryable });
    let thrown;
    try { cursor.cursorMcpSchemaServerPath(); } catch (error) { thrown = said(error); }
    cursor.startCursorToolBridge([{ name: "fn_x", execute() {} }]).catch((error) =>
      console.log(JSON.stringify([thrown, said(error), require("node:fs").readdirSync(require("node:os").tmpdir())])));`;
  const temporary = join(copy, "temporary");
  mkdirSync(temporary);
  const env = { ...process.env, TMPDIR: temporary };
  const out = execFileSync(process.execPath, ["--eval", program], { encoding: "utf8", env });
  const path = join(copy, "mcp-schema-server.cjs");
  const error = {
    name: "CursorError",
    code: "mcp-schema-server-missing",
    path,
    retryable: false,
    message: expect.stringContaining(`${path} is not there`),
  };
  expect(JSON.parse(out)).toEqual([error, error, []]);
  cpSync(join(root, "mcp-schema-server.cjs"), path);
  const found = execFileSync(process.execPath, [
    "--print",
    `require(${JSON.stringify(copy)}).cursorMcpSchemaServerPath()`,
  ]);
  expect(found.toString().trim()).toBe(path);
});

test("the program of an Electron host is asked to be a Node, whatever that Node was built with", async () => {
  const code = `Object.defineProperty(process, "versions", { value: { ...process.versions, electron: "40.0.0" } });
    const { Module } = require("node:module");
    const load = Module._load;
    Module._load = (name, ...rest) => {
      if (name === "node:sea") throw new Error("there is no single executable");
      return load(name, ...rest);
    };
    ${OPEN}
    open().then(async (bridge) => {
      console.log(JSON.stringify(bridge.serverEntry.env));
      await bridge.dispose();
    });`;
  const out = execFileSync(process.execPath, ["--eval", code], { encoding: "utf8" });
  expect(JSON.parse(out)).toMatchObject({ ELECTRON_RUN_AS_NODE: "1" });
});
