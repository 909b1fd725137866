/** The plugin's sessions with tools of Fusion: called through the real child, and what is left where they cannot be served. */

import { readFileSync, rmSync } from "node:fs";
import type { ToolLike } from "fusion-cursor-native";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { kinds, Task } from "./support/fusion.js";
import { begins, repeats } from "./support/session.js";
import { PATIENCE, type Step } from "./support/stage.js";
import { CONFIG, LOCK, STATE } from "./support/worktree.js";

const add: ToolLike = {
  name: "fn_add",
  label: "Add",
  description: "Adds two numbers",
  parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
  execute: async (_id, { a, b }) => ({ content: [{ type: "text", text: `${Number(a) + Number(b)}` }] }),
};
const fail: ToolLike = { name: "fn_fail", execute: () => Promise.reject(new Error("no such task")) };

const calls = (...tools: string[]): Step => ({
  callTools: tools.map((tool) => ({ tool, arguments: { a: 40, b: 2 } })),
  report: "report.json",
});

/** Whether every MCP server of the folder is approved in the last turn. */
const approves = (task: Task): boolean => task.echo().args.includes("--approve-mcps");

describe("tools of Fusion", () => {
  test("are called in every turn of their session, and are gone with it", async () => {
    const task = new Task();
    task.write(CONFIG, '{ "mcpServers": { "board": { "command": "board" } } }\n');
    const before = task.picture();
    task.play([begins, calls("fn_add", "fn_fail"), repeats]);
    const session = await task.session({ tools: "coding", fusionTools: [add, fail] });
    const events = kinds(session);
    expect(session.fusionToolBridgeError).toBeUndefined();
    const [key = ""] = Object.keys(task.entries());
    expect(session.toolNames).toEqual([`${key}-fn_add`, `${key}-fn_fail`]);

    await task.runtime.promptWithFallback(session, "Add");
    expect(approves(task)).toBe(true);
    for (const name of session.toolNames) expect(task.echo().prompt).toContain(name);
    expect(task.heard.started.map(([name]) => name)).toEqual(["fn_add", "fn_fail"]);
    expect(task.heard.ended).toEqual([
      ["fn_add", false],
      ["fn_fail", true],
    ]);
    expect(events.filter((kind) => kind === "tool_execution_end")).toHaveLength(2);

    await task.runtime.promptWithFallback(session, "Again");
    expect(approves(task)).toBe(true);
    expect(task.echo()).toMatchObject({ prompt: "Again" });
    expect(task.heard.ended).toHaveLength(4);
    expect(session.toolCalls).toMatchObject({ started: 4, completed: 4, failed: 2 });
    expect(task.git("status", "--porcelain")).toBe("");

    await session.dispose();
    expect(task.isLike(before)).toBe(true);
    expect(task.context.logged).toEqual([]);
  });

  test("are those that Fusion marks as its own: a name proves nothing", async () => {
    const task = new Task();
    task.play([begins, repeats]);
    const options = { tools: "coding" as const, customTools: [add] };
    const session = await task.session(options);
    await session.prompt("one");
    expect([session.toolNames, task.has(CONFIG), approves(task)]).toEqual([[], false, false]);
    expect(session.fusionToolBridgeError).toBeUndefined();
  });

  test("are called with the arguments of the model, and no other session's", async () => {
    const [one, two] = [new Task(), new Task()];
    const ran = [one, two].map((task, index) => {
      task.play([begins, calls("fn_add"), repeats]);
      const execute = vi.fn(() => `secret ${index}`);
      return { task, execute };
    });
    await Promise.all(
      ran.map(async ({ task, execute }) => {
        const session = await task.session({ fusionTools: [{ ...add, execute }] });
        await session.prompt("Add");
        await session.dispose();
      }),
    );
    for (const [index, { task, execute }] of ran.entries()) {
      expect(execute.mock.calls).toEqual([
        [expect.any(String), { a: 40, b: 2 }, expect.any(AbortSignal), expect.any(Function), undefined],
      ]);
      expect(readFileSync(task.stage.path("report.json"), "utf8")).toContain(`secret ${index}`);
    }
  });
});

describe("the end of a session with tools", () => {
  test("that fails is told of, ends no host that does not wait for it, and can be tried again", async () => {
    const task = new Task();
    const session = await task.session({ fusionTools: [add] });
    // Where the lock has to be.
    task.write(LOCK, "");
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    onTestFinished(() => void process.off("unhandledRejection", unhandled));
    // As the engine does it at times.
    void session.dispose();
    await vi.waitUntil(() => task.context.logged.length > 0, PATIENCE);
    expect(task.context.logged).toEqual([
      expect.stringMatching(/^warn: A Cursor session was not taken down: .*\.fusion-mcp\.lock/),
    ]);
    await expect(session.dispose()).rejects.toMatchObject({ code: "bridge-start-failed" });
    // Node tells of an unhandled rejection when the microtasks are done.
    await new Promise(setImmediate);
    expect(unhandled).not.toHaveBeenCalled();

    rmSync(task.at(LOCK));
    await session.dispose();
    expect(task.has(".cursor")).toBe(false);
  });
});

describe("a session without its tools", () => {
  const works = async (task: Task, fusionTools: readonly ToolLike[]) => {
    task.play([begins, repeats]);
    const session = await task.session({ fusionTools });
    await task.runtime.promptWithFallback(session, "one");
    expect(session.turns).toBe(1);
    expect(session.toolNames).toEqual([]);
    expect(approves(task)).toBe(false);
    const { fusionToolBridgeError: problem } = session;
    expect(task.context.logged).toEqual([
      `warn: Cursor runs without the tools of Fusion: ${problem?.detail}`,
    ]);
    return { session, problem };
  };

  test("of a config that is no JSON says what to repair, and leaves it as it is", async () => {
    const task = new Task();
    const before = task.picture();
    const malformed = '{ "mcpServers": { "board": ';
    task.write(CONFIG, malformed);
    const { session, problem } = await works(task, [add]);
    expect(problem).toMatchObject({ reasonCode: "bridge-start-failed", reason: "unparsable" });
    expect(problem?.detail).toContain("mcp.json");
    await session.dispose();
    expect(task.read(CONFIG)).toBe(malformed);

    // Removed, the next session has them, and leaves nothing behind.
    rmSync(task.at(CONFIG));
    const next = await task.session({ fusionTools: [add] });
    expect([next.toolNames.length, next.fusionToolBridgeError]).toEqual([1, undefined]);
    await next.dispose();
    rmSync(task.at(".cursor"), { recursive: true, force: true });
    expect(task.picture()).toEqual(before);
  });

  test("of a config that was broken under it is quarantined until it is repaired", async () => {
    const task = new Task();
    task.play([begins, repeats]);
    const first = await task.session({ fusionTools: [add] });
    const text = task.read(CONFIG);
    task.write(CONFIG, `${text.trimEnd().slice(0, -1)},`);
    await first.dispose();
    expect(JSON.parse(task.read(STATE))).toHaveProperty("quarantine");

    const { session, problem } = await works(task, [add]);
    expect(problem).toMatchObject({ reasonCode: "bridge-start-failed", reason: "quarantined" });
    expect(problem?.detail).toMatch(/mcp\.json .* take out fusion-custom-tools-/);
    await session.dispose();

    task.write(CONFIG, "{}");
    const next = await task.session({ fusionTools: [add] });
    expect(next.fusionToolBridgeError).toBeUndefined();
    await next.dispose();
    expect(task.has(STATE)).toBe(false);
  });

  test("of a config that git tracks does not touch it", async () => {
    const task = new Task();
    task.write(CONFIG, "{}\n");
    task.git("add", "--force", CONFIG);
    task.git("commit", "--quiet", "--message=x");
    const { problem } = await works(task, [add]);
    expect(problem).toMatchObject({ reasonCode: "bridge-start-failed", reason: "tracked" });
    expect(task.read(CONFIG)).toBe("{}\n");
    expect(task.git("status", "--porcelain")).toBe("");
  });

  test.each<[string, ToolLike[], RegExp]>([
    ["two of one name", [add, add], /fusionTools\[1\]\.name/],
    ["no tool", [add, 7 as never], /fusionTools\[1\]/],
    ["a schema that is none", [{ ...add, parameters: [] }], /"fn_add"/],
    ["no list of tools", {} as never, /fusionTools/],
  ])("of %s says which is wrong", async (_what, tools, detail) => {
    const task = new Task();
    const { problem } = await works(task, tools);
    expect(problem).toEqual({ reasonCode: "bridge-start-failed", detail: expect.stringMatching(detail) });
    expect(task.has(".cursor")).toBe(false);
  });
});
