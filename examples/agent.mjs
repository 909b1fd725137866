// Which agent the examples run: Cursor's CLI where it is installed, and else the stand-in agent of this package, which
// plays one of the scenarios beside this file. A host of your own needs none of this.

import { fileURLToPath } from "node:url";
import { probeCursorBinary } from "fusion-cursor-native";
import { scenarioEnv, standInAgentPath } from "fusion-cursor-native/testing";

/**
 * The options of a session or a turn that say what runs.
 * @param {string} scenario what the stand-in plays
 * @returns {Promise<{ binary: string, env?: Record<string, string> }>}
 */
export async function agent(scenario) {
  const { available, binaryPath } = await probeCursorBinary();
  if (available && binaryPath !== undefined) return { binary: binaryPath };
  console.error("Cursor's CLI is not installed here; the stand-in agent plays its part.");
  const file = new URL(`scenarios/${scenario}.json`, import.meta.url);
  return { binary: standInAgentPath(), env: scenarioEnv(fileURLToPath(file)) };
}
