// `node scripts/bench-probe.mjs`: what probing costs beside the programs that it runs. By hand, on a release
// build (`npm run build`); a busy machine gives no useful numbers.
//
// A probe and a discovery run three programs: `--version`, `status` and `models`. Printed are the median of
// those three by themselves, one after the other and with nothing around them, the median of the whole
// call, their ratio, and how long the event loop was busy during one call.

import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import native from "../index.js";
import testing from "../testing/index.js";

const ROUNDS = 40;
const folder = mkdtempSync(join(tmpdir(), "fusion-cursor-bench-"));

/** Like the real CLI: a script for Node. */
function nodeAgent() {
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

/** @param {number[]} times */
function median(times) {
  return times.sort((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0;
}

/** @param {string} binary */
function alone(binary) {
  const start = performance.now();
  for (const args of [["--version"], ["status", "--format", "json"], ["models"]]) spawnSync(binary, args);
  return performance.now() - start;
}

/** @param {string} binary */
async function probed(binary) {
  const start = performance.now();
  const before = performance.eventLoopUtilization();
  const { source } = await native.discoverCursorProviderModels({ binaryPath: binary });
  const busy = performance.eventLoopUtilization(before).active;
  if (source !== "models-text") throw new Error(`the probe failed: ${source}`);
  return { took: performance.now() - start, busy };
}

try {
  const agents = { "stand-in": testing.standInAgentPath(), "node script": nodeAgent() };
  for (const [name, binary] of Object.entries(agents)) {
    const own = [];
    const whole = [];
    const busy = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      own.push(alone(binary));
      const one = await probed(binary);
      whole.push(one.took);
      busy.push(one.busy);
    }
    const [base, total, loop] = [median(own), median(whole), median(busy)];
    console.log(
      `${name}: alone ${base.toFixed(1)} ms, whole call ${total.toFixed(1)} ms, ` +
        `ratio ${(total / base).toFixed(2)}, event loop busy ${loop.toFixed(2)} ms`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
