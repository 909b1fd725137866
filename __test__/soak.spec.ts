/** A thousand turns in one Node: that all end, and that nothing is left of them. */

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const script = join(__dirname, "..", "scripts", "soak.mjs");

/**
 * What is free goes back to the system. Else the young generation grows with the load, and the C library keeps
 * freed blocks of any size that it has once seen, in as many arenas as there are threads: tens of megabytes that
 * nobody uses, and that hide a leak of a few.
 */
const flags = ["--expose-gc", "--max-semi-space-size=2"];
const env = {
  ...process.env,
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: "131072",
  MALLOC_TRIM_THRESHOLD_: "131072",
};

type Holdings = Record<"children" | "zombies" | "descriptors" | "runtime" | "threads", number>;

interface Soak {
  seed: number;
  turns: number;
  outcomes: Record<string, number>;
  wrong: string[];
  before?: Holdings;
  after?: Holdings;
  left: number;
  grown: number;
  rss: number[];
}

test("a thousand turns, a third of them aborted, all end, and nothing is left", {
  timeout: 240_000,
}, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, script, "1000"], {
    env,
    timeout: 220_000,
    killSignal: "SIGKILL",
  });
  const soak: Soak = JSON.parse(stdout);
  // To be repeated with it: node scripts/soak.mjs 1000 SEED
  const seed = `seed ${soak.seed}`;
  expect(soak.wrong, seed).toEqual([]);
  expect(
    Object.values(soak.outcomes).reduce((sum, count) => sum + count, 0),
    seed,
  ).toBe(soak.turns);
  // Of a third; the faster the machine, the more of them come too late, and those turns have their results.
  expect(soak.outcomes.CURSOR_ABORTED, seed).toBeGreaterThan(50);
  for (const [name, count] of Object.entries(soak.after ?? {}))
    expect(count, `${name}, ${seed}`).toBeLessThanOrEqual(soak.before?.[name as "children"] ?? 0);
  expect(soak.grown, `${seed}: ${soak.rss}`).toBeLessThan(5 * 1024 * 1024);
  expect(soak.left, `processes left behind, ${seed}`).toBe(0);
});
