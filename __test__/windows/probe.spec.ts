/** Which program is found, and what it answers through a batch file in a folder with blanks and other letters. */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { discoverCursorModels, probeCursorBinary, validateCursorBinaryPath } from "fusion-cursor-native";
import { describe, expect, onTestFinished, test } from "vitest";
import { Desk, KINDS } from "./support.js";

const ready = { available: true, authenticated: true, state: "ready" };

describe("a probe", () => {
  test.each(KINDS)("asks a .%s that PATH leads to", async (kind) => {
    const desk = new Desk();
    const agent = desk.agent(kind);
    const status = await probeCursorBinary({ env: desk.env });
    expect(status).toMatchObject({ ...ready, binaryName: "cursor-agent", usingConfiguredBinaryPath: false });
    expect(status.binaryPath?.toLowerCase()).toBe(agent.toLowerCase());
    expect(status.version).toMatch(/^\d{4}\.\d\d\.\d\d/);
    expect(desk.started).toBe(kind !== "exe");
  });

  test.each(KINDS)("asks a .%s that somebody configured", async (kind) => {
    const desk = new Desk();
    const binaryPath = desk.agent(kind, "my agent");
    const status = await probeCursorBinary({ binaryPath, env: { ...desk.env, PATH: desk.at("home") } });
    expect(status).toMatchObject({ ...ready, binaryPath, usingConfiguredBinaryPath: true });
  });

  test("finds the installer's own folder below LOCALAPPDATA without PATH", async () => {
    const desk = new Desk();
    desk.shim("home/AppData/Local/cursor-agent/cursor-agent.cmd");
    const status = await probeCursorBinary({ env: { ...desk.env, PATH: "" } });
    expect(status).toMatchObject({ ...ready, binaryName: "cursor-agent" });
  });

  test("takes the variables by their names in any case", async () => {
    const desk = new Desk();
    desk.agent("cmd");
    const { PATH = "", ...rest } = desk.env;
    expect(await probeCursorBinary({ env: { ...rest, Path: PATH } })).toMatchObject(ready);
  });

  test("does not need the host's folder of temporary files", async () => {
    const desk = new Desk();
    const binaryPath = desk.agent("cmd");
    const names = ["TEMP", "TMP"];
    const before = names.map((name) => process.env[name]);
    onTestFinished(() =>
      names.forEach((name, at) => void Object.assign(process.env, { [name]: before[at] })),
    );
    for (const folder of [desk.at("none"), "\\\\none\\share"]) {
      for (const name of names) process.env[name] = folder;
      expect(await probeCursorBinary({ binaryPath, env: desk.env }), folder).toMatchObject(ready);
    }
  });

  test("lists models through a batch file", async () => {
    const desk = new Desk();
    const agent = desk.agent("cmd");
    const { models } = await discoverCursorModels(agent, 0, { env: desk.env });
    expect(models.length).toBeGreaterThan(1);
  });

  test("never lets a shell interpret what was configured", async () => {
    const desk = new Desk();
    const agent = desk.agent("cmd");
    for (const binaryPath of [
      `${agent} & echo x>"${desk.at("injected")}"`,
      `"${agent}"`,
      `${agent}|more`,
      `%ComSpec% /c echo x>${desk.at("injected")}`,
      "cursor-agent.cmd&calc",
    ]) {
      const { ok } = await validateCursorBinaryPath(binaryPath, { env: desk.env });
      expect(ok, binaryPath).toBe(false);
    }
    expect([desk.has("injected"), desk.started]).toEqual([false, false]);
  });

  test("says of a batch file in a folder that cmd would take apart why it is not run", async () => {
    const desk = new Desk();
    const agent = desk.shim("bin/a & b/cursor-agent.cmd");
    const { ok, diagnostic } = await validateCursorBinaryPath(agent, { env: desk.env });
    expect(ok).toBe(false);
    expect(diagnostic).toContain("&");
    expect(desk.has("bin/a & b/started.txt")).toBe(false);
  });

  test("runs a program itself whatever its folder is called", async () => {
    const desk = new Desk();
    const agent = desk.standIn("bin/100% a & b ^ (x)/cursor-agent.exe");
    expect(await validateCursorBinaryPath(agent, { env: desk.env })).toMatchObject({ ok: true });
  });
});

describe("the search", () => {
  test("prefers npm's .cmd to the shell script of the same name beside it", async () => {
    const desk = new Desk();
    desk.write("bin/cursor-agent", "#!/bin/sh\nexec node x.js\n");
    desk.write("bin/cursor-agent.ps1", "exit 1\n");
    desk.agent("cmd");
    expect(await probeCursorBinary({ env: desk.env })).toMatchObject(ready);
    expect(desk.started).toBe(true);
  });

  test("takes the first folder that has the name, and PATHEXT's order within it", async () => {
    const desk = new Desk();
    const first = desk.shim("first/cursor-agent.bat");
    desk.standIn("second/cursor-agent.exe");
    const env = { ...desk.env, PATH: [desk.at("first"), desk.at("second")].join(";") };
    const found = async (PATHEXT: string) =>
      (await probeCursorBinary({ env: { ...env, PATHEXT } })).binaryPath?.toLowerCase();
    expect(await found(".EXE;.CMD;.BAT")).toBe(first.toLowerCase());
    const exe = desk.standIn("first/cursor-agent.exe");
    expect(await found(".EXE;.CMD;.BAT")).toBe(exe.toLowerCase());
    expect(await found(".BAT;.EXE")).toBe(first.toLowerCase());
  });

  test("leaves out folders that are not absolute, and never looks where it stands", async () => {
    const desk = new Desk();
    desk.agent("cmd");
    const before = process.cwd();
    process.chdir(desk.folder);
    try {
      for (const PATH of ["", ";", ".;bin", "bin", "\\bin"]) {
        expect((await probeCursorBinary({ env: { ...desk.env, PATH } })).state, PATH).toBe("missing");
      }
    } finally {
      process.chdir(before);
    }
  });

  test("sees what was installed and what was removed since it last looked", async () => {
    const desk = new Desk();
    const state = async () => (await probeCursorBinary({ env: desk.env })).state;
    expect(await state()).toBe("missing");
    const agent = desk.agent("cmd");
    expect(await state()).toBe("ready");
    rmSync(agent);
    expect(await state()).toBe("missing");
    desk.agent("exe");
    expect(await state()).toBe("ready");
  });

  test("quotes in PATH hold a folder together", async () => {
    const desk = new Desk();
    desk.agent("cmd");
    const env = { ...desk.env, PATH: `${join("C:", "windows")};"${desk.at("bin")}"` };
    expect(await probeCursorBinary({ env })).toMatchObject(ready);
  });
});
