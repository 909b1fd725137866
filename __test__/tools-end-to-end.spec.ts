/** From the model's tool call to the closure and back: bridge, lease, agent and child, with nothing faked but the agent. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import {
  CursorError,
  type CursorMcpLease,
  type CursorPromptInput,
  type CursorStreamEvent,
  type CursorToolBridge,
  launchCursorPrompt,
  stageCursorMcpLease,
  startCursorToolBridge,
  type ToolLike,
} from "fusion-cursor-native";
import { standInAgentPath } from "fusion-cursor-native/testing";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { CHILD } from "./support/mcp-child.js";
import { eventually, init, result, runs, type Step } from "./support/stage.js";
import { CONFIG, Worktree } from "./support/worktree.js";

interface Session {
  worktree: Worktree;
  bridge: CursorToolBridge;
  lease: CursorMcpLease;
  /** Runs a turn; what it reported beside the result. */
  turn(steps: Step[], more?: Partial<CursorPromptInput>): Promise<Turn>;
  report(): { server: string; pid: number; tools: { name: string }[]; exit: number; answers: unknown[] };
}

interface Turn {
  started: [name: string, args: unknown][];
  ended: [name: string, isError: boolean, result: unknown][];
  events: CursorStreamEvent[];
}

/** Only while a turn of ours runs can a child of ours be there. */
const pids = new Set<number>();
afterAll(() => expect([...pids].filter(runs)).toEqual([]));

async function session(tools: ToolLike[]): Promise<Session> {
  const worktree = new Worktree();
  const bridge = await startCursorToolBridge(tools);
  if (bridge === null) throw new Error("no tool was published");
  onTestFinished(() => bridge.dispose());
  const lease = await stageCursorMcpLease(worktree.options({ serverEntry: bridge.serverEntry }));
  onTestFinished(() => lease.dispose());
  const scenario = `${worktree.base}/scenario.json`;
  return {
    worktree,
    bridge,
    lease,
    async turn(steps, more = {}) {
      writeFileSync(scenario, JSON.stringify({ turn: [init, ...steps, result("done")] }));
      const turn: Turn = { started: [], ended: [], events: [] };
      const outcome = await launchCursorPrompt({
        cwd: worktree.folder,
        prompt: "Use your tools",
        binary: standInAgentPath(),
        tools: "coding",
        approveMcps: true,
        fusionServerKey: lease.serverKey,
        env: { FUSION_CURSOR_SCENARIO: scenario },
        onToolStart: (name, args) => void turn.started.push([name, args]),
        onToolEnd: (name, isError, result) => void turn.ended.push([name, isError, result]),
        onEvent: (event) => void turn.events.push(event),
        ...more,
      });
      expect(outcome.text).toBe("done");
      return turn;
    },
    report() {
      const report = JSON.parse(readFileSync(`${worktree.base}/report.json`, "utf8"));
      pids.add(report.pid);
      return report;
    },
  };
}

const calls = (list: { tool: string; arguments?: object }[], more: object = {}): Step => ({
  callTools: list,
  report: "report.json",
  ...more,
});

const add = (execute: ToolLike["execute"]): ToolLike => ({
  name: "fn_add",
  description: "Adds",
  parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
  execute: execute as NonNullable<ToolLike["execute"]>,
});

describe("a tool call", () => {
  test("runs the closure once, and the callbacks have its bare name", async () => {
    const execute = vi.fn(
      async (_id: string, { a, b }: Record<string, unknown>) => `${Number(a) + Number(b)}`,
    );
    const { bridge, lease, worktree, turn, report } = await session([add(execute)]);
    const { started, ended, events } = await turn([calls([{ tool: "fn_add", arguments: { a: 40, b: 2 } }])]);

    expect(execute).toHaveBeenCalledTimes(1);
    expect(execute.mock.calls[0]?.slice(0, 2)).toEqual([
      expect.stringMatching(/^[0-9a-f-]{36}$/),
      { a: 40, b: 2 },
    ]);
    expect(started).toEqual([
      [
        "fn_add",
        expect.objectContaining({
          name: `${lease.serverKey}-fn_add`,
          args: { a: 40, b: 2 },
          providerIdentifier: lease.serverKey,
          toolName: "fn_add",
        }),
      ],
    ]);
    expect(ended).toEqual([
      ["fn_add", false, { success: { content: [{ text: { text: "42" } }], isError: false } }],
    ]);
    const named = events.flatMap((event) => ("name" in event ? [[event.type, event.kind, event.name]] : []));
    expect(named).toEqual([
      ["tool-call-started", "mcp", "fn_add"],
      ["tool-call-completed", "mcp", "fn_add"],
    ]);

    const { server, tools, exit, pid } = report();
    expect([server, tools.map((tool) => tool.name), exit]).toEqual([lease.serverKey, ["fn_add"], 0]);
    expect(runs(pid)).toBe(false);
    await lease.dispose();
    await bridge.dispose();
    expect(worktree.git("status", "--porcelain", "--ignored")).toBe("");
    expect(worktree.has(".cursor")).toBe(false);
  });

  test("of the next turn finds the same server", async () => {
    const execute = vi.fn(() => "x");
    const { worktree, turn } = await session([add(execute)]);
    const before = worktree.read(CONFIG);
    await turn([calls([{ tool: "fn_add" }], { protocol: "2024-11-05" })]);
    await turn([calls([{ tool: "fn_add" }])]);
    expect(execute).toHaveBeenCalledTimes(2);
    expect(worktree.read(CONFIG)).toBe(before);
  });

  test("beside others runs beside them", async () => {
    const open: (() => void)[] = [];
    const wait = (_id: string, { n }: Record<string, unknown>): Promise<string> =>
      new Promise((resolve) => {
        open.push(() => resolve(`n=${n}`));
        // None is answered before all are there.
        if (open.length === 8) for (const finish of open) finish();
      });
    const { turn } = await session([add(wait)]);
    const list = Array.from({ length: 8 }, (_, n) => ({ tool: "fn_add", arguments: { n } }));
    const { started, ended } = await turn([calls(list, { parallel: true })]);
    expect([started.length, ended.length]).toEqual([8, 8]);
    const texts = ended.map(([, , result]) => JSON.stringify(result).match(/n=\d/)?.[0]);
    expect(texts.sort()).toEqual(list.map((_, n) => `n=${n}`));
  });

  test("that fails is an error to the callbacks, and the turn goes on", async () => {
    const { turn, report } = await session([
      add(() => {
        throw new Error("the board is locked");
      }),
    ]);
    const { ended } = await turn([calls([{ tool: "fn_add" }, { tool: "fn_none" }])]);
    expect(ended).toEqual([
      ["fn_add", true, { success: { content: [{ text: { text: "the board is locked" } }], isError: true } }],
      ["fn_none", true, { error: { error: "Unknown tool: fn_none" } }],
    ]);
    expect(report().answers).toMatchObject([{ result: { isError: true } }, { error: { code: -32602 } }]);
  });

  test("of another server keeps that server's name, whatever the tool is called", async () => {
    const execute = vi.fn(() => "ours");
    const { worktree, turn } = await session([add(execute)]);
    // A server of the operator's own, with a tool of the same name.
    const other = await startCursorToolBridge([add(() => "theirs")]);
    onTestFinished(() => other?.dispose());
    const config = JSON.parse(worktree.read(CONFIG));
    config.mcpServers.board = other?.serverEntry;
    worktree.write(CONFIG, JSON.stringify(config));
    const { started, ended } = await turn([
      calls([{ tool: "fn_add" }], { server: "board" }),
      calls([{ tool: "fn_add" }]),
    ]);
    expect(started.map(([name]) => name)).toEqual(["board-fn_add", "fn_add"]);
    expect(ended.map(([name, , result]) => [name, /ours|theirs/.exec(JSON.stringify(result))?.[0]])).toEqual([
      ["board-fn_add", "theirs"],
      ["fn_add", "ours"],
    ]);
    expect(execute).toHaveBeenCalledTimes(1);
  });

  test("has Cursor's name where no key was given, or that of another session", async () => {
    const { lease, turn } = await session([add(() => "x")]);
    const long = `${lease.serverKey}-fn_add`;
    const step = calls([{ tool: "fn_add" }]);
    for (const fusionServerKey of [undefined as never, lease.serverKey.slice(0, -1)]) {
      const { started, ended } = await turn([step], { fusionServerKey });
      expect([started[0]?.[0], ended[0]?.[0]]).toEqual([long, long]);
    }
  });
});

describe("the end of a turn", () => {
  test("by an abort aborts the closure's signal and leaves no child", async () => {
    const seen: string[] = [];
    let began = false;
    const wait = (_id: string, _args: object, signal: AbortSignal): Promise<string> => {
      began = true;
      return new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          seen.push((signal.reason as Error).name);
          resolve("too late");
        });
      });
    };
    const { bridge, turn } = await session([add(wait)]);
    const controller = new AbortController();
    const running = turn([calls([{ tool: "fn_add" }])], { signal: controller.signal });
    const failed = running.catch((error: unknown) => error);
    await eventually("the closure runs", () => began);
    const children = processesWith(bridge.serverEntry.args[1] ?? "");
    if (process.platform === "linux") expect(children).toHaveLength(1);
    controller.abort();
    const error = await failed;
    expect(error).toBeInstanceOf(CursorError);
    expect((error as CursorError).partial?.toolCalls).toMatchObject({ started: 1, completed: 0 });
    await eventually("the closure is told", () => seen.length > 0);
    await eventually("the child is gone", () => !children.some(runs));
    expect(seen).toEqual(["AbortError"]);
  });
});

/** The processes whose command line ends in this word. Without /proc there is no telling. */
function processesWith(word: string): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        return words.includes(CHILD) && words.includes(word);
      } catch {
        return false;
      }
    });
}
