/**
 * A host in the folder that the package was installed into. It does once what hosts do, and prints what came of it as
 * one line of JSON.
 */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CursorError,
  CursorSession,
  launchCursorPrompt,
  nativeInfo,
  probeCursorBinary,
  stageCursorMcpLease,
} from "fusion-cursor-native";
import plugin from "fusion-cursor-native/plugin";
import { scenarioEnv, standInAgentPath } from "fusion-cursor-native/testing";

const required = createRequire(import.meta.url)("fusion-cursor-native");
const binary = standInAgentPath();

/** A worktree of a real repository, with a file of the user's in the way. */
const OWN = '{\n\t"mcpServers": { "own": { "command": "true" } } }\r\n';
const folder = mkdtempSync(join(tmpdir(), "use-"));
const config = join(folder, ".cursor", "mcp.json");
execFileSync("git", ["init", "--quiet", folder]);
mkdirSync(join(folder, ".cursor"));
writeFileSync(config, OWN);

async function lease() {
  const serverKey = "fusion-custom-tools-1";
  const serverEntry = { command: process.execPath, args: ["-e", ""] };
  const held = await stageCursorMcpLease({ worktreePath: folder, serverKey, serverEntry });
  const servers = Object.keys(JSON.parse(readFileSync(config, "utf8")).mcpServers);
  await held.dispose();
  return { servers, isRestored: readFileSync(config, "utf8") === OWN };
}

async function session() {
  const scenario = join(folder, "scenario.json");
  const turn = [
    { line: { type: "system", subtype: "init", cwd: "${cwd}", session_id: "${session}", model: "${model}" } },
    { callTools: [{ tool: "fn_add", arguments: { a: 40, b: 2 } }] },
    { line: { type: "result", subtype: "success", is_error: false, result: "", session_id: "${session}" } },
  ];
  writeFileSync(scenario, JSON.stringify({ turn }));
  /** @type {unknown[]} */
  const calls = [];
  const opened = await CursorSession.create({
    cwd: folder,
    binary,
    env: scenarioEnv(scenario),
    fusionTools: [
      {
        name: "fn_add",
        parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
        execute: (_callId, { a, b }) => {
          calls.push([a, b]);
          return `${a}, ${b}`;
        },
      },
    ],
  });
  try {
    const { toolCalls } = await opened.prompt("Add.");
    return { calls, toolCalls, error: opened.fusionToolBridgeError ?? null };
  } finally {
    await opened.dispose();
  }
}

const { text } = await launchCursorPrompt({ cwd: folder, prompt: "hi", binary, env: scenarioEnv("answer") });
const report = {
  isSame: required.CursorError === CursorError && required.nativeInfo === nativeInfo,
  plugin: plugin.manifest.id,
  info: nativeInfo(),
  binary,
  probe: await probeCursorBinary({ binaryPath: binary }),
  text,
  lease: await lease(),
  session: await session(),
};
rmSync(folder, { recursive: true, force: true });
console.log(JSON.stringify(report));
