// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a scenario
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { scenarioEnv, standInAgentPath } from "fusion-cursor-native/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { finished, runCommand, Scratch, startCommand, startOnTerminal, until } from "./support/command.ts";
import { runs } from "./support/runs.mjs";
import { Screen } from "./support/screen.ts";

const ESCAPE = "\u001b";
const INIT = {
  line: { type: "system", subtype: "init", cwd: "${cwd}", session_id: "${session}", model: "Auto" },
};
const OPEN_TOOL = {
  line: {
    type: "tool_call",
    subtype: "started",
    call_id: "call-1",
    tool_call: { shellToolCall: { args: { command: "sleep 99" } } },
    session_id: "${session}",
  },
};

let scratch: Scratch;
beforeEach(() => {
  scratch = new Scratch();
});
afterEach(() => {
  for (const pid of scratch.pids.filter(runs)) {
    process.kill(pid, "SIGKILL");
  }
  scratch.remove();
});

/** `run` on the stand-in agent. */
function runArguments(...more: string[]): string[] {
  return ["run", "--binary", standInAgentPath(), "--cwd", scratch.folder, ...more];
}

/** A turn that has begun, keeps a tool open, and has a child. */
function endlessTurn(): Record<string, string> {
  const child = { start: [scratch.pidStep("child"), { linger: true }] };
  return scenarioEnv(scratch.scenario([INIT, OPEN_TOOL, child, scratch.pidStep("agent"), { linger: true }]));
}

const bothRunning = () => until(() => scratch.pids.length === 2, "the agent and its child run");
const noneRunning = () => until(() => !scratch.pids.some(runs), "the agent and its child are gone");

function jsonLines(stdout: string): Record<string, unknown>[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

describe("demo", () => {
  test("shows thinking, text, parallel tools, a failed and a rejected one, and leaves no folder", async () => {
    const { code, stdout, stderr } = await runCommand(["demo"], { env: { TMPDIR: scratch.folder } });
    expect(stderr).toBe("");
    expect(code).toBe(0);
    const lines = stdout.split("\n");
    expect(lines[0]).toMatch(/^demo: .*stand-in agent.*no account/);
    const text = lines.map((line) => line.replace(/ {2}\d+\.\d+s$/, ""));
    expect(text).toContain("✓ read  src/tides.js");
    expect(text).toContain("✗ shell  npm test --silent  exit 1");
    expect(text).toContain("✓ mcp  almanac week_start");
    expect(text).toContain("✓ edit  src/tides.js");
    expect(text).toContain("✓ shell  npm test --silent");
    expect(text.some((line) => line.startsWith("✗ shell  git push origin main  rejected"))).toBe(true);
    expect(lines.at(-2)).toMatch(
      /^session \S+ · 20\.4k in \/ 655 out · 6 tools \(1 failed, 1 rejected\) · \d+\.\ds$/,
    );
    expect(stdout).not.toContain(ESCAPE);
    expect(readdirSync(scratch.folder)).toEqual([]);
  });

  test("with --json gives every event with its arguments and results, and the result of the turn", async () => {
    const { code, stdout, stderr } = await runCommand(["demo", "--json"]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^demo: /);
    const lines = jsonLines(stdout);
    expect(lines[0]).toMatchObject({ type: "system-init" });
    const started = lines.filter((line) => line.type === "tool-call-started");
    const completed = lines.filter((line) => line.type === "tool-call-completed");
    expect(started).toHaveLength(6);
    expect(started[0]).toMatchObject({ kind: "shell", args: { command: "npm test --silent" } });
    expect(completed).toHaveLength(6);
    expect(completed.every((line) => line.result !== undefined)).toBe(true);
    expect(completed.map((line) => line.outcome).sort()).toEqual([
      "failure",
      "rejected",
      ...Array.from({ length: 4 }, () => "success"),
    ]);
    expect(lines.at(-1)).toMatchObject({
      type: "turn-result",
      usage: { inputTokens: 20_418 },
      toolCalls: { started: 6, completed: 6, failed: 1, rejected: 1, abandoned: 0 },
    });
  });
});

describe("run", () => {
  test("gives the answer of the agent", async () => {
    const { code, stdout } = await runCommand(runArguments("Hello"), { env: scenarioEnv("answer") });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Done: the lighthouse is on\.\n\nsession \S+ · .*\n$/);
  });

  test.each([["-"], []])("takes the prompt from standard input with %j", async (...prompt) => {
    const input = "Two lines,\nund Umlaute: äöü 漢字\n";
    const { code, stdout } = await runCommand(runArguments(...prompt, "--json"), {
      env: scenarioEnv("answer"),
      input,
    });
    expect(code).toBe(0);
    const echo = jsonLines(stdout).find((line) => line.type === "user");
    expect(String(echo?.text)).toMatch(/^[^\n]*read-only[^\n]*\n\nUser request:\n/);
    expect(String(echo?.text).endsWith(`:\n${input}`)).toBe(true);
  });

  test("a failed turn gives 1, says what to do, and how to go on", async () => {
    const { code, stdout, stderr } = await runCommand(runArguments("Hello"), {
      env: scenarioEnv("usage-limit"),
    });
    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^error: .*usage limit/);
    expect(stderr).toContain("(CURSOR_USAGE_LIMIT)");
    expect(stderr).toMatch(/^hint: .*reset/m);
    expect(stderr).toMatch(/--resume \S+\n$/);
    expect(stderr).not.toContain(ESCAPE);
  });

  test("a failed turn ends its JSON with the error", async () => {
    const { code, stdout } = await runCommand(runArguments("Hello", "--json"), {
      env: scenarioEnv("usage-limit"),
    });
    expect(code).toBe(1);
    const last = jsonLines(stdout).at(-1);
    expect(last).toMatchObject({ type: "turn-error", code: "CURSOR_USAGE_LIMIT", retryable: false });
    expect(last).toHaveProperty("partial.sessionId");
  });

  test("a program that is not there gives 1 and the way to install it", async () => {
    const { code, stderr } = await runCommand(["run", "Hello", "--binary", "no-such-agent-anywhere"]);
    expect(code).toBe(1);
    expect(stderr).toContain("CURSOR_NOT_FOUND");
    expect(stderr).toMatch(/^hint: install it with/m);
  });

  test("a folder that is not there gives 1", async () => {
    const { code, stderr } = await runCommand(["run", "Hello", "--cwd", `${scratch.folder}/none`]);
    expect(code).toBe(1);
    expect(stderr).toContain("CURSOR_CWD_MISSING");
  });

  test("a reader that leaves ends the turn without a word", async () => {
    const child = startCommand(runArguments("Hello", "--json"), { env: endlessTurn() });
    child.stdin?.end();
    let stderr = "";
    child.stderr?.on("data", (chunk) => {
      stderr += chunk;
    });
    const closed = new Promise((resolve) => child.once("exit", resolve));
    child.stdout?.destroy();
    expect(await closed).toBe(1);
    expect(stderr).toBe("");
    await noneRunning();
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s aborts the turn, gives %i and leaves no process", async (signal, code) => {
    const child = startCommand(runArguments("Hello"), { env: endlessTurn() });
    const end = finished(child);
    await bothRunning();
    child.kill(signal);
    const { stdout, stderr, ...ending } = await end;
    expect(ending).toEqual({ code, signal: null });
    expect(stdout).toMatch(/^– shell {2}sleep 99 {2}not finished/);
    expect(stderr).toMatch(/^aborted\nsession \S+ · go on with --resume \S+\n$/);
    await noneRunning();
  });
});

describe("on a terminal", () => {
  test("Ctrl-C gives 130, the cursor back, and leaves no process", async () => {
    expect(
      spawnSync("script", ["--version"]).error,
      "the program `script` is needed for a terminal",
    ).toBeUndefined();
    const child = startOnTerminal(runArguments("Hello"), { env: endlessTurn() });
    const end = finished(child);
    await bothRunning();
    // Long enough to see the row move.
    await new Promise((resolve) => setTimeout(resolve, 300));
    child.stdin?.write("\u0003");
    const { code, stdout } = await end;
    child.stdin?.destroy();
    expect(code).toBe(130);
    expect(stdout).toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
    const screen = new Screen(80, 24).write(stdout.replaceAll("\r\n", "\n"));
    expect(screen.lines[0]).toMatch(/^– shell {2}sleep 99 {2}not finished {2}\d+\.\ds$/);
    expect(screen.lines[1]).toBe("aborted");
    expect(screen.lines[2]).toMatch(/^session \S+ · go on with --resume /);
    expect(screen.cursorVisible).toBe(true);
    await noneRunning();
  });

  test("a whole demo leaves finished rows and no spinner", async () => {
    const child = startOnTerminal(["demo"]);
    const { code, stdout } = await finished(child);
    child.stdin?.destroy();
    expect(code).toBe(0);
    const screen = new Screen(80, 24).write(stdout.replaceAll("\r\n", "\n"));
    expect(screen.lines.filter((line) => /^[✓✗] /.test(line))).toHaveLength(6);
    expect(screen.text).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
    expect(screen.cursorVisible).toBe(true);
    expect(screen.clipped).toBe(0);
  });
});

describe("usage", () => {
  test("--version is the package's", async () => {
    const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
    expect(await runCommand(["--version"])).toMatchObject({ code: 0, stdout: `${version}\n` });
  });

  test("--help names every command and option", async () => {
    const { code, stdout } = await runCommand(["run", "--help"]);
    expect(code).toBe(0);
    for (const word of ["run", "demo", "--cwd", "--tools", "--model", "--resume", "--binary", "--json"]) {
      expect(stdout).toContain(word);
    }
  });

  test.each([
    [[], /command is missing/],
    [["run", "x", "--nope"], /--nope/],
    [["run"], /standard input is empty/],
    [["run", "x", "--tools", "all"], /coding or readonly/],
  ])("%j gives 2 and the way to --help", async (argv, message) => {
    const { code, stdout, stderr } = await runCommand(argv);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/fusion-cursor --help\n$/);
  });
});
