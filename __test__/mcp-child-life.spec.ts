/** `mcp-schema-server.cjs` as a process: when it ends, what it writes before, and what it takes. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { CHILD, FakeBridge, McpChild, reply, said, schemaFile, scratch } from "./support/mcp-child.js";
import { eventually, runs } from "./support/stage.js";

const CLEAN = { code: 0, signal: null };
const MIB = 1024 * 1024;

async function started(
  options: ConstructorParameters<typeof McpChild>[1] = {},
): Promise<{ bridge: FakeBridge; child: McpChild }> {
  const bridge = await FakeBridge.start();
  const child = new McpChild(bridge.env, options);
  return { bridge, child };
}

/** Fails where it takes longer. A reader that takes nothing is waited for for 10 s; all else is to be over before. */
async function within<T>(ms: number, what: Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await what;
  const took = performance.now() - began;
  if (took > ms) throw new Error(`took ${Math.round(took)} ms`);
  return result;
}

describe("the end of stdin", () => {
  test("ends it", async () => {
    const { child } = await started();
    child.end();
    expect(await within(9000, child.ended())).toEqual(CLEAN);
    expect(child.bytes).toBe(0);
    expect(child.stderr).toBe("");
  });

  test("gives up the running calls, which are not answered", async () => {
    const { bridge, child } = await started();
    // More than run at a time: what waits must not begin now.
    for (let id = 0; id < 40; id += 1) child.call(id, "fn_wait");
    await bridge.call(31);
    child.end();
    expect(await within(9000, child.ended())).toEqual(CLEAN);
    await expect.poll(() => bridge.vanished).toBe(32);
    expect(bridge.calls).toHaveLength(32);
    expect(child.answers).toEqual([]);
  });

  test("waits for a slow reader to take all that was answered", async () => {
    const { bridge, child } = await started({ paused: true });
    bridge.answer = (call) => {
      // So that a connection is closed by the child alone, which does it when it has all of the answer.
      call.response.setHeader("Connection", "keep-alive");
      reply(call, said("x".repeat(8 * MIB)));
    };
    for (let id = 0; id < 4; id += 1) child.call(id, "fn_add");
    await eventually("the child has them all", () => {
      return bridge.calls.filter((call) => call.request.socket.destroyed).length === 4;
    });
    child.end();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(child.process.exitCode).toBeNull();
    child.read();
    expect(await child.ended()).toEqual(CLEAN);
    expect(child.answers.map((answer) => answer.id).sort()).toEqual([0, 1, 2, 3]);
    for (const { result } of child.answers) expect(result.content[0].text).toHaveLength(8 * MIB);
  });
});

/** What a process has in memory, in MB. */
function resident(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1000;
}

describe("a reader", () => {
  test("that takes nothing for long does not keep it for ever", async () => {
    const { bridge, child } = await started({ paused: true });
    bridge.answer = (call) => reply(call, said("x".repeat(MIB)));
    child.call(1, "fn_add");
    await eventually("it is answered", () => bridge.calls[0]?.response.writableFinished === true);
    child.end();
    expect(await within(40_000, child.ended())).toEqual(CLEAN);
  });

  test("that is gone ends it", async () => {
    const { child } = await started();
    child.process.stdout?.destroy();
    child.request(1, "ping");
    expect(await within(9000, child.ended())).toEqual(CLEAN);
  });
});

describe("the end of the bridge", () => {
  test("ends it, and running calls are answered with an error", async () => {
    const { bridge, child } = await started();
    for (let id = 0; id < 40; id += 1) child.call(id, "fn_wait");
    await bridge.call(31);
    bridge.kill();
    expect(await within(9000, child.ended())).toEqual(CLEAN);
    expect(child.answers).toHaveLength(40);
    for (const { result } of child.answers) {
      expect(result.isError).toBe(true);
      expect(result.content[0].text).toContain("Fusion has ended");
    }
  });

  test("ends an idle one, also where it was never there", async () => {
    const { bridge, child } = await started();
    await child.settled();
    bridge.kill();
    expect(await within(9000, child.ended())).toEqual(CLEAN);
    const late = new McpChild(bridge.env);
    expect(await within(9000, late.ended())).toEqual(CLEAN);
  });

  test("ends it although the reader takes nothing", async () => {
    const { bridge, child } = await started({ paused: true });
    bridge.answer = (call) => reply(call, said("x".repeat(MIB)));
    child.call(1, "fn_add");
    await eventually("it is answered", () => bridge.calls[0]?.response.writableFinished === true);
    bridge.kill();
    expect(await within(40_000, child.ended())).toEqual(CLEAN);
  });

  test("is not what a connection that the bridge closes means", async () => {
    let closed = 0;
    const server = createServer((socket) => {
      closed += 1;
      socket.on("error", () => {}).destroy();
    });
    await new Promise<void>((listens) => server.listen(0, "127.0.0.1", listens));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const child = new McpChild({
      FUSION_CURSOR_TOOL_BRIDGE_URL: `http://127.0.0.1:${port}/tool-call`,
      FUSION_CURSOR_TOOL_BRIDGE_TOKEN: "t",
    });
    await eventually("it has come back a few times", () => closed >= 4);
    await child.settled();
    expect(child.process.exitCode).toBeNull();
    child.end();
    expect(await child.ended()).toEqual(CLEAN);
  });
});

/** Says of the list of tools whose it is, as a bridge does. */
function owned(pid: number | undefined, change: (word: string[]) => void = () => {}): string {
  const file = schemaFile();
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const word = [
    process.platform,
    readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
    /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "",
    stat.slice(stat.lastIndexOf(")")).split(" ")[20] ?? "",
  ];
  change(word);
  const owner = { pid, hostname: hostname(), processStart: word.join(":") };
  writeFileSync(join(dirname(file), "owner.json"), JSON.stringify(owner));
  return file;
}

describe.runIf(process.platform === "linux")("a port that another program has got", () => {
  function owner(): ChildProcess {
    const host = spawn(process.execPath, ["--eval", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    onTestFinished(() => void host.kill("SIGKILL"));
    return host;
  }

  test("is told nothing when the host was killed, and the child ends", async () => {
    const host = owner();
    const { bridge, child } = await started({ file: owned(host.pid) });
    bridge.answer = (call) => reply(call, said("3"));
    child.call(1, "fn_add");
    expect((await child.answer(1)).result).toEqual(said("3"));
    host.kill("SIGKILL");
    await once(host, "exit");
    // What listens there from now on stands for the other program.
    child.call(2, "fn_add", { secret: "s" });
    expect((await child.answer(2)).result).toMatchObject({ isError: true });
    bridge.dropConnections();
    expect(await within(5000, child.ended())).toEqual(CLEAN);
    expect(bridge.calls).toHaveLength(1);
  });

  test("is told nothing when the bridge was disposed, and the child ends", async () => {
    const file = owned(process.pid);
    const { bridge, child } = await started({ file });
    bridge.answer = (call) => reply(call, said("3"));
    child.call(1, "fn_add");
    await child.answer(1);
    rmSync(file);
    child.call(2, "fn_add");
    expect((await child.answer(2)).result).toMatchObject({ isError: true });
    bridge.dropConnections();
    expect(await within(5000, child.ended())).toEqual(CLEAN);
    expect(bridge.calls).toHaveLength(1);
  });

  test.each<[string, (word: string[]) => void]>([
    ["has the number of a host that ended", (word) => word.splice(3, 1, "1")],
    ["runs since the last boot", (word) => word.splice(1, 1, "00000000-0000-0000-0000-000000000000")],
  ])("is told nothing by a child that starts when it %s", async (_what, change) => {
    const { bridge, child } = await started({ file: owned(process.pid, change) });
    child.call(1, "fn_add");
    expect(await within(5000, child.ended())).toEqual(CLEAN);
    expect(bridge.calls).toHaveLength(0);
  });

  test.each<[string, (word: string[]) => void]>([
    ["of another pid namespace", (word) => word.splice(2, 2, "1", "1")],
    ["of another system", (word) => word.splice(0, 1, "other")],
    ["that says nothing", (word) => word.splice(0, 4)],
  ])("cannot be told from a host %s, which is called", async (_what, change) => {
    const { bridge, child } = await started({ file: owned(process.pid, change) });
    bridge.answer = (call) => reply(call, said("3"));
    child.call(1, "fn_add");
    expect((await child.answer(1)).result).toEqual(said("3"));
  });
});

describe("signals", () => {
  test("SIGTERM ends it with calls under way", async () => {
    const { bridge, child } = await started();
    child.call(1, "fn_wait");
    await bridge.call(0);
    child.process.kill("SIGTERM");
    expect((await within(9000, child.ended())).signal ?? "SIGTERM").toBe("SIGTERM");
    await expect.poll(() => bridge.vanished).toBe(1);
  });

  test("SIGKILL of the program that started it ends it", async () => {
    const bridge = await FakeBridge.start();
    const program = `const child = require("node:child_process").spawn(process.execPath,
      ${JSON.stringify([CHILD, schemaFile()])}, { stdio: ["pipe", "pipe", "inherit"] });
      child.stdout.once("data", () => console.log(child.pid));
      child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\\n');`;
    const host = spawn(process.execPath, ["--eval", program], {
      env: { PATH: process.env.PATH, ...bridge.env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let told = "";
    host.stdout.setEncoding("utf8").on("data", (text: string) => {
      told += text;
    });
    onTestFinished(() => void host.kill("SIGKILL"));
    await eventually("the child answers", () => told.endsWith("\n"));
    const pid = Number(told);
    expect(runs(pid)).toBe(true);
    host.kill("SIGKILL");
    await within(
      9000,
      eventually("the child is gone", () => !runs(pid)),
    );
  });
});

test.runIf(process.platform === "linux")(
  "it is one process, of at most 60 MB with work behind it",
  async () => {
    const { bridge, child } = await started();
    bridge.answer = (call) => reply(call, said("x".repeat(MIB)));
    for (let id = 0; id < 20; id += 1) {
      child.call(id, "fn_add", { text: "y".repeat(10_000) });
      await child.answer(id);
    }
    child.request("tools", "tools/list");
    await child.answer("tools");
    const bare = spawn(process.execPath, ["--eval", "process.stdin.pipe(process.stdout)"]);
    onTestFinished(() => void bare.kill("SIGKILL"));
    bare.stdin.write("x");
    await once(bare.stdout, "data");
    const [taken, least] = [resident(child.pid), resident(bare.pid as number)];
    console.log(
      `mcp-schema-server.cjs: ${taken} MB after 20 calls of 1 MiB; a Node that does nothing: ${least} MB`,
    );
    // A Node that takes most of it by itself leaves no room that this program could keep to.
    expect(taken).toBeLessThan(Math.max(60, least + 12));
    const tasks = readdirSync(`/proc/${child.pid}/task`);
    const children = tasks.flatMap((task) => {
      return readFileSync(`/proc/${child.pid}/task/${task}/children`, "utf8")
        .trim()
        .split(" ")
        .filter(Boolean);
    });
    expect(children).toEqual([]);
  },
);

describe("a copy", () => {
  test.each([
    ["alone in a folder", undefined],
    ["in a CommonJS package", { type: "commonjs" }],
    ["in a package of ES modules", { type: "module" }],
  ])("%s works", async (_where, manifest) => {
    const folder = scratch();
    const program = join(folder, "mcp-schema-server.cjs");
    copyFileSync(CHILD, program);
    if (manifest !== undefined) writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
    const { bridge, child } = await started({ program, cwd: folder });
    bridge.answer = (call) => reply(call, said("3"));
    child.request(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: {} });
    child.call(2, "fn_add");
    expect((await child.answer(1)).result.protocolVersion).toBe("2025-06-18");
    expect((await child.answer(2)).result).toEqual(said("3"));
  });

  test("needs nothing but Node's own modules", () => {
    const source = readFileSync(CHILD, "utf8");
    const required = [...source.matchAll(/\brequire\(\s*"([^"]+)"\s*\)/g)].map(([, name]) => name);
    expect(required.length).toBeGreaterThan(0);
    for (const name of required) expect(name).toMatch(/^node:/);
    expect(source).not.toMatch(/\bimport\s*\(/);
  });
});
