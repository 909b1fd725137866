/** `fusion-cursor demo`: a whole turn on the stand-in agent that comes with the package. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Host, runTurn } from "./run.ts";

const BANNER = "demo: a turn on the built-in stand-in agent; no account is used\n\n";

export async function runDemo(json: boolean, host: Host): Promise<number> {
  const { scenarioEnv, standInAgentPath } = await import("fusion-cursor-native/testing");
  const binary = standInAgentPath();
  const cwd = mkdtempSync(path.join(tmpdir(), "fusion-cursor-demo-"));
  const remove = () => rmSync(cwd, { recursive: true, force: true });
  host.onExit(remove);
  try {
    // With --json, standard output holds JSON only.
    (json ? host.stderr : host.stdout).print([{ text: BANNER, style: "dim" }]);
    const prompt = "The tide table never prints Sunday. Fix it.";
    return await runTurn(
      { input: { cwd, prompt, binary, tools: "coding", env: scenarioEnv("demo") }, json },
      host,
    );
  } finally {
    remove();
  }
}
