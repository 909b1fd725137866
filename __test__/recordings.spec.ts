/**
 * Turns that replay recordings of real runs, where a folder of them is named by FUSION_CURSOR_STREAMS. What
 * must come out is read from each file by other means: line by line, with `JSON.parse`.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CursorError, CursorPromptResult, CursorStreamEvent } from "fusion-cursor-native";
import { describe, expect, test } from "vitest";
import { Stage } from "./support/stage.js";

const folder = process.env.FUSION_CURSOR_STREAMS;
const files = folder === undefined ? [] : readdirSync(folder).filter((name) => name.endsWith(".jsonl"));

interface Line {
  type: string;
  subtype?: string;
  session_id?: string;
  text?: string;
  timestamp_ms?: number;
  model_call_id?: string;
  message: { content: { text: string }[] };
  tool_call: Record<string, { args?: { name?: string }; result?: Record<string, unknown> }>;
  result: string;
  usage?: unknown;
  request_id?: string;
  model?: string;
}

/** The lines that are JSON. */
function read(file: string): Line[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
}

function expectedText(lines: Line[]): string {
  const said = lines.filter(({ type }) => type === "assistant");
  const deltas = said.filter((line) => line.timestamp_ms !== undefined && line.model_call_id === undefined);
  const counted = deltas.length > 0 ? deltas : said;
  const text = counted.map(({ message }) => message.content.map((item) => item.text).join("")).join("");
  return text === "" ? (lines.find(({ type }) => type === "result")?.result ?? "") : text;
}

function kinds(lines: Line[], subtype: string): string[] {
  const calls = lines.filter((line) => line.type === "tool_call" && line.subtype === subtype);
  return calls.map(({ tool_call }) => {
    const key = Object.keys(tool_call).find((name) => name.endsWith("ToolCall"));
    return key?.replace(/ToolCall$/, "") ?? "";
  });
}

describe.runIf(files.length > 0)("a recorded run", () => {
  test.each(files)("%s gives what a reader of the file expects", async (name) => {
    const file = join(folder as string, name);
    const lines = read(file);
    const finished = lines.find(({ type }) => type === "result");
    // How those without a result ended is known from the notes beside them.
    const exit = name.includes("sigint") ? 130 : finished === undefined ? 1 : 0;
    const stage = new Stage([{ file }, { exit }]);
    const events: CursorStreamEvent[] = [];
    const outcome = await stage
      .launch({ onEvent: (event) => void events.push(event) })
      .catch((error: CursorError) => error);

    let what: CursorPromptResult;
    if (finished !== undefined) {
      what = outcome as CursorPromptResult;
    } else {
      const code = name.includes("usage-limit") ? "CURSOR_USAGE_LIMIT" : "CURSOR_EXITED";
      expect(outcome).toMatchObject({ code, exitCode: exit });
      what = (outcome as CursorError).partial as CursorPromptResult;
    }
    const session = lines.find((line) => line.subtype === "init") ?? finished;
    expect(what.text).toBe(expectedText(lines));
    expect(what.sessionId).toBe(session?.session_id);
    expect(what.usage).toEqual(finished?.usage);
    expect(what.requestId).toBe(finished?.request_id);
    expect(what.model).toBe(lines.find((line) => line.subtype === "init")?.model);
    const [started, completed] = [kinds(lines, "started"), kinds(lines, "completed")];
    expect(what.toolCalls).toMatchObject({ started: started.length, completed: completed.length });
    const seen = (type: string): string[] =>
      events.flatMap((event) => (event.type === type && "kind" in event ? [event.kind] : []));
    expect(seen("tool-call-started")).toEqual(started);
    expect(seen("tool-call-completed")).toEqual(completed);
    // An MCP call has the server's own name at its start and, though the record lacks it, at its end.
    const mcp = lines.find(({ tool_call }) => tool_call?.mcpToolCall?.args?.name !== undefined);
    if (mcp !== undefined) {
      const names = events.flatMap((event) => ("kind" in event && event.kind === "mcp" ? [event.name] : []));
      expect(names).toEqual(names.map(() => mcp.tool_call.mcpToolCall?.args?.name));
    }
    expect(events.filter(({ type }) => type === "unknown")).toHaveLength(name.includes("merged") ? 1 : 0);
  });
});

test.skipIf(folder !== undefined)(
  "recordings are replayed where FUSION_CURSOR_STREAMS names their folder",
  () => {
    expect(files).toEqual([]);
  },
);
