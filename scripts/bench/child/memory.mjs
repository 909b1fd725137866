// Measures what the child that serves the tools holds of memory: `node memory.mjs child|node` prints JSON. `node` is
// a Node that does nothing but read its input.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import native from "../../../index.js";

const [which] = process.argv.slice(2);
const IDLE = "process.stdin.on('data', () => process.stdout.write('idle'))";

async function ours() {
  const bridge = await native.startCursorToolBridge([{ name: "fn_x", async execute() {} }]);
  if (bridge === null) throw new Error("no bridge");
  const { command, args, env } = bridge.serverEntry;
  return { command, args, env: { ...process.env, ...env }, end: () => bridge.dispose() };
}

/** The memory that a process has. @param {number | undefined} pid */
function rssOf(pid) {
  if (process.platform !== "linux")
    return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)])) * 1024;
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

const idle = { command: process.execPath, args: ["--eval", IDLE], env: process.env, end: async () => {} };
const { command, args, env, end } = which === "child" ? await ours() : idle;
const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "inherit"] });
try {
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" })}\n`);
  await once(child.stdout, "data");
  console.log(JSON.stringify({ rssBytes: rssOf(child.pid) }));
} finally {
  child.kill();
  await end();
}
