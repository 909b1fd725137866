// The npm of this machine, as the script that Node runs: on Windows npm is a batch file, which only a shell starts.

import { existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { Failure } from "./common.mjs";

/** The npm that called this script, or else the one beside Node or in PATH: its script. */
export function npmScript() {
  const called = process.env.npm_execpath;
  if (called?.endsWith("npm-cli.js") && existsSync(called)) return called;
  const beside = [dirname(process.execPath), ...(process.env.PATH ?? "").split(delimiter)];
  for (const place of beside) {
    const link = join(place, "npm");
    const script = existsSync(link) ? realpathSync(link) : "";
    if (script.endsWith("npm-cli.js")) return script;
    const installed = join(place, "node_modules", "npm", "bin", "npm-cli.js");
    if (existsSync(installed)) return installed;
  }
  throw new Failure("There is no npm in PATH. It comes with Node.");
}
