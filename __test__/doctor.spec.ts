// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a scenario
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Diagnosis, describeDiagnosis, diagnose, type Found } from "../cli/diagnosis.ts";
import { finished, runCommand, startCommand } from "./support/command.ts";
import { AGENT, Machine, VERSION } from "./support/machine.ts";
import { eventually, runs } from "./support/stage.ts";

/** Runs the command on this machine, with git at hand. */
function run(machine: Machine, ...argv: string[]) {
  return runCommand(argv, {
    env: { CURSOR_API_KEY: "", ...machine.env, PATH: `${machine.env.PATH}:/usr/bin:/bin` },
  });
}

async function diagnosis(machine: Machine, ...argv: string[]): Promise<{ code: number | null } & Diagnosis> {
  const { code, stdout } = await run(machine, "doctor", "--json", ...argv);
  const { type, ...rest } = JSON.parse(stdout);
  expect(type).toBe("doctor");
  return { code, ...rest };
}

const cures = ({ problems }: Diagnosis) => problems.map((problem) => problem.cure);

describe("the doctor", () => {
  test("finds nothing wrong where a turn could start", async () => {
    const machine = new Machine();
    const agent = machine.script("bin/cursor-agent", AGENT);
    const { code, stdout, stderr } = await run(machine, "doctor");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^✓ fusion-cursor-native \S+ {2}\S+ {2}\S+\.node\n✓ Node v/);
    expect(stdout).toContain(
      `✓ cursor-agent  ${agent}  ${VERSION}\n– cursor  not tried: the one above answers\n✓ logged in\n✓ 2 models\n`,
    );
    expect(stdout).toMatch(/\na turn can start\n$/);
    const found = await diagnosis(machine);
    expect(found).toMatchObject({ code: 0, ok: true, problems: [], models: { count: 2 }, worktree: null });
    expect(found.package?.file).toMatch(/\.node$/);
  });

  test("tells every candidate's fate and how to install where there is no CLI", async () => {
    const machine = new Machine();
    const { code, stdout } = await run(machine, "doctor");
    expect(code).toBe(1);
    expect(stdout).toContain("✗ cursor-agent: not found in PATH");
    expect(stdout).toContain("✗ cursor: not found in PATH");
    expect(stdout).toContain("  cure: curl https://cursor.com/install -fsS | bash\n");
    expect(stdout).toMatch(/\na turn cannot start\n$/);
  });

  test("says how to log in, with the program that was found", async () => {
    const machine = new Machine();
    const wrapper = machine.standIn("bin/cursor", {
      status: [{ line: { isAuthenticated: false } }],
      models: [{ text: "Error: Authentication required.\n", to: "stderr" }, { exit: 1 }],
    });
    const found = await diagnosis(machine);
    expect(found).toMatchObject({
      code: 1,
      ok: false,
      cli: { state: "unauthenticated", launchArgs: ["agent"] },
    });
    expect(cures(found)).toEqual([`${wrapper} agent login`]);
  });

  test("counts a key that gets a list of models as a login", async () => {
    const machine = new Machine();
    machine.script("bin/cursor-agent", AGENT.replace("true", "false"));
    expect(await diagnosis(machine)).toMatchObject({ code: 1, ok: false });
    machine.env.CURSOR_API_KEY = "k";
    expect(await diagnosis(machine)).toMatchObject({ code: 0, ok: true, problems: [] });
  });

  test("cures what may not be executed, and does not let PATH stand in for --binary", async () => {
    const machine = new Machine();
    machine.script("bin/cursor-agent", AGENT);
    const plain = machine.file("my agent", "#!/bin/sh\n");
    const found = await diagnosis(machine, "--binary", plain);
    expect(found).toMatchObject({ code: 1, ok: false, cli: { usingConfiguredBinaryPath: false } });
    expect(found.problems[0]?.what).toContain("EACCES");
    expect(cures(found)).toEqual([`chmod +x '${plain}'`]);
    const named = machine.file("bin/my-agent", "#!/bin/sh\n");
    expect(cures(await diagnosis(machine, "--binary", "my-agent"))).toEqual([`chmod +x ${named}`]);
  });

  test("tells a worktree that cannot be looked into, and everything else all the same", async () => {
    const machine = new Machine();
    machine.script("bin/cursor-agent", AGENT);
    const behindFile = join(machine.file("file", ""), "folder");
    symlinkSync("loop", machine.at("loop"));
    for (const [folder, why] of [
      [behindFile, "ENOTDIR"],
      [machine.at("loop"), "ELOOP"],
      [machine.at("x".repeat(300)), "ENAMETOOLONG"],
    ] as const) {
      const found = await diagnosis(machine, "--worktree", folder);
      expect(found).toMatchObject({
        code: 1,
        ok: false,
        cli: { state: "ready" },
        worktree: { kind: "closed", why },
      });
      expect(cures(found)).toEqual([`ls -ld ${folder}`]);
    }
    const { stdout } = await run(machine, "doctor", "--worktree", behindFile);
    expect(stdout).toContain(`✗ worktree  ${behindFile}  cannot be looked into\n`);
  });

  test("looks at the worktree", async () => {
    const machine = new Machine();
    machine.script("bin/cursor-agent", AGENT);
    const folder = machine.at("w t");
    const missing = await diagnosis(machine, "--worktree", folder);
    expect(missing).toMatchObject({ code: 1, worktree: { path: folder, kind: "missing" } });
    expect(cures(missing)).toEqual([`mkdir -p '${folder}'`]);
    mkdirSync(folder);
    expect(await diagnosis(machine, "--worktree", folder)).toMatchObject({
      code: 0,
      worktree: { kind: "folder", git: "none", mcpConfig: false },
    });
    execFileSync("git", ["init", "-q", folder]);
    machine.file("w t/.cursor/mcp.json", "{}");
    expect(await diagnosis(machine, "--worktree", folder)).toMatchObject({
      code: 0,
      worktree: { kind: "folder", git: "worktree", mcpConfig: true },
    });
    const file = await diagnosis(machine, "--worktree", machine.file("file", ""));
    expect(file).toMatchObject({ code: 1, worktree: { kind: "not-a-folder" } });
  });

  test("ends with Ctrl-C, and what it asked ends too", async () => {
    const machine = new Machine();
    const pidFile = machine.at("agent.pid");
    machine.standIn("bin/cursor-agent", {
      status: [{ ignore: ["SIGTERM"] }, { touch: pidFile, content: "${pid}" }, { linger: true }],
    });
    const child = startCommand(["doctor"], { env: machine.env });
    await eventually("the agent runs", () => existsSync(pidFile));
    child.kill("SIGINT");
    expect(await finished(child)).toMatchObject({ code: 130, stdout: "", stderr: "" });
    await eventually("the agent is gone", () => !runs(Number(machine.read("agent.pid"))));
  });

  test("ends with Ctrl-C while it asks git", async () => {
    const machine = new Machine();
    machine.script("bin/git", `echo $$ > '${machine.at("git.pid")}'\nexec /bin/sleep 30`);
    const child = startCommand(["doctor", "--worktree", machine.folder], { env: machine.env });
    await eventually("git runs", () => existsSync(machine.at("git.pid")));
    const began = performance.now();
    child.kill("SIGINT");
    expect(await finished(child)).toMatchObject({ code: 130, stdout: "", stderr: "" });
    expect(performance.now() - began).toBeLessThan(4000);
  });

  test("refuses what it does not know", async () => {
    const machine = new Machine();
    const { code, stderr } = await run(machine, "doctor", "--model", "x");
    expect([code, stderr]).toEqual([2, "error: doctor has no option --model\ntry fusion-cursor --help\n"]);
  });
});

describe("a diagnosis", () => {
  const base: Found = {
    platform: "darwin",
    node: { version: "v20.17.0", platform: "darwin", arch: "arm64" },
    binary: undefined,
    hasKey: false,
    loaded: { version: "0.1.0", target: "aarch64-apple-darwin", file: "/x.node" },
  };
  const cli = {
    available: true,
    authenticated: false,
    binaryName: "cursor-agent",
    binaryPath: "/h/it's here/cursor-agent",
    usingConfiguredBinaryPath: false,
    reason: "why",
    probeDurationMs: 1,
  } as const;

  test.each([
    [{ ...base, cli: { ...cli, state: "keychain-locked" } }, "security unlock-keychain"],
    [{ ...base, cli: { ...cli, state: "auth-unknown" } }, "'/h/it'\\''s here/cursor-agent' status"],
    [{ ...base, cli: { ...cli, state: "ide-missing" } }, "curl https://cursor.com/install -fsS | bash"],
    [
      { ...base, platform: "win32", cli: { ...cli, state: "missing" } },
      "irm 'https://cursor.com/install?win32=true' | iex",
    ],
    [
      { ...base, loadError: "cannot be loaded: not there.\nTo mend it: npm ci --include=optional" },
      "npm ci --include=optional",
    ],
    [
      { ...base, loadError: "cannot be loaded: not there." },
      "more node_modules/fusion-cursor-native/docs/install.md",
    ],
  ] as [Found, string][])("has the command that cures it: %#", (found, cure) => {
    const made = diagnose(found);
    expect(made.ok).toBe(false);
    expect(cures(made)).toEqual([cure]);
    const text = describeDiagnosis(made)
      .map((span) => span.text)
      .join("");
    expect(text).toContain(`cure: ${cure}\n`);
  });

  test("an account without models is told, and a turn can start all the same", () => {
    const ready = { ...cli, authenticated: true, state: "ready" } as const;
    const made = diagnose({ ...base, cli: ready, models: { count: 0, reason: "none here" } });
    expect(made.ok).toBe(true);
    expect(made.problems[0]?.what).toBe("no models: none here");
  });
});

describe("the command models", () => {
  test("lists ids, labels and marks", async () => {
    const machine = new Machine();
    machine.script("bin/cursor-agent", AGENT);
    const { code, stdout, stderr } = await run(machine, "models");
    expect([code, stdout, stderr]).toEqual([0, "auto  Auto  default\nm     M\n", ""]);
  });

  test("speaks JSON, and asks the program that was named", async () => {
    const machine = new Machine();
    const other = machine.script("other agent", AGENT.replace("m - M", "n - N"));
    const { code, stdout } = await run(machine, "models", "--json", "--binary", other);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      type: "models",
      models: [{ id: "auto" }, { id: "n" }],
      source: "models-text",
    });
  });

  test("fails where the CLI cannot be asked, with the reason", async () => {
    const machine = new Machine();
    const missing = await run(machine, "models");
    expect([missing.code, missing.stdout]).toEqual([1, ""]);
    expect(missing.stderr).toContain("not found");
    machine.standIn("bin/cursor-agent", {
      models: [{ text: "Error: Authentication required.\n", to: "stderr" }, { exit: 1 }],
    });
    const refused = await run(machine, "models");
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([
      1,
      "",
      "Error: Authentication required.\n",
    ]);
  });
});
