import type { CursorErrorCode, CursorPromptInput, CursorPromptResult } from "../index.js";
import type { EventBatch, TurnHandle, TurnOptions, TurnOutcome } from "../native.js";
import { unlessAborted } from "./aborts.js";
import { type Callbacks, dispatch, wantsEvents, wantsPayloads } from "./dispatch.js";
import { aborted, CursorError, type CursorErrorFields, noRoom } from "./errors.js";
import { parseOrText } from "./events.js";
import { callbacks, defined, runOptions, signal } from "./options.js";
import { native, scope } from "./scope.js";
import * as check from "./validate.js";

export function launchCursorPrompt(input: CursorPromptInput): Promise<CursorPromptResult> {
  const { options, callbacks, signal } = checked(input);
  if (signal?.aborted) return Promise.reject(aborted(signal));
  const start: Start = (onBatch) => native.startTurn(scope, options, onBatch);
  return drive(start, { callbacks, signal, program: options.run.binary }).result;
}

/** Starts the turn, or gives it its place in line. */
export type Start = (onBatch: (batch: EventBatch) => void) => TurnHandle;

export interface Driven {
  callbacks: Callbacks;
  signal: AbortSignal | undefined;
  /** For the message where it could not be started. */
  program?: string | undefined;
  /** Nothing more is to be handed over, whatever the signal says. */
  over?: () => boolean;
  /** What it came to, and whether that is a success; before anybody else hears of it. */
  onOutcome?: (outcome: TurnOutcome, good: boolean) => void;
}

/** A turn that is under way. */
export interface Turn {
  readonly result: Promise<CursorPromptResult>;
  /** Resolves when its processes are gone, which an aborted turn does not wait for. */
  readonly gone: Promise<void>;
}

/** Hand the events of a turn to the callbacks, and make its outcome a result or an error. */
export function drive(start: Start, driven: Driven): Turn {
  const { callbacks, signal } = driven;
  const began = performance.now();
  const failed: { error?: unknown; with?: true } = {};
  const over = (): boolean => signal?.aborted === true || driven.over?.() === true;
  let handle: TurnHandle;
  try {
    handle = start((batch: EventBatch) => {
      const stop = (error: unknown): void => {
        failed.error = error;
        failed.with = true;
        handle.taken(false);
      };
      try {
        const held = dispatch(batch, callbacks, over);
        if (held === undefined) handle.taken(true);
        else held.then(() => handle.taken(true), stop);
      } catch (error) {
        stop(error);
      }
    });
  } catch (error) {
    return refused(noRoom(error, driven.program) ?? error);
  }
  const settled = handle.settled().then((outcome) => {
    driven.onOutcome?.(outcome, outcome.code == null && failed.with !== true);
    return outcome;
  });
  // The teardown goes on behind an abort.
  const outcome = unlessAborted(settled, signal, (signal) => {
    if (!handle.abort()) return undefined;
    const partial = { ...result(handle.soFar()), durationMs: performance.now() - began };
    return aborted(signal, { partial });
  });
  return {
    result: outcome.then((outcome) => {
      // A callback's own error is what its author expects to see, not one of ours about it.
      if (failed.with) throw failed.error;
      if (outcome.code == null) return result(outcome);
      throw failure(outcome, signal);
    }),
    gone: settled.then(
      () => {},
      () => {},
    ),
  };
}

/** A turn that nothing was started for. */
export function refused(error: unknown): Turn {
  return { result: Promise.reject(error), gone: Promise.resolve() };
}

function result(outcome: TurnOutcome): CursorPromptResult {
  const { sessionId, usage, requestId, model, started, completed, failed, rejected, abandoned } = outcome;
  return {
    ...(sessionId == null ? {} : { sessionId }),
    text: outcome.text,
    ...(usage == null ? {} : { usage: parseOrText(usage) }),
    ...(requestId == null ? {} : { requestId }),
    ...(model == null ? {} : { model }),
    durationMs: outcome.durationMs,
    toolCalls: { started, completed, failed, rejected, abandoned },
    dropped: { lines: outcome.droppedLines, bytes: outcome.droppedBytes },
    exitCode: outcome.exitCode ?? null,
    signal: outcome.signal ?? null,
    leftovers: outcome.leftovers,
  };
}

function failure(outcome: TurnOutcome, signal: AbortSignal | undefined): CursorError {
  const fields: CursorErrorFields = {
    code: outcome.code as CursorErrorCode,
    retryable: outcome.retryable,
    partial: result(outcome),
  };
  if (outcome.ran) {
    fields.exitCode = outcome.exitCode ?? null;
    fields.signal = outcome.signal ?? null;
  }
  if (outcome.stderrTail != null) fields.stderrTail = outcome.stderrTail;
  if (fields.code === "CURSOR_ABORTED" && signal?.aborted) return aborted(signal, fields);
  return new CursorError(outcome.message ?? fields.code, fields);
}

/** What the caller passed, checked; nothing has happened yet where this throws. */
function checked(input: CursorPromptInput): {
  options: TurnOptions;
  callbacks: Callbacks;
  signal: AbortSignal | undefined;
} {
  const given = check.object("the input of launchCursorPrompt", input);
  const found = callbacks(given, input);
  const options: TurnOptions = {
    run: runOptions(given, "model"),
    prompt: check.string("prompt", given.prompt),
    wantsEvents: wantsEvents(found),
    wantsPayloads: wantsPayloads(found),
    ...defined({
      ownServer: check.optional(given.fusionServerKey, (value) => check.serverKey("fusionServerKey", value)),
    }),
  };
  return { options, callbacks: found, signal: signal(given) };
}
