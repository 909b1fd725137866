/**
 * The addon in the place of the plugin's own modules: every file of `drop-in/` is one of them as a re-export, and is
 * used here as the callers of that module use it.
 */

import { randomUUID } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { standInAgentPath } from "fusion-cursor-native/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { releaseHeldLeasesSync, stageCursorMcpLease } from "./drop-in/cursor-mcp-config.js";
import { parseCursorAuthStatus, probeCursorBinary, validateCursorBinaryPath } from "./drop-in/probe.js";
import { discoverCursorModels, parseCursorModels } from "./drop-in/process-manager.js";
import { launchCursorPrompt } from "./drop-in/prompt-transport.js";
import { cursorCliProvider, discoverCursorProviderModels } from "./drop-in/provider.js";
import { CursorRuntimeAdapter } from "./drop-in/runtime-adapter.js";
import { CursorStreamParser, parseCursorStreamLine } from "./drop-in/stream-parser.js";
import { cursorMcpSchemaServerPath, startCursorToolBridge } from "./drop-in/tool-bridge.js";
import {
  classifyCursorConfigTracking,
  inspectCursorWorktree,
  reconcileCursorWorktree,
} from "./drop-in/worktree-hygiene.js";
import { liveOn } from "./support/fusion.js";
import { AGENT, Machine, VERSION } from "./support/machine.js";
import { parrot } from "./support/session.js";
import { completed, init, result, Stage, started, text } from "./support/stage.js";
import { CONFIG, STATE, Worktree } from "./support/worktree.js";

test("the modules are those of the plugin, and nothing but re-exports", () => {
  expect(readdirSync(join(__dirname, "drop-in")).sort()).toEqual(
    [
      "cursor-mcp-config",
      "probe",
      "process-manager",
      "prompt-transport",
      "provider",
      "runtime-adapter",
      "stream-parser",
      "tool-bridge",
      "worktree-hygiene",
    ].map((name) => `${name}.ts`),
  );
});

test("probe: the status card, and the settings field", async () => {
  const machine = new Machine();
  const path = machine.script("bin/cursor-agent", AGENT);
  liveOn(machine);
  const { available, authenticated, binaryName, binaryPath, version, probeDurationMs } =
    await probeCursorBinary();
  expect({ available, authenticated, binaryName, binaryPath, version }).toEqual({
    available: true,
    authenticated: true,
    binaryName: "cursor-agent",
    binaryPath: path,
    version: VERSION,
  });
  expect(probeDurationMs).toBeGreaterThan(0);
  expect(await validateCursorBinaryPath(path)).toMatchObject({ ok: true });
  // Saved is only what answers itself, whatever is in PATH.
  const { ok, diagnostic } = await validateCursorBinaryPath("/no/such/agent");
  expect([ok, diagnostic]).toEqual([false, expect.stringContaining("/no/such/agent")]);
  expect(parseCursorAuthStatus('{"isAuthenticated":false}')).toEqual({ isAuthenticated: false });
});

test("process-manager: the models of one program", async () => {
  const machine = new Machine();
  const path = machine.script("bin/cursor-agent", AGENT);
  liveOn(machine);
  const { models, source, fallbackUsed } = await discoverCursorModels(path, 10_000);
  expect({ models, source, fallbackUsed }).toEqual({
    models: ["auto", "m"],
    source: "models-text",
    fallbackUsed: false,
  });
  expect(parseCursorModels("Available models\n\nauto - Auto (default)\n\nTip: x")).toEqual([
    { id: "auto", label: "Auto", isDefault: true, isCurrent: false },
  ]);
});

test("provider: the model picker", async () => {
  const machine = new Machine();
  machine.script("bin/cursor-agent", AGENT);
  liveOn(machine);
  const discovery = await discoverCursorProviderModels();
  expect(discovery.models.map(({ id }) => `cursor-cli/${id}`)).toEqual(["cursor-cli/auto", "cursor-cli/m"]);
  expect(await cursorCliProvider.discoverModels({ settings: {} })).toEqual(discovery);
});

test("stream-parser: lines, and bytes as they come", () => {
  const line = JSON.stringify(text("hi").line);
  expect(parseCursorStreamLine(line)).toMatchObject({ type: "assistant-text", text: "hi" });
  expect(parseCursorStreamLine("no JSON")).toMatchObject({ type: "unknown", reason: "not-json" });
  const parser = new CursorStreamParser();
  const bytes = Buffer.from(`${line}\n${JSON.stringify(result("hi").line)}`);
  const events = [
    ...parser.push(bytes.subarray(0, 9)),
    ...parser.push(bytes.subarray(9)),
    ...parser.finish(),
  ];
  expect(events.map(({ type }) => type)).toEqual(["assistant-text", "result"]);
});

test("prompt-transport: a turn, and one that resumes it", async () => {
  const stage = new Stage([
    { echo: "echo.json" },
    init,
    text("Hello"),
    started("c", "read", { path: "x" }),
    completed("c", "read", { error: { errorMessage: "gone" } }),
    result("Hello"),
  ]);
  const heard: unknown[] = [];
  const { sessionId, text: answer } = await launchCursorPrompt({
    ...stage.input({ model: "cursor-cli/gpt-5", tools: "coding" }),
    onText: (delta) => void heard.push(delta),
    onToolStart: (name) => void heard.push(name),
    onToolEnd: (name, isError) => void heard.push([name, isError]),
  });
  expect([sessionId, answer, heard]).toEqual(["s-1", "Hello", ["Hello", "read", ["read", true]]]);
  expect(stage.echo().argv).toEqual(expect.arrayContaining(["--model", "gpt-5", "--force", "--trust"]));
  await launchCursorPrompt(stage.input({ ...(sessionId && { resumeId: sessionId }) }));
  expect(stage.echo().argv.slice(-2)).toEqual(["--resume", "s-1"]);
});

describe("cursor-mcp-config and tool-bridge", () => {
  test("stage the tools of a session, and take them out again", async () => {
    const worktree = new Worktree();
    worktree.write(CONFIG, '{\n\t"mcpServers": {}\n}');
    const before = worktree.picture();
    const bridge = await startCursorToolBridge([{ name: "fn_add", execute: () => "2" }]);
    if (bridge === null) return expect.unreachable("fn_add is published");
    onTestFinished(() => bridge.dispose());
    const { serverEntry, token, toolCount } = bridge;
    expect(toolCount).toBe(1);
    expect(serverEntry.args[0]).toBe(cursorMcpSchemaServerPath());
    expect(serverEntry.env).toMatchObject({ FUSION_CURSOR_TOOL_BRIDGE_TOKEN: token });
    const serverKey = `fusion-custom-tools-${randomUUID()}`;
    const lease = await stageCursorMcpLease({ worktreePath: worktree.folder, serverKey, serverEntry });
    expect(lease.serverKey).toBe(serverKey);
    expect(worktree.entries()).toEqual({ [serverKey]: serverEntry });
    expect(await lease.heartbeat()).toBe(true);
    await lease.dispose();
    await bridge.dispose();
    expect(worktree.isLike(before)).toBe(true);
  });

  test("start nothing where no tool is Fusion's", async () => {
    expect(await startCursorToolBridge([{ name: "read" }])).toBeNull();
  });

  test("release at the exit what is still held", async () => {
    const worktree = new Worktree();
    const before = worktree.picture();
    await stageCursorMcpLease(worktree.options());
    releaseHeldLeasesSync(worktree.folder);
    expect(worktree.isLike(before)).toBe(true);
  });
});

test("worktree-hygiene: what git says of the config, and what a crash has left", async () => {
  const worktree = new Worktree();
  expect(classifyCursorConfigTracking(worktree.folder)).toBe("untracked");
  expect(classifyCursorConfigTracking(new Worktree({ repository: false }).folder)).toBe("non-git");
  const lease = await stageCursorMcpLease(worktree.options());
  onTestFinished(() => lease.dispose());
  expect((await inspectCursorWorktree(worktree.folder)).leases).toHaveLength(1);
  await reconcileCursorWorktree(worktree.folder);
  // One that lives is none of its business.
  expect(existsSync(worktree.at(STATE))).toBe(true);
  worktree.git("add", "--force", CONFIG);
  expect(classifyCursorConfigTracking(worktree.folder)).toBe("tracked");
  worktree.git("reset", "--quiet");
});

test("runtime-adapter: a session of two prompts", async () => {
  const stage = new Stage(parrot);
  const runtime = new CursorRuntimeAdapter({ settings: { cursorCliBinaryPath: standInAgentPath() } });
  const { session, sessionFile } = await runtime.createSession({
    cwd: stage.folder,
    systemPrompt: "You",
    taskEnv: { FUSION_CURSOR_SCENARIO: stage.path("scenario.json") },
  });
  onTestFinished(() => session.dispose());
  expect(sessionFile).toBeUndefined();
  expect(runtime.describeModel(session)).toBe("cursor-cli/auto");
  await runtime.promptWithFallback(session, "one");
  await runtime.promptWithFallback(session, "two");
  expect(stage.echo().argv.slice(-2)).toEqual(["--resume", session.sessionId]);
});
