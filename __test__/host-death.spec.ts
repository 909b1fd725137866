/** Nothing outlives a host, however it ends; and the guard that sees to it is in nobody's way. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import native from "../native.js";
import { allGone, ended, forest, guards, KINDS, pids, root, startHost, told } from "./support/host.js";
import { eventually, init, result, runs, Stage } from "./support/stage.js";

const linux = process.platform === "linux";

describe("all of a turn is gone within three seconds after the host's end", () => {
  const launch = "launchCursorPrompt(turn).catch(() => {});";
  const ends: [string, string, string][] = [
    ["process.exit", launch, "process.exit(3)"],
    ["an uncaught error", launch, "setImmediate(() => { throw new Error('x'); })"],
    ["an unhandled rejection", launch, "Promise.reject(new Error('x'))"],
    ["an abort", launch, "process.abort()"],
    ["process.exit in a worker", `inWorker(${JSON.stringify(launch)})`, "process.exit(0)"],
  ];
  test.each(ends)("by %s", async (_name, start, end) => {
    const stage = new Stage(forest(init));
    const host = startHost(stage, start);
    const all = await pids(stage);
    host.send(end);
    await ended(host);
    await allGone(host.pid ?? 0, all);
  });

  test.each(["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGKILL"] as const)("by %s", async (signal) => {
    const stage = new Stage(forest(init));
    const host = startHost(stage, launch);
    const all = await pids(stage);
    expect(all.every(runs)).toBe(true);
    host.kill(signal);
    expect((await ended(host)).signal).toBe(signal);
    await allGone(host.pid ?? 0, all);
  });

  // As a terminal does at Ctrl+C, and at its own end.
  test.each(["SIGINT", "SIGHUP", "SIGKILL"] as const)("by %s to its whole group", async (signal) => {
    const stage = new Stage(forest(init));
    const host = startHost(stage, launch);
    const all = await pids(stage);
    process.kill(-(host.pid ?? 0), signal);
    await ended(host);
    await allGone(host.pid ?? 0, all);
  });

  test("by a second Ctrl+C while it still takes its leave from the first one", async () => {
    const stage = new Stage(forest(init));
    const host = startHost(
      stage,
      `${launch} process.once("SIGINT", () => { tell("first"); setTimeout(() => process.exit(), 10_000); });`,
    );
    const all = await pids(stage);
    const lines = told(host);
    process.kill(-(host.pid ?? 0), "SIGINT");
    await eventually("the first is heard", () => lines.length > 0);
    expect(all.every(runs)).toBe(true);
    process.kill(-(host.pid ?? 0), "SIGINT");
    expect((await ended(host)).signal).toBe("SIGINT");
    await allGone(host.pid ?? 0, all);
  });

  test("and also what came of a turn in a worker that was terminated, while the host lives on", async () => {
    const stage = new Stage(forest(init));
    const host = startHost(stage, `const worker = inWorker(${JSON.stringify(launch)});`);
    const all = await pids(stage);
    const [guard] = guards(host.pid ?? 0);
    host.send("worker.terminate()");
    const from = performance.now();
    await eventually("all are gone", () => !all.some(runs));
    expect(performance.now() - from).toBeLessThan(3000);
    if (linux) expect(guards(host.pid ?? 0)).toEqual([guard]);
    host.kill("SIGKILL");
    await allGone(host.pid ?? 0, []);
  });
});

describe.runIf(linux)("the guard", () => {
  const launch = "launchCursorPrompt(turn).catch(() => {});";

  test("is started with the first process, and is one for all workers", async () => {
    const stage = new Stage(forest(init));
    const host = startHost(stage, "");
    const lines = told(host);
    host.send("tell('here')");
    await eventually("the host is there", () => lines.length > 0);
    expect(guards(host.pid ?? 0)).toEqual([]);
    host.send(`inWorker(${JSON.stringify(launch)}); inWorker(${JSON.stringify(launch)}); ${launch}`);
    const all = await pids(stage);
    await eventually("three turns run", () => marked(host.pid ?? 0).length === 3 * (KINDS.length + 1));
    expect(guards(host.pid ?? 0)).toHaveLength(1);
    const everyone = marked(host.pid ?? 0);
    host.kill("SIGKILL");
    await ended(host);
    await allGone(host.pid ?? 0, [...all, ...everyone]);
  });

  test("takes at most two megabytes, and holds nothing of the host", async () => {
    const stage = new Stage(forest(init));
    const host = startHost(stage, launch);
    await pids(stage);
    const [guard = 0] = guards(host.pid ?? 0);
    const status = readFileSync(`/proc/${guard}/status`, "utf8");
    const kilobytes = Number(status.match(/^VmHWM:\s+(\d+) kB$/m)?.[1]);
    // Without optimizations the program itself is larger.
    expect(kilobytes).toBeLessThanOrEqual(native.coreIsDebug() ? 4096 : 2048);
    expect(readFileSync(`/proc/${guard}/environ`, "utf8")).toBe("");
    const open = execFileSync("ls", ["-l", `/proc/${guard}/fd`], { encoding: "utf8" });
    expect(open.match(/ -> .*/g)?.map((link) => link.replace(/\d+/g, "N"))).toEqual([
      " -> socket:[N]",
      " -> /dev/null",
      " -> /dev/null",
    ]);
  });

  test("is started again where it is killed, and the next one sees to the rest", async () => {
    const stage = new Stage(forest(init));
    const host = startHost(stage, launch);
    const all = await pids(stage);
    const [first = 0] = guards(host.pid ?? 0);
    process.kill(first, "SIGKILL");
    await eventually("there is another one", () => {
      const [next] = guards(host.pid ?? 0);
      return next !== undefined && next !== first;
    });
    expect(all.every(runs)).toBe(true);
    host.kill("SIGKILL");
    await ended(host);
    await allGone(host.pid ?? 0, all);
  });

  test("keeps no host from ending, and leaves right after it", async () => {
    const stage = new Stage([init, result("x")]);
    const host = startHost(
      stage,
      "process.channel.unref(); launchCursorPrompt(turn).then((r) => tell(r.text));",
    );
    const lines = told(host);
    expect(await ended(host)).toEqual({ code: 0, signal: null });
    await allGone(host.pid ?? 0, []);
    expect(lines).toEqual(["x"]);
  });

  test("does not take the exit events of Node's own children, nor they its", async () => {
    const stage = new Stage([init, result("x")]);
    const host = startHost(
      stage,
      `const { spawn } = require("node:child_process");
       const own = (code) => new Promise((resolve) => spawn(process.execPath, ["-e", "process.exit(" + code + ")"])
         .on("exit", (code, signal) => resolve([code, signal])));
       const killed = () => new Promise((resolve) => {
         const child = spawn("sleep", ["60"]).on("exit", (code, signal) => resolve([code, signal]));
         child.kill("SIGKILL");
       });
       (async () => {
         const ours = Array.from({ length: 4 }, () => launchCursorPrompt(turn).then((r) => r.exitCode));
         tell(await Promise.all([own(3), own(0), killed(), ...ours]));
         process.on("SIGUSR2", async () => tell(await Promise.all([own(7), launchCursorPrompt(turn).then((r) => r.exitCode)])));
         tell("ready");
       })();`,
    );
    const lines = told(host);
    await eventually("the first are over", () => lines.length === 2);
    expect(lines[0]).toEqual([[3, null], [0, null], [null, "SIGKILL"], 0, 0, 0, 0]);
    const [first = 0] = guards(host.pid ?? 0);
    process.kill(first, "SIGKILL");
    await eventually("there is another one", () => guards(host.pid ?? 0).some((pid) => pid !== first));
    // Nobody but the guard's own thread has waited for it.
    expect(() => process.kill(first, 0)).toThrow("ESRCH");
    host.kill("SIGUSR2");
    await eventually("the second are over", () => lines.length === 3);
    expect(lines[2]).toEqual([[7, null], 0]);
  });

  test("the agent inherits what a child of Node's own inherits, and nothing more", async () => {
    const stage = new Stage([init, { echo: "echo.json" }, result("x")]);
    // The host itself was started with a descriptor that stays open across an exec.
    const shell = ["/bin/sh", "-c", 'exec 7</dev/null; exec "$@"', "sh", process.execPath];
    const host = startHost(
      stage,
      `const own = require("node:child_process").execFileSync("sh", ["-c", "ls /proc/$$/fd; :"], { encoding: "utf8" });
       launchCursorPrompt(turn).then(() => tell(own.trim().split("\\n").map(Number)));`,
      shell,
    );
    const lines = told(host);
    await eventually("the turn is over", () => lines.length > 0);
    const { fds } = stage.echo() as unknown as { fds: { fd: number }[] };
    const inherited = fds.map(({ fd }) => fd);
    expect(inherited.sort()).toEqual((lines[0] as number[]).sort());
    expect(inherited).not.toContain(7);
  });
});

/** All that carry the mark of a host. */
function marked(host: number): number[] {
  const list = execFileSync("sh", [
    "-c",
    `grep -lZ -s 'FUSION_CURSOR_TURN=${host}-' /proc/[0-9]*/environ || true`,
  ]);
  return list
    .toString()
    .split("\0")
    .filter(Boolean)
    .map((file) => Number(file.split("/")[2]));
}

test("the guard lies beside the addon, and may be executed", () => {
  execFileSync("test", ["-x", join(root, "fusion-cursor-guard")]);
});
