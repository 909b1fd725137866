import { describe, expect, test } from "vitest";
import { parseCommandLine, UsageError } from "../cli/arguments.ts";

test("run takes a prompt, and is read-only unless told otherwise", () => {
  expect(parseCommandLine(["run", "fix it"])).toEqual({
    name: "run",
    prompt: "fix it",
    cwd: undefined,
    tools: "readonly",
    model: undefined,
    resumeId: undefined,
    binary: undefined,
    approveMcps: false,
    json: false,
  });
});

test("every option of run, before and after the prompt", () => {
  const argv = ["run", "--cwd", "/w", "--tools=coding", "-", "--model", "gpt-5", "--resume", "id"];
  expect(parseCommandLine([...argv, "--binary", "/a b/agent", "--approve-mcps", "--json"])).toEqual({
    name: "run",
    prompt: "-",
    cwd: "/w",
    tools: "coding",
    model: "gpt-5",
    resumeId: "id",
    binary: "/a b/agent",
    approveMcps: true,
    json: true,
  });
});

test("a prompt may begin with a dash after --", () => {
  expect(parseCommandLine(["run", "--", "--why?"])).toMatchObject({ prompt: "--why?" });
});

test("without a prompt it comes from standard input", () => {
  expect(parseCommandLine(["run"])).toMatchObject({ name: "run", prompt: undefined });
});

test.each([
  [["--help"], "help"],
  [["-h"], "help"],
  [["help"], "help"],
  [["run", "--help"], "help"],
  [["--version"], "version"],
  [["-v"], "version"],
  [["demo"], "demo"],
])("%j is %s", (argv, name) => {
  expect(parseCommandLine(argv).name).toBe(name);
});

test("demo can speak JSON", () => {
  expect(parseCommandLine(["demo", "--json"])).toEqual({ name: "demo", json: true });
});

test("doctor and models take their options", () => {
  expect(parseCommandLine(["doctor", "--worktree", "/w t", "--binary", "/a b", "--json"])).toEqual({
    name: "doctor",
    worktree: "/w t",
    binary: "/a b",
    json: true,
  });
  expect(parseCommandLine(["models", "--binary=x"])).toEqual({ name: "models", binary: "x", json: false });
});

describe("what makes no sense is said", () => {
  test.each([
    [[], "a command is missing"],
    [["fix it"], 'no command "fix it"'],
    [["run", "a", "b"], "in quotes"],
    [["run", ""], "the prompt is empty"],
    [["run", " \n"], "the prompt is empty"],
    [["run", "x", "--tools", "all"], 'not "all"'],
    [["run", "x", "--model", ""], "--model needs a value"],
    [["run", "x", "--modle", "y"], "--modle"],
    [["run", "x", "--model"], "--model"],
    [["run", "x", "--json=yes"], "--json"],
    [["run", "x", "--model", "--json"], "--model"],
    [["demo", "x"], "no prompt"],
    [["demo", "--model", "x"], "no option --model"],
    [["doctor", "--cwd", "x"], "doctor has no option --cwd"],
    [["doctor", "x"], 'doctor takes no "x"'],
    [["doctor", "--worktree", " "], "--worktree needs a value"],
    [["models", "--worktree", "x"], "models has no option --worktree"],
    [["run", "x", "--worktree", "y"], "--cwd"],
  ])("%j", (argv, message) => {
    expect(() => parseCommandLine(argv)).toThrow(UsageError);
    expect(() => parseCommandLine(argv)).toThrow(message);
    try {
      parseCommandLine(argv);
    } catch (error) {
      expect((error as Error).message).not.toContain("\n");
    }
  });
});
