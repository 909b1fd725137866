// What one writes who drives the CLI by hand: the yardstick of bridges and sessions. It has no locks, syncs nothing,
// hides nothing from git, supervises nothing, and leaves everything where the host dies.

import { spawn } from "node:child_process";
import { randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";

/**
 * A plain server that does a bridge's work: it compares the token, parses the body, awaits the tool, and answers in
 * JSON.
 * @param {() => Promise<string>} execute
 */
export async function plainServer(execute) {
  const token = randomBytes(32).toString("hex");
  const shown = Buffer.from(`Bearer ${token}`);
  const server = createServer(async (incoming, outgoing) => {
    const given = Buffer.from(incoming.headers.authorization ?? "");
    const chunks = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const right = given.length === shown.length && timingSafeEqual(given, shown);
    const { name } = JSON.parse(Buffer.concat(chunks).toString());
    if (!right || name !== "fn_x") throw new Error("this is not the caller");
    const answer = JSON.stringify({ content: [{ type: "text", text: await execute() }], isError: false });
    outgoing.writeHead(200, { "content-type": "application/json", "content-length": answer.length });
    outgoing.end(answer);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}/tool-call`, token, close: () => server.close() };
}

/**
 * One turn: `begun` is called when the agent has begun.
 * @param {string} binary
 * @param {string} cwd
 * @param {() => void} [begun]
 */
export async function turn(binary, cwd, begun) {
  const child = spawn(binary, ["-p", "--output-format", "stream-json"], {
    cwd,
    stdio: "pipe",
    detached: true,
  });
  child.stderr.resume();
  child.stdin.on("error", () => {}).end("x\n");
  let result = "";
  createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY }).on("line", (line) => {
    const record = JSON.parse(line);
    if (record.type === "system") begun?.();
    if (record.type === "result") result = record.result;
  });
  await once(child, "close");
  if (result !== "x") throw new Error("the agent has not answered");
}

/**
 * A session.
 * @param {{ cwd: string, binary: string, tool: boolean, begun?: () => void }} options
 */
export async function session({ cwd, binary, tool, begun }) {
  if (!tool) return { prompt: () => turn(binary, cwd, begun), dispose: async () => {} };
  const server = await plainServer(async () => "x");
  const config = join(cwd, ".cursor", "mcp.json");
  const before = readFileSync(config, "utf8");
  const staged = JSON.parse(before);
  const env = { URL: server.url, TOKEN: server.token };
  staged.mcpServers[randomUUID()] = { command: process.execPath, args: ["server.cjs"], env };
  writeFileSync(config, JSON.stringify(staged), { mode: 0o600 });
  return {
    prompt: () => turn(binary, cwd, begun),
    dispose: async () => {
      writeFileSync(config, before);
      server.close();
    },
  };
}
