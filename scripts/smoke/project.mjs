// What scripts/smoke.mjs runs in a project that has nothing but the packages: loads them, probes, plays a turn, lends a
// tool by a lease, and looks that nothing is left. Its arguments are the platform and the version that it has to find.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";

const [platform, version] = process.argv.slice(2);
const name = "fusion-cursor-native";
const require = createRequire(import.meta.url);

/** @type {any} */
const cursor = await import(name);
/** @type {any} */
const testing = await import(`${name}/testing`);

const info = cursor.nativeInfo();
const where = join("node_modules", `${name}-${platform}`);
assert.equal(info.version, version);
// Not one that npm found elsewhere, since the two do not fit each other.
assert.equal(relative(process.cwd(), dirname(info.file)), where, `${info.file} is not in ${where}`);
assert.equal(require(name).nativeInfo().file, info.file);
assert.equal(typeof require(`${name}/plugin`), "object");
console.log(`loaded   ${info.target} ${info.version} in Node ${process.version}`);

const binary = testing.standInAgentPath();
const env = testing.scenarioEnv("answer");
const status = await cursor.probeCursorBinary({ binaryPath: binary, env });
assert.equal(status.state, "ready", JSON.stringify(status));
console.log(`probed   ${status.state}`);

const worktree = mkdtempSync(join(tmpdir(), "fusion-cursor-smoke-worktree-"));
try {
  let streamed = "";
  const result = await cursor.launchCursorPrompt({
    cwd: worktree,
    prompt: "Is the lighthouse on?",
    binary,
    env,
    onText: (/** @type {string} */ text) => {
      streamed += text;
    },
  });
  assert.equal(result.text, "Done: the lighthouse is on.");
  assert.equal(streamed, result.text);
  assert.deepEqual(result.leftovers, []);
  console.log("turned   a turn was played, and left nothing");

  const config = join(worktree, ".cursor", "mcp.json");
  const operators = '{ "mcpServers": { "mine": { "command": "true" } } } // as it was\n';
  mkdirSync(join(worktree, ".cursor"));
  writeFileSync(config, operators);
  const lease = await cursor.stageCursorMcpLease({
    worktreePath: worktree,
    serverKey: "fusion-custom-tools-3b1c8a52-7c44-4b6e-9c1f-2f7f7c9b7f01",
    serverEntry: { command: process.execPath, args: [cursor.cursorMcpSchemaServerPath()] },
  });
  assert.match(readFileSync(config, "utf8"), /fusion-custom-tools-3b1c8a52/);
  await lease.dispose();
  assert.equal(readFileSync(config, "utf8"), operators);
  console.log("leased   the config changed, and came back byte for byte");
} finally {
  rmSync(worktree, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
assert.ok(!existsSync(worktree));

const command = join("node_modules", name, "dist", "fusion-cursor.mjs");
const ran = spawnSync(process.execPath, [command, "doctor", "--binary", binary], {
  encoding: "utf8",
  timeout: 60_000,
});
assert.equal(ran.status, 0, ran.stdout + ran.stderr);
assert.ok(readdirSync("node_modules").includes(name));
console.log("asked    the command says that all is well");
