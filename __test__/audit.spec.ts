/** What the audits say, as their programs print it; and that nobody who was not asked counts as clean. */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { conclude, readCrates, readPackages } from "../scripts/audit.mjs";

const script = join(__dirname, "..", "scripts", "audit.mjs");

/** Lines of `cargo deny --format json check advisories`. */
const summary = (errors: number): string =>
  JSON.stringify({ fields: { advisories: { errors, helps: 0, notes: 0, warnings: 0 } }, type: "summary" });
const diagnostic = (fields: object): string => JSON.stringify({ fields, type: "diagnostic" });
const weak = diagnostic({
  advisory: { id: "RUSTSEC-2020-9999", package: "rustix", title: "It leaks" },
  code: "vulnerability",
  message: "It leaks",
  severity: "error",
});
const note = diagnostic({ code: "advisory-not-detected", message: "not there", severity: "warning" });
const logged = (message: string): string =>
  JSON.stringify({ fields: { level: "ERROR", message }, type: "log" });

const counts = { info: 0, low: 0, moderate: 0, high: 0, critical: 0, total: 0 };

describe("the crates", () => {
  test.each([
    ["nothing is known", 0, [summary(0)], { verdict: "clean", lines: [] }],
    ["a warning is no weakness", 0, [note, summary(0)], { verdict: "clean", lines: [] }],
    [
      "a weakness",
      1,
      [weak, note, summary(1)],
      { verdict: "found", lines: ["rustix, RUSTSEC-2020-9999: It leaks"] },
    ],
    [
      "a crate that was taken back",
      1,
      [diagnostic({ code: "yanked", message: "detected yanked crate", severity: "error" }), summary(1)],
      { verdict: "found", lines: ["yanked: detected yanked crate"] },
    ],
    [
      "an end without a reason",
      1,
      [summary(0)],
      { verdict: "found", lines: ["cargo-deny ended with code 1"] },
    ],
    [
      "no way to the database",
      1,
      [
        logged(
          "failed to fetch\nCloning into 'x'...\nfatal: unable to access 'https://x/': Could not resolve host: x\n",
        ),
      ],
      {
        verdict: "unreachable",
        lines: ["fatal: unable to access 'https://x/': Could not resolve host: x"],
      },
    ],
    [
      "a wrong configuration",
      1,
      [diagnostic({ message: "no such key", severity: "error" }), logged("failed to validate deny.toml")],
      { verdict: "unreachable", lines: ["failed to validate deny.toml"] },
    ],
    ["nothing, with a good end", 0, [], { verdict: "unreachable", lines: ["no answer"] }],
    [
      "no JSON",
      101,
      ["thread 'main' panicked"],
      { verdict: "unreachable", lines: ["thread 'main' panicked"] },
    ],
  ])("%s", (_name, status, lines, answer) => {
    expect(readCrates(status, `${lines.join("\n")}\n`)).toEqual(answer);
  });
});

describe("the packages", () => {
  test.each([
    [
      "nothing is known",
      { vulnerabilities: {}, metadata: { vulnerabilities: counts } },
      { verdict: "clean", lines: [] },
    ],
    [
      "weaknesses",
      {
        vulnerabilities: {
          vite: { name: "vite", severity: "high", range: "<9", via: [{ title: "It reads files" }] },
          vitest: { name: "vitest", severity: "high", range: "*", via: ["vite"] },
        },
        metadata: { vulnerabilities: { ...counts, high: 2, total: 2 } },
      },
      { verdict: "found", lines: ["vite <9 (high): It reads files", "vitest * (high)"] },
    ],
    [
      "a registry that does not answer that question",
      { message: "405 Method Not Allowed - POST https://x/", statusCode: 405, error: { summary: "" } },
      { verdict: "unreachable", lines: ["405 Method Not Allowed - POST https://x/"] },
    ],
    [
      "no way to the registry",
      { error: { code: "ENOTFOUND", summary: "request to https://x/ failed" } },
      { verdict: "unreachable", lines: ["request to https://x/ failed"] },
    ],
  ])("%s", (_name, report, answer) => {
    expect(readPackages(JSON.stringify(report))).toEqual(answer);
  });

  test("no JSON, or nothing", () => {
    expect(readPackages("npm error boom\nmore")).toEqual({
      verdict: "unreachable",
      lines: ["npm error boom"],
    });
    expect(readPackages("")).toEqual({ verdict: "unreachable", lines: ["no answer"] });
  });
});

describe("the conclusion", () => {
  const clean = { what: "crates", answer: { verdict: "clean", lines: [] } } as const;
  const found = { what: "packages", answer: { verdict: "found", lines: ["vite"] } } as const;
  const silent = { what: "packages", answer: { verdict: "unreachable", lines: ["405"] } } as const;

  test.each([
    ["all are clean", [clean, clean], 0, ["✓ crates: no known weakness", "✓ crates: no known weakness"]],
    [
      "one that could not be asked is no pass",
      [clean, silent],
      2,
      ["✗ packages: could not be asked", "  405"],
    ],
    [
      "a weakness is one, whoever else is silent",
      [silent, found],
      1,
      ["✗ packages: known weaknesses", "  vite"],
    ],
  ])("%s", (_name, asked, code, some) => {
    const told = conclude(
      asked.map(({ what, answer }) => ({ what, answer: { ...answer, lines: [...answer.lines] } })),
    );
    expect(told.code).toBe(code);
    expect(told.lines).toEqual(expect.arrayContaining(some));
  });
});

test("the program says who could not be asked, by its words and its exit code", async () => {
  // Nothing is reached from here.
  const env = { ...process.env, PATH: mkdtempSync(join(tmpdir(), "fusion-cursor-test-")) };
  onTestFinished(() => rmSync(env.PATH, { recursive: true }));
  const { npm_execpath: _, ...alone } = env as NodeJS.ProcessEnv;
  const ran = promisify(execFile)(process.execPath, [script], { env: alone });
  await expect(ran).rejects.toMatchObject({
    code: 2,
    stdout: expect.stringMatching(
      /✗ crates \(RustSec\): could not be asked\n {2}.+\n✗ packages \(npm\): could not be asked\n/,
    ),
  });
});
