// What probing costs beside the programs that it runs.

import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inChild, inTurns, middle, row } from "./figures.mjs";

/** Like the real CLI: a script for Node. @param {string} folder */
function nodeAgent(folder) {
  const file = join(folder, "cursor-agent");
  const code = `#!${process.execPath}
const said = {
  "--version": "2026.08.11-e8db854",
  "status --format json": '{"isAuthenticated":true}',
  models: "Available models\\n\\nauto - Auto (default)",
};
console.log(said[process.argv.slice(2).join(" ")]);
`;
  writeFileSync(file, code);
  chmodSync(file, 0o755);
  return file;
}

/** @typedef {Record<"aloneMs" | "wallMs" | "busyMs", number>} Figures */

/** @param {import("./figures.mjs").Job} job */
export async function measure({ folder, options: { rounds, probes } }) {
  const binary = nodeAgent(folder);
  const { ours } = await inTurns(rounds, {
    ours: () => /** @type {Figures} */ (inChild("probe.mjs", binary, probes)),
  });
  const reference = middle(ours, "aloneMs");
  const against = "its three programs alone, by `spawnSync`";
  return [
    row({
      part: "probe",
      name: "a probe with its models",
      value: middle(ours, "wallMs"),
      unit: "ms",
      reference,
      against,
    }),
    row({
      part: "probe",
      name: "main thread of it",
      value: middle(ours, "busyMs"),
      unit: "ms",
      reference,
      against,
    }),
  ];
}
