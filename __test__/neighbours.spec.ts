/** What this package must leave to its host: the host's signals, and its own child processes. */

import { expect, test } from "vitest";
import { inHost } from "./support/host.js";
import { init, result, Stage } from "./support/stage.js";

// Node's own handlers come with what Node does; ours would come with the package.
test.runIf(process.platform === "linux")("no signal is caught, ignored or blocked for its sake", async () => {
  const stage = new Stage([init, result("x")]);
  const masks = await inHost<Record<string, string>[]>(
    `const { readFileSync } = require("node:fs");
     const masks = () => Object.fromEntries(
       ["SigCgt", "SigIgn", "SigBlk"].map((name) =>
         [name, new RegExp(name + ":\\\\s*(\\\\w+)").exec(readFileSync("/proc/self/status", "utf8"))[1]]));
     const before = masks();
     const { launchCursorPrompt, probeCursorBinary } = cursor();
     const loaded = masks();
     const turn = launchCursorPrompt(given);
     const started = masks();
     await turn;
     await launchCursorPrompt({ ...given, binary: "/none" }).catch(() => {});
     await probeCursorBinary({ binaryPath: given.binary, env: given.env });
     const controller = new AbortController();
     const aborted = launchCursorPrompt({ ...given, signal: controller.signal });
     controller.abort();
     await aborted.catch(() => {});
     return [before, loaded, started, masks()];`,
    stage.input(),
  );
  const [before, ...later] = masks;
  expect(before?.SigCgt).toMatch(/^[0-9a-f]{16}$/);
  // SIGCHLD is 17, so bit 16; a Node that has started nothing itself does not catch it.
  expect(BigInt(`0x${before?.SigCgt}`) & (1n << 16n)).toBe(0n);
  for (const masks of later) expect(masks).toEqual(before);
});

test("many children of the host and many turns all get their own exits", async () => {
  const stage = new Stage([init, { exit: 7 }]);
  const good = new Stage([init, result("x")]);
  const seen = await inHost<{ children: unknown[]; turns: unknown[]; late: unknown }>(
    `const { spawn, execFileSync } = require("node:child_process");
     const { launchCursorPrompt } = cursor();
     const child = (n) => new Promise((resolve) => {
       const program = n % 3 === 0 ? "kill -TERM $$" : "exit " + n;
       const one = spawn("/bin/sh", ["-c", program], { stdio: ["ignore", "pipe", "ignore"] });
       const events = [];
       one.on("exit", (code, signal) => events.push([code, signal]));
       one.on("close", () => resolve(events));
     });
     const turn = (n) => n % 2 === 0
       ? launchCursorPrompt(given.good).then(({ exitCode }) => exitCode)
       : launchCursorPrompt(given.bad).catch(({ exitCode }) => exitCode);
     const turns = [], children = [];
     for (let n = 0; n < 60; n++) {
       children.push(child(n));
       if (n < 40) turns.push(turn(n));
       if (n % 10 === 0) execFileSync("/bin/true");
     }
     const all = { children: await Promise.all(children), turns: await Promise.all(turns) };
     return { ...all, late: await child(5) };`,
    { bad: stage.input(), good: good.input() },
  );
  expect(seen.children).toEqual(
    Array.from({ length: 60 }, (_, n) => [n % 3 === 0 ? [null, "SIGTERM"] : [n, null]]),
  );
  expect(seen.turns).toEqual(Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? 0 : 7)));
  expect(seen.late).toEqual([[5, null]]);
});
