// How long the addon takes to load, beside one that does nothing.

import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { capture, Failure, root } from "../common.mjs";

const EMPTY = `/* An addon that does nothing. */
int node_api_module_get_api_version_v1(void) { return 9; }
void *napi_register_module_v1(void *env, void *exports) { return exports; }
`;

/**
 * The middle one.
 * @param {number[]} values
 */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/**
 * Milliseconds that an expression takes in a Node of its own.
 * @param {string} expression
 */
function once(expression) {
  const program = `const began = process.hrtime.bigint(); ${expression};
    console.log(Number(process.hrtime.bigint() - began) / 1e6); process.exit()`;
  const printed = capture(process.execPath, "--eval", program);
  if (printed === undefined) throw new Failure(`This does not run: ${expression}`);
  return Number(printed);
}

/**
 * @param {string} folder for what is built here
 * @param {string} addon
 * @param {number} rounds
 */
export function measureLoad(folder, addon, rounds) {
  const [source, empty] = [join(folder, "empty.c"), join(folder, "empty.node")];
  writeFileSync(source, EMPTY);
  const built = capture("cc", "-shared", "-fPIC", "-o", empty, source) !== undefined;
  /** @param {string} file */
  const dlopen = (file) => `process.dlopen({ exports: {} }, ${JSON.stringify(file)})`;
  /** @type {Record<"addon" | "empty" | "package", number[]>} */
  const times = { addon: [], empty: [], package: [] };
  for (let round = 0; round <= rounds; round += 1) {
    const all = {
      addon: once(dlopen(addon)),
      empty: built ? once(dlopen(empty)) : Number.NaN,
      package: once(`require(${JSON.stringify(root)})`),
    };
    // The first brings the files into memory.
    if (round === 0) continue;
    times.addon.push(all.addon);
    times.empty.push(all.empty);
    times.package.push(all.package);
  }
  return {
    addonMs: median(times.addon),
    emptyMs: built ? median(times.empty) : undefined,
    packageMs: median(times.package),
    addonBytes: statSync(addon).size,
  };
}
