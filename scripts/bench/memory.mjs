// What is held of memory before there is any session, and by the child that Cursor starts for a host's tools.

import { capture, Failure, root } from "../common.mjs";
import { inChild, inTurns, middle, row } from "./figures.mjs";

/** @typedef {Record<"rssBytes" | "heapBytes", number>} Figures */

/** What a Node holds that has evaluated this. @param {string} expression @returns {Figures} */
function holds(expression) {
  const program = `${expression}; gc(); const { rss, heapUsed } = process.memoryUsage();
    console.log(JSON.stringify({ rssBytes: rss, heapBytes: heapUsed })); process.exit()`;
  const printed = capture(process.execPath, "--expose-gc", "--eval", program);
  if (printed === undefined) throw new Failure(`This does not run: ${expression}`);
  return JSON.parse(printed);
}

/** @param {import("./figures.mjs").Job} job */
export async function measure({ options: { rounds } }) {
  const { loaded, bare } = await inTurns(rounds, {
    loaded: () => holds(`require(${JSON.stringify(root)})`),
    bare: () => holds("0"),
  });
  const { child, idle } = await inTurns(rounds, {
    child: () => /** @type {{ rssBytes: number }} */ (inChild("memory.mjs", "child")),
    idle: () => /** @type {{ rssBytes: number }} */ (inChild("memory.mjs", "node")),
  });
  const against = "a Node that does nothing";
  const inMegabytes = { part: "memory", unit: "MB", against };
  return [
    row({
      ...inMegabytes,
      name: "a Node with the package loaded",
      value: middle(loaded, "rssBytes") / 1e6,
      reference: middle(bare, "rssBytes") / 1e6,
    }),
    row({
      ...inMegabytes,
      name: "V8 heap of it",
      value: middle(loaded, "heapBytes") / 1e6,
      reference: middle(bare, "heapBytes") / 1e6,
    }),
    row({
      ...inMegabytes,
      name: "the child that serves a session's tools",
      value: middle(child, "rssBytes") / 1e6,
      reference: middle(idle, "rssBytes") / 1e6,
    }),
  ];
}
