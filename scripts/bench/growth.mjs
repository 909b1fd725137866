// Sessions at once, in separate worktrees of one repository: what each takes, and whether that grows with their number.

import { inChild, inTurns, middle, row } from "./figures.mjs";
import { waitingAgent, worktrees } from "./places.mjs";
import { BY_HAND } from "./session.mjs";

/** @typedef {Record<"wallMs" | "busyMs" | "rssBytes" | "heapBytes" | "threads" | "descriptors", number>} Figures */

/** @param {import("./figures.mjs").Job} job */
export async function measure({ folder, options }) {
  const { binary, gate } = waitingAgent(folder);
  const base = worktrees(folder, Math.max(...options.sessions, ...options.worktrees));
  const rows = [];
  for (const count of options.sessions) {
    /** @param {"ours" | "hand"} whose @returns {() => Figures} */
    const lived = (whose) => () => inChild("crowd.mjs", binary, gate, base, count, whose);
    const { ours, hand } = await inTurns(options.rounds, { ours: lived("ours"), hand: lived("hand") });
    /** @param {string} name @param {keyof Figures} figure @param {string} unit @param {number} divisor */
    const line = (name, figure, unit, divisor) =>
      row({
        part: "growth",
        name,
        at: { value: count, unit: count === 1 ? "session" : "sessions" },
        value: middle(ours, figure) / divisor,
        unit,
        reference: middle(hand, figure) / divisor,
        against: `${BY_HAND}, as many at once`,
      });
    rows.push(
      line("wall time of all", "wallMs", "ms", 1),
      line("main thread, each", "busyMs", "ms", count),
      line("memory of the host, each", "rssBytes", "kB", 1000),
      line("V8 heap, each", "heapBytes", "kB", 1000),
      line("descriptors, each", "descriptors", "", 1),
      {
        ...line("threads, each", "threads", "", 1),
        reference: 1,
        ratio: middle(ours, "threads"),
        against: "a thread for each",
      },
    );
  }
  return rows.filter(({ value }) => !Number.isNaN(value));
}
