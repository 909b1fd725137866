// Where what is built lies, and how it gets to where it is used.

import { chmodSync, copyFileSync, mkdirSync, renameSync, rmSync, utimesSync } from "node:fs";
import { dirname } from "node:path";
import { capture, Failure } from "../common.mjs";

/**
 * Where cargo puts what it builds. Cargo is asked, since a variable or a config file may move it.
 * @param {string} cargo
 * @param {NodeJS.ProcessEnv} env
 * @returns {string}
 */
export function targetDir(cargo = "cargo", env = process.env) {
  if (env.CARGO_TARGET_DIR !== undefined) return env.CARGO_TARGET_DIR;
  const metadata = capture(cargo, "metadata", "--no-deps", "--format-version", "1");
  if (metadata === undefined) throw new Failure("`cargo metadata` failed; run it by hand to see why.");
  return JSON.parse(metadata).target_directory;
}

/**
 * Put a new file in place of the old one, which a running Node may have loaded and which must not change.
 * @param {string} from
 * @param {string} to
 */
export function replace(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  const next = `${to}.next`;
  rmSync(next, { force: true });
  copyFileSync(from, next);
  chmodSync(next, 0o755);
  const now = new Date();
  utimesSync(next, now, now);
  renameSync(next, to);
}
