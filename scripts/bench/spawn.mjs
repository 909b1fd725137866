// For how long starting a turn holds up the event loop, in a small and in a large host, beside Node's own `spawn` of
// the same program.

import { inChild, inTurns, middle, row } from "./figures.mjs";
import { agent } from "./places.mjs";

/** @typedef {Record<"callMs" | "longestCallMs" | "longestTurnMs" | "wallMs", number>} Figures */

/** @param {import("./figures.mjs").Job} job */
export async function measure({ folder, options }) {
  const program = agent(folder);
  const { starts, heldMegabytes } = options;
  const rows = [];
  for (const held of heldMegabytes) {
    /** @param {"ours" | "node"} way @returns {() => Figures} */
    const started = (way) => () => inChild("starts.mjs", program, starts, held, way);
    const { ours, node } = await inTurns(options.rounds, { ours: started("ours"), node: started("node") });
    /** @param {string} name @param {keyof Figures} figure */
    const line = (name, figure) =>
      row({
        part: "spawn",
        name,
        at: { value: held, unit: "MB held" },
        value: middle(ours, figure),
        unit: "ms",
        reference: middle(node, figure),
        against: "`child_process.spawn` of the same program",
      });
    rows.push(line("the call that starts a turn", "callMs"));
    // The rest is the same story, so its ends are enough.
    if (held !== heldMegabytes[0] && held !== heldMegabytes.at(-1)) continue;
    rows.push(
      line(`the longest of ${starts} such calls at once`, "longestCallMs"),
      line(`the longest turn of the loop in ${starts} starts at once`, "longestTurnMs"),
      line(`until ${starts} turns at once are over`, "wallMs"),
    );
  }
  return rows;
}
