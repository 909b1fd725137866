/** The step `callTools` of the stand-in agent, in front of servers that are not as they should be. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { init, result, runs, Stage, type Step } from "./support/stage.js";

const KEY = "fusion-custom-tools-1";

/** A server of a few lines; `answer` is the body of a function of one message that returns answers. */
function server(answer: string): { command: string; args: string[] } {
  const program = `const reply = (id, result) => ({ jsonrpc: "2.0", id, result });
    const answer = (message) => { ${answer} };
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      for (const one of answer(JSON.parse(line)) ?? []) console.log(typeof one === "string" ? one : JSON.stringify(one));
    });`;
  return { command: process.execPath, args: ["--eval", program] };
}

const GOOD = `
  if (message.method === "initialize") return [reply(message.id, { protocolVersion: message.params.protocolVersion })];
  if (message.method === "tools/list") return [reply(message.id, { tools: [{ name: "fn_a" }] })];`;

function stage(servers: object, step: Step): Stage {
  const stage = new Stage([init, { report: "report.json", ...step }, result("done")]);
  mkdirSync(stage.path(".cursor"));
  writeFileSync(stage.path(".cursor/mcp.json"), JSON.stringify({ mcpServers: servers }));
  return stage;
}

async function failure(servers: object, step: Step): Promise<string> {
  const error = await stage(servers, step)
    .launch()
    .catch((error: Error) => error);
  return (error as Error).message;
}

describe("callTools", () => {
  const step = { callTools: [{ tool: "fn_a", arguments: { said: "${prompt}" } }] };

  test("greets in the version that is asked for, fills placeholders in, and keeps kinds of content", async () => {
    const content = [
      { type: "image", data: "aGk=", mimeType: "image/png" },
      { type: "text", text: "x" },
    ];
    const on = stage(
      {
        [KEY]: server(`${GOOD}
        if (message.method === "tools/call") return [
          { jsonrpc: "2.0", method: "notifications/progress" },
          reply(message.id, { content: ${JSON.stringify(content)}, structuredContent: message.params }),
        ];`),
      },
      { ...step, protocol: "2025-03-26" },
    );
    const ends: unknown[] = [];
    await on.launch({ onToolEnd: (name, isError, result) => void ends.push([name, isError, result]) });
    expect(ends).toEqual([
      [
        `${KEY}-fn_a`,
        false,
        {
          success: {
            content: [{ image: { data: "aGk=", mimeType: "image/png" } }, { text: { text: "x" } }],
            isError: false,
          },
        },
      ],
    ]);
    const report = JSON.parse(readFileSync(on.path("report.json"), "utf8"));
    expect(report).toMatchObject({
      server: KEY,
      initialize: { protocolVersion: "2025-03-26" },
      tools: [{ name: "fn_a" }],
      answers: [{ result: { structuredContent: { name: "fn_a", arguments: { said: "hi" } } } }],
      exit: 0,
    });
    expect(runs(report.pid)).toBe(false);
  });

  test("tells of a call that the end of the server cuts off, and goes on", async () => {
    const on = stage(
      { [KEY]: server(`${GOOD} if (message.method === "tools/call") process.exit(3);`) },
      step,
    );
    const ends: unknown[] = [];
    const { text } = await on.launch({
      onToolEnd: (_name, isError, result) => void ends.push([isError, result]),
    });
    expect([text, ends]).toEqual(["done", [[true, { error: { error: "Connection closed" } }]]]);
  });

  test.each([
    ["no server of Fusion's", { board: server(GOOD) }, step, "0 servers 'fusion-custom-tools-…', not one"],
    ["two of them", { [KEY]: server(GOOD), [`${KEY}2`]: server(GOOD) }, step, "2 servers"],
    ["no server of that name", { [KEY]: server(GOOD) }, { ...step, server: "board" }, "no server 'board'"],
    [
      "a command that is not there",
      { [KEY]: { command: "/no/such", args: [] } },
      step,
      "/no/such: No such file",
    ],
    ["an entry without a command", { [KEY]: { url: "http://x" } }, step, "no command"],
    ["what is no JSON", { [KEY]: server('return ["Listening…"];') }, step, "wrote what is no JSON"],
    ["a server that ends at once", { [KEY]: server("process.exit(0);") }, step, "ended before initialize"],
    ["silence", { [KEY]: server("return [];") }, { ...step, limitMs: 300 }, "no answer within the limit"],
  ])("fails over %s, and says so", async (_what, servers, step, part) => {
    const message = await failure(servers, step);
    expect(message).toContain("exited 70");
    expect(message).toContain(part);
  });

  test("kills a server that does not leave", async () => {
    const stubborn = server(`${GOOD}
      if (message.method === "tools/call") { setInterval(() => {}, 1e6); return [reply(message.id, { content: [] })]; }`);
    const on = stage({ [KEY]: stubborn }, step);
    const failed = on.launch({ inactivityTimeoutMs: 30_000 }).catch((error: Error) => error.message);
    expect(await failed).toContain("did not end with its stdin");
  });
});
