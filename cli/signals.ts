/** Ctrl-C and its relatives. */

import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Calls `listener` for each signal that asks to end, with the exit code that shells use for it (130 for Ctrl-C).
 * The returned function gives the signals back.
 */
export function onInterrupt(listener: (exitCode: number) => void): () => void {
  const handlers = SIGNALS.map((signal) => {
    const handler = () => listener(128 + constants.signals[signal]);
    process.on(signal, handler);
    return () => process.off(signal, handler);
  });
  return () => {
    for (const remove of handlers) {
      remove();
    }
  };
}
