/** What the turns of a session come to together. */

import type { CursorSession } from "../index.js";
import type { TurnOutcome } from "../native.js";
import { parseOrText } from "./events.js";

type Usage = CursorSession["usage"];
type ToolCalls = CursorSession["toolCalls"];

export class Totals {
  #usage: Usage = Object.freeze({ inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 });
  #toolCalls: ToolCalls = Object.freeze({ started: 0, completed: 0, failed: 0, rejected: 0, abandoned: 0 });
  #turns = 0;

  get usage(): Usage {
    return this.#usage;
  }

  get toolCalls(): ToolCalls {
    return this.#toolCalls;
  }

  get turns(): number {
    return this.#turns;
  }

  add(outcome: TurnOutcome, good: boolean): void {
    if (good) this.#turns += 1;
    this.#toolCalls = sum(this.#toolCalls, outcome);
    if (outcome.usage != null) this.#usage = sum(this.#usage, parseOrText(outcome.usage));
  }
}

/** What a CLI writes may be anything: what is no count does not count. */
function sum<T extends object>(so: T, more: unknown): T {
  const added = Object(more) as Record<string, unknown>;
  const entries = Object.entries(so).map(([name, value]) => {
    const one = added[name];
    const counts = typeof one === "number" && one > 0 && Number.isFinite(value + one);
    return [name, counts ? value + one : value];
  });
  return Object.freeze(Object.fromEntries(entries)) as T;
}
