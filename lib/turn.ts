import type { CursorErrorCode, CursorPromptInput, CursorPromptResult } from "../index.js";
import type { EventBatch, TurnHandle, TurnOptions, TurnOutcome } from "../native.js";
import { unlessAborted } from "./aborts.js";
import { type Callbacks, dispatch, wantsEvents, wantsPayloads } from "./dispatch.js";
import { aborted, CursorError, type CursorErrorFields, noRoom } from "./errors.js";
import { parseOrText } from "./events.js";
import { native, scope } from "./scope.js";
import * as check from "./validate.js";

export function launchCursorPrompt(input: CursorPromptInput): Promise<CursorPromptResult> {
  const { options, callbacks, signal } = checked(input);
  if (signal?.aborted) return Promise.reject(aborted(signal));
  return run(options, callbacks, signal);
}

async function run(
  options: TurnOptions,
  callbacks: Callbacks,
  signal: AbortSignal | undefined,
): Promise<CursorPromptResult> {
  const began = performance.now();
  const failed: { error?: unknown; with?: true } = {};
  const over = (): boolean => signal?.aborted === true;
  const handle: TurnHandle = start(options, (batch: EventBatch) => {
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
  // The teardown goes on behind an abort.
  const outcome = await unlessAborted(handle.settled(), signal, (signal) => {
    handle.abort();
    const partial = { ...result(handle.soFar()), durationMs: performance.now() - began };
    return aborted(signal, { partial });
  });
  // A callback's own error is what its author expects to see, not one of ours about it.
  if (failed.with) throw failed.error;
  if (outcome.code === undefined || outcome.code === null) return result(outcome);
  throw failure(outcome, signal);
}

function start(options: TurnOptions, onBatch: (batch: EventBatch) => void): TurnHandle {
  try {
    return native.startTurn(scope, options, onBatch);
  } catch (error) {
    throw noRoom(error, options.binary) ?? error;
  }
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
  const text = (name: string): string | undefined =>
    check.optional(given[name], (value) => check.word(name, value));
  const flag = (name: string): boolean =>
    check.optional(given[name], (value) => check.flag(name, value)) ?? false;
  const limit = (name: string): number | undefined =>
    check.optional(given[name], (value) => check.limit(name, value));
  const wait = (name: string): number | undefined =>
    check.optional(given[name], (value) => check.wait(name, value));
  const callbacks: Record<string, unknown> = {};
  for (const name of ["onText", "onThinking", "onToolStart", "onToolEnd", "onEvent"]) {
    const callback = check.optional(given[name], (value) => check.callback(name, value));
    // Called as a method of the input, as its type says.
    if (callback !== undefined) callbacks[name] = (...args: never[]) => Reflect.apply(callback, input, args);
  }
  const tools = check.optional(given.tools, (value) => check.oneOf("tools", ["coding", "readonly"], value));
  const leftovers = check.optional(given.leftovers, (value) =>
    check.oneOf("leftovers", ["kill", "keep"], value),
  );
  const options: TurnOptions = {
    cwd: check.word("cwd", given.cwd),
    prompt: check.string("prompt", given.prompt),
    coding: tools === "coding",
    approveMcps: flag("approveMcps"),
    workspaceFlag: flag("workspaceFlagRequired"),
    hostEnv: check.inherited(process.env),
    addedEnv: check.optional(given.env, (value) => check.environment("env", value)) ?? [],
    wantsEvents: wantsEvents(callbacks as Callbacks),
    keepLeftovers: leftovers === "keep",
    wantsPayloads: wantsPayloads(callbacks as Callbacks),
    ...defined({
      binary: text("binary"),
      model: check.optional(given.model, (value) => check.modelId("model", value)),
      resumeId: check.optional(given.resumeId, (value) => check.argument("resumeId", value)),
      firstLineTimeoutMs: limit("firstLineTimeoutMs"),
      inactivityTimeoutMs: limit("inactivityTimeoutMs"),
      toolTimeoutMs: limit("toolTimeoutMs"),
      exitGraceMs: wait("exitGraceMs"),
      killGraceMs: wait("killGraceMs"),
      ownServer: check.optional(given.fusionServerKey, (value) => check.serverKey("fusionServerKey", value)),
      maxLineBytes: check.optional(given.maxLineBytes, (value) => check.lineLimit("maxLineBytes", value)),
    }),
  };
  const signal = check.optional(given.signal, (value) => check.abortSignal("signal", value));
  return { options, callbacks: callbacks as Callbacks, signal };
}

/** The entries that are there. */
function defined<T extends Record<string, unknown>>(
  entries: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as never;
}
