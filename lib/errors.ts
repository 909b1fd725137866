import type { CursorErrorCode, CursorPromptResult, CursorStagingReason } from "../index.js";
import type { StagingProblem } from "../native.js";

/** What an error carries beside its message. */
export interface CursorErrorFields {
  code: CursorErrorCode;
  retryable: boolean;
  exitCode?: number | null;
  signal?: string | null;
  stderrTail?: string;
  partial?: CursorPromptResult;
  reason?: CursorStagingReason;
  path?: string;
  cause?: unknown;
}

export class CursorError extends Error {
  declare readonly code: CursorErrorCode;
  declare readonly retryable: boolean;
  declare readonly exitCode?: number | null;
  declare readonly signal?: string | null;
  declare readonly stderrTail?: string;
  declare readonly partial?: CursorPromptResult;
  declare readonly reason?: CursorStagingReason;
  declare readonly path?: string;

  constructor(message: string, { cause, ...fields }: CursorErrorFields) {
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, fields);
    hide(this, "name", fields.code === "CURSOR_ABORTED" ? "AbortError" : "CursorError");
  }
}

// Names of errors are not enumerable, so that printing one does not repeat it.
function hide(error: Error, key: string, value: unknown): void {
  Object.defineProperty(error, key, { value, configurable: true, writable: true });
}

/** The error of an aborted turn; `cause` is the signal's reason. */
export function aborted(signal: AbortSignal, fields: Partial<CursorErrorFields> = {}): CursorError {
  return new CursorError("Cursor CLI aborted", {
    code: "CURSOR_ABORTED",
    retryable: false,
    cause: signal.reason,
    ...fields,
  });
}

/** The error of a server that could not be staged, or not be taken out again. */
export function notStaged({ code, message, reason, path, retryable }: StagingProblem): CursorError {
  return new CursorError(message, {
    code: code as CursorErrorCode,
    retryable,
    reason: reason as CursorStagingReason,
    ...(path == null ? {} : { path }),
  });
}

/** A fault of this package. */
export function internal(error: Error): CursorError {
  return new CursorError(error.message, { code: "CURSOR_INTERNAL", retryable: false, cause: error });
}

/** The error where the system had no thread or descriptor left to start anything with, which passes. */
export function noRoom(error: unknown, target = "cursor-agent"): CursorError | undefined {
  const { code, message } = error as { code?: unknown; message?: unknown };
  // A status of the inner binding, which says nothing else by it.
  if (code !== "QueueFull") return undefined;
  return new CursorError(`Cursor CLI spawn failed for ${target}: ${message}`, {
    code: "CURSOR_SPAWN_FAILED",
    retryable: true,
    cause: error,
  });
}
