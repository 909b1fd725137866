// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a scenario
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  CursorError,
  discoverCursorModels,
  discoverCursorProviderModels,
  launchCursorPrompt,
  parseCursorAuthStatus,
  parseCursorModels,
  probeCursorBinary,
  validateCursorBinaryPath,
} from "fusion-cursor-native";
import { describe, expect, test } from "vitest";
import { AGENT, Machine, VERSION } from "./support/machine.ts";
import { eventually, init, result, runs } from "./support/stage.ts";

const root = join(__dirname, "..");
const endless = [
  { ignore: ["SIGTERM"] },
  { start: [{ touch: "child.pid", content: "${pid}" }, { linger: true }] },
  { waitFile: "child.pid" },
  { touch: "self.pid", content: "${pid}" },
  { linger: true },
];

async function pid(machine: Machine, name: string): Promise<number> {
  await eventually(`${name} is there`, () => existsSync(machine.at(name)));
  return Number(machine.read(name));
}

describe("a probe", () => {
  test("has the shape of its type, and nothing that is undefined", async () => {
    const machine = new Machine();
    const agent = machine.script("bin/cursor-agent", AGENT);
    const status = await probeCursorBinary({ env: machine.env });
    expect(status).toStrictEqual({
      available: true,
      authenticated: true,
      state: "ready",
      binaryName: "cursor-agent",
      binaryPath: agent,
      usingConfiguredBinaryPath: false,
      version: VERSION,
      probeDurationMs: expect.any(Number),
    });
  });

  test("tells a configured path that failed, and what stands in for it", async () => {
    const machine = new Machine();
    const agent = machine.script("bin/cursor-agent", AGENT);
    const status = await probeCursorBinary({ binaryPath: " /no/such agent ", env: machine.env });
    expect(status).toMatchObject({
      state: "ready",
      binaryPath: agent,
      configuredBinaryPath: "/no/such agent",
      usingConfiguredBinaryPath: false,
      diagnostics: ["configured binary: /no/such agent does not exist (ENOENT)"],
    });
  });

  test("gives the leading word of the wrapper, and a turn by that path runs with it", async () => {
    const machine = new Machine();
    machine.standIn("bin/cursor", { turn: [{ echo: "echo.json" }, init, result("done")] });
    const { binaryPath, launchArgs, binaryName } = await probeCursorBinary({ env: machine.env });
    expect([binaryPath, binaryName, launchArgs]).toEqual([machine.at("bin", "cursor"), "cursor", ["agent"]]);
    await launchCursorPrompt({
      cwd: machine.folder,
      prompt: "hi",
      binary: binaryPath as string,
      env: machine.env,
    });
    expect(JSON.parse(machine.read("echo.json")).argv.slice(1, 3)).toEqual(["agent", "--print"]);
  });

  test("tells a missing CLI with every candidate's fate, and a turn finds what a probe finds", async () => {
    const machine = new Machine();
    const status = await probeCursorBinary({ env: machine.env });
    expect(status).toMatchObject({ available: false, authenticated: false, state: "missing" });
    expect(status.reason).toContain("not found");
    expect(status.diagnostics).toEqual([
      "cursor-agent: not found in PATH nor in ~/.local/bin, ~/.cursor/bin (ENOENT)",
      "cursor: not found in PATH nor in ~/.local/bin, ~/.cursor/bin (ENOENT)",
    ]);
    const input = { cwd: machine.folder, prompt: "hi", env: machine.env };
    await expect(launchCursorPrompt(input)).rejects.toMatchObject({ code: "CURSOR_NOT_FOUND" });
    const agent = machine.standIn("home/.local/bin/cursor-agent", { turn: [init, result("done")] });
    expect(await probeCursorBinary({ env: machine.env })).toMatchObject({
      state: "ready",
      binaryPath: agent,
    });
    expect(await launchCursorPrompt(input)).toMatchObject({ text: "done" });
  });

  test.each([0, -1, Number.NaN])("takes a limit of %s for the default", async (timeoutMs) => {
    const machine = new Machine();
    machine.script("bin/cursor-agent", AGENT);
    expect(await probeCursorBinary({ env: machine.env, timeoutMs })).toMatchObject({ state: "ready" });
  });

  test("works in a process whose own folder was deleted", async () => {
    const machine = new Machine();
    machine.script("bin/cursor-agent", AGENT);
    const program = `
      const { mkdirSync, rmdirSync } = require("node:fs");
      const { probeCursorBinary, launchCursorPrompt } = require(${JSON.stringify(root)});
      process.chdir(${JSON.stringify(machine.folder)});
      mkdirSync("gone");
      process.chdir("gone");
      rmdirSync(${JSON.stringify(machine.at("gone"))});
      probeCursorBinary().then((status) => console.log(status.state));
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ["-e", program], {
      env: machine.env,
    });
    expect(stdout.trim()).toBe("ready");
  });
});

describe("a validation", () => {
  test("is about that program alone", async () => {
    const machine = new Machine();
    machine.script("bin/cursor-agent", AGENT);
    const bad = machine.script("bad agent", "echo 'error: unknown option' >&2; exit 2");
    const refused = await validateCursorBinaryPath(bad, { env: machine.env });
    expect(refused.ok).toBe(false);
    expect(refused.status).toMatchObject({ state: "not-runnable", available: false });
    expect(refused.diagnostic).toMatch(
      /^configured binary: .*bad agent exited with 2 .*error: unknown option/,
    );
    const good = await validateCursorBinaryPath(machine.at("bin/cursor-agent"), { env: machine.env });
    expect(good).toStrictEqual({ ok: true, status: expect.objectContaining({ state: "ready" }) });
  });
});

describe("a discovery", () => {
  test("has ids, entries and their source", async () => {
    const machine = new Machine();
    const agent = machine.script("bin/cursor-agent", AGENT);
    expect(await discoverCursorModels(agent)).toStrictEqual({
      models: ["auto", "m"],
      entries: [
        { id: "auto", label: "Auto", isDefault: true, isCurrent: false },
        { id: "m", label: "M", isDefault: false, isCurrent: false },
      ],
      source: "models-text",
      fallbackUsed: false,
    });
    expect(await discoverCursorProviderModels({ env: machine.env })).toStrictEqual({
      models: [
        { id: "auto", label: "Auto" },
        { id: "m", label: "M" },
      ],
      source: "models-text",
      fallbackUsed: false,
    });
  });

  test("passes on what a structured list tells, and makes nothing up", async () => {
    const machine = new Machine();
    const list = [{ id: "a", reasoning: true, contextWindow: 200_000 }, "b"];
    const agent = machine.standIn("bin/cursor-agent", { models: [{ line: list }] });
    const found = await discoverCursorModels(agent, undefined, { env: machine.env });
    expect(found).toMatchObject({
      models: ["a", "b"],
      source: "models-json",
      modelMeta: { a: { reasoning: true, contextWindow: 200_000 } },
    });
    expect(Object.keys(found.modelMeta ?? {})).toEqual(["a"]);
    const { models } = await discoverCursorProviderModels({ env: machine.env });
    expect(models[0]).toMatchObject({ id: "a", reasoning: true, contextWindow: 200_000 });
    expect(Object.keys(models[1] ?? {})).toEqual(["id", "label"]);
  });

  test("tells an account without models from a CLI that could not be asked", async () => {
    const empty = new Machine();
    empty.standIn("bin/cursor-agent", { models: [{ text: "No models available for this account.\n" }] });
    const none = { models: [], entries: [], source: "models-text", fallbackUsed: false };
    expect(await discoverCursorModels("cursor-agent", 5000, { env: empty.env })).toStrictEqual({
      ...none,
      reason: "no models available for this account",
    });
    const said = "Error: Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY.";
    const loggedOut = new Machine();
    loggedOut.standIn("bin/cursor-agent", { models: [{ text: `${said}\n`, to: "stderr" }, { exit: 1 }] });
    const unknown = { models: [], source: "none", fallbackUsed: true, reason: said };
    expect(await discoverCursorModels("cursor-agent", 5000, { env: loggedOut.env })).toMatchObject(unknown);
    expect(await discoverCursorProviderModels({ env: loggedOut.env })).toStrictEqual(unknown);
    const missing = await discoverCursorProviderModels({ env: new Machine().env });
    expect(missing).toMatchObject({ models: [], source: "probe", fallbackUsed: true });
    expect(missing.reason).toContain("not found");
  });
});

describe("an abort", () => {
  const calls: [string, (machine: Machine, signal: AbortSignal) => Promise<unknown>, string][] = [
    ["probe", ({ env }, signal) => probeCursorBinary({ env, signal }), "status"],
    [
      "validation",
      (at, signal) => validateCursorBinaryPath(at.at("bin/cursor-agent"), { env: at.env, signal }),
      "version",
    ],
    [
      "discovery",
      ({ env }, signal) => discoverCursorModels("cursor-agent", 60_000, { env, signal }),
      "models",
    ],
    ["provider's discovery", ({ env }, signal) => discoverCursorProviderModels({ env, signal }), "models"],
  ];

  test.each(calls)(
    "of a %s in the middle rejects at once and leaves no process",
    async (_name, call, command) => {
      const machine = new Machine();
      machine.standIn("bin/cursor-agent", { [command]: endless });
      const controller = new AbortController();
      const outcome = call(machine, controller.signal).catch((error: unknown) => error);
      const pids = await Promise.all(["self.pid", "child.pid"].map((name) => pid(machine, name)));
      expect(pids.every(runs)).toBe(true);
      const why = new Error("enough");
      controller.abort(why);
      const error = await outcome;
      expect(error).toBeInstanceOf(CursorError);
      expect(error).toMatchObject({ name: "AbortError", code: "CURSOR_ABORTED", cause: why });
      await eventually("both are gone", () => !pids.some(runs));
    },
  );

  test("before the start starts nothing", async () => {
    const machine = new Machine();
    machine.script("bin/cursor-agent", `touch '${machine.at("ran")}'`);
    machine.addPath("/bin:/usr/bin");
    const { env } = machine;
    await expect(probeCursorBinary({ env, signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "CURSOR_ABORTED",
    });
    expect(existsSync(machine.at("ran"))).toBe(false);
  });
});

describe("a wrong argument is a TypeError before anything happens", () => {
  const wrong = (value: unknown): never => value as never;
  test.each<[string, () => unknown, string]>([
    ["options", () => probeCursorBinary(wrong("x")), "the options of probeCursorBinary"],
    ["binaryPath", () => probeCursorBinary({ binaryPath: wrong(7) }), "binaryPath must be a string"],
    ["NUL", () => probeCursorBinary({ binaryPath: "a\0b" }), "NUL"],
    ["timeoutMs", () => probeCursorBinary({ timeoutMs: wrong("9") }), "timeoutMs must be a number"],
    ["env", () => probeCursorBinary({ env: wrong({ A: 1 }) }), "env.A"],
    ["signal", () => discoverCursorProviderModels({ signal: wrong({}) }), "signal must be an AbortSignal"],
    ["path", () => validateCursorBinaryPath("  "), "path must be a string that is not blank"],
    ["binary", () => discoverCursorModels(wrong(undefined)), "binary must be a string"],
    ["its options", () => discoverCursorModels("x", 1, wrong("y")), "the options of discoverCursorModels"],
    ["text", () => parseCursorModels(wrong(null)), "text must be a string"],
    ["stdout", () => parseCursorAuthStatus(wrong(new Uint8Array())), "stdout must be a string"],
  ])("%s", (_name, call, message) => {
    expect(call).toThrow(TypeError);
    expect(call).toThrow(message);
  });
});

test.each(["key_0123456789\0", 5_354_237_384])("a wrong value in env is not repeated: %#", (secret) => {
  const call = () => probeCursorBinary({ env: { CURSOR_API_KEY: secret as string } });
  expect(call).toThrow(
    /^env\.CURSOR_API_KEY must be a string( without NUL characters|, not of type number)$/,
  );
});

describe("the parsers", () => {
  test("read a table and a login", () => {
    expect(parseCursorModels("Available models\n\nm - Foo - Bar (beta) (current)\n")).toStrictEqual([
      { id: "m", label: "Foo - Bar (beta)", isDefault: false, isCurrent: true },
    ]);
    expect(
      parseCursorAuthStatus(
        '\uFEFFnotice\r\n{"status":"authenticated","isAuthenticated":true,"userInfo":{"email":"a@b.co"}}',
      ),
    ).toStrictEqual({ isAuthenticated: true, status: "authenticated", email: "a@b.co" });
  });

  test.each(["", "\0", "{", "[".repeat(100_000), "\ud800", "no subscription"])(
    "throw for no text: %#",
    (text) => {
      expect(parseCursorModels(text)).toEqual([]);
      expect(parseCursorAuthStatus(text).isAuthenticated).toBeUndefined();
    },
  );
});

describe.runIf(process.platform === "linux")("what is left", () => {
  const pipes = () =>
    readdirSync("/proc/self/fd").flatMap((fd) => {
      try {
        const target = readlinkSync(`/proc/self/fd/${fd}`);
        return target.startsWith("pipe:") ? [target] : [];
      } catch {
        return [];
      }
    });

  test("after forty probes at once is neither a process nor a pipe", async () => {
    const machine = new Machine();
    machine.script("bin/cursor-agent", `echo $$ >> '${machine.at("pids")}'\n${AGENT}`);
    await probeCursorBinary({ env: machine.env });
    const before = pipes().length;
    const states = await Promise.all(
      Array.from(
        { length: 40 },
        async () => (await probeCursorBinary({ env: machine.env, timeoutMs: 15_000 })).state,
      ),
    );
    expect(new Set(states)).toEqual(new Set(["ready"]));
    const pids = machine.read("pids").trim().split("\n").map(Number);
    expect(pids.length).toBe(82);
    await eventually("no process is left", () => !pids.some((one) => existsSync(`/proc/${one}`)));
    await eventually("no pipe is left", () => pipes().length <= before);
  });
});

test("a host that exits in the middle takes what runs for a probe with it", async () => {
  const machine = new Machine();
  machine.standIn("bin/cursor-agent", { status: endless });
  const program = `
    require(${JSON.stringify(root)}).probeCursorBinary({ timeoutMs: 60_000 });
    const ready = () => require("node:fs").existsSync(${JSON.stringify(machine.at("self.pid"))});
    setInterval(() => ready() && process.exit(7), 5);
  `;
  const exiting = promisify(execFile)(process.execPath, ["-e", program], { env: machine.env });
  await expect(exiting).rejects.toMatchObject({ code: 7 });
  const pids = await Promise.all(["self.pid", "child.pid"].map((name) => pid(machine, name)));
  await eventually("both are gone", () => !pids.some(runs));
});

test("Node ends by itself once a probe is answered or given up", async () => {
  const machine = new Machine();
  machine.standIn("bin/cursor-agent", { status: [{ linger: true }] });
  const program = `
    const { probeCursorBinary } = require(${JSON.stringify(root)});
    probeCursorBinary({ timeoutMs: 2000 }).then(async (status) => {
      const given = await probeCursorBinary({ signal: AbortSignal.timeout(100) }).catch((error) => error.code);
      console.log(status.state, given);
    });
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["-e", program], { env: machine.env });
  expect(stdout.trim()).toBe("auth-unknown CURSOR_ABORTED");
});
