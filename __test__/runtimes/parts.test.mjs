/** What hosts do with the package, in every runtime; and that each ends by itself right after it. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { files, HERE, host, isThere, nothingLeft, repository, room, root } from "./support/hosts.mjs";

/** How long a host may stay after it is done, in milliseconds. A machine that is busy with other tests has its share. */
const SOON = 2_000;

/** What is also done where the package was loaded by `require`. */
const BOTH_WAYS = ["load", "turn", "lease", "session"];

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const aborted = { code: "CURSOR_ABORTED", name: "AbortError" };
const text = "hé 😀";

/** What each part says, line by line. @type {[part: string, said: unknown[]][]} */
const parts = [
  ["load", [{ version, target: "string", file: true }]],
  ["parse", [{ type: "assistant-text", text }, [text], { typeError: true }]],
  ["probe", [{ available: true, state: "ready", binaryPath: true }]],
  ["probe-missing", [{ available: false, state: "missing" }]],
  ["probe-aborted", [aborted]],
  [
    "turn",
    [
      [
        ["system-init"],
        ["thinking-delta"],
        ["thinking", "hm"],
        ["assistant-text"],
        ["text", text],
        ["tool-call-started"],
        ["start", "read", { path: "x" }],
        ["tool-call-completed"],
        ["end", "read", false, { success: { content: "é" } }],
        ["result"],
      ],
      {
        text,
        sessionId: "s-1",
        exitCode: 0,
        calls: { started: 1, completed: 1, failed: 0, rejected: 0, abandoned: 0 },
      },
    ],
  ],
  ["callback-throws", [{ same: true }]],
  ["missing", [{ code: "CURSOR_NOT_FOUND", name: "CursorError" }]],
  ["timeout", [{ code: "CURSOR_INACTIVITY_TIMEOUT", name: "CursorError" }]],
  ["abort", [{ ...aborted, cause: "why" }]],
  ["abort-by-timeout", [{ ...aborted, cause: "TimeoutError" }]],
  ["lease", [{ beat: true, staged: "server", own: { command: "mine" } }]],
  [
    "session",
    [
      {
        calls: { started: 1, completed: 1, failed: 0, rejected: 0, abandoned: 0 },
        answer: [{ type: "text", text: "3" }],
      },
      {
        events: ["system-init", "tool-call-started", "tool-call-completed", "assistant-text", "result"],
        turns: 2,
        after: { code: "CURSOR_SESSION_DISPOSED", name: "CursorError" },
      },
    ],
  ],
  ["logger", [{ level: "string", time: "number" }]],
  ["held-lease", ["held"]],
  ["held-bridge", [{ tools: 1 }]],
  ["held-session", ["held"]],
  ["unawaited", ["left"]],
];

/** A room with a repository that has a config of its user. */
function workshop() {
  const folder = room();
  const work = repository(join(folder, "work"));
  mkdirSync(join(work, ".cursor"));
  const config = join(work, ".cursor", "mcp.json");
  writeFileSync(config, '{ "mcpServers": { "mine": { "command": "mine" } } }\n');
  const before = readFileSync(config);
  return { folder, work, asBefore: () => assert.deepEqual(readFileSync(config), before) };
}

for (const name of HERE) {
  describe(name, { concurrency: 1 }, () => {
    for (const way of ["import.mjs", "require.cjs"]) {
      for (const [part, said] of parts) {
        if (way === "require.cjs" && !BOTH_WAYS.includes(part)) continue;
        test(`${part}, by ${way}`, async () => {
          const { folder, work, asBefore } = workshop();
          const running = await host(name, folder, [way, part]);
          const { out, ...ended } = await running.end();
          const stayed = performance.now() - running.said;
          const lines = out.map((line) => JSON.parse(line));
          assert.deepEqual(
            { lines, ...ended },
            { lines: [...said, "done"], code: 0, signal: null, error: "" },
          );
          if (part === "unawaited") assert.ok(isThere(join(work, "ended")), "the host waits for the turn");
          else assert.ok(stayed < SOON, `the host stayed for ${stayed.toFixed(0)} ms`);
          asBefore();
          await nothingLeft(folder, [".cursor/mcp.json"]);
        });
      }
    }

    const ways = ["exit", "throw", "reject", "kill", ...(name === "deno" ? ["deno-exit"] : [])];
    for (const way of ways) {
      test(`a host that ends by ${way} leaves nothing`, async () => {
        const { folder, asBefore } = workshop();
        const { code, signal, error, out } = await (
          await host(name, folder, ["require.cjs", "end", way])
        ).end();
        if (way === "kill") assert.equal(signal, "SIGKILL", `${code} ${out} ${error}`);
        else assert.deepEqual({ code, signal }, { code: /exit/.test(way) ? 0 : 1, signal: null }, error);
        const all = await nothingLeft(folder, way === "kill" ? files(folder) : [".cursor/mcp.json"]);
        assert.equal(all, 2, "the agent and its child were there");
        // What a killed host held is for the next one to give back.
        if (way === "kill") await (await host(name, folder, ["require.cjs", "held-session"])).ended;
        asBefore();
        await nothingLeft(folder, [".cursor/mcp.json"]);
      });
    }

    test("ten thousand probes keep no memory", async () => {
      /** @type {Partial<Record<typeof name, string[]>>} */
      const own = { bun: [], deno: ["run", "--allow-all", "--quiet", "--v8-flags=--expose-gc"] };
      const flags = own[name] ?? ["--expose-gc"];
      const running = await host(name, room(), ["require.cjs", "probes"], { flags });
      const { code, out, error } = await running.end();
      assert.equal(code, 0, error);
      const { grown } = JSON.parse(out[0] ?? "{}");
      assert.ok(grown < 16, `the second half has kept ${grown} MB`);
    });
  });
}
