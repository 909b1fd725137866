/** A turn of a session as a stream of its events. */

import type { CursorPromptResult, CursorSessionStream, CursorStreamEvent } from "../index.js";
import { onAbort } from "./aborts.js";
import { type Callbacks, deliver } from "./dispatch.js";
import type { Turn } from "./turn.js";

type Next = IteratorResult<CursorStreamEvent, undefined>;

/** Somebody who asked for the next event. */
interface Pull {
  resolve(next: Next): void;
  reject(error: unknown): void;
}

/** An event that nobody has asked for yet. Until it is let go, the turn reads no further. */
interface Held {
  readonly event: CursorStreamEvent;
  letGo(): void;
}

export type Begin = (callbacks: Callbacks, signal: AbortSignal) => Turn;

const DONE: Next = { value: undefined, done: true };

export class SessionStream implements CursorSessionStream {
  readonly #abort = new AbortController();
  readonly #calledOff: () => boolean;
  readonly #turn: Turn;
  readonly #pulls: Pull[] = [];
  #held: Held | undefined;
  #begun = false;
  /** `result` was read. */
  #asked = false;
  /** Nobody is given any event any more. */
  #passing = false;
  /** The `result` event was given out, so that there is nothing left to stop. */
  #complete = false;
  #over = false;
  /** The turn's error, until the iteration has thrown it. */
  #error: { error: unknown } | undefined;

  constructor(
    begin: Begin,
    callbacks: Callbacks,
    signal: AbortSignal | undefined,
    /** The session is disposed, and so the turn is called off, which this side may hear of later. */
    disposed: () => boolean,
  ) {
    this.#calledOff = () => this.#abort.signal.aborted || disposed();
    const abort = (): void => this.#abort.abort(signal?.reason);
    if (signal?.aborted) abort();
    const forget = signal === undefined ? () => {} : onAbort(signal, abort);
    const onEvent = (event: CursorStreamEvent): void | Promise<void> => {
      // Those of the session come first, and may hold it too.
      const seen = deliver(event, callbacks, this.#calledOff);
      return seen === undefined ? this.#offer(event) : seen.then(() => this.#offer(event));
    };
    this.#turn = begin({ onEvent }, this.#abort.signal);
    const end = (failed?: { error: unknown }): void => {
      forget();
      this.#end(failed);
    };
    this.#turn.result.then(
      () => end(),
      (error: unknown) => end({ error }),
    );
  }

  get result(): Promise<CursorPromptResult> {
    this.#asked = true;
    // Who reads it and iterates at once, begins in the same turn of the event loop.
    if (this.#held !== undefined && !this.#begun) setImmediate(() => this.#begun || this.#pass());
    return this.#turn.result;
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<CursorStreamEvent> {
    if (this.#begun) throw new TypeError("this stream is iterated already; one turn can be iterated once");
    if (this.#passing) {
      throw new TypeError(
        "the events of this stream have gone by, as its result was read before it was iterated; begin with the iteration",
      );
    }
    this.#begun = true;
    const iterator: AsyncIterableIterator<CursorStreamEvent, undefined> = {
      next: () => this.#next(),
      return: () => this.#leave(),
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  #offer(event: CursorStreamEvent): void | Promise<void> {
    if (this.#calledOff() || this.#over) return;
    if (this.#asked && !this.#begun) this.#passing = true;
    if (this.#passing) return;
    const pull = this.#pulls.shift();
    if (pull !== undefined) return this.#give(event, pull.resolve);
    return new Promise((resolve) => {
      this.#held = { event, letGo: resolve };
    });
  }

  #give(event: CursorStreamEvent, to: (next: Next) => void): void {
    if (event.type === "result") this.#complete = true;
    to({ value: event, done: false });
  }

  #next(): Promise<Next> {
    return new Promise((resolve, reject) => {
      const held = this.#held;
      // After an abort it is the error that comes next, and the end of the turn lets go of what is held.
      if (held !== undefined && !this.#calledOff()) {
        this.#held = undefined;
        this.#give(held.event, resolve);
        held.letGo();
        return;
      }
      this.#pulls.push({ resolve, reject });
      if (this.#over || this.#passing) this.#answerAll();
    });
  }

  /** The loop was left. */
  async #leave(): Promise<Next> {
    if (!this.#complete && !this.#over) {
      this.#abort.abort(new DOMException("the iteration of the stream was left", "AbortError"));
    }
    this.#error = undefined;
    this.#pass();
    await this.#turn.gone;
    return DONE;
  }

  /** Let what is held go, and all that comes. */
  #pass(): void {
    this.#passing = true;
    this.#held?.letGo();
    this.#held = undefined;
    this.#answerAll();
  }

  #end(failed: { error: unknown } | undefined): void {
    this.#over = true;
    if (!this.#passing) this.#error = failed;
    // After an abort nothing is handed over any more; before any other error, what was read is.
    if (errorCode(failed?.error) === "CURSOR_ABORTED") {
      this.#held?.letGo();
      this.#held = undefined;
    }
    this.#answerAll();
  }

  #answerAll(): void {
    for (const { resolve, reject } of this.#pulls.splice(0)) {
      const failed = this.#error;
      this.#error = undefined;
      if (failed === undefined) resolve(DONE);
      else reject(failed.error);
    }
  }
}

function errorCode(error: unknown): unknown {
  return (Object(error) as { code?: unknown }).code;
}
