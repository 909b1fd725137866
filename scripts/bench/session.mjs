// One session from its creation to its end, on an agent that answers at once.

import { inChild, inTurns, middle, row } from "./figures.mjs";
import { agent, repository } from "./places.mjs";

export const BY_HAND = "the CLI driven by hand";

/** @typedef {Record<"wallMs" | "busyMs" | "createMs" | "turnMs" | "disposeMs", number>} Figures */

/** @param {import("./figures.mjs").Job} job */
export async function measure({ folder, options: { rounds, cycles } }) {
  const [program, top] = [agent(folder), repository(folder, "session")];
  /** @param {"ours" | "hand"} whose @param {"tool" | "bare" | "turn"} which @returns {() => Figures} */
  const lived = (whose, which) => () => inChild("session.mjs", program, top, cycles, whose, which);
  const all = await inTurns(rounds, {
    tool: lived("ours", "tool"),
    toolByHand: lived("hand", "tool"),
    bare: lived("ours", "bare"),
    bareByHand: lived("hand", "bare"),
    turn: lived("ours", "turn"),
    turnByHand: lived("hand", "turn"),
  });
  /** @param {string} name @param {"tool" | "bare" | "turn"} which @param {keyof Figures} figure */
  const line = (name, which, figure) =>
    row({
      part: "session",
      name,
      value: middle(all[which], figure),
      unit: "ms",
      reference: middle(all[`${which}ByHand`], figure),
      against: BY_HAND,
    });
  return [
    line("a session with a tool and one turn", "tool", "wallMs"),
    line("until it is created", "tool", "createMs"),
    line("its turn", "tool", "turnMs"),
    line("until it is disposed", "tool", "disposeMs"),
    line("main thread of all", "tool", "busyMs"),
    line("a session without tools and one turn", "bare", "wallMs"),
    line("main thread of it", "bare", "busyMs"),
    line("a turn alone", "turn", "wallMs"),
    line("main thread of a turn alone", "turn", "busyMs"),
  ];
}
