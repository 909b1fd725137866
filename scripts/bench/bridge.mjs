// Measures what a tool call costs without the tool: `node bridge.mjs ours|node CALLS` prints JSON. The server is in a
// process of its own, as the caller is in life, and runs a closure that does nothing. `node` is a plain node:http server
// that does the same work: it compares the token, parses the body, awaits the closure, and answers in JSON.

import { fork } from "node:child_process";
import { timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { Agent, createServer, request } from "node:http";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import native from "../../index.js";
import { median } from "./load.mjs";

const [which = "ours", calls = "1000", role] = process.argv.slice(2);
const execute = async () => "x";

/** Where to call, and with which token. */
async function serveOurs() {
  const bridge = await native.startCursorToolBridge([{ name: "fn_x", execute }]);
  if (bridge === null) throw new Error("no bridge");
  const { env } = bridge.serverEntry;
  return { url: env.FUSION_CURSOR_TOOL_BRIDGE_URL, token: bridge.token };
}

async function serveNode() {
  const token = "0".repeat(64);
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
  return { url: `http://127.0.0.1:${port}/tool-call`, token };
}

/**
 * One call, as the child makes it.
 * @param {string} url
 * @param {string} token
 * @param {Agent} agent
 */
async function call(url, token, agent) {
  const body = JSON.stringify({ name: "fn_x", arguments: { path: "src/index.ts" }, callId: "c" });
  const asked = request(url, {
    agent,
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-length": body.length,
    },
  });
  asked.end(body);
  const [answer] = await once(asked, "response");
  const chunks = [];
  for await (const chunk of answer) chunks.push(chunk);
  const { content } = JSON.parse(Buffer.concat(chunks).toString());
  if (answer.statusCode !== 200 || content[0].text !== "x")
    throw new Error(`status ${answer.statusCode}: ${JSON.stringify(content)}`);
}

if (role === "serve") {
  // A bridge keeps no process alive; a listener of the channel does, until the other side is gone.
  process.on("message", () => {});
  process.send?.(await (which === "ours" ? serveOurs() : serveNode()));
} else {
  const server = fork(fileURLToPath(import.meta.url), [which, calls, "serve"]);
  try {
    const [{ url, token }] = await once(server, "message");
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let warm = 0; warm < 300; warm += 1) await call(url, token, agent);
    const took = [];
    for (let number = 0; number < Number(calls); number += 1) {
      const began = performance.now();
      await call(url, token, agent);
      took.push(performance.now() - began);
    }
    agent.destroy();
    took.sort((one, other) => one - other);
    const p99Ms = took[Math.floor(took.length * 0.99)];
    console.log(JSON.stringify({ medianMs: median(took), p99Ms }));
  } finally {
    server.kill();
  }
}
