import { type CursorPromptInput, launchCursorPrompt } from "fusion-cursor-native";
import { standInAgentPath } from "fusion-cursor-native/testing";
import { describe, expect, test } from "vitest";

describe("wrong arguments", () => {
  const good = { cwd: "/", prompt: "x", binary: standInAgentPath() };
  const cases: [string, unknown, RegExp][] = [
    ["no input", undefined, /input .* must be an object, not a value of type undefined/],
    ["no cwd", { prompt: "x" }, /^cwd must be a string, not/],
    ["a blank cwd", { ...good, cwd: " " }, /^cwd must be a string that is not blank/],
    ["a NUL in cwd", { ...good, cwd: "/a\0b" }, /^cwd must be a string without NUL/],
    ["a prompt that is no string", { ...good, prompt: 5 }, /^prompt must be a string, not 5/],
    ["unknown tools", { ...good, tools: "all" }, /^tools must be one of "coding", "readonly", not "all"/],
    ["a limit as a string", { ...good, inactivityTimeoutMs: "5" }, /^inactivityTimeoutMs must be a number/],
    [
      "a negative grace",
      { ...good, exitGraceMs: -1 },
      /^exitGraceMs must be a number of milliseconds from 0/,
    ],
    ["a callback that is none", { ...good, onText: "x" }, /^onText must be a function/],
    [
      "a model that is an option",
      { ...good, model: "cursor-cli/--force" },
      /^model must be an id that does not/,
    ],
    ["a signal that is none", { ...good, signal: {} }, /^signal must be an AbortSignal/],
    ["an env that is a list", { ...good, env: [] }, /^env must be an object of strings/],
    ["a number in env", { ...good, env: { A: 1 } }, /^env\.A must be a string, not of type number/],
    ["a name with =", { ...good, env: { "A=B": "1" } }, /^a name in env must be/],
    ["a flag that is none", { ...good, approveMcps: "yes" }, /^approveMcps must be true or false/],
    [
      "no line limit",
      { ...good, maxLineBytes: 0 },
      /^maxLineBytes must be a whole number of bytes from 1 to /,
    ],
    [
      "the key of another server",
      { ...good, fusionServerKey: "board" },
      /^fusionServerKey must be "fusion-custom-tools-"/,
    ],
    ["a resume id that is an option", { ...good, resumeId: "--force" }, /^resumeId must .* begin with -/],
    ["a model that is an option", { ...good, model: " --force" }, /^model must .* begin with -/],
    ["an empty resume id", { ...good, resumeId: "" }, /^resumeId must be a string that is not blank/],
  ];
  test.each(cases)("%s is a TypeError before anything happens", (_name, input, message) => {
    const call = (): unknown => launchCursorPrompt(input as CursorPromptInput);
    expect(call).toThrow(TypeError);
    expect(call).toThrow(message);
  });
});
