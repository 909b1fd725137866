/** Sessions with tools: from the model's call to the closure, what keeps tools away, and what is left of them. */

import { cpSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { inspectCursorWorktree, releaseHeldLeasesSync } from "fusion-cursor-native";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Host } from "../lib/bridge.ts";
import { checked } from "../lib/tools.ts";
import { inHost, root } from "./support/host.js";
import {
  begins,
  calls,
  errorOf,
  listens,
  OPERATOR,
  ownTemporaryFolder,
  play,
  repeats,
  Scene,
  scene,
  tool,
  traces,
} from "./support/session.js";
import { runs } from "./support/stage.js";
import { CONFIG } from "./support/worktree.js";

const argv = (one: Scene): string[] =>
  (JSON.parse(one.read("../echo.json")) as { argv: string[] }).argv.slice(1);
const approves = (one: Scene): boolean => argv(one).includes("--approve-mcps");

describe("tools", () => {
  test("are called in every turn, by the names that the first prompt tells, and all is gone in the end", async () => {
    const one = scene();
    one.write(CONFIG, OPERATOR);
    one.git("add", "--all", "--", ".", `:!${CONFIG}`);
    const before = one.picture();
    const starts: unknown[] = [];
    const ends: unknown[] = [];
    const execute = vi.fn((_id: string, { a, b }: Record<string, number>) => `${Number(a) + Number(b)}`);
    const session = await one.session({
      tools: "coding",
      fusionTools: [tool(execute), tool(() => "x", "other"), { name: "fn_none" }],
      toolBridge: { context: "mine" },
      onToolStart: (name) => void starts.push(name),
      onToolEnd: (name, isError) => void ends.push([name, isError]),
    });
    const [key = ""] = Object.keys(one.entries());
    expect(session.toolNames).toEqual([`${key}-fn_add`]);
    expect(session.fusionToolBridgeError).toBeUndefined();
    const { port, folder } = traces(one);
    expect(await listens(port)).toBe(true);

    play(one, [begins, calls([{ tool: "fn_add", arguments: { a: 40, b: 2 } }]), repeats]);
    const { text, toolCalls } = await session.prompt("Add");
    expect(text).toContain(`${key}-fn_add`);
    expect(text).not.toContain("fn_none");
    expect(text).toMatch(/\n\nUser request:\nAdd$/);
    expect(toolCalls).toMatchObject({ started: 1, completed: 1, failed: 0 });
    expect(approves(one)).toBe(true);
    await session.prompt("Again");
    expect(approves(one)).toBe(true);
    expect(execute).toHaveBeenCalledTimes(2);
    expect(execute.mock.calls[0]?.[1]).toEqual({ a: 40, b: 2 });
    expect((execute.mock.calls[0] as unknown[])[4]).toBe("mine");
    expect(starts).toEqual(["fn_add", "fn_add"]);
    expect(ends).toEqual([
      ["fn_add", false],
      ["fn_add", false],
    ]);
    expect(session.toolCalls).toMatchObject({ started: 2, completed: 2 });
    const { pid } = JSON.parse(one.read("../report.json"));
    const token = Object.values(Object.values(one.entries())[0]?.env ?? {}).at(-1);
    expect(inspect(session)).not.toContain(token);

    await session.dispose();
    expect(runs(pid)).toBe(false);
    expect(await listens(port)).toBe(false);
    expect(readdirSync(join(folder, ".."))).not.toContain(folder.split("/").at(-1));
    for (const name of ["scenario.json", "echo.json", "report.json"]) rmSync(one.path(name));
    delete before["scenario.json"];
    expect(one.picture()).toEqual(before);
    expect((await inspectCursorWorktree(one.folder)).leases).toEqual([]);
  });

  test("work in a folder that is no repository", async () => {
    const one = new Scene({ repository: false });
    play(one, [begins, calls([{ tool: "fn_add" }]), repeats]);
    const execute = vi.fn(() => "x");
    const session = await one.session({ fusionTools: [tool(execute)] });
    await session.prompt("hi");
    expect(execute).toHaveBeenCalledTimes(1);
    await session.dispose();
    expect(one.has(".cursor")).toBe(false);
  });

  test("of two sessions in one worktree are each their own", async () => {
    const one = scene();
    const sessions = await Promise.all(
      ["a", "b"].map((name) => one.session({ fusionTools: [tool(() => name)] })),
    );
    const answers: string[] = [];
    for (const [index, session] of sessions.entries()) {
      const server = session.toolNames[0]?.replace(/-fn_add$/, "");
      play(one, [begins, { ...calls([{ tool: "fn_add" }]), server }, repeats]);
      await session.prompt("hi");
      answers.push(JSON.stringify(JSON.parse(one.read("../report.json")).answers));
      expect(answers[index]).toContain(index === 0 ? '"a"' : '"b"');
    }
    await sessions[0]?.dispose();
    expect(Object.keys(one.entries())).toHaveLength(1);
    await sessions[1]?.dispose();
    expect(one.has(".cursor")).toBe(false);
  });

  test("that nobody publishes open nothing, and that is no error", async () => {
    const one = scene();
    const temporary = ownTemporaryFolder();
    for (const fusionTools of [undefined, [], [{ name: "fn_none" }, tool(() => "x", "board_add")]]) {
      const session = await one.session(fusionTools === undefined ? {} : { fusionTools });
      expect(session.toolNames).toEqual([]);
      expect(session.fusionToolBridgeError).toBeUndefined();
      await session.prompt("hi");
      expect(approves(one)).toBe(false);
    }
    expect(one.has(".cursor")).toBe(false);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("of others are approved where that was asked for", async () => {
    const one = scene();
    const session = await one.session({ approveMcps: true });
    await session.prompt("hi");
    expect(approves(one)).toBe(true);
  });

  test("that are called before their session is there are answered when it is", async () => {
    const execute = vi.fn(() => "x");
    const host = new Host(checked([tool(execute)], {}));
    const answers: unknown[] = [];
    host.hear({ number: 7 });
    host.serve({
      take: () => ({ name: "fn_add", callId: "c", arguments: "{}" }),
      answer: (number: number, json: string) => answers.push([number, JSON.parse(json).content]),
    } as never);
    await vi.waitFor(() => expect(answers).toEqual([[7, [{ type: "text", text: "x" }]]]));
    expect(execute).toHaveBeenCalledTimes(1);
  });
});

interface Case {
  name: string;
  make(one: Scene): void;
  error: object;
  /** How it is cured. */
  cure?(one: Scene): void;
}

const failures: Case[] = [
  {
    name: "a config that is no JSON",
    make: (one) => one.write(CONFIG, '{ "mcpServers": '),
    error: { reasonCode: "bridge-start-failed", reason: "unparsable", detail: /mcp\.json/, path: CONFIG },
  },
  {
    name: "a config whose servers are no object",
    make: (one) => one.write(CONFIG, '{ "mcpServers": [] }'),
    error: {
      reasonCode: "bridge-start-failed",
      reason: "unexpected-shape",
      detail: /"mcpServers" is not an object; make it one, or remove it/,
      path: CONFIG,
    },
  },
  {
    name: "a config that git tracks",
    make: (one) => {
      one.write(CONFIG, "{}");
      one.git("add", CONFIG);
    },
    error: { reasonCode: "bridge-start-failed", reason: "tracked", detail: /git rm --cached/, path: CONFIG },
  },
  {
    name: "a lock that somebody holds",
    make: (one) => void one.lock(),
    error: { reasonCode: "bridge-start-failed", reason: "lock-timeout", detail: /is locked by process \d+/ },
  },
  {
    name: "a folder that is not there",
    make: (one) => rmSync(one.folder, { recursive: true }),
    error: { reasonCode: "bridge-start-failed", reason: "io", detail: /./ },
  },
];

describe("what keeps tools away fails no session", () => {
  test.each(failures)("$name", async ({ name, make, error }) => {
    const one = scene();
    const temporary = ownTemporaryFolder();
    make(one);
    const session = await one.session({ fusionTools: [tool(() => "x")], lockTimeoutMs: 300 });
    const { path, detail, ...expected } = error as { path?: string; detail: RegExp };
    expect(session.fusionToolBridgeError).toMatchObject({
      ...expected,
      detail: expect.stringMatching(detail),
      ...(path === undefined ? {} : { path: one.at(path) }),
    });
    expect(session.toolNames).toEqual([]);
    // The bridge was open by then.
    expect(readdirSync(temporary)).toEqual([]);
    if (name === "a folder that is not there") {
      expect(await errorOf(session.prompt("hi"))).toMatchObject({ code: "CURSOR_CWD_MISSING" });
      return;
    }
    const { text } = await session.prompt("hi");
    expect(text).not.toContain("fn_add");
    expect(approves(one)).toBe(false);
    await session.dispose();
    if (name === "a lock that somebody holds") one.unlock();
  });

  test("a quarantine, whose cure is told: the next session has tools again", async () => {
    const one = scene();
    one.write(CONFIG, OPERATOR);
    const first = await one.session({ fusionTools: [tool(() => "x")] });
    one.write(CONFIG, `${one.read(CONFIG)} and then some`);
    await first.dispose();
    const second = await one.session({ fusionTools: [tool(() => "x")] });
    expect(second.fusionToolBridgeError).toMatchObject({ reason: "quarantined" });
    const detail = second.fusionToolBridgeError?.detail ?? "";
    for (const word of ["mcp.json", "fusion-custom-tools-"]) expect(detail).toContain(word);
    await second.dispose();
    rmSync(one.at(CONFIG));
    const third = await one.session({ fusionTools: [tool(() => "x")] });
    expect(third.fusionToolBridgeError).toBeUndefined();
    await third.dispose();
    expect(one.git("status", "--porcelain", "--ignored")).toBe("");
  });

  test("the missing file of a package that was built from this one", async () => {
    const copy = realpathSync(mkdtempSync(join(tmpdir(), "fusion-cursor-test-")));
    onTestFinished(() => rmSync(copy, { recursive: true }));
    for (const name of readdirSync(root)) {
      if (/\.node$|^(index|native)\.js$|^package\.json$/.test(name))
        cpSync(join(root, name), join(copy, name));
    }
    const one = scene();
    const said = await inHost<{ error: object; names: string[]; text: string }>(
      `const { CursorSession } = require(given.copy);
       const session = await CursorSession.create({ ...given.options, fusionTools: [{ name: "fn_x", execute() {} }] });
       const { text } = await session.prompt("hi");
       await session.dispose();
       return { error: session.fusionToolBridgeError, names: session.toolNames, text };`,
      { copy, options: one.sessionOptions() },
    );
    const path = join(copy, "mcp-schema-server.cjs");
    expect(said.error).toEqual({
      reasonCode: "mcp-schema-server-missing",
      detail: expect.stringContaining(`${path} is not there`),
      path,
    });
    expect(said.names).toEqual([]);
    expect(said.text).toMatch(/User request:\nhi$/);
    expect(approves(one)).toBe(false);
  });
});

describe("the flag that approves", () => {
  test("is given only while the server is in force, and the session says why not", async () => {
    const one = scene();
    one.write(CONFIG, OPERATOR);
    const session = await one.session({ fusionTools: [tool(() => "x")] });
    await session.prompt("one");
    expect(approves(one)).toBe(true);
    // The operator, in the middle of an edit.
    const whole = one.read(CONFIG);
    one.write(CONFIG, whole.slice(0, -3));
    await session.prompt("two");
    expect(approves(one)).toBe(false);
    expect(session.fusionToolBridgeError).toMatchObject({
      reasonCode: "bridge-start-failed",
      detail: expect.stringContaining(CONFIG),
    });
    // They are done, and have thrown our entry out.
    one.write(CONFIG, OPERATOR);
    await session.prompt("three");
    expect(approves(one)).toBe(true);
    expect(session.fusionToolBridgeError).toBeUndefined();
    expect(Object.keys(one.entries())).toHaveLength(1);
    await session.dispose();
    expect(one.read(CONFIG)).toBe(OPERATOR);
  });

  test("is not given where the host has released the lease", async () => {
    const one = scene();
    const session = await one.session({ fusionTools: [tool(() => "x")] });
    releaseHeldLeasesSync(one.folder);
    await session.prompt("one");
    expect(approves(one)).toBe(false);
    expect(session.fusionToolBridgeError).toMatchObject({ detail: expect.stringMatching(/new session/) });
  });
});
