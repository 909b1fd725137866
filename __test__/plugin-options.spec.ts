/** What a session of the plugin is made from: the engine's options, the settings, and what is wrong in them. */

import type { CursorError } from "fusion-cursor-native";
import { CursorRuntimeAdapter } from "fusion-cursor-native/plugin";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Task } from "./support/fusion.js";
import { begins, errorOf, repeats } from "./support/session.js";

describe("a session", () => {
  test("runs the program that is configured when it is created", async () => {
    const task = new Task();
    task.play([begins, repeats]);
    task.context.settings.cursorCliBinaryPath = "/no/such/agent";
    const lost = await task.session();
    await expect(lost.prompt("one")).rejects.toMatchObject({ code: "CURSOR_NOT_FOUND" });
    task.context.settings.cursorCliBinaryPath = new Task().context.settings.cursorCliBinaryPath;
    const session = await task.session();
    await session.prompt("one");
    await expect(lost.prompt("two")).rejects.toMatchObject({ code: "CURSOR_NOT_FOUND" });
  });

  test("takes the skills of the runtime's context where it was given none", async () => {
    const task = new Task();
    task.play([begins, repeats]);
    const runtimeContext = { requestedSkillNames: ["review"] };
    await (await task.session({ runtimeContext })).prompt("one");
    expect(task.echo().prompt).toContain("review");
    await (await task.session({ runtimeContext, skills: [] })).prompt("one");
    expect(task.echo().prompt).not.toContain("review");
  });

  test.each([
    [{ defaultModelId: "gpt-5" }, "gpt-5", []],
    [{ defaultModelId: " " }, "auto", []],
    [{ defaultProvider: "cursor-cli", defaultModelId: "gpt-5" }, "gpt-5", []],
    [{ defaultProvider: "cursor", defaultModelId: "gpt-5" }, "gpt-5", []],
    [{ defaultProvider: "openai", defaultModelId: "cursor-cli/gpt-5" }, "gpt-5", []],
    [{ defaultProvider: "openai" }, "auto", []],
    [
      { defaultProvider: "openai", defaultModelId: "gpt-5" },
      "auto",
      ["warn: openai/gpt-5 is no model of Cursor's CLI: auto runs in its place"],
    ],
  ])("of %j runs with %s", async (options, model, logged) => {
    const task = new Task();
    const session = await task.session(options);
    expect(task.runtime.describeModel(session)).toBe(`cursor-cli/${model}`);
    expect(task.context.logged).toEqual(logged);
  });

  test("is given what is new in the environment of the task, and nothing that is kept from it", async () => {
    vi.stubEnv("NODE_OPTIONS", "--no-warnings");
    onTestFinished(() => void vi.unstubAllEnvs());
    const task = new Task();
    task.play([begins, repeats]);
    const taskEnv = { ...process.env, ...task.env, TASK: "tides", GONE: undefined };
    await (await task.session({ taskEnv })).prompt("one");
    expect(task.echo().env).toMatchObject({ TASK: "tides" });
    expect(task.echo().env).not.toHaveProperty("NODE_OPTIONS");
    expect(task.echo().env).not.toHaveProperty("GONE");
  });

  test("in a folder that is not there says so at its first prompt", async () => {
    const task = new Task();
    const session = await task.session({ cwd: task.at("no such folder") });
    expect(await errorOf(session.prompt("one"))).toMatchObject({ code: "CURSOR_CWD_MISSING" });
  });

  test.each<[string, object]>([
    ["no folder", { cwd: undefined }],
    ["tools that are none", { tools: "all" }],
    ["skills that are none", { skills: "review" }],
    ["a callback that is none", { onText: 7 }],
  ])("of %s is a TypeError", async (_what, more) => {
    const error: CursorError = await errorOf(new Task().session(more));
    expect(error).toBeInstanceOf(TypeError);
  });

  test.each([[undefined], [null], ["/"]])("of %j in the place of options is a TypeError", async (options) => {
    const created = new CursorRuntimeAdapter().createSession(options as never);
    await expect(created).rejects.toThrow(new TypeError("the options of createSession must be an object"));
  });

  test("takes null for no options of a prompt", async () => {
    const task = new Task();
    task.play([begins, repeats]);
    const session = await task.session();
    await session.prompt("one", null);
    await task.runtime.promptWithFallback(session, "two", null);
    expect(session.turns).toBe(2);
  });

  test("needs no context", async () => {
    const task = new Task();
    task.play([begins, repeats]);
    const session = await task.session({}, new CursorRuntimeAdapter());
    await session.dispose();
  });
});
