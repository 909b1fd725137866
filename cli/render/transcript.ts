/**
 * What stays on the screen: events in, spans of text out. Knows the layout (what is apart from what by how many
 * line breaks) and which tool calls are open; knows nothing of terminals. Pure.
 */

import path from "node:path";
import type { CursorPromptResult, CursorStreamEvent, ToolCallCompletedEvent } from "fusion-cursor-native";
import { describeOutcome, type Roots, summarizeTool } from "../tools.ts";
import { formatDuration, summarizeTurn } from "./format.ts";
import type { Span } from "./operations.ts";
import { printable } from "./text.ts";
import { type ToolRow, toolRowSpans } from "./tool-row.ts";

/** A tool call that has begun and not ended. */
export interface OpenTool {
  readonly callId: string | undefined;
  readonly kind: string;
  readonly name: string;
  readonly summary: string;
  readonly startedAt: number;
}

type Block = "text" | "thinking" | "tool" | "note";

/** One turn, from its first event to its last line. */
export class Transcript {
  private roots: Roots;
  private readonly rowColumns: number | undefined;
  private sawText = false;
  private readonly openTools: OpenTool[] = [];
  private lastBlock: Block | undefined;
  /** Does the last block take more of its own kind without a break? */
  private continues = false;
  /** Line breaks at the end of what was written, two at most. */
  private breaks = 2;

  /** Tool rows are cut to `rowColumns` columns. */
  constructor(cwd: string, rowColumns?: number) {
    this.roots = [cwd];
    this.rowColumns = rowColumns;
  }

  /** The open calls, oldest first. */
  get open(): readonly OpenTool[] {
    return this.openTools;
  }

  /** The line breaks that belong before a row of tools, were one written now. */
  get gapBeforeTools(): string {
    return this.gap("tool");
  }

  /** What an event adds. `columns` replaces the width given at the start. */
  event(event: CursorStreamEvent, now: number, columns = this.rowColumns): Span[] {
    switch (event.type) {
      case "system-init":
        // The CLI resolves symbolic links; its tools name files both ways.
        if (event.cwd !== undefined && path.isAbsolute(event.cwd)) {
          this.roots = [...this.roots, event.cwd];
        }
        return [];
      case "assistant-text":
        this.sawText ||= event.text !== "";
        return this.flow("text", event.text);
      case "thinking-delta":
        return this.flow("thinking", event.text);
      case "thinking-completed":
        this.continues = false;
        return [];
      case "tool-call-started":
        this.continues = false;
        this.openTools.push({
          callId: event.callId,
          kind: event.kind,
          name: event.name,
          summary: summarizeTool({ kind: event.kind, name: event.name, args: event.args }, this.roots),
          startedAt: now,
        });
        return [];
      case "tool-call-completed":
        return this.completed(event, now, columns);
      case "connection":
        return this.note(event.state, event.attempt);
      case "retry":
        return this.note(`retry ${event.state}`, event.attempt);
      default:
        return [];
    }
  }

  /** What the end of the turn adds: calls that never ended, and the last line. */
  finish(result: CursorPromptResult | undefined, now: number, columns = this.rowColumns): Span[] {
    const spans = this.openTools.splice(0).flatMap((tool) =>
      this.row(
        {
          state: "unfinished",
          kind: tool.kind,
          summary: tool.summary,
          detail: "not finished",
          duration: formatDuration(now - tool.startedAt),
        },
        columns,
      ),
    );
    if (result !== undefined) {
      if (!this.sawText) {
        spans.push(...this.flow("text", result.text));
      }
      spans.push(...this.line("note", [{ text: printable(summarizeTurn(result)), style: "dim" }]));
    } else if (this.breaks === 0) {
      spans.push(this.written("\n"));
    }
    return spans;
  }

  private completed(event: ToolCallCompletedEvent, now: number, columns: number | undefined): Span[] {
    this.continues = false;
    const started = this.takeOpen(event);
    const { kind, name } = event;
    const summary =
      started === undefined || started.summary === ""
        ? summarizeTool({ kind, name, args: event.args }, this.roots)
        : started.summary;
    const spans = this.row(
      {
        state: event.isError ? "failed" : "done",
        kind,
        summary,
        detail: event.isError ? describeOutcome(event.outcome, event.result) || "failed" : "",
        duration: started === undefined ? "" : formatDuration(now - started.startedAt),
      },
      columns,
    );
    // In plan mode the answer is here and nowhere else.
    const plan = kind === "createPlan" && !event.isError ? event.args?.plan : undefined;
    if (typeof plan === "string") {
      spans.push(...this.flow("text", plan));
      this.continues = false;
    }
    return spans;
  }

  /** Records without a call id pair with the oldest open call of the same name. */
  private takeOpen({ callId, kind, name }: ToolCallCompletedEvent): OpenTool | undefined {
    const index = this.openTools.findIndex((tool) =>
      callId === undefined
        ? tool.callId === undefined && tool.kind === kind && (tool.name === name || name === kind)
        : tool.callId === callId,
    );
    return index < 0 ? undefined : this.openTools.splice(index, 1)[0];
  }

  private row(row: ToolRow, columns: number | undefined): Span[] {
    return this.line("tool", toolRowSpans(row, columns));
  }

  private note(text: string, attempt: number | undefined): Span[] {
    const suffix = attempt === undefined ? "" : ` (attempt ${attempt})`;
    return this.line("note", [{ text: printable(text + suffix), style: "dim" }]);
  }

  private flow(block: "text" | "thinking", raw: string): Span[] {
    let text = printable(raw);
    const gap = this.gap(block);
    if (!this.isContinuing(block)) {
      text = text.trimStart();
    }
    if (text === "") {
      return [];
    }
    const spans = gap === "" ? [] : [this.written(gap)];
    spans.push(this.written(text, block === "thinking" ? "dim" : "plain"));
    this.lastBlock = block;
    this.continues = true;
    return spans;
  }

  private line(block: "tool" | "note", content: Span[]): Span[] {
    const gap = this.gap(block);
    const spans = gap === "" ? content : [this.written(gap), ...content];
    spans.push({ text: "\n", style: "plain" });
    this.breaks = 1;
    this.lastBlock = block;
    this.continues = false;
    return spans;
  }

  private isContinuing(block: Block): boolean {
    return this.continues && this.lastBlock === block;
  }

  /** Rows of one kind stand together; everything else is apart by an empty line. */
  private gap(block: Block): string {
    if (this.lastBlock === undefined || this.isContinuing(block)) {
      return "";
    }
    const rows = (block === "tool" || block === "note") && this.lastBlock === block;
    return "\n".repeat(Math.max(0, (rows ? 1 : 2) - this.breaks));
  }

  private written(text: string, style: Span["style"] = "plain"): Span {
    const tail = /\n*$/.exec(text)?.[0].length ?? 0;
    this.breaks = Math.min(2, tail === text.length ? this.breaks + tail : tail);
    return { text, style };
  }
}
