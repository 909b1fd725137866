/** What many sessions hold of the host's memory while they wait for their agents. */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { childArgs } from "../scripts/bench/figures.mjs";
import { waitingAgent, worktrees } from "../scripts/bench/places.mjs";

const COUNT = 40;

test("a session that waits holds little, also where the host has had as many before", async () => {
  const folder = mkdtempSync(join(tmpdir(), "fusion-cursor-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { binary, gate } = waitingAgent(folder);
  const line = childArgs("crowd.mjs", [binary, gate, worktrees(folder, COUNT), COUNT, "ours"]);
  const { stdout } = await promisify(execFile)(process.execPath, line);
  const { rssBytes, heapBytes, descriptors, threads } = JSON.parse(stdout);
  // About half of it. With a buffer of 256 KiB for each, made of memory that was used before, it was 400 kB.
  expect(rssBytes).toBeLessThan(300_000);
  expect(heapBytes).toBeLessThan(100_000);
  expect(descriptors).toBeLessThanOrEqual(6);
  // Where the system does not tell of threads there are none to count.
  if (process.platform === "linux") expect(threads).toBeLessThan(1.5);
});
