// For how long starting turns at once holds up the event loop, in a small and in a large host, beside Node's own
// `spawn` of the same program. On Linux, time in which the loop only waited for a processor does not count;
// elsewhere a small machine shows higher figures.

import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { capture, Failure, root } from "../common.mjs";
import { median } from "./load.mjs";

/** @typedef {"longestCallMs" | "callsMs" | "longestTurnMs" | "wallMs"} Figure */

/** A program that reads its input and answers as the agent does. @param {string} folder */
export function agent(folder) {
  const file = join(folder, "agent");
  const line = JSON.stringify({ type: "result", subtype: "success", is_error: false, result: "x" });
  writeFileSync(file, `#!/bin/sh\nread -r line\necho '${line}'\n`);
  chmodSync(file, 0o755);
  return file;
}

/**
 * @param {string[]} args
 * @returns {Record<Figure, number>}
 */
function measure(...args) {
  // One thread for the collector: where it waits for others, on a busy machine, the loop stands still for it.
  const script = ["--single-threaded-gc", join(root, "scripts", "bench", "starts.mjs")];
  const printed = capture(process.execPath, ...script, ...args);
  if (printed === undefined) throw new Failure(`starts.mjs failed for ${args.slice(1).join(" ")}`);
  return JSON.parse(printed);
}

/**
 * The medians of every row, and the highest of the longest calls.
 * @param {string} folder
 * @param {{ atOnce: number, heldMegabytes: number, rounds: number }} options
 */
export function measureStarts(folder, { atOnce, heldMegabytes, rounds }) {
  const program = agent(folder);
  return [0, heldMegabytes].flatMap((held) =>
    /** @type {const} */ (["ours", "node"]).map((which) => {
      const all = Array.from({ length: rounds }, () => measure(program, String(atOnce), String(held), which));
      /** @param {Figure} figure */
      const middle = (figure) => median(all.map((one) => one[figure]));
      return {
        name: which === "ours" ? "launchCursorPrompt" : "child_process.spawn",
        heldMegabytes: held,
        longestCallMs: middle("longestCallMs"),
        highestCallMs: Math.max(...all.map((one) => one.longestCallMs)),
        callsMs: middle("callsMs"),
        longestTurnMs: middle("longestTurnMs"),
        wallMs: middle("wallMs"),
      };
    }),
  );
}
