/** From batches to callbacks: in order, one at a time, and held up by one that returns a promise. */

import type { CursorPromptInput, CursorStreamEvent, ToolCallInfo } from "../index.js";
import type { EventBatch } from "../native.js";
import { BatchReader } from "./batch.js";
import { breath, isBreathDue } from "./breath.js";

/** The callbacks of a turn. */
export type Callbacks = Pick<
  CursorPromptInput,
  "onText" | "onThinking" | "onToolStart" | "onToolEnd" | "onEvent"
>;

/** Whether anybody looks at events at all. */
export function wantsEvents(callbacks: Callbacks): boolean {
  const { onText, onThinking, onToolStart, onToolEnd, onEvent } = callbacks;
  return [onText, onThinking, onToolStart, onToolEnd, onEvent].some((callback) => callback !== undefined);
}

/** Whether somebody is given the payloads of every tool call. */
export function wantsPayloads({ onToolStart, onToolEnd }: Callbacks): boolean {
  return onToolStart !== undefined || onToolEnd !== undefined;
}

/**
 * Hand every event of a batch to the callbacks, as long as the turn is not `over`. Returns a promise only where
 * a callback returned one, or where the event loop was held for long; throws, or rejects, with the error of the
 * callback that failed, and calls none after it.
 */
export function dispatch(
  batch: EventBatch,
  callbacks: Callbacks,
  over: () => boolean,
): Promise<void> | undefined {
  const reader = new BatchReader(batch);
  const held = untilHeld(reader, callbacks, over);
  if (held !== undefined) return rest(held, batch, reader, callbacks, over);
  done(batch, callbacks);
  return undefined;
}

/** The same from the first event on that was followed by a wait. */
async function rest(
  first: Promise<void>,
  batch: EventBatch,
  reader: BatchReader,
  callbacks: Callbacks,
  over: () => boolean,
): Promise<void> {
  for (let held: Promise<void> | undefined = first; held !== undefined; ) {
    await held;
    // A promise that is settled already lets nothing else run.
    if (isBreathDue()) await breath();
    held = untilHeld(reader, callbacks, over);
  }
  done(batch, callbacks);
}

/** Only `onEvent` can have kept an event. Without it nobody reads a payload of the batch any more. */
function done(batch: EventBatch, callbacks: Callbacks): void {
  if (callbacks.onEvent === undefined) batch.release();
}

/** Goes on until something must be waited for, or to the end. */
function untilHeld(
  reader: BatchReader,
  callbacks: Callbacks,
  over: () => boolean,
): Promise<void> | undefined {
  for (let event = next(reader, over); event !== undefined; event = next(reader, over)) {
    const held = deliver(event, callbacks, over) ?? (isBreathDue() ? breath() : undefined);
    if (held !== undefined) return held;
  }
  return undefined;
}

function next(reader: BatchReader, over: () => boolean): CursorStreamEvent | undefined {
  return over() ? undefined : reader.next();
}

/** Hand one event to the callbacks; a promise where one of them returned one. */
export function deliver(
  event: CursorStreamEvent,
  callbacks: Callbacks,
  over: () => boolean,
): Promise<void> | undefined {
  const seen = promised(callbacks.onEvent?.(event));
  if (seen !== undefined)
    return seen.then(() => (over() ? undefined : promised(deliverTyped(event, callbacks))));
  if (over()) return undefined;
  return promised(deliverTyped(event, callbacks));
}

/**
 * What is waited for, where a callback returned a promise or something like one. Such a thing may settle twice
 * or throw in its `then`; a promise of its own does neither.
 */
function promised(returned: unknown): Promise<void> | undefined {
  return isThenable(returned) ? Promise.resolve(returned) : undefined;
}

function deliverTyped(event: CursorStreamEvent, callbacks: Callbacks): unknown {
  switch (event.type) {
    case "assistant-text":
      return callbacks.onText?.(event.text);
    case "thinking-delta":
      return callbacks.onThinking?.(event.text);
    case "tool-call-started": {
      if (callbacks.onToolStart === undefined) return undefined;
      return callbacks.onToolStart(event.name, event.args, info(event));
    }
    case "tool-call-completed": {
      if (callbacks.onToolEnd === undefined) return undefined;
      const { name, isError, result, outcome } = event;
      return callbacks.onToolEnd(name, isError, result, { ...info(event), outcome });
    }
    default:
      return undefined;
  }
}

function info(event: Extract<CursorStreamEvent, { kind: string }>): ToolCallInfo {
  const { callId, kind, args } = event;
  return {
    kind,
    ...(callId === undefined ? {} : { callId }),
    ...(args === undefined ? {} : { args }),
  };
}

function isThenable(value: unknown): value is PromiseLike<void> {
  return (
    ((typeof value === "object" && value !== null) || typeof value === "function") &&
    typeof (value as { then?: unknown }).then === "function"
  );
}
