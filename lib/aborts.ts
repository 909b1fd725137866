/**
 * One listener for each signal, however many turns it ends: Node takes more than ten of them for a leak, and
 * says so on standard error. And one that hears of the abort even where another listener stops the event.
 */

import { addAbortListener } from "node:events";

interface Waiting {
  readonly turns: Set<() => void>;
  readonly forget: Disposable;
}

const waiting = new WeakMap<AbortSignal, Waiting>();

/**
 * What `answer` gives; or, as soon as the signal is aborted, a rejection with what `abort` returns. What runs for
 * the answer is `abort`'s to end; where it returns nothing, the answer is on its way already and stands.
 */
export function unlessAborted<T>(
  answer: Promise<T>,
  signal: AbortSignal | undefined,
  abort: (signal: AbortSignal) => Error | undefined,
): Promise<T> {
  if (signal === undefined) return answer;
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, () => {
      const error = abort(signal);
      if (error !== undefined) reject(error);
    });
    answer.then(resolve, reject).finally(forget);
  });
}

/** Calls `abort` when the signal is aborted, unless the function that is returned was called before. */
export function onAbort(signal: AbortSignal, abort: () => void): () => void {
  const { turns, forget } = waiting.get(signal) ?? listen(signal);
  turns.add(abort);
  return () => {
    turns.delete(abort);
    if (turns.size > 0 || waiting.get(signal)?.turns !== turns) return;
    forget[Symbol.dispose]();
    waiting.delete(signal);
  };
}

function listen(signal: AbortSignal): Waiting {
  const turns = new Set<() => void>();
  const forget = addAbortListener(signal, () => {
    waiting.delete(signal);
    for (const abort of turns) abort();
  });
  const made = { turns, forget };
  waiting.set(signal, made);
  return made;
}
