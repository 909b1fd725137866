/** That the check of the workflows can fail: each test changes one thing in the real ones, and the check has to see it. */

import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { hasTool } from "../scripts/tools.mjs";
import { complaints, type Workflow } from "../scripts/workflows/checks.mjs";
import { type Facts, facts } from "../scripts/workflows/facts.mjs";
import { actionlint, workflows, zizmor } from "../scripts/workflows.mjs";

const files: Workflow[] = workflows();

/** The workflows with `from` in one of them replaced, the first time it is there. */
function altered(name: string, from: string | RegExp, to: string): Workflow[] {
  return files.map((file) => {
    if (file.name !== name) return file;
    const text = file.text.replace(from, to);
    expect(text).not.toBe(file.text);
    return { name, text };
  });
}

/** What is said about changed workflows, and about changed facts, and not about the real ones. */
function said(changed: Workflow[], other: Partial<Facts> = {}): string {
  const before = complaints(files, facts());
  return complaints(changed, { ...facts(), ...other })
    .filter((line) => !before.includes(line))
    .join("\n");
}

test("the workflows are as they should be", () => expect(complaints(files, facts())).toEqual([]));

describe("an action", () => {
  test.each([
    ["a tag", "@v7"],
    ["a branch", "@main # v7.0.1"],
    ["a short commit", "@3d3c42e # v7.0.1"],
    ["a commit without its version", "@3d3c42e5aac5ba805825da76410c181273ba90b1"],
  ])("that is pinned to %s is refused", (_, pin) => {
    const changed = altered("ci.yml", /@3d3c42e\S+ # v[\d.]+/, pin);
    expect(said(changed)).toContain(`ci.yml: \`actions/checkout${pin}\` is not pinned`);
  });

  test("that is another commit in one place is refused", () => {
    const changed = altered("weekly.yml", "@3d3c42e5", "@3d3c42e6");
    expect(said(changed)).toMatch(/weekly\.yml: `actions\/checkout@3d3c42e6.*` is `.*@3d3c42e5.*` elsewhere/);
  });
});

test.each([
  ["ci.yml", "persist-credentials", "persist-credential", "is told `persist-credential`, which"],
  ["packages.yml", "if-no-files-found", "if-no-file-found", "is told `if-no-file-found`, which"],
  ["packages.yml", "pattern: binaries-*", "pattern: binary-*", "nobody stores the artifact binary-*"],
  ["release.yml", "name: packages", "name: package", "nobody stores the artifact package"],
])("what an action is told is looked at in %s, where %s became %s", (name, from, to, what) => {
  expect(said(altered(name, from, to))).toContain(what);
});

test.each([
  ["ci.yml", /rust:1\.95-bookworm@sha256:\w+/, "rust:1.95-bookworm"],
  ["packages.yml", /almalinux:8@sha256:\w+/, "almalinux:8"],
  ["packages.yml", /node:24\S+-alpine@sha256:/, "node@sha256:"],
])("an image in %s that is not pinned is refused", (name, from, to) => {
  expect(said(altered(name, from, to))).toContain("is not pinned as NAME:TAG@sha256:DIGEST");
});

describe("what a job may do", () => {
  test.each([
    ["ci.yml", "permissions: {}", "permissions: read-all", "ci.yml does not begin with `permissions: {}`"],
    ["ci.yml", "permissions: {}\n", "", "ci.yml does not begin with `permissions: {}`"],
    ["ci.yml", "contents: read", "contents: write", "ci.yml, job checks: its permissions are"],
    [
      "packages.yml",
      "contents: read",
      "contents: read\n      id-token: write",
      "packages.yml, job build: its",
    ],
    ["release.yml", /id-token: write.*/, "packages: read", "release.yml, job publish: its permissions are"],
    ["release.yml", "environment: npm", "environment: test", "it is not in the environment npm"],
    ["release.yml", "environment: npm\n", "\n", "it is not in the environment npm"],
    ["release.yml", "tags: [", "secrets: [", "release.yml uses secrets"],
  ])("is looked at in %s, where %s became %s", (name, from, to, what) => {
    expect(said(altered(name, from, to))).toContain(what);
  });
});

test("a job without an end is refused", () => {
  expect(said(altered("ci.yml", "    timeout-minutes: 60\n", ""))).toBe(
    "ci.yml, job native: it has no timeout-minutes",
  );
});

test("a checkout that keeps its key is refused", () => {
  expect(said(altered("release.yml", "persist-credentials: false", "persist-credentials: true"))).toBe(
    "release.yml, job agreement: its checkout has no `persist-credentials: false`",
  );
});

describe("what is called and is not there is told:", () => {
  test.each([
    ["release.yml", "scripts/release.mjs", "scripts/releases.mjs", "there is no file scripts/releases.mjs"],
    ["packages.yml", "scripts/smoke.mjs packages", "scripts/smoke.js", "there is no file scripts/smoke.js"],
    ["ci.yml", "run: .ci/run", "run: .ci/all", "there is no file .ci/all"],
    ["ci.yml", "npm run tools", "npm run tool", "there is no script tool"],
    ["ci.yml", "--only clippy,rust", "--only clippy,rusty", "there is no stage rusty"],
    [
      "release.yml",
      "workflows/ci.yml",
      "workflows/cis.yml",
      "there is no workflow ./.github/workflows/cis.yml",
    ],
  ])("in %s, where %s became %s", (name, from, to, what) => {
    const changed = altered(name, from.replace(" packages", " release/packages"), to);
    expect(said(changed)).toContain(what);
  });
});

describe("the targets", () => {
  test("that are not built are told", () => {
    const target = / +- target: aarch64-apple-darwin\n.*\n.*\n/;
    expect(said(altered("packages.yml", target, ""))).toContain(
      "packages.yml does not build aarch64-apple-darwin as darwin-arm64",
    );
  });

  test("that package.json gets are asked for", () => {
    const target = { target: "riscv64gc-unknown-linux-gnu", name: "linux-riscv64-gnu" };
    const more = { platforms: [...facts().platforms, target] } as Partial<Facts>;
    expect(said(files, more)).toBe(
      "packages.yml does not build riscv64gc-unknown-linux-gnu as linux-riscv64-gnu",
    );
  });

  test("that are built twice, or are none, are told", () => {
    const twice = altered("packages.yml", "aarch64-apple-darwin", "x86_64-apple-darwin");
    expect(said(twice)).toContain("builds x86_64-apple-darwin as darwin-arm64, which is no target");
    const again = altered("packages.yml", /( +- target: aarch64-apple-darwin\n.*\n.*\n)/, "$1$1");
    expect(said(again)).toBe("packages.yml builds aarch64-apple-darwin as darwin-arm64 twice");
    const both = altered("packages.yml", "platform: darwin-arm64", "platform: darwin-x64");
    expect(said(both)).toContain("builds aarch64-apple-darwin as darwin-x64, which is no target");
  });

  test.each([
    ["ci.yml", "workflows/packages.yml", "workflows/weekly.yml", "ci.yml does not build the packages"],
    ["release.yml", "workflows/ci.yml", "workflows/packages.yml", "release.yml does not run ci.yml"],
  ])("are reached by %s", (name, from, to, what) => {
    expect(said(altered(name, from, to))).toContain(what);
  });
});

test.each([
  ["needs: [agreement, ci, audit]", "needs: [agreement, audit]", "job publish: it does not wait for ci"],
  ["needs: [agreement, ci, audit]", "needs: ci", "job publish: it does not wait for audit"],
  ["    environment: npm", "    if: always()\n    environment: npm", "job publish: it has a condition"],
])("a release does not go round a job: %s became %s", (from, to, what) => {
  expect(said(altered("release.yml", from, to))).toContain(what);
});

test.each([
  [
    "ci.yml",
    "    timeout-minutes: 60",
    "    continue-on-error: true\n$&",
    "job native: it goes on after an error",
  ],
  ["ci.yml", "- run: npm ci", "$&\n        continue-on-error: true", "`npm ci`: it goes on after an error"],
  ["ci.yml", "- run: npm ci", "- run: npm ci || true", "`npm ci || true`: it goes on after an error"],
  ["ci.yml", "- run: .ci/run", "$&\n        if: github.actor == 'x'", "`.ci/run` has a condition"],
  ["packages.yml", "    needs: build", "    if: always()\n$&", "packages.yml, job pack: it has a condition"],
  ["packages.yml", "    needs: pack", "    if: false\n$&", "packages.yml, job installed: it has a condition"],
  ["release.yml", "cancel-in-progress: false", "cancel-in-progress: true", "broken off while it publishes"],
  ["release.yml", "group: release", "group: release-${{ github.ref }}", "two releases could run at once"],
  [
    "weekly.yml",
    "      options: --init\n",
    "",
    "weekly.yml, job extended: its container has no `options: --init`",
  ],
])("what fails is seen in %s: %s may not become %s", (name, from, to, what) => {
  expect(said(altered(name, from, to))).toContain(what);
});

describe("the versions", () => {
  test("of Node in which packages are tried are those of engines and of the runtimes", () => {
    expect(said(altered("packages.yml", '"20.17.0"', '"20"'))).toContain(
      "it runs in Node 20, 22, 24, not 20.17.0",
    );
    expect(said(files, { oldestNode: "22.1", nodeMajors: ["22", "24"] })).toContain("not 22.1.0, 24");
    expect(said(files, { nodeMajors: ["20", "22", "24", "26"] })).toContain("not 20.17.0, 22, 24, 26");
    expect(said(altered("packages.yml", /node: \[.*\]/, "nodes: [1]"))).toContain(
      "no job runs in every Node",
    );
  });

  test("of Node elsewhere are those of the runtimes", () => {
    expect(said(altered("ci.yml", "node-version: 24", "node-version: 23"))).toBe(
      "ci.yml, job native: Node 23 is none of scripts/runtimes/ (20, 22, 24)",
    );
  });

  test("of Rust are one, and the oldest is that of Cargo.toml", () => {
    expect(said(altered("ci.yml", "RUSTUP_TOOLCHAIN: 1.95.0", "RUSTUP_TOOLCHAIN: 1.96.0"))).toContain(
      "several versions of Rust: ",
    );
    expect(said(altered("ci.yml", '"1.89"', '"1.90"'))).toBe(
      "ci.yml, job oldest-rust: it checks Rust 1.90, and Cargo.toml says 1.89",
    );
  });
});

describe("actionlint", { timeout: 70_000 }, () => {
  test("finds nothing", async () => expect(await actionlint(files)).toEqual([]));

  test.each([
    [
      "ci.yml",
      "github.event_name",
      "github.event_names",
      /ci\.yml:\d+:\d+: property "event_names" is not defined/,
    ],
    ["release.yml", "needs: agreement", "needs: agreements", /needs job "agreements" which does not exist/],
    ["ci.yml", "windows-11-arm", "windows-11-harm", /label "windows-11-harm" is unknown/],
  ])("finds in %s that %s became %s", async (name, from, to, what) => {
    expect((await actionlint(altered(name, from, to))).join("\n")).toMatch(what);
  });
});

test("zizmor finds what a stranger could write into a script", { timeout: 70_000 }, async ({ skip }) => {
  if (!hasTool("zizmor")) return skip("zizmor is not there: npm run tools");
  const folder = mkdtempSync(join(tmpdir(), "fusion-cursor-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(__dirname, "..", ".github"), join(folder, ".github"), { recursive: true });
  const path = join(folder, ".github");
  await zizmor(path);
  const text = altered("ci.yml", "run: npm ci", "run: echo ${{ github.event.pull_request.title }}");
  for (const file of text) writeFileSync(join(path, "workflows", file.name), file.text);
  await expect(zizmor(path)).rejects.toHaveProperty("output", expect.stringContaining("template-injection"));
});
