// A tool call from another process, by our bridge and by a plain server that does the same.

import { inChild, inTurns, middle, row } from "./figures.mjs";

const PLAIN = "a plain `node:http` server that does the same";
const CALLERS = 16;

/** @typedef {Record<"medianMs" | "p99Ms" | "eachMs" | "busyMs", number>} Figures */

/** @param {import("./figures.mjs").Job} job */
export async function measure({ options: { rounds, calls } }) {
  /** @param {"ours" | "node"} way @param {number} callers @returns {() => Figures} */
  const called = (way, callers) => () => inChild("bridge.mjs", way, calls, callers);
  const all = await inTurns(rounds, {
    ours: called("ours", 1),
    node: called("node", 1),
    oursAtOnce: called("ours", CALLERS),
    nodeAtOnce: called("node", CALLERS),
  });
  /** @param {string} name @param {Figures[]} ours @param {Figures[]} node @param {keyof Figures} figure */
  const line = (name, ours, node, figure) =>
    row({
      part: "bridge",
      name,
      value: middle(ours, figure),
      unit: "ms",
      reference: middle(node, figure),
      against: PLAIN,
    });
  return [
    line("a tool call, without the tool, p50", all.ours, all.node, "medianMs"),
    line("a tool call, without the tool, p99", all.ours, all.node, "p99Ms"),
    line("main thread of the host, for each call", all.ours, all.node, "busyMs"),
    line(`a tool call of ${CALLERS} at once, each`, all.oursAtOnce, all.nodeAtOnce, "eachMs"),
    line(`main thread of the host, ${CALLERS} at once, for each`, all.oursAtOnce, all.nodeAtOnce, "busyMs"),
  ];
}
