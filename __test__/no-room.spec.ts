/** A host that the system gives nothing more: no threads, no descriptors; or no time, since it is stopped. */

import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { ended, root, startHost, told } from "./support/host.js";
import { eventually, init, result, runs, Stage, type Step, text } from "./support/stage.js";

const NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/** What starts a host that limits on processes hold for: not for root. `undefined` where there is none. */
function limited(): string[] | undefined {
  if (process.platform !== "linux" || spawnSync("prlimit", ["--version"]).status !== 0) return undefined;
  if (process.getuid?.() !== 0) return [process.execPath];
  const seen = spawnSync(NOBODY[0] ?? "", [
    ...NOBODY.slice(1),
    process.execPath,
    "-e",
    `require(${JSON.stringify(root)})`,
  ]);
  return seen.status === 0 ? [...NOBODY, process.execPath] : undefined;
}

const LAUNCH =
  "launchCursorPrompt(turn).then((done) => tell(done.leftovers), (error) => tell([error.name, error.code, error.retryable]))";

const CREATE =
  "CursorSession.create(turn).then((session) => session.prompt('hi')).then((done) => tell(done.leftovers), (error) => tell([error.name, error.code, error.retryable]))";

describe("without threads", () => {
  const command = limited();

  /** A host that has loaded nothing yet. It finds `turn`. */
  function bareHost(stage: Stage): ChildProcess {
    const program = `const turn = ${JSON.stringify(stage.input())};
      const tell = (line) => require("node:fs").writeSync(1, JSON.stringify(line) + "\\n");
      process.on("message", (code) => eval(code));
      tell("here");`;
    const [first = "", ...rest] = command ?? [];
    const host = spawn(first, [...rest, "--eval", program], { stdio: ["ignore", "pipe", "ignore", "ipc"] });
    onTestFinished(() => void host.kill("SIGKILL"));
    return host;
  }

  function stageForAll(steps: Step[]): Stage {
    const stage = new Stage(steps);
    chmodSync(stage.folder, 0o777);
    return stage;
  }

  function limit(host: ChildProcess, processes: number | "unlimited"): void {
    prlimit(host, `--nproc=${processes}:`);
  }

  test.skipIf(command === undefined).each([
    ["turn", LAUNCH],
    ["session", CREATE],
  ])("the addon loads, a %s is refused, and the next one runs", async (_what, start) => {
    const stage = stageForAll([init, result("x")]);
    const host = bareHost(stage);
    const lines = told(host);
    await eventually("it is there", () => lines.length === 1);
    const before = hard(host);
    limit(host, 1);
    const load = `const { launchCursorPrompt, CursorSession } = require(${JSON.stringify(root)});`;
    host.send(`${load} ${start}`);
    await eventually(
      "it is refused",
      () => lines.length === 2 || host.exitCode !== null || host.signalCode !== null,
    );
    limit(host, before);
    host.send(`${load} ${start}`);
    await eventually("it ran", () => lines.length === 3);
    expect(lines).toEqual(["here", ["CursorError", "CURSOR_SPAWN_FAILED", true], []]);
  });

  test.skipIf(command === undefined)("a good turn is one, and what left its group is ended", async () => {
    const stage = stageForAll([
      init,
      {
        start: [{ ignore: ["SIGTERM"] }, { touch: "session" }, { linger: true }],
        as: "session",
        hold: "none",
      },
      { waitFile: "session" },
      { waitFile: "go" },
      result("x"),
    ]);
    const host = bareHost(stage);
    const lines = told(host);
    host.send(`const { launchCursorPrompt } = require(${JSON.stringify(root)}); ${LAUNCH}`);
    const session = await stage.pid("session");
    limit(host, 1);
    writeFileSync(stage.path("go"), "");
    await eventually("it is over", () => lines.length === 2);
    expect(lines).toEqual(["here", []]);
    expect(runs(session)).toBe(false);
  });
});

/** The most processes that a host may be given. */
function hard(host: ChildProcess): number | "unlimited" {
  const most = prlimit(host, "--nproc", "--output=HARD", "--noheadings").trim();
  return most === "unlimited" ? most : Number(most);
}

/** As the user that the host is. */
function prlimit(host: ChildProcess, ...args: string[]): string {
  const [first = "", ...rest] = [...(process.getuid?.() === 0 ? NOBODY : []), "prlimit"];
  return execFileSync(first, [...rest, "--pid", String(host.pid), ...args], { encoding: "utf8" });
}

describe.skipIf(process.platform === "win32")("without descriptors", () => {
  test("a turn and a probe are refused, and the next ones run", async () => {
    const stage = new Stage([init, result("x")]);
    const shell = ["/bin/sh", "-c", 'ulimit -n 64; exec "$0" "$@"', process.execPath];
    const host = startHost(stage, "", shell);
    const lines = told(host);
    host.send(`
      const { openSync, closeSync } = require("node:fs");
      const { probeCursorBinary } = require(${JSON.stringify(root)});
      const probe = () => probeCursorBinary({ binaryPath: turn.binary })
        .then(({ state }) => tell(state), (error) => tell([error.name, error.code, error.retryable]));
      const taken = [];
      try { for (;;) taken.push(openSync("/dev/null")); } catch {}
      ${LAUNCH}.then(probe).then(() => { taken.forEach(closeSync); return ${LAUNCH}; }).then(probe);`);
    await eventually("all is told", () => lines.length === 4);
    const refused = ["CursorError", "CURSOR_SPAWN_FAILED", true];
    expect(lines).toEqual([refused, refused, [], "ready"]);
    host.kill();
    await ended(host);
  });
});

test("a host that was stopped for longer than a limit reads what came meanwhile", async () => {
  const meanwhile = Array.from({ length: 5 }, () => ({ ...text("on "), delayMs: 400 }));
  const stage = new Stage([
    init,
    { touch: "began" },
    ...meanwhile,
    { touch: "late" },
    { sleep: 200 },
    result("x"),
  ]);
  const host = startHost(stage, `turn.inactivityTimeoutMs = 1000; ${LAUNCH}`);
  const lines = told(host);
  await stage.touched("began");
  host.kill("SIGSTOP");
  await stage.touched("late");
  host.kill("SIGCONT");
  await eventually("the turn is over", () => lines.length > 0);
  expect(lines).toEqual([[]]);
  host.kill();
  await ended(host);
});
