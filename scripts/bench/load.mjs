// How long the addon takes to load, beside one that does nothing.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { capture, Failure, root } from "../common.mjs";
import { median } from "./child/clock.mjs";
import { inTurns, row } from "./figures.mjs";

const EMPTY = `/* An addon that does nothing. */
int node_api_module_get_api_version_v1(void) { return 9; }
void *napi_register_module_v1(void *env, void *exports) { return exports; }
`;

/** Milliseconds that an expression takes in a Node of its own. @param {string} expression */
function once(expression) {
  const program = `const began = process.hrtime.bigint(); ${expression};
    console.log(Number(process.hrtime.bigint() - began) / 1e6); process.exit()`;
  const printed = capture(process.execPath, "--eval", program);
  if (printed === undefined) throw new Failure(`This does not run: ${expression}`);
  return Number(printed);
}

/**
 * A package that does nothing, with the modules of Node that ours uses; undefined where there is no C compiler.
 * @param {string} folder
 */
function emptyPackage(folder) {
  const home = join(folder, "empty");
  mkdirSync(home);
  const [source, addon] = [join(home, "empty.c"), join(home, "empty.node")];
  writeFileSync(source, EMPTY);
  const used = ["index.js", "native.js"].flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/\brequire\(["']node:[\w/]+["']\)/g)].map(
      ([call]) => `${call};\n`,
    ),
  );
  writeFileSync(join(home, "index.js"), `${[...new Set(used)].join("")}require("./empty.node");\n`);
  return capture("cc", "-shared", "-fPIC", "-o", addon, source) === undefined ? undefined : { home, addon };
}

/** @param {import("./figures.mjs").Job} job */
export async function measure({ folder, addon, options: { loads } }) {
  const empty = emptyPackage(folder);
  /** @param {string | undefined} file */
  const dlopen = (file) => () =>
    file === undefined ? Number.NaN : once(`process.dlopen({ exports: {} }, ${JSON.stringify(file)})`);
  /** @param {string | undefined} home */
  const required = (home) => () =>
    home === undefined ? Number.NaN : once(`require(${JSON.stringify(home)})`);
  const ways = {
    addon: dlopen(addon),
    emptyAddon: dlopen(empty?.addon),
    package: required(root),
    emptyPackage: required(empty?.home),
  };
  // The first brings the files into memory.
  await inTurns(1, ways);
  const all = await inTurns(loads, ways);
  return [
    row({
      part: "load",
      name: "the addon",
      value: median(all.addon),
      unit: "ms",
      reference: median(all.emptyAddon),
      against: "an addon that does nothing",
    }),
    row({
      part: "load",
      name: "the whole package, by `require`",
      value: median(all.package),
      unit: "ms",
      reference: median(all.emptyPackage),
      against: "that addon, and the modules of Node that the package uses",
    }),
  ];
}
