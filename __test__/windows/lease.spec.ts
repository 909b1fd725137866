/** A staged server in a folder without git, and the tool call behind it. */

import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  inspectCursorWorktree,
  launchCursorPrompt,
  reconcileCursorWorktree,
  releaseHeldLeasesSync,
  stageCursorMcpLease,
  startCursorToolBridge,
} from "fusion-cursor-native";
import { expect, onTestFinished, test } from "vitest";
import { init, result } from "../support/stage.js";
import { Desk } from "./support.js";

const CONFIG = join("work", ".cursor", "mcp.json");
const OPERATOR =
  '\ufeff// mine\r\n{\r\n\t"mcpServers": {"a": {"url": "http://x//y",},}, /* and */ "n": 1.0e2,\r\n}';

const options = (desk: Desk) => ({
  worktreePath: desk.at("work"),
  serverKey: `fusion-custom-tools-${randomUUID()}`,
  serverEntry: { command: "C:\\my tools\\node.exe", args: ["server.cjs"], env: { A: "中" } },
});

/** Every file below, with its bytes. */
function picture(desk: Desk): Record<string, string> {
  const names = readdirSync(desk.at("work"), { recursive: true, encoding: "utf8" }).sort();
  return Object.fromEntries(
    names.map((name) => {
      const file = desk.at("work", name);
      return [name, statSync(file).isFile() ? readFileSync(file, "latin1") : "folder"];
    }),
  );
}

test.each([
  ["that has none", undefined],
  ["that has one", OPERATOR],
])("a lease leaves the config of a folder %s as it was, byte for byte", async (_, content) => {
  const desk = new Desk();
  if (content !== undefined) desk.write(CONFIG, content);
  const before = picture(desk);
  const given = options(desk);
  const lease = await stageCursorMcpLease(given);
  const staged = desk.read(CONFIG);
  expect(staged).toContain(given.serverKey);
  if (content !== undefined) expect(staged.startsWith("\ufeff// mine\r\n{\r\n\t")).toBe(true);
  await expect(lease.heartbeat()).resolves.toBe(true);
  await lease.dispose();
  expect(picture(desk)).toEqual(before);
});

test("two leases of one folder, one of them in other letters, live side by side", async () => {
  const desk = new Desk();
  const before = picture(desk);
  const first = await stageCursorMcpLease(options(desk));
  const second = await stageCursorMcpLease({
    ...options(desk),
    worktreePath: desk.at("work").toUpperCase().replaceAll("\\", "/"),
  });
  const staged = desk.read(CONFIG);
  for (const { serverKey } of [first, second]) expect(staged).toContain(serverKey);
  await first.dispose();
  await expect(second.heartbeat()).resolves.toBe(true);
  await second.dispose();
  expect(picture(desk)).toEqual(before);
});

test("many leases that come and go at once leave the bytes as they were", async () => {
  const desk = new Desk();
  desk.write(CONFIG, OPERATOR);
  const before = picture(desk);
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      const lease = await stageCursorMcpLease(options(desk));
      await lease.heartbeat();
      await lease.dispose();
    }),
  );
  expect(picture(desk)).toEqual(before);
});

test("what is held is released at once where there is no time, and what a dead host left is found", async () => {
  const desk = new Desk();
  desk.write(CONFIG, OPERATOR);
  const before = picture(desk);
  await stageCursorMcpLease(options(desk));
  releaseHeldLeasesSync();
  expect(picture(desk)).toEqual(before);
  await reconcileCursorWorktree(desk.at("work"));
  expect(picture(desk)).toEqual(before);
  await expect(inspectCursorWorktree(desk.at("work"))).resolves.toMatchObject({});
});

test("a folder has its lease where the paths of the files in it are longer than 260 characters", async () => {
  const desk = new Desk();
  const work = desk.at("work");
  // Wine does not tell where a path of more than that leads, which Windows does.
  const deep = join("work", "d".repeat(120), "e".repeat(250 - work.length - 122));
  desk.write(join(deep, "x"), "");
  expect(desk.at(deep)).toHaveLength(250);
  const lease = await stageCursorMcpLease({ ...options(desk), worktreePath: desk.at(deep) });
  expect(desk.read(join(deep, ".cursor", "mcp.json"))).toContain(lease.serverKey);
  await lease.dispose();
  expect(desk.has(join(deep, ".cursor"))).toBe(false);
});

test("a tool call goes through the staged server to the closure and back", async () => {
  const desk = new Desk([
    init,
    { callTools: [{ tool: "fn_add", arguments: { a: 40, b: 2 } }] },
    result("done"),
  ]);
  const before = picture(desk);
  const parameters = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } };
  const execute = async (_id: string, { a, b }: Record<string, unknown>) => `${Number(a) + Number(b)} Füße`;
  const bridge = await startCursorToolBridge([
    { name: "fn_add", description: "Adds", parameters, execute: execute as never },
  ]);
  if (bridge === null) throw new Error("no tool was published");
  onTestFinished(() => bridge.dispose());
  const lease = await stageCursorMcpLease({ ...options(desk), serverEntry: bridge.serverEntry });
  const calls: unknown[] = [];
  await launchCursorPrompt(
    desk.input({
      binary: desk.agent("cmd"),
      tools: "coding",
      approveMcps: true,
      fusionServerKey: lease.serverKey,
      onToolEnd: (name, isError, result) => void calls.push([name, isError, result]),
    }),
  );
  await lease.dispose();
  expect(calls).toEqual([
    ["fn_add", false, { success: { content: [{ text: { text: "42 Füße" } }], isError: false } }],
  ]);
  expect(picture(desk)).toEqual(before);
});
