import type { LogLevel, LogRecord } from "../index.js";
import { native, scope } from "./scope.js";
import * as check from "./validate.js";

const LEVELS: readonly LogLevel[] = ["off", "error", "warn", "info", "debug", "trace"];

export function setLogger(level: LogLevel, sink?: (record: LogRecord) => void): void {
  check.oneOf("level", LEVELS, level);
  const callback = check.optional(sink, (value) => check.callback("sink", value)) as typeof sink;
  if (callback === undefined) {
    native.setLog(scope, level);
    return;
  }
  // A logger that fails must not end the host, and must not stay unnoticed.
  const failed = (error: unknown): void =>
    process.emitWarning(`a log sink of fusion-cursor-native failed: ${String(error)}`);
  native.setLog(scope, level, (json: string) => {
    try {
      const returned: unknown = callback(JSON.parse(json) as LogRecord);
      if (returned instanceof Promise) returned.catch(failed);
    } catch (error) {
      failed(error);
    }
  });
}

/** What the variable says at load. One that makes no sense is told once and changes nothing. */
function fromEnvironment(): void {
  const said = process.env.FUSION_CURSOR_LOG;
  if (said === undefined || said === "") return;
  try {
    native.setLog(scope, said);
  } catch (error) {
    process.emitWarning(`FUSION_CURSOR_LOG is ignored: ${(error as Error).message}`);
  }
}

fromEnvironment();
