/**
 * The events as JavaScript sees them. Their JSON payloads are made when they are first read: most consumers
 * read few, and V8's own `JSON.parse` over the slice is the fastest way to make one.
 */

import { inspect } from "node:util";
import type { ToolOutcome } from "../index.js";
import type { EventBatch } from "../native.js";

/** A payload that nobody has read yet: where its text lies. */
export interface Payload {
  batch: EventBatch;
  number: number;
}

/** The value of JSON text; what is no JSON in spite of its place is given as its text. */
export function parseOrText(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

/** A getter that parses once and forgets the text. */
class Lazy {
  #payload: Payload | undefined;
  #value: unknown;

  constructor(payload: Payload | undefined) {
    this.#payload = payload;
  }

  get(): unknown {
    if (this.#payload !== undefined) {
      const { batch, number } = this.#payload;
      this.#value = parseOrText(batch.payload(number));
      this.#payload = undefined;
    }
    return this.#value;
  }
}

const NOTHING = new Lazy(undefined);

function lazy(payload: Payload | undefined): Lazy {
  return payload === undefined ? NOTHING : new Lazy(payload);
}

/**
 * An event with payloads. They are accessors of the class, so that making an event costs nothing for them;
 * `toJSON` and `inspect` show them like plain properties.
 */
abstract class LazyEvent {
  abstract toJSON(): Record<string, unknown>;

  [inspect.custom](_depth: number, options: object): string {
    return inspect(this.toJSON(), options);
  }
}

export class ToolStarted extends LazyEvent {
  readonly type = "tool-call-started" as const;
  readonly callId: string | undefined;
  readonly name: string;
  readonly kind: string;
  readonly #args: Lazy;

  constructor(callId: string | undefined, name: string, kind: string, args: Payload | undefined) {
    super();
    this.callId = callId;
    this.name = name;
    this.kind = kind;
    this.#args = lazy(args);
  }

  get args(): Record<string, unknown> | undefined {
    return this.#args.get() as Record<string, unknown> | undefined;
  }

  override toJSON(): Record<string, unknown> {
    const { type, callId, name, kind, args } = this;
    return { type, callId, name, kind, args };
  }
}

export class ToolCompleted extends LazyEvent {
  readonly type = "tool-call-completed" as const;
  readonly callId: string | undefined;
  readonly name: string;
  readonly kind: string;
  readonly outcome: ToolOutcome;
  readonly isError: boolean;
  readonly #args: Lazy;
  readonly #result: Lazy;

  constructor(
    call: { callId: string | undefined; name: string; kind: string; args: Payload | undefined },
    end: { result: Payload | undefined; outcome: ToolOutcome; isError: boolean },
  ) {
    super();
    this.callId = call.callId;
    this.name = call.name;
    this.kind = call.kind;
    this.outcome = end.outcome;
    this.isError = end.isError;
    this.#args = lazy(call.args);
    this.#result = lazy(end.result);
  }

  get args(): Record<string, unknown> | undefined {
    return this.#args.get() as Record<string, unknown> | undefined;
  }

  get result(): unknown {
    return this.#result.get();
  }

  override toJSON(): Record<string, unknown> {
    const { type, callId, name, kind, outcome, isError, args, result } = this;
    return { type, callId, name, kind, outcome, isError, args, result };
  }
}

export class Interaction extends LazyEvent {
  readonly type = "interaction-query" as const;
  readonly phase: string;
  readonly queryType: string | undefined;
  readonly #payload: Lazy;

  constructor(phase: string, queryType: string | undefined, payload: Payload | undefined) {
    super();
    this.phase = phase;
    this.queryType = queryType;
    this.#payload = lazy(payload);
  }

  get payload(): unknown {
    return this.#payload.get();
  }

  override toJSON(): Record<string, unknown> {
    const { type, phase, queryType, payload } = this;
    return { type, phase, queryType, payload };
  }
}

export interface ResultFields {
  sessionId: string | undefined;
  subtype: string | undefined;
  text: string | undefined;
  requestId: string | undefined;
  isError: boolean;
  durationMs: number | undefined;
}

export class Result extends LazyEvent {
  readonly type = "result" as const;
  declare readonly sessionId: string | undefined;
  declare readonly subtype: string | undefined;
  declare readonly text: string | undefined;
  declare readonly requestId: string | undefined;
  declare readonly isError: boolean;
  declare readonly durationMs: number | undefined;
  readonly #usage: Lazy;

  constructor(fields: ResultFields, usage: Payload | undefined) {
    super();
    Object.assign(this, fields);
    this.#usage = lazy(usage);
  }

  get usage(): unknown {
    return this.#usage.get();
  }

  override toJSON(): Record<string, unknown> {
    const { type, sessionId, subtype, text, isError, usage, requestId, durationMs } = this;
    return { type, sessionId, subtype, text, isError, usage, requestId, durationMs };
  }
}
