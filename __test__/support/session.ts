/** Sessions that are disposed when the test is over, on stages whose play can be changed between turns. */

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type CursorError,
  CursorSession,
  type CursorSessionOptions,
  type ToolLike,
} from "fusion-cursor-native";
import { standInAgentPath } from "fusion-cursor-native/testing";
import { expect, onTestFinished } from "vitest";
import { Stage, type Step } from "./stage.js";
import { Worktree } from "./worktree.js";

/** The start of a turn, with the id of the conversation that it goes on with, or a new one. */
export const begins: Step = { line: { type: "system", subtype: "init", session_id: "${session}" } };

/** Its end: the answer is the prompt as the agent read it. */
export const repeats: Step = {
  line: {
    type: "result",
    subtype: "success",
    is_error: false,
    result: "${stdin}",
    session_id: "${session}",
    usage: { inputTokens: 10, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 },
  },
};

/** A whole turn. Every one is told in a file of its own, named by its process. */
export const parrot: Step[] = [{ touch: "turn-${pid}" }, { echo: "echo.json" }, begins, repeats];

export const fails: Step[] = [begins, { text: "Error: it broke\n", to: "stderr" }, { exit: 3 }];

export async function sessionOf(options: CursorSessionOptions): Promise<CursorSession> {
  const session = await CursorSession.create(options);
  onTestFinished(() => session.dispose());
  return session;
}

/** What a session on a stage is made of. */
export function onStage(stage: Stage, more: Partial<CursorSessionOptions> = {}): CursorSessionOptions {
  const { cwd, binary, env } = stage.input();
  return { cwd, ...(binary && { binary }), ...(env && { env }), ...more };
}

/** A stage, and a session there. */
export async function staged(
  scenario: Step[] | Record<string, unknown> = parrot,
  more: Partial<CursorSessionOptions> = {},
): Promise<{ stage: Stage; session: CursorSession }> {
  const stage = new Stage(scenario);
  return { stage, session: await sessionOf(onStage(stage, more)) };
}

/** What the turns from now on play. */
export function play(stage: Pick<Stage, "path">, turn: Step[], resumed = turn): void {
  writeFileSync(stage.path("scenario.json"), JSON.stringify({ turn, resumed }));
}

/** A worktree, with a scenario beside it. */
export class Scene extends Worktree {
  /** Beside the worktree, which stays as it is. */
  path(name: string): string {
    return `${this.base}/${name}`;
  }

  session(more: Partial<CursorSessionOptions> = {}): Promise<CursorSession> {
    return sessionOf(this.sessionOptions(more));
  }

  sessionOptions(more: Partial<CursorSessionOptions> = {}): CursorSessionOptions {
    return {
      cwd: this.folder,
      binary: standInAgentPath(),
      env: { FUSION_CURSOR_SCENARIO: this.path("scenario.json"), FUSION_CURSOR_ECHO: this.path("echo.json") },
      ...more,
    };
  }
}

/** The error of a promise that rejects. */
export async function errorOf(promise: PromiseLike<unknown>): Promise<CursorError> {
  return promise.then(
    () => expect.unreachable("it did not fail"),
    (error: unknown) => error as CursorError,
  );
}

/** The stand-in reads no comments. */
export const OPERATOR = '{\n  "mine": 1.0e1,\n\t"mcpServers": { "board": { "command": "board" } }\n}\n';

export const tool = (execute: (...args: never[]) => unknown, name = "fn_add"): ToolLike => ({
  name,
  description: "Adds",
  parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
  execute: execute as NonNullable<ToolLike["execute"]>,
});

export const calls = (list: { tool: string; arguments?: object }[]): Step => ({
  callTools: list,
  report: "report.json",
});

export function scene(turn: Step[] = parrot): Scene {
  const made = new Scene();
  play(made, turn);
  return made;
}

/** Where the bridge listens and where its files are, as the entry in the config tells. */
export function traces(one: Scene): { port: number; folder: string } {
  const [entry] = Object.values(one.entries());
  const env = entry?.env as Record<string, string>;
  const url = new URL(env.FUSION_CURSOR_TOOL_BRIDGE_URL ?? "");
  return { port: Number(url.port), folder: join(entry?.args[1] ?? "", "..") };
}

export async function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: "127.0.0.1" });
    socket.on("error", () => resolve(false));
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** The folders of bridges in this process's own temporary folder. */
export function ownTemporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "fusion-cursor-test-")));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  onTestFinished(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}
