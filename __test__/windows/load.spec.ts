/** The addon in Node for Windows. */

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { nativeInfo, parseCursorStreamLine, probeCursorBinary } from "fusion-cursor-native";
import { expect, test } from "vitest";
import { COMMAND } from "../support/command.js";
import { Desk } from "./support.js";

const root = join(__dirname, "..", "..");

test("is loaded, and tells what it is", () => {
  expect(nativeInfo().target).toMatch(/^x86_64-pc-windows-(gnu|msvc)$/);
  expect(nativeInfo().file).toMatch(/fusion-cursor-native\.win32-x64-msvc\.node$/);
  expect(parseCursorStreamLine('{"type":"thinking","subtype":"delta","text":"ä"}')).toEqual({
    type: "thinking-delta",
    text: "ä",
  });
});

test("is loaded by many threads, which end while it is at work for them", async () => {
  const desk = new Desk();
  const code = `const { probeCursorBinary } = require(${JSON.stringify(root)});
    probeCursorBinary({ env: require("node:worker_threads").workerData });
    setImmediate(() => process.exit());`;
  const codes = await Promise.all(
    Array.from({ length: 8 }, () => {
      const worker = new Worker(code, { eval: true, workerData: desk.env });
      return new Promise((resolve, reject) => {
        worker.once("exit", resolve);
        worker.once("error", reject);
      });
    }),
  );
  expect(codes).toEqual(Array(8).fill(0));
  expect((await probeCursorBinary({ env: desk.env })).state).toBe("missing");
});

test("lets Node end by itself", () => {
  const code = `require(${JSON.stringify(root)}); console.log("loaded")`;
  expect(execFileSync(process.execPath, ["--eval", code], { encoding: "utf8", timeout: 30_000 })).toBe(
    "loaded\n",
  );
});

test("is behind the command, which shows a turn", () => {
  const desk = new Desk();
  const agent = desk.agent("cmd");
  const output = execFileSync(process.execPath, [COMMAND, "run", "--binary", agent, "hi"], {
    cwd: desk.at("work"),
    env: { ...process.env, ...desk.env },
    encoding: "utf8",
    timeout: 30_000,
  });
  expect(output).toContain("done");
});
