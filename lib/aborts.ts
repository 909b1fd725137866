/**
 * One listener for each signal, however many turns it ends: Node takes more than ten of them for a leak, and
 * says so on standard error.
 */

interface Waiting {
  readonly turns: Set<() => void>;
  readonly listener: () => void;
}

const waiting = new WeakMap<AbortSignal, Waiting>();

/** Calls `abort` when the signal is aborted, unless the function that is returned was called before. */
export function onAbort(signal: AbortSignal, abort: () => void): () => void {
  const { turns, listener } = waiting.get(signal) ?? listen(signal);
  turns.add(abort);
  return () => {
    turns.delete(abort);
    if (turns.size > 0 || waiting.get(signal)?.turns !== turns) return;
    signal.removeEventListener("abort", listener);
    waiting.delete(signal);
  };
}

function listen(signal: AbortSignal): Waiting {
  const turns = new Set<() => void>();
  const listener = (): void => {
    waiting.delete(signal);
    for (const abort of turns) abort();
  };
  signal.addEventListener("abort", listener, { once: true });
  const made = { turns, listener };
  waiting.set(signal, made);
  return made;
}
