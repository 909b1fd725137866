/** A session with tools in a folder without git: two prompts of one conversation, an abort, and the end of it all. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { CursorSession, type CursorSessionOptions } from "fusion-cursor-native";
import { expect, onTestFinished, test } from "vitest";
import { begins, repeats } from "../support/session.js";
import { alive, allGone, Desk, family, type Kind, members } from "./support.js";

const CONFIG = join("work", ".cursor", "mcp.json");
const OPERATOR = '{\r\n\t"mcpServers": {"a": {"url": "http://x//y"} }\r\n}';

const add: NonNullable<CursorSessionOptions["fusionTools"]>[number] = {
  name: "fn_add",
  parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
  execute: (_id, { a, b }) => `${Number(a) + Number(b)} Füße`,
};

async function session(
  desk: Desk,
  kind: Kind,
  more: Partial<CursorSessionOptions> = {},
): Promise<CursorSession> {
  const { cwd, env } = desk.input();
  const made = await CursorSession.create({
    ...{ cwd, binary: desk.agent(kind), systemPrompt: "Be brief.", tools: "coding", fusionTools: [add] },
    ...(env === undefined ? {} : { env }),
    ...more,
  });
  onTestFinished(() => made.dispose());
  return made;
}

test.each(["exe", "cmd"] as const)(
  "a session on a .%s has its tools called, is resumed, and leaves the config as it was",
  async (kind) => {
    const call = { callTools: [{ tool: "fn_add", arguments: { a: 40, b: 2 } }] };
    const desk = new Desk([{ echo: "echo.json" }, begins, call, repeats]);
    desk.write(CONFIG, OPERATOR);
    const ends: unknown[] = [];
    const one = await session(desk, kind, {
      onToolEnd: (name, isError, result) => void ends.push([name, isError, result]),
    });
    expect(one.fusionToolBridgeError).toBeUndefined();
    const first = await one.prompt("Add %PATH% & more");
    expect(first.text).toContain(one.toolNames[0]);
    expect(first.text).toMatch(/\n\nUser request:\nAdd %PATH% & more$/);
    expect(desk.echo().argv).toContain("--approve-mcps");
    const second = await one.prompt("Again");
    expect(second.text).toBe("Again");
    expect(desk.echo().argv.slice(-2)).toEqual(["--resume", first.sessionId]);
    expect(ends).toEqual(
      Array.from({ length: 2 }, () => [
        "fn_add",
        false,
        { success: { content: [{ text: { text: "42 Füße" } }], isError: false } },
      ]),
    );
    await one.dispose();
    expect(desk.read(CONFIG)).toBe(OPERATOR);
    expect(readdirSync(desk.at("work", ".cursor"))).toEqual(["mcp.json"]);
  },
);

test("a session that is disposed in the middle of a turn takes all of it along", async () => {
  const desk = new Desk(family);
  const one = await session(desk, "cmd");
  const turn = one.prompt("Go").catch((error) => error);
  const pids = await members(desk);
  expect(pids.every(alive)).toBe(true);
  await one.dispose();
  expect(await turn).toMatchObject({ code: "CURSOR_ABORTED" });
  await allGone(pids);
  expect(desk.has(join("work", ".cursor"))).toBe(false);
});

test("a session does without tools where the config cannot be read", async () => {
  const desk = new Desk([{ echo: "echo.json" }, begins, repeats]);
  desk.write(CONFIG, "{ no json");
  const one = await session(desk, "exe");
  expect(one.fusionToolBridgeError).toMatchObject({
    reasonCode: "bridge-start-failed",
    reason: "unparsable",
  });
  await one.prompt("hi");
  expect(desk.echo().argv).not.toContain("--approve-mcps");
  await one.dispose();
  expect(desk.read(CONFIG)).toBe("{ no json");
});
