/**
 * A turn on a terminal: the transcript grows, and below it stands a block of rows, one per open tool call, that
 * is redrawn in place. Pure: it is told of events, time and size, and answers with operations.
 *
 * The block is erased before anything is added above it, and drawn again after. While it stands, the cursor is
 * at the end of its last row; without it, the cursor is where the transcript goes on.
 */

import type { CursorPromptResult, CursorStreamEvent } from "fusion-cursor-native";
import { formatDuration } from "./format.ts";
import { FRAME_MS, type Operation, type Renderer, type Size, type Span } from "./operations.ts";
import { advanceColumn, displayWidth, truncate } from "./text.ts";
import { toolRowSpans } from "./tool-row.ts";
import { Transcript } from "./transcript.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

interface DrawnBlock {
  /** Columns of each row, in case the terminal wraps them anew. */
  readonly widths: readonly number[];
  /** Rows between the end of the transcript and the block. */
  readonly gap: number;
}

export class LiveRenderer implements Renderer<CursorStreamEvent, CursorPromptResult> {
  private readonly transcript: Transcript;
  private readonly startedAt: number;
  private size: Size;
  private block: DrawnBlock | undefined;
  private column = 0;
  /** The transcript's last row is full, and the cursor already stands below it. */
  private wrapped = false;
  private cursorVisible = true;
  private waiting = true;

  constructor(cwd: string, size: Size, now: number) {
    this.transcript = new Transcript(cwd);
    this.size = usable(size);
    this.startedAt = now;
  }

  get animated(): boolean {
    return this.waiting || this.transcript.open.length > 0;
  }

  event(event: CursorStreamEvent, now: number): Operation[] {
    const spans = this.transcript.event(event, now, this.size.columns - 1);
    this.waiting &&= spans.length === 0 && this.transcript.open.length === 0;
    const operations = spans.length > 0 || !this.animated ? this.erase() : [];
    return [...operations, ...this.print(spans), ...this.draw(now), ...this.showCursorWhenStill()];
  }

  tick(now: number): Operation[] {
    return this.animated ? this.draw(now) : [];
  }

  finish(result: CursorPromptResult | undefined, now: number): Operation[] {
    this.waiting = false;
    const operations = this.erase();
    operations.push(...this.print(this.transcript.finish(result, now, this.size.columns - 1)));
    return [...operations, ...this.showCursorWhenStill()];
  }

  resize(size: Size, now: number): Operation[] {
    this.size = usable(size);
    if (this.block === undefined) {
      this.column = this.column === 0 ? 0 : ((this.column - 1) % this.size.columns) + 1;
      return [];
    }
    // The transcript goes on below its last row, since that one may have been wrapped anew.
    const midRow = this.column > 0;
    const operations: Operation[] = [
      { do: "move", rows: this.blockRows(this.block) - 1 + this.block.gap - (midRow ? 1 : 0), column: 0 },
      { do: "erase-below" },
    ];
    this.block = undefined;
    this.column = 0;
    this.wrapped ||= midRow;
    return [...operations, ...this.draw(now)];
  }

  /** Over a block that stands, row by row, so that nothing flickers. */
  private draw(now: number): Operation[] {
    if (!this.animated) {
      return [];
    }
    const gap = this.block?.gap ?? this.gapRows();
    const rows = this.rows(now, Math.max(1, this.size.rows - 1 - gap));
    const widths = rows.map((row) => row.reduce((sum, span) => sum + displayWidth(span.text), 0));
    const operations: Operation[] = [];
    if (this.cursorVisible) {
      this.cursorVisible = false;
      operations.push({ do: "cursor", visible: false });
    }
    if (this.block === undefined) {
      operations.push(newline(gap));
    } else {
      operations.push({ do: "move", rows: this.blockRows(this.block) - 1, column: 0 });
    }
    for (const [index, row] of rows.entries()) {
      if (index > 0) {
        operations.push(newline(1));
      }
      operations.push(...row.map(printed), { do: "erase-row" });
    }
    if (this.block !== undefined && this.blockRows(this.block) > rows.length) {
      operations.push({ do: "erase-below" });
    }
    this.block = { widths, gap };
    return operations;
  }

  /** One row per open call, at most `most`; one row of the screen stays with the transcript. */
  private rows(now: number, most: number): Span[][] {
    const frame = FRAMES[Math.floor(now / FRAME_MS) % FRAMES.length] ?? "";
    // Room for the ^C that a terminal echoes: a row that wraps could not be erased as one.
    const columns = this.size.columns - 3;
    if (this.waiting) {
      const duration = formatDuration(now - this.startedAt);
      const kind = "waiting for the agent";
      return [toolRowSpans({ state: "running", kind, summary: "", detail: "", duration, frame }, columns)];
    }
    const open = this.transcript.open;
    const shown = open.length > most ? open.slice(0, most - 1) : open;
    const rows = shown.map(({ kind, summary, startedAt }) =>
      toolRowSpans(
        { state: "running", kind, summary, detail: "", duration: formatDuration(now - startedAt), frame },
        columns,
      ),
    );
    if (shown.length < open.length) {
      const hidden = open.length - shown.length;
      const text = shown.length > 0 ? `… and ${hidden} more running` : `${hidden} tools running`;
      rows.push([{ text: truncate(text, columns), style: "dim" }]);
    }
    return rows;
  }

  private erase(): Operation[] {
    if (this.block === undefined) {
      return [];
    }
    const up = this.blockRows(this.block) - 1 + this.block.gap;
    const full = this.column >= this.size.columns;
    this.block = undefined;
    if (full) {
      // A full row cannot be gone back to: the cursor would stand on its last character, not after it.
      this.column = 0;
      this.wrapped = true;
      return [{ do: "move", rows: up - 1, column: 0 }, { do: "erase-below" }];
    }
    return [{ do: "move", rows: up, column: this.column }, { do: "erase-below" }];
  }

  private print(spans: readonly Span[]): Operation[] {
    const operations: Operation[] = [];
    for (const span of spans) {
      // The break that the full row has already had.
      const text = this.wrapped && span.text.startsWith("\n") ? span.text.slice(1) : span.text;
      this.wrapped = false;
      this.column = advanceColumn(this.column, text, this.size.columns);
      operations.push({ do: "print", text, style: span.style });
    }
    return operations;
  }

  private gapRows(): number {
    const gap = this.transcript.gapBeforeTools.length - (this.wrapped ? 1 : 0);
    return Math.max(0, Math.min(gap, Math.max(this.column > 0 ? 1 : 0, this.size.rows - 2)));
  }

  private blockRows({ widths }: DrawnBlock): number {
    return widths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / this.size.columns)), 0);
  }

  private showCursorWhenStill(): Operation[] {
    if (this.animated || this.cursorVisible) {
      return [];
    }
    this.cursorVisible = true;
    return [{ do: "cursor", visible: true }];
  }
}

function printed({ text, style }: Span): Operation {
  return { do: "print", text, style };
}

function newline(count: number): Operation {
  return { do: "print", text: "\n".repeat(count), style: "plain" };
}

/** A terminal that does not tell its size, or tells an absurd one. */
function usable({ columns, rows }: Size): Size {
  return { columns: columns >= 8 ? columns : 80, rows: rows >= 2 ? rows : 24 };
}
