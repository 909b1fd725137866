/** The stream for those who own the bytes: without a turn, without a process, and without a thread. */

import type { CursorStreamEvent, CursorStreamParserOptions } from "../index.js";
import type { EventBatch, StreamReader } from "../native.js";
import { BatchReader } from "./batch.js";
import { native } from "./scope.js";
import * as check from "./validate.js";

/** Read at once, so that the strings of a batch stay far below the longest that there can be. */
const SLICE = 16 * 1024 * 1024;

export function parseCursorStreamLine(line: string | Uint8Array): CursorStreamEvent {
  const batch =
    typeof line === "string"
      ? native.parseLineText(spelled(line))
      : native.parseLineBytes(own(check.bytes("line", line, "a string or a Uint8Array")));
  return new BatchReader(batch).next() as CursorStreamEvent;
}

export class CursorStreamParser {
  readonly #options: [maxLineBytes: number | undefined, partialOutput: boolean];
  /** What the streams before this one could not use. */
  #before = { lines: 0, bytes: 0 };
  #reader: StreamReader;

  constructor(options?: CursorStreamParserOptions) {
    const given = check.optional(options, (value) => check.object("the options", value)) ?? {};
    this.#options = [
      check.optional(given.maxLineBytes, (value) => check.lineLimit("maxLineBytes", value)),
      check.optional(given.partialOutput, (value) => check.flag("partialOutput", value)) ?? false,
    ];
    this.#reader = new native.StreamReader(...this.#options);
  }

  push(chunk: Uint8Array): CursorStreamEvent[] {
    const bytes = check.bytes("chunk", chunk);
    const events: CursorStreamEvent[] = [];
    for (let at = 0; at < bytes.length; at += SLICE) {
      read(this.#reader.push(own(bytes.subarray(at, at + SLICE))), events);
    }
    return events;
  }

  finish(): CursorStreamEvent[] {
    const events: CursorStreamEvent[] = [];
    read(this.#reader.finish(), events);
    this.#before = this.dropped;
    this.#reader = new native.StreamReader(...this.#options);
    return events;
  }

  get dropped(): { lines: number; bytes: number } {
    const { lines, bytes } = this.#reader.dropped();
    return { lines: this.#before.lines + lines, bytes: this.#before.bytes + bytes };
  }
}

function read(batch: EventBatch | null, events: CursorStreamEvent[]): void {
  if (batch === null) return;
  const reader = new BatchReader(batch);
  for (let event = reader.next(); event !== undefined; event = reader.next()) events.push(event);
}

/** Bytes that no other thread can change while they are read. */
function own(bytes: Uint8Array): Uint8Array {
  return bytes.buffer instanceof SharedArrayBuffer ? new Uint8Array(bytes) : bytes;
}

/**
 * A lone surrogate cannot cross as UTF-8. In JSON it means the same as its escape, and in a text that is no
 * JSON the escape shows what was there.
 */
function spelled(line: string): string {
  if (line.isWellFormed()) return line;
  return line.replace(/\p{Surrogate}/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}
