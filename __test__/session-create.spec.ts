/** The making of sessions, and what is refused before anything happens. */

import { readdirSync } from "node:fs";
import { CursorSession, type CursorSessionOptions } from "fusion-cursor-native";
import { standInAgentPath } from "fusion-cursor-native/testing";
import { describe, expect, test } from "vitest";
import { errorOf, onStage, parrot, sessionOf, staged } from "./support/session.js";
import { Stage } from "./support/stage.js";

/** How many turns were started on a stage. */
const turnsOf = (stage: Stage): number =>
  readdirSync(stage.folder).filter((name) => name.startsWith("turn-")).length;

describe("create", () => {
  test("of a folder that is not there gives a session whose turns say so", async () => {
    const session = await sessionOf({ cwd: "/none/at/all", binary: standInAgentPath() });
    expect(session.fusionToolBridgeError).toBeUndefined();
    expect(await errorOf(session.prompt("one"))).toMatchObject({ code: "CURSOR_CWD_MISSING" });
    expect(await errorOf(session.prompt("two"))).toMatchObject({ code: "CURSOR_CWD_MISSING" });
  });

  test("with a signal that is aborted already does nothing", async () => {
    const stage = new Stage(parrot);
    const reason = new Error("no");
    const error = await errorOf(CursorSession.create(onStage(stage, { signal: AbortSignal.abort(reason) })));
    expect(error).toMatchObject({ code: "CURSOR_ABORTED", name: "AbortError" });
    expect(error.cause).toBe(reason);
  });

  const good = { cwd: "/", binary: "x" };
  const wrong: [string, unknown, RegExp][] = [
    ["no options", undefined, /options of CursorSession\.create must be an object/],
    ["no cwd", {}, /^cwd must be a string, not/],
    ["a number for a system prompt", { ...good, systemPrompt: 5 }, /^systemPrompt must be a string, not 5/],
    ["a string for skills", { ...good, skills: "review" }, /^skills must be an array of strings/],
    ["a hole in skills", { ...good, skills: new Array(1) }, /^skills\[0\] must be a string/],
    [
      "a model that is an option",
      { ...good, defaultModelId: "-f" },
      /^defaultModelId must be .* begin with -/,
    ],
    ["an id that is an option", { ...good, resumeId: "--force" }, /^resumeId must be .* begin with -/],
    ["a flag that is none", { ...good, approveMcps: 1 }, /^approveMcps must be true or false/],
    ["unknown tools", { ...good, tools: "all" }, /^tools must be one of/],
    ["a callback that is none", { ...good, onText: {} }, /^onText must be a function/],
    ["a wait without an end", { ...good, lockTimeoutMs: 0 }, /^lockTimeoutMs must be a finite number/],
    ["a signal that is none", { ...good, signal: {} }, /^signal must be an AbortSignal/],
    ["fusionTools that are no list", { ...good, fusionTools: {} }, /^fusionTools must be an array of tools/],
    ["a tool without a name", { ...good, fusionTools: [{}] }, /^fusionTools\[0\]\.name must be a string/],
    [
      "two tools of one name",
      { ...good, fusionTools: [1, 2].map(() => ({ name: "fn_a", execute() {} })) },
      /^fusionTools\[1\]\.name must be one that no other tool has, not "fn_a"/,
    ],
    ["a toolBridge that is none", { ...good, toolBridge: 5 }, /^toolBridge must be an object/],
    [
      "a limit that is none",
      { ...good, toolBridge: { callTimeoutMs: 0 } },
      /^callTimeoutMs must be a finite/,
    ],
  ];
  test.each(wrong)("with %s is a TypeError, synchronously", (_name, options, message) => {
    const call = (): unknown => CursorSession.create(options as CursorSessionOptions);
    expect(call).toThrow(TypeError);
    expect(call).toThrow(message);
  });

  test("is the only way to have one", () => {
    expect(() => Reflect.construct(CursorSession, [{}])).toThrow(
      /^a CursorSession is made by CursorSession\.create$/,
    );
  });
});

test("a wrong argument of a turn is a TypeError, synchronously, and takes no place", async () => {
  const { stage, session } = await staged();
  for (const call of ["prompt", "stream"] as const) {
    expect(() => session[call](5 as never)).toThrow(/^the prompt must be a string, not 5/);
    expect(() => session[call]("x", 5 as never)).toThrow(/^the options of the turn must be an object/);
    expect(() => session[call]("x", { signal: 5 as never })).toThrow(/^signal must be an AbortSignal/);
  }
  await session.prompt("one");
  expect(turnsOf(stage)).toBe(1);
});
