// Measures what a probe costs beside the programs that it runs: `node probe.mjs BINARY ROUNDS` prints JSON. A probe
// with a discovery runs three: `--version`, `status` and `models`. Measured are those three by themselves, one after
// the other and with nothing around them, and the whole call.

import { spawnSync } from "node:child_process";
import { performance } from "node:perf_hooks";
import native from "../../../index.js";
import { busyMs, median } from "./clock.mjs";

const [binary = "", rounds = "1"] = process.argv.slice(2);

function alone() {
  const began = performance.now();
  for (const args of [["--version"], ["status", "--format", "json"], ["models"]]) spawnSync(binary, args);
  return performance.now() - began;
}

async function probed() {
  const before = busyMs();
  const began = performance.now();
  const { source } = await native.discoverCursorProviderModels({ binaryPath: binary });
  if (source !== "models-text") throw new Error(`the probe failed: ${source}`);
  return { wallMs: performance.now() - began, busyMs: busyMs() - before };
}

await probed();
/** @type {Record<"aloneMs" | "wallMs" | "busyMs", number>[]} */
const all = [];
for (let round = 0; round < Number(rounds); round += 1) all.push({ aloneMs: alone(), ...(await probed()) });
const middle = (/** @type {"aloneMs" | "wallMs" | "busyMs"} */ name) => median(all.map((one) => one[name]));
console.log(
  JSON.stringify({ aloneMs: middle("aloneMs"), wallMs: middle("wallMs"), busyMs: middle("busyMs") }),
);
