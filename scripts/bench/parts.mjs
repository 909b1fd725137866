// What the bench measures, in the order of its table.

import * as bridge from "./bridge.mjs";
import * as delay from "./delay.mjs";
import * as growth from "./growth.mjs";
import * as leases from "./leases.mjs";
import * as load from "./load.mjs";
import * as memory from "./memory.mjs";
import * as probe from "./probe.mjs";
import * as session from "./session.mjs";
import * as spawn from "./spawn.mjs";
import * as streams from "./streams.mjs";

/**
 * A part: its heading, and what measures it.
 * @typedef {object} Part
 * @property {string} what
 * @property {(job: import("./figures.mjs").Job) => Promise<import("./figures.mjs").Row[]>} measure
 */

/** @type {Record<string, Part>} */
export const parts = {
  streams: { what: "One stream", measure: streams.measure },
  delay: { what: "Many streams at once", measure: delay.measure },
  spawn: { what: "Starting turns", measure: spawn.measure },
  lease: { what: "Staging a server in a git worktree", measure: leases.measure },
  bridge: { what: "A tool call from another process", measure: bridge.measure },
  probe: { what: "Asking the CLI what it is", measure: probe.measure },
  session: { what: "One session", measure: session.measure },
  growth: { what: "Many sessions at once, each in a worktree of its own", measure: growth.measure },
  load: { what: "Loading", measure: load.measure },
  memory: { what: "Memory", measure: memory.measure },
};
