/** As much of Fusion as the plugin meets: a context, and the engine that opens sessions. */

import { writeFileSync } from "node:fs";
import plugin, {
  type CursorRuntimeAdapter,
  type CursorRuntimeEvent,
  type CursorRuntimeOptions,
  type CursorRuntimeSession,
} from "fusion-cursor-native/plugin";
import { standInAgentPath } from "fusion-cursor-native/testing";
import { onTestFinished, vi } from "vitest";
import type { Machine } from "./machine.js";
import { Stage, type Step } from "./stage.js";
import { Worktree } from "./worktree.js";

type Log = (message: string, ...details: unknown[]) => void;

/** What Fusion gives a plugin. */
export interface Context {
  pluginId: string;
  taskStore: object;
  settings: Record<string, unknown>;
  logger: Record<"info" | "warn" | "error" | "debug", Log>;
  emitEvent(event: string, data: unknown): void;
  /** What was logged, as `level: message`. */
  logged: string[];
}

export function context(settings: Record<string, unknown> = {}): Context {
  const logged: string[] = [];
  const log = (level: string): Log => {
    return (message) => void logged.push(`${level}: ${message}`);
  };
  return {
    pluginId: plugin.manifest.id,
    taskStore: {},
    settings,
    logger: { info: log("info"), warn: log("warn"), error: log("error"), debug: log("debug") },
    emitEvent() {},
    logged,
  };
}

/** For the rest of the test this process lives on that machine. */
export function liveOn(machine: Machine): void {
  for (const [name, value] of Object.entries(machine.env)) vi.stubEnv(name, value);
  vi.stubEnv("CURSOR_API_KEY", undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
}

/** What the callbacks of a session were given. */
export interface Heard {
  texts: string[];
  thoughts: string[];
  started: [name: string, args: unknown][];
  ended: [name: string, isError: boolean][];
}

/** A task: a worktree, a stage elsewhere, and an engine that opens sessions of the plugin there. */
export class Task extends Worktree {
  readonly stage = new Stage([]);
  readonly context = context({ cursorCliBinaryPath: ` ${standInAgentPath()} ` });
  readonly runtime = plugin.runtime.factory(this.context);
  readonly heard: Heard = { texts: [], thoughts: [], started: [], ended: [] };

  /** What the turns from now on play, the first of a conversation and the later ones. */
  play(turn: Step[], resumed = turn): void {
    writeFileSync(this.stage.path("scenario.json"), JSON.stringify({ turn, resumed }));
  }

  async session(
    more: Partial<CursorRuntimeOptions> = {},
    runtime: CursorRuntimeAdapter = this.runtime,
  ): Promise<CursorRuntimeSession> {
    const { session } = await runtime.createSession({
      cwd: this.folder,
      systemPrompt: "You mend tide tables.",
      taskEnv: { ...process.env, ...this.env },
      onText: (text) => void this.heard.texts.push(text),
      onThinking: (text) => void this.heard.thoughts.push(text),
      onToolStart: (name, args) => void this.heard.started.push([name, args]),
      onToolEnd: (name, isError) => void this.heard.ended.push([name, isError]),
      ...more,
    });
    onTestFinished(() => session.dispose());
    return session;
  }

  get env(): Record<string, string> {
    return {
      FUSION_CURSOR_SCENARIO: this.stage.path("scenario.json"),
      FUSION_CURSOR_ECHO: this.stage.path("echo.json"),
    };
  }

  /** How the last turn was started. */
  echo(): { args: string[]; prompt: string; env: Record<string, string> } {
    const { argv, stdin, env } = this.stage.echo() as ReturnType<Stage["echo"]> & { stdin: { text: string } };
    return { args: argv.slice(1), prompt: stdin.text, env };
  }
}

/** The kinds of events that a session tells, one after the other, the same kind in a row once. */
export function kinds(session: CursorRuntimeSession): string[] {
  const seen: string[] = [];
  session.subscribe((event: CursorRuntimeEvent) => {
    const kind = event.type === "message_update" ? event.assistantMessageEvent.type : event.type;
    if (seen.at(-1) !== kind) seen.push(kind);
  });
  return seen;
}
