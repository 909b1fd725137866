/** That `npm run bench` works. How fast anything is, no test says. */

import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const run = promisify(execFile);
const script = join(__dirname, "..", "scripts", "bench.mjs");

test("a tiny run prints every row and writes the figures", { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "fusion-cursor-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const json = join(folder, "figures.json");
  const few = [
    "--size",
    "0.1",
    "--rounds",
    "1",
    "--streams",
    "2",
    "--starts",
    "2",
    "--held",
    "16",
    "--calls",
    "20",
    "--cycles",
    "3",
  ];
  const tiny = [...few, "--as-built", "--json", json];
  const { stdout } = await run(process.execPath, [script, ...tiny]);
  const rows = [
    "plain read, the floor",
    "readline + JSON.parse",
    "four callbacks",
    "onEvent, payloads unread",
  ];
  for (const row of rows) expect(stdout).toMatch(new RegExp(`${row.replace("+", "\\+")} +\\d+ MB/s +\\d`));
  for (const row of ["launchCursorPrompt", "child_process\\.spawn"])
    for (const host of ["small", "16 MB"])
      expect(stdout).toMatch(new RegExp(`${row} +${host}( +[\\d.]+ ms){5}`));
  for (const row of ["startCursorToolBridge", "plain node:http"])
    expect(stdout).toMatch(new RegExp(`${row}( +\\d+\\.\\d+ ms){2} +\\d+\\.\\d+`));
  for (const row of [
    "a session with a tool, one turn",
    "a session without tools, one turn",
    "launchCursorPrompt alone",
  ])
    expect(stdout).toMatch(new RegExp(`${row}( +\\d+\\.\\d+ ms){5}`));
  for (const row of ["the addon", "the whole package"])
    expect(stdout).toMatch(new RegExp(`${row} +\\d+\\.\\d+ ms`));
  expect(stdout).toMatch(/an empty addon +(\d+\.\d+ ms|left out)/);
  const { transcript, streams, many } = JSON.parse(readFileSync(json, "utf8"));
  expect(transcript.bytes).toBeGreaterThan(100_000);
  expect(streams.map(({ name }: { name: string }) => name)).toEqual(rows);
  for (const { wallMs, activeMs } of [...streams, ...many]) {
    expect(wallMs).toBeGreaterThan(0);
    expect(activeMs).toBeGreaterThan(0);
  }
});

test("a wrong option is said in a sentence", async () => {
  const failed = run(process.execPath, [script, "--size", "much"]);
  await expect(failed).rejects.toMatchObject({
    code: 1,
    stderr: "\n--size takes a number above 0, not much.\n",
  });
});
