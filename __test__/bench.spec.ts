/**
 * That `npm run bench` works, and that what docs/performance.md says is what the figures say. How fast anything is
 * on this machine, no test says.
 */

import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Row } from "../scripts/bench/figures.mjs";
import { curves, filesOf } from "../scripts/charts.mjs";
import { Page, root } from "./support/markdown.js";

const run = promisify(execFile);
const script = join(root, "scripts", "bench.mjs");

function room(): string {
  const folder = mkdtempSync(join(tmpdir(), "fusion-cursor-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function parts(): Promise<string[]> {
  const { stdout } = await run(process.execPath, [script, "--list"]);
  return [...stdout.matchAll(/^(\w+) +\w/gm)].map((match) => match[1] as string);
}

describe("npm run bench", () => {
  test("prints and writes a row for all that it measures", { timeout: 180_000 }, async () => {
    const json = join(room(), "figures.json");
    const { stdout } = await run(process.execPath, [script, "--quick", "--as-built", "--json", json]);
    const { format, date, machine, versions, options, rows } = JSON.parse(readFileSync(json, "utf8"));
    expect(format).toBe(1);
    expect(date).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(machine).toMatchObject({
      system: `${process.platform} ${process.arch}`,
      processors: expect.any(Number),
    });
    expect(versions).toMatchObject({ node: process.versions.node, git: expect.any(String) });
    expect(options.rounds).toBe(1);
    expect([...new Set(rows.map(({ part }: Row) => part))]).toEqual(await parts());
    for (const { name, at, value, unit, reference, ratio, against } of rows as Row[]) {
      const title = at === undefined ? name : `${name}, ${at.value} ${at.unit}`;
      const bare = (text: string): string => text.replaceAll("`", "");
      const line = stdout
        .split("\n")
        .find((line) => line.startsWith(`  ${bare(title)} `) && line.endsWith(`   ${bare(against)}`));
      expect([title, line]).toEqual([title, expect.any(String)]);
      expect([title, line]).toEqual([title, expect.stringContaining(` ${unit} `)]);
      expect([title, value]).toEqual([title, expect.any(Number)]);
      if (ratio === null) expect(line).toContain(" – ");
      else expect([title, ratio * (reference ?? 0)]).toEqual([title, expect.closeTo(value, 0)]);
    }
    // What else the table is read for.
    for (const curve of curves)
      expect(rows).toContainEqual(
        expect.objectContaining({ part: curve.part, name: curve.name, at: expect.anything() }),
      );
  });

  test.each([
    [["--only", "streams,speed"], /^\n--only knows no speed\. There are: streams, delay, .+\.\n$/],
    [["--rounds", "many"], /^\n--rounds takes a whole number above 0, not many\.\n$/],
    [["--fast"], /^\nUnknown option '--fast'/],
  ])("says what is wrong with %j", async (args, message) => {
    await expect(run(process.execPath, [script, ...args])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(message),
    });
  });
});

describe("docs/performance.md", () => {
  const bench = JSON.parse(readFileSync(join(root, "docs", "performance", "bench.json"), "utf8"));
  const figure = (part: string, name: string, at?: number): Row => {
    const found = bench.rows.find(
      (row: Row) => row.part === part && row.name === name && row.at?.value === at,
    );
    if (found === undefined) throw new Error(`there is no ${name} at ${at}`);
    return found;
  };
  const ratio = (...which: Parameters<typeof figure>): number => figure(...which).ratio ?? Number.NaN;
  /** How often a figure holds itself as the numbers grow from the first to the last. */
  const grows = (part: string, name: string, whose: "value" | "reference" = "value"): number => {
    const rows = bench.rows.filter((row: Row) => row.part === part && row.name === name && row.at);
    return (rows.at(-1)?.[whose] ?? Number.NaN) / (rows[0]?.[whose] ?? Number.NaN);
  };

  test("and its charts are what the figures give", async () => {
    await run(process.execPath, [join(root, "scripts", "charts.mjs"), "--check"]);
  });

  test("shows every chart, and a figure that changes changes it", () => {
    const images = new Page("docs/performance.md").text.matchAll(/^!\[.+\]\(performance\/([\w-]+\.svg)\)$/gm);
    expect([...images].map((match) => match[1]).sort()).toEqual(curves.map(({ file }) => file).sort());
    const rows = bench.rows.map((row: Row) => ({
      ...row,
      value: row.value * 1.5,
      ratio: (row.ratio ?? 0) * 1.5,
    }));
    const [before, after] = [filesOf(bench), filesOf({ ...bench, rows })];
    for (const [path, text] of before) expect(after.get(path)).not.toBe(text);
  });

  test("is made of figures of the whole bench on an addon with optimizations", async () => {
    expect([...new Set(bench.rows.map(({ part }: Row) => part))]).toEqual(await parts());
    expect(() => filesOf({ ...bench, debug: true })).toThrow("without optimizations");
    expect(() => filesOf({ ...bench, rows: [] })).toThrow("no curve");
  });

  test("says of the main thread and of the loop what the figures say", () => {
    expect(ratio("streams", "throughput, four callbacks")).toBeGreaterThan(1.5);
    expect(ratio("streams", "main thread, four callbacks")).toBeLessThan(0.5);
    expect(ratio("streams", "main thread, `onEvent`")).toBeLessThan(0.2);
    for (const lanes of [1, 4, 16, 64])
      expect(ratio("delay", "delay of the loop, p99", lanes)).toBeLessThan(0.5);
    for (const sessions of [10, 20, 40, 80])
      expect(ratio("growth", "main thread, each", sessions)).toBeLessThan(0.8);
    expect(ratio("session", "main thread of all")).toBeLessThan(0.8);
    expect(ratio("bridge", "main thread of the host, for each call")).toBeLessThan(0.8);
  });

  test("says of starts what the figures say", () => {
    expect(grows("spawn", "the call that starts a turn")).toBeLessThan(2);
    expect(grows("spawn", "the call that starts a turn", "reference")).toBeGreaterThan(5);
  });

  test("says of sessions what the figures say", () => {
    expect(ratio("session", "a session with a tool and one turn")).toBeGreaterThan(1);
    expect(ratio("growth", "memory of the host, each", 80)).toBeGreaterThan(1);
    expect(ratio("growth", "V8 heap, each", 80)).toBeLessThan(1);
  });

  test("says of growth what the figures say", () => {
    expect(grows("growth", "wall time of all")).toBeLessThan(8 * 1.25);
    expect(grows("growth", "main thread, each")).toBeLessThan(1);
    expect(grows("growth", "memory of the host, each")).toBeLessThan(1.25);
    expect(grows("growth", "descriptors, each")).toBeLessThan(1.1);
    expect(grows("growth", "threads, each")).toBeLessThan(1.1);
    expect(grows("lease", "a cycle, in worktrees of one repository at once")).toBeLessThan(1.25);
    expect(grows("delay", "delay of the loop, p99")).toBeLessThan(64);
  });
});
