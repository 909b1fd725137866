/** Nothing outlives a host, however it ends: the system ends what is in the job that the host held. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { alive, allGone, Desk, family, type Kind, members } from "./support.js";

const root = join(__dirname, "..", "..");

function startHost(desk: Desk, kind: Kind): ChildProcess {
  const turn = desk.input({ binary: desk.agent(kind) });
  const code = `require(${JSON.stringify(root)}).launchCursorPrompt(${JSON.stringify(turn)}).catch(() => {});
    process.stdin.once("data", (code) => eval(String(code)));`;
  const host = spawn(process.execPath, ["--eval", code], { stdio: ["pipe", "ignore", "ignore"] });
  onTestFinished(() => {
    if (host.exitCode === null && host.signalCode === null) host.kill("SIGKILL");
  });
  return host;
}

const ends: [string, (host: ChildProcess) => unknown][] = [
  ["TerminateProcess", (host) => host.kill("SIGKILL")],
  ["process.exit", (host) => host.stdin?.write("process.exit(3)")],
  ["an uncaught error", (host) => host.stdin?.write("setImmediate(() => { throw new Error('x') })")],
  ["an abort", (host) => host.stdin?.write("process.abort()")],
];

for (const kind of ["cmd", "exe"] as const) {
  test.each(ends)(`all of a turn through a .${kind} is gone after the host's end by %s`, async (_, end) => {
    const desk = new Desk(family);
    const host = startHost(desk, kind);
    const pids = await members(desk);
    expect(pids.every(alive)).toBe(true);
    const exit = once(host, "exit");
    end(host);
    await exit;
    await allGone(pids);
  });
}
