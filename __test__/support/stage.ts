/** Turns on the stand-in agent: a folder with a scenario in it, and what tests ask of processes. */

import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CursorPromptInput, type CursorPromptResult, launchCursorPrompt } from "fusion-cursor-native";
import { standInAgentPath } from "fusion-cursor-native/testing";
import { onTestFinished } from "vitest";

export { runs } from "./runs.mjs";

export type Step = Record<string, unknown>;

/** How long any single thing may take before a test gives up on it. */
export const PATIENCE = 20_000;

export class Stage {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "fusion-cursor-test-")));

  /** A stage for these steps, or for a whole scenario. It is removed when the test is over. */
  constructor(scenario: Step[] | Record<string, unknown>) {
    const whole = Array.isArray(scenario) ? { turn: scenario } : scenario;
    writeFileSync(this.path("scenario.json"), JSON.stringify(whole));
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** What a turn on this stage is asked to do. */
  input(more: Partial<CursorPromptInput> = {}): CursorPromptInput {
    const { env, ...rest } = more;
    return {
      cwd: this.folder,
      prompt: "hi",
      binary: standInAgentPath(),
      env: { FUSION_CURSOR_SCENARIO: this.path("scenario.json"), ...env },
      ...rest,
    };
  }

  launch(more: Partial<CursorPromptInput> = {}): Promise<CursorPromptResult> {
    return launchCursorPrompt(this.input(more));
  }

  /** The text of a file, once it is there. */
  async touched(name: string): Promise<string> {
    await eventually(`${name} is touched`, () => existsSync(this.path(name)));
    return readFileSync(this.path(name), "utf8");
  }

  /** Lets those go on that wait for this file. */
  release(name: string): void {
    writeFileSync(this.path(name), "");
  }

  /** The number in a file, once it is there. */
  async pid(name: string): Promise<number> {
    return Number(await this.touched(name));
  }

  echo(): Record<string, unknown> & { argv: string[]; env: Record<string, string> } {
    return JSON.parse(readFileSync(this.path("echo.json"), "utf8"));
  }
}

export async function eventually(what: string, so: () => boolean, patience = PATIENCE): Promise<void> {
  const giveUp = performance.now() + patience;
  while (!so()) {
    if (performance.now() > giveUp) throw new Error(`${what}: not within ${patience} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The same with the event loop standing still. */
export function blockUntil(what: string, so: () => boolean): void {
  const giveUp = performance.now() + PATIENCE;
  const never = new Int32Array(new SharedArrayBuffer(4));
  while (!so()) {
    if (performance.now() > giveUp) throw new Error(`${what}: not within ${PATIENCE} ms`);
    Atomics.wait(never, 0, 0, 5);
  }
}

export const init: Step = {
  line: { type: "system", subtype: "init", session_id: "s-1", model: "Auto", cwd: "${cwd}" },
};

export function text(text: string, more: Record<string, unknown> = {}): Step {
  return {
    line: { type: "assistant", message: { role: "assistant", content: [{ type: "text", text }] }, ...more },
  };
}

export function thinking(text: string): Step {
  return { line: { type: "thinking", subtype: "delta", text } };
}

export function result(text: string, more: Record<string, unknown> = {}): Step {
  return {
    line: { type: "result", subtype: "success", is_error: false, result: text, session_id: "s-1", ...more },
  };
}

export function started(id: string, key: string, args?: Record<string, unknown>): Step {
  return {
    line: { type: "tool_call", subtype: "started", call_id: id, tool_call: { [`${key}ToolCall`]: { args } } },
  };
}

export function completed(id: string, key: string, result: unknown, args?: Record<string, unknown>): Step {
  return {
    line: {
      type: "tool_call",
      subtype: "completed",
      call_id: id,
      tool_call: { toolCallId: id, [`${key}ToolCall`]: { args, result } },
    },
  };
}
