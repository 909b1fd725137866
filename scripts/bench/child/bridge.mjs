// Measures what a tool call costs without the tool: `node bridge.mjs ours|node CALLS CALLERS` prints JSON. The
// server is in a process of its own, as the caller is in life, and runs a closure that does nothing.

import { fork } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import native from "../../../index.js";
import { busyMs, median } from "./clock.mjs";
import { plainServer } from "./hand.mjs";

const [which = "ours", calls = "1000", callers = "1", role] = process.argv.slice(2);
const execute = async () => "x";

/** Where to call, and with which token. */
async function serveOurs() {
  const bridge = await native.startCursorToolBridge([{ name: "fn_x", execute }]);
  if (bridge === null) throw new Error("no bridge");
  return { url: bridge.serverEntry.env.FUSION_CURSOR_TOOL_BRIDGE_URL, token: bridge.token };
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

async function serve() {
  const { url, token } = await (which === "ours" ? serveOurs() : plainServer(execute));
  // A bridge keeps no process alive; a listener of the channel does, until the other side is gone.
  process.on("message", () => process.send?.({ busyMs: busyMs() }));
  process.send?.({ url, token });
}

/** @param {import("node:child_process").ChildProcess} server */
async function served(server) {
  server.send("how busy");
  const [answer] = await once(server, "message");
  return answer.busyMs;
}

async function measure() {
  const server = fork(fileURLToPath(import.meta.url), [which, calls, callers, "serve"]);
  try {
    const [{ url, token }] = await once(server, "message");
    const agent = new Agent({ keepAlive: true, maxSockets: Number(callers) });
    /** @type {number[]} */
    const took = [];
    let left = 0;
    const lane = async () => {
      while (left > 0) {
        left -= 1;
        const began = performance.now();
        await call(url, token, agent);
        took.push(performance.now() - began);
      }
    };
    const all = async (/** @type {number} */ number) => {
      took.length = 0;
      left = number;
      await Promise.all(Array.from({ length: Number(callers) }, lane));
    };
    await all(300);
    const before = await served(server);
    const began = performance.now();
    await all(Number(calls));
    const wallMs = performance.now() - began;
    const busy = (await served(server)) - before;
    agent.destroy();
    took.sort((one, other) => one - other);
    return {
      medianMs: median(took),
      p99Ms: took[Math.floor(took.length * 0.99)],
      eachMs: wallMs / Number(calls),
      busyMs: busy / Number(calls),
    };
  } finally {
    server.kill();
  }
}

if (role === "serve") await serve();
else console.log(JSON.stringify(await measure()));
