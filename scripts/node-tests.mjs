// Tests that Node's own runner runs: those of what was installed, and those that run in other runtimes too, where the
// test runner of the checkout is not at hand.

import { bounded } from "./bounded.mjs";

/**
 * Run test files, and resolve with what came of them, in the words of vitest's report. Rejects where a test fails or
 * the deadline passes; `report` is on the failure then.
 * @param {string[]} files
 * @param {{ seconds: number, atOnce?: number, env?: NodeJS.ProcessEnv }} options `atOnce` is how many files run at the
 *   same time, one without it
 * @returns {Promise<import("./windows.mjs").Report>}
 */
export async function nodeTests(files, { atOnce = 1, ...bounds }) {
  const options = ["--test", `--test-concurrency=${atOnce}`, "--test-reporter=spec"];
  const running = bounded(process.execPath, [...options, ...files], bounds);
  return reportOf(
    await running.catch((failure) => {
      failure.report = reportOf(failure.output ?? "");
      throw failure;
    }),
  );
}

/** @param {string} output */
function reportOf(output) {
  const number = (/** @type {string} */ kind) =>
    Number(output.match(new RegExp(`^\\S+ ${kind} (\\d+)$`, "m"))?.[1] ?? 0);
  return {
    numPassedTests: number("pass"),
    numFailedTests: number("fail") + number("cancelled"),
    numPendingTests: number("skipped"),
    numTodoTests: number("todo"),
  };
}
