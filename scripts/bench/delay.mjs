// For how long the event loop is late while many streams are read, and what they hold of memory.

import { inChild, inTurns, middle, row } from "./figures.mjs";
import { replay } from "./places.mjs";

/** @typedef {Record<"wallMs" | "busyMs" | "p50Ms" | "p99Ms" | "longestMs" | "rssBytes", number>} Figures */

/** @param {import("./figures.mjs").Job} job */
export async function measure({ folder, options }) {
  const { binary } = replay(folder, options.laneMegabytes);
  const rows = [];
  for (const lanes of options.lanes) {
    /** @param {import("./child/ways.mjs").Way} way @returns {() => Figures} */
    const read = (way) => () => inChild("lanes.mjs", binary, lanes, options.streams, way);
    const { ours, hand } = await inTurns(options.rounds, { ours: read("four"), hand: read("readline") });
    /** @param {string} name @param {keyof Figures} figure @param {string} unit @param {number} divisor */
    const line = (name, figure, unit = "ms", divisor = 1) =>
      row({
        part: "delay",
        name,
        at: { value: lanes, unit: lanes === 1 ? "stream" : "streams" },
        value: middle(ours, figure) / divisor,
        unit,
        reference: middle(hand, figure) / divisor,
        against: "`readline` and `JSON.parse`, as many streams",
      });
    rows.push(
      line("delay of the loop, p50", "p50Ms"),
      line("delay of the loop, p99", "p99Ms"),
      line("delay of the loop, longest", "longestMs"),
      line("memory over the idle process, highest", "rssBytes", "MB", 1e6),
    );
  }
  return rows;
}
