/** Numbers as a person reads them. */

import type { CursorPromptResult } from "fusion-cursor-native";

/** `0.4s`, `12.3s`, `2m 05s`, `1h 02m`. */
export function formatDuration(milliseconds: number): string {
  const tenths = Math.round(Math.max(0, milliseconds) / 100);
  if (tenths < 600) {
    return `${(tenths / 10).toFixed(1)}s`;
  }
  const seconds = Math.round(tenths / 10);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) {
    return `${minutes}m ${two(seconds % 60)}s`;
  }
  return `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

/** `102`, `18.4k`, `1.2M`. */
export function formatCount(count: number): string {
  if (count < 1000) {
    return String(count);
  }
  // 999 950 would round to "1000.0k".
  return count < 999_950 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

/** The last line of a turn. */
export function summarizeTurn(result: CursorPromptResult): string {
  const parts = [
    result.sessionId === undefined ? undefined : `session ${result.sessionId}`,
    summarizeUsage(result.usage),
    summarizeTools(result.toolCalls),
    result.dropped.lines > 0 ? `${counted(result.dropped.lines, "line")} dropped` : undefined,
    formatDuration(result.durationMs),
  ];
  return parts.filter((part) => part !== undefined).join(" · ");
}

function summarizeUsage(usage: unknown): string | undefined {
  if (typeof usage !== "object" || usage === null) {
    return undefined;
  }
  const { inputTokens, outputTokens } = usage as { inputTokens?: unknown; outputTokens?: unknown };
  const parts = [
    typeof inputTokens === "number" ? `${formatCount(inputTokens)} in` : undefined,
    typeof outputTokens === "number" ? `${formatCount(outputTokens)} out` : undefined,
  ].filter((part) => part !== undefined);
  return parts.length > 0 ? parts.join(" / ") : undefined;
}

function summarizeTools(calls: CursorPromptResult["toolCalls"]): string | undefined {
  // A call may end whose start was never seen.
  const total = Math.max(calls.started, calls.completed);
  if (total === 0) {
    return undefined;
  }
  const troubles = [
    calls.failed > 0 ? `${calls.failed} failed` : undefined,
    calls.rejected > 0 ? `${calls.rejected} rejected` : undefined,
    calls.abandoned > 0 ? `${calls.abandoned} unfinished` : undefined,
  ].filter((part) => part !== undefined);
  return counted(total, "tool") + (troubles.length > 0 ? ` (${troubles.join(", ")})` : "");
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
