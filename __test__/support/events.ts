/** Short ways to write the events of a turn. */

import type {
  AssistantTextEvent,
  CursorPromptResult,
  ThinkingCompletedEvent,
  ThinkingDeltaEvent,
  ToolCallCompletedEvent,
  ToolCallStartedEvent,
  ToolOutcome,
} from "fusion-cursor-native";

export const SESSION_ID = "11111111-2222-4333-8444-555555555555";

export const text = (value: string): AssistantTextEvent => ({ type: "assistant-text", text: value });
export const thinking = (value: string): ThinkingDeltaEvent => ({ type: "thinking-delta", text: value });
export const thought: ThinkingCompletedEvent = { type: "thinking-completed" };

export function started(
  callId: string,
  kind: string,
  args: Record<string, unknown> = {},
): ToolCallStartedEvent {
  return { type: "tool-call-started", callId, kind, name: kind, args };
}

export function ended(
  callId: string,
  kind: string,
  outcome: ToolOutcome = "success",
  payload: Record<string, unknown> = {},
): ToolCallCompletedEvent {
  const isError = outcome !== "success";
  return {
    type: "tool-call-completed",
    callId,
    kind,
    name: kind,
    outcome,
    isError,
    result: { [outcome]: payload },
  };
}

export function turnResult(changes: Partial<CursorPromptResult> = {}): CursorPromptResult {
  return {
    sessionId: SESSION_ID,
    text: "Done.",
    usage: { inputTokens: 18_432, outputTokens: 102 },
    durationMs: 12_345,
    toolCalls: { started: 5, completed: 5, failed: 1, rejected: 1, abandoned: 0 },
    dropped: { lines: 0, bytes: 0 },
    exitCode: 0,
    signal: null,
    leftovers: [],
    ...changes,
  };
}
