/** Reads the batches that `src/stream/batch.rs` packs. */

import type { CursorStreamEvent, ToolOutcome, UnknownEvent } from "../index.js";
import type { EventBatch } from "../native.js";
import { Interaction, type Payload, Result, ToolCompleted, ToolStarted } from "./events.js";

/** The kinds, in the order of their numbers in the table. */
export const KINDS = [
  "system-init",
  "user",
  "thinking-delta",
  "thinking-completed",
  "assistant-text",
  "tool-call-started",
  "tool-call-completed",
  "interaction-query",
  "connection",
  "retry",
  "result",
  "unknown",
] as const;

const ABSENT = 0xffff_ffff;
const WIDE = 0x8000_0000;
const OUTCOMES: readonly ToolOutcome[] = [
  "success",
  "failure",
  "rejected",
  "permissionDenied",
  "error",
  "unknown",
];
const REASONS: readonly UnknownEvent["reason"][] = ["blank", "not-json", "too-long", "new-type"];

/** One batch, event by event, in order. */
export class BatchReader {
  readonly #batch: EventBatch;
  readonly #narrow: string;
  readonly #wide: string;
  readonly #table: Uint32Array;
  #at = 0;

  constructor(batch: EventBatch) {
    this.#batch = batch;
    this.#narrow = batch.narrow();
    this.#wide = batch.wide();
    this.#table = batch.table();
  }

  /** The next event, or `undefined` behind the last. */
  next(): CursorStreamEvent | undefined {
    if (this.#at >= this.#table.length) return undefined;
    return this.#read(KINDS[this.#number()]) as CursorStreamEvent;
  }

  #read(kind: (typeof KINDS)[number] | undefined): unknown {
    switch (kind) {
      case "assistant-text":
      case "thinking-delta":
      case "user":
        return { type: kind, text: this.#text() };
      case "thinking-completed":
        return { type: kind };
      case "tool-call-started": {
        const call = this.#call();
        return new ToolStarted(call.callId, call.name, call.kind, call.args);
      }
      case "tool-call-completed": {
        const call = this.#call();
        const result = this.#payload();
        const outcome = OUTCOMES[this.#number()] ?? "unknown";
        return new ToolCompleted(call, { result, outcome, isError: this.#number() === 1 });
      }
      case "system-init":
        return {
          type: kind,
          sessionId: this.#optional(),
          cwd: this.#optional(),
          model: this.#optional(),
          apiKeySource: this.#optional(),
          permissionMode: this.#optional(),
        };
      case "interaction-query":
        return new Interaction(this.#text(), this.#optional(), this.#payload());
      case "connection":
      case "retry":
        return { type: kind, state: this.#text(), attempt: this.#optionalNumber() };
      case "result":
        return this.#result();
      case "unknown":
        return {
          type: kind,
          reason: REASONS[this.#number()] ?? "new-type",
          recordType: this.#optional(),
          recordSubtype: this.#optional(),
          raw: this.#text(),
        };
      default:
        throw new Error("index.js and the native addon do not fit together; install the package anew");
    }
  }

  #result(): Result {
    const [sessionId, subtype, text, requestId] = [
      this.#optional(),
      this.#optional(),
      this.#optional(),
      this.#optional(),
    ];
    const isError = this.#number() === 1;
    const usage = this.#payload();
    const duration = this.#optional();
    const durationMs = duration === undefined ? undefined : Number(duration);
    return new Result({ sessionId, subtype, text, requestId, isError, durationMs }, usage);
  }

  #call(): { callId: string | undefined; name: string; kind: string; args: Payload | undefined } {
    return { callId: this.#optional(), name: this.#text(), kind: this.#text(), args: this.#payload() };
  }

  #number(): number {
    return this.#table[this.#at++] ?? ABSENT;
  }

  #optionalNumber(): number | undefined {
    const number = this.#number();
    return number === ABSENT ? undefined : number;
  }

  #payload(): Payload | undefined {
    const number = this.#number();
    return number === ABSENT ? undefined : { batch: this.#batch, number };
  }

  #text(): string {
    return this.#optional() ?? "";
  }

  #optional(): string | undefined {
    const start = this.#number();
    const length = this.#number();
    if (length === ABSENT) return undefined;
    return length < WIDE
      ? this.#narrow.substring(start, start + length)
      : this.#wide.substring(start, start + length - WIDE);
  }
}
