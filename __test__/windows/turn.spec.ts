/** Turns through a program and through batch files: what arrives, what is refused, and what is left. */

import { mkdirSync, rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { init, result, text } from "../support/stage.js";
import { alive, allGone, Desk, family, KINDS, members } from "./support.js";

const echo = [{ echo: "echo.json" }, init, text("Füße 中😀"), result("Füße 中😀")];
const PROMPT = '#first "line"\r\n\n/d %PATH% ^& | <x> (y) ! \t \\ " \\" 中文 😀\n';

describe.each(KINDS)("a turn through a .%s", (kind) => {
  test("has its words, its folder, its prompt and its answer as they were given", async () => {
    const desk = new Desk(echo);
    const binary = desk.agent(kind);
    const prompt = PROMPT.repeat(1000);
    const model = "claude-4[thinking=high,effort='x';y=~1]";
    const { text, exitCode, signal } = await desk.launch({ binary, prompt, model, resumeId: "s 1\\" });
    expect({ text, exitCode, signal }).toEqual({ text: "Füße 中😀", exitCode: 0, signal: null });
    const { argv, stdin, cwd } = desk.echo();
    expect(argv.slice(1)).toEqual([
      ...["--print", "--output-format", "stream-json", "--model", model, "--trust"],
      ...["--mode", "plan", "--resume", "s 1\\"],
    ]);
    expect(stdin.text).toBe(prompt);
    expect(cwd.toLowerCase()).toBe(desk.at("work").toLowerCase());
    expect(desk.started).toBe(kind !== "exe");
  });

  test("is found in PATH, and its environment is what was given", async () => {
    const desk = new Desk(echo);
    desk.agent(kind);
    await desk.launch({ env: { MY_OWN: "a=b %PATH% 中" } });
    expect(desk.echo().env).toMatchObject({ MY_OWN: "a=b %PATH% 中" });
  });

  test("that fails tells its exit code and what it said", async () => {
    const desk = new Desk([init, text("half"), { text: "no good: ü\n", to: "stderr" }, { exit: 7 }]);
    const failure = await desk.launch({ binary: desk.agent(kind) }).catch((error) => error);
    expect(failure).toMatchObject({ code: "CURSOR_EXITED", exitCode: 7, signal: null });
    expect(failure.stderrTail).toContain("no good: ü");
    expect(failure.partial.text).toBe("half");
  });

  test("ends with its grandchildren at an abort", async () => {
    const desk = new Desk(family);
    const control = new AbortController();
    const turn = desk.launch({ binary: desk.agent(kind), signal: control.signal }).catch((error) => error);
    const pids = await members(desk);
    expect(pids.every(alive)).toBe(true);
    control.abort(new Error("enough"));
    expect(await turn).toMatchObject({ code: "CURSOR_ABORTED", cause: { message: "enough" } });
    await allGone(pids);
  });

  test("ends with its grandchildren at a limit", async () => {
    const desk = new Desk(family);
    const turn = desk.launch({ binary: desk.agent(kind), inactivityTimeoutMs: 1500 }).catch((error) => error);
    const pids = await members(desk);
    expect(await turn).toMatchObject({ code: "CURSOR_INACTIVITY_TIMEOUT" });
    await allGone(pids);
  });

  test("ends what it left behind after its result", async () => {
    const left = { start: [{ touch: "child" }, { linger: true }], hold: "both" };
    const desk = new Desk([init, left, { waitFile: "child" }, result("done")]);
    const { leftovers, text } = await desk.launch({ binary: desk.agent(kind) });
    expect({ leftovers, text }).toEqual({ leftovers: [], text: "done" });
    await allGone([await desk.pid("child")]);
  });

  test("keeps what it left behind where that was asked for", async () => {
    const left = { start: [{ touch: "child" }, { linger: true }], hold: "none", args: ["worker-server"] };
    const desk = new Desk([init, left, { waitFile: "child" }, result("done")]);
    const { leftovers } = await desk.launch({ binary: desk.agent(kind), leftovers: "keep" });
    const child = await desk.pid("child");
    expect(alive(child)).toBe(true);
    expect(leftovers.map(({ pid }) => pid)).toEqual([child]);
    process.kill(child, "SIGKILL");
    await allGone([child]);
  });
});

describe("the launch", () => {
  test("takes an ending that nothing runs for a mistake, and says which", async () => {
    const desk = new Desk();
    for (const name of ["agent.txt", "agent.js", "agent.lnk"]) {
      const binary = desk.write(`bin/${name}`, "echo x>started.txt\r\n");
      const failure = await desk.launch({ binary }).catch((error) => error);
      expect(failure, name).toMatchObject({ code: "CURSOR_LAUNCHER_UNSUPPORTED" });
      expect(failure.message, name).toContain(name);
    }
  });

  test("asks the cmd.exe of the system, whatever ComSpec, PATH and folder offer", async () => {
    const desk = new Desk(echo);
    const binary = desk.agent("cmd");
    // The stand-in refuses cmd's own words.
    for (const name of ["work/cmd.exe", "bin/cmd.exe", "bin/shell.exe"]) desk.standIn(name);
    for (const ComSpec of [
      ...["cmd.exe", ".\\cmd.exe", "", desk.at("bin", "shell.exe"), "\\windows\\cmd.exe"],
      ...[desk.at("gone", "cmd.exe"), String(process.env.ComSpec).replaceAll("\\", "/")],
    ]) {
      const { text } = await desk.launch({ binary, env: { ComSpec } });
      expect(text, ComSpec).toBe("Füße 中😀");
    }
  });

  test("takes the file that is written down, however its path is, whatever PATHEXT has", async () => {
    const desk = new Desk(echo);
    const binary = desk.agent("cmd");
    for (const written of [binary, `\\\\?\\${binary}`, binary.replaceAll("\\", "/"), "cursor-agent.cmd"]) {
      const { text } = await desk.launch({ binary: written, env: { PATHEXT: ".COM;.EXE" } });
      expect(text, written).toBe("Füße 中😀");
    }
  });

  test("runs Cursor's own installation without its batch file", async () => {
    const desk = new Desk(echo);
    const installed = "home/AppData/Local/cursor-agent";
    desk.write(`${installed}/cursor-agent.cmd`, '@echo off\r\necho x>"%~dp0started.txt"\r\n');
    desk.write(`${installed}/cursor-agent.ps1`, "");
    for (const version of ["2025.12.01-aaaaaaa", "2026.08.11-e8db854", "2026.02.27-bbbbbbb"]) {
      const at = `${installed}/versions/${version}`;
      desk.standIn(`${at}/node.exe`);
      desk.write(`${at}/index.js`, "");
    }
    await desk.launch({ env: { PATH: desk.at("home", "AppData", "Local", "cursor-agent") } });
    const { argv } = desk.echo();
    expect(argv[0]).toContain("2026.08.11-e8db854");
    expect(argv[1]).toMatch(/2026\.08\.11-e8db854[\\/]index\.js$/);
    expect(desk.has(`${installed}/started.txt`)).toBe(false);
  });
});

describe.each(KINDS)("a .%s in a folder that no process can be started in", (kind) => {
  test("is not started in another one whose name is shorter by a dot", async () => {
    const desk = new Desk(echo);
    const binary = desk.agent(kind);
    const cwd = `\\\\?\\${desk.at("work.")}`;
    mkdirSync(cwd);
    await expect(desk.launch({ binary, cwd })).rejects.toMatchObject({
      code: "CURSOR_LAUNCHER_UNSUPPORTED",
      message: expect.stringContaining(cwd),
    });
    expect(desk.has("echo.json") || desk.has("work/echo.json")).toBe(false);
    rmSync(cwd, { recursive: true });
  });

  test("is started there by the short names, or refused, where the path is too long", async () => {
    const desk = new Desk(echo);
    const cwd = desk.at(...Array.from({ length: 8 }, () => "a long name of a folder Ω 中文 of this kind"));
    mkdirSync(`\\\\?\\${cwd}`, { recursive: true });
    const turn = await desk.launch({ binary: desk.agent(kind), cwd }).catch((error) => error);
    // A disk need not have short names.
    if (turn instanceof Error) expect(turn).toMatchObject({ code: "CURSOR_SPAWN_FAILED", retryable: false });
    else expect(turn.text).toBe("Füße 中😀");
    rmSync(`\\\\?\\${desk.at("a long name of a folder Ω 中文 of this kind")}`, { recursive: true });
  });
});
