// `node scripts/bench-spawn.mjs`: for how long starting forty turns at once holds up the event loop, with a small
// and with a large host, beside Node's own `spawn` of the same program. By hand, on a release build
// (`npm run build`); a busy machine gives no useful numbers.
//
// `longest call` is the longest single call, and the measure of a start: nothing else can run during it. `all calls`
// are the forty together. `longest turn` is the longest turn of the event loop until all have ended. On Linux, time
// in which the loop only waited for a processor does not count; elsewhere a small machine shows higher figures.
//
//   --rounds N     every figure is the median of so many, and the highest of all; 5 without it

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { median } from "./bench/load.mjs";
import { capture, Failure, root, runMain } from "./common.mjs";

const AT_ONCE = 40;
const SIZES = [0, 1536];
const { values: options } = parseArgs({ options: { rounds: { type: "string", default: "5" } } });

/** A program that reads its input and answers as the agent does. @param {string} folder */
function agent(folder) {
  const file = join(folder, "agent");
  const line = JSON.stringify({ type: "result", subtype: "success", is_error: false, result: "x" });
  writeFileSync(file, `#!/bin/sh\nread -r line\necho '${line}'\n`);
  chmodSync(file, 0o755);
  return file;
}

/**
 * @param {string} program
 * @param {number} megabytes
 * @param {"ours" | "node"} which
 * @returns {Record<"longestCallMs" | "callsMs" | "longestTurnMs" | "wallMs", number>}
 */
function measure(program, megabytes, which) {
  const args = [program, String(AT_ONCE), String(megabytes), which];
  // One thread for the collector: where it waits for others, on a busy machine, the loop stands still for it.
  const script = ["--single-threaded-gc", join(root, "scripts", "bench", "starts.mjs")];
  const printed = capture(process.execPath, ...script, ...args);
  if (printed === undefined) throw new Failure(`starts.mjs failed for ${args.slice(1).join(" ")}`);
  return JSON.parse(printed);
}

await runMain(() => {
  const folder = mkdtempSync(join(tmpdir(), "fusion-cursor-bench-"));
  try {
    const program = agent(folder);
    console.log(`${AT_ONCE} starts at once, Node ${process.versions.node}, ${cpus().length} processors`);
    console.log("median / highest, in milliseconds");
    for (const megabytes of SIZES) {
      for (const which of /** @type {const} */ (["ours", "node"])) {
        const rounds = Array.from({ length: Number(options.rounds) }, () =>
          measure(program, megabytes, which),
        );
        /** @param {"longestCallMs" | "callsMs" | "longestTurnMs" | "wallMs"} name */
        const figure = (name) => {
          const all = rounds.map((round) => round[name]);
          return `${median(all).toFixed(2)} / ${Math.max(...all).toFixed(2)}`;
        };
        console.log(
          `  ${which === "ours" ? "launchCursorPrompt" : "child_process.spawn"}, ${megabytes} MB held: ` +
            `longest call ${figure("longestCallMs")}, all calls ${figure("callsMs")}, ` +
            `longest turn ${figure("longestTurnMs")}, all done ${figure("wallMs")}`,
        );
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
