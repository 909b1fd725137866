/** One tool call on one row. Pure. */

import type { Span, Style } from "./operations.ts";
import { displayWidth, singleLine, truncate } from "./text.ts";

/** What a row shows. Absent parts are empty. */
export interface ToolRow {
  readonly state: "running" | "done" | "failed" | "unfinished";
  readonly kind: string;
  readonly summary: string;
  /** Why it failed. */
  readonly detail: string;
  readonly duration: string;
  /** The picture of the spinner, for `running`. */
  readonly frame?: string;
}

const MARKS: Record<Exclude<ToolRow["state"], "running">, readonly [mark: string, style: Style]> = {
  done: ["✓", "green"],
  failed: ["✗", "red"],
  unfinished: ["–", "dim"],
};

/** Columns of the command or path that a row keeps before the reason of a failure is cut. */
const SUMMARY_MINIMUM = 16;
/** Columns that a reason gets all the same: enough for an exit code. */
const DETAIL_MINIMUM = 10;

/**
 * `✓ shell  npm test  1.2s`, in at most `columns` columns. What gives way, in this order: the summary down to a
 * few words, the reason, the rest.
 */
export function toolRowSpans(row: ToolRow, columns = Number.POSITIVE_INFINITY): Span[] {
  const [mark, style]: readonly [string, Style] =
    row.state === "running" ? [row.frame ?? "·", "cyan"] : MARKS[row.state];
  const kind = truncate(singleLine(row.kind), 24);
  const fixed = displayWidth(mark) + 1 + displayWidth(kind) + spaced(row.duration);
  const forDetail = columns - fixed - Math.min(spaced(row.summary), SUMMARY_MINIMUM + 2) - 2;
  const detail = row.detail === "" ? "" : truncate(row.detail, Math.max(DETAIL_MINIMUM, forDetail));
  const summary = truncate(row.summary, Math.max(0, columns - fixed - spaced(detail) - 2));
  const spans: Span[] = [
    { text: mark, style },
    { text: ` ${kind}`, style: "bold" },
    ...part(summary, "plain"),
    ...part(detail, row.state === "failed" ? "red" : "dim"),
    ...part(row.duration, "dim"),
  ];
  return cut(spans, columns);
}

function spaced(text: string): number {
  return text === "" ? 0 : displayWidth(text) + 2;
}

function part(text: string, style: Style): Span[] {
  return text === "" ? [] : [{ text: `  ${text}`, style }];
}

/** For a terminal so narrow that not even the fixed parts fit. */
function cut(spans: Span[], columns: number): Span[] {
  let left = columns;
  const kept: Span[] = [];
  for (const span of spans) {
    const text = truncate(span.text, left);
    if (text === "") {
      break;
    }
    kept.push({ text, style: span.style });
    left -= displayWidth(text);
  }
  return kept;
}
