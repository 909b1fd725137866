/** What index.d.ts says of leases and reports, held against the values: tsc checks the tables, the run what comes. */

import {
  type CursorLeaseReport,
  type CursorQuarantine,
  type CursorReconcileReport,
  type CursorWorktreeProblem,
  type CursorWorktreeReport,
  inspectCursorWorktree,
  reconcileCursorWorktree,
  stageCursorMcpLease,
} from "fusion-cursor-native";
import { expect, test } from "vitest";
import { inHost } from "./support/host.ts";
import { fits, type Members } from "./support/members.ts";
import { CONFIG, LOCK, Worktree } from "./support/worktree.ts";

const REPORT: Members<CursorWorktreeReport> = {
  worktreePath: "string",
  exists: "boolean",
  git: "object",
  tracked: "object",
  exclusion: "object or null",
  config: "object",
  manifest: "object",
  leases: "object",
  pending: "object or null",
  quarantine: "object or null",
  operatorEditObserved: "boolean",
  locks: "object",
  residue: "object",
  problems: "object",
};
const GIT: Members<CursorWorktreeReport["git"]> = {
  kind: "string",
  top: "string?",
  gitDir: "string?",
  commonDir: "string?",
  prefix: "string?",
  error: "string?",
};
const EXCLUSION: Members<NonNullable<CursorWorktreeReport["exclusion"]>> = {
  file: "string",
  present: "boolean",
  prefixes: "object",
  ignored: "boolean?",
};
const FILE: Members<CursorWorktreeReport["config"]> = {
  state: "string",
  fusionKeys: "object",
  mode: "number?",
  detail: "string?",
};
const STATE: Members<CursorWorktreeReport["manifest"]> = { state: "string", detail: "string?" };
const LEASE: Members<CursorLeaseReport> = {
  serverKey: "string",
  pid: "number",
  hostname: "string",
  heartbeatAt: "number",
  ageMs: "number",
  owner: "string",
  live: "boolean",
  heldHere: "boolean",
};
const PENDING: Members<NonNullable<CursorWorktreeReport["pending"]>> = { kind: "string", seq: "number" };
const QUARANTINE: Members<CursorQuarantine> = { observedAt: "string", fusionKeys: "object", cure: "string" };
const HELD: Members<CursorWorktreeReport["locks"][number]> = {
  path: "string",
  pid: "number?",
  hostname: "string?",
  since: "number?",
  stale: "boolean",
};
const RESIDUE: Members<CursorWorktreeReport["residue"][number]> = { path: "string", what: "string" };
const PROBLEM: Members<CursorWorktreeProblem> = {
  reason: "string",
  path: "string?",
  message: "string",
  retryable: "boolean",
};
const DONE: Members<CursorReconcileReport> = {
  worktreePath: "string",
  clean: "boolean",
  actions: "object",
  problems: "object",
  quarantine: "object or null",
  leasesLeft: "number",
};
const ACTION: Members<CursorReconcileReport["actions"][number]> = {
  kind: "string",
  path: "string",
  detail: "string",
};

function wholeReport(report: CursorWorktreeReport): void {
  fits(report, REPORT);
  fits(report.git, GIT);
  if (report.exclusion !== null) fits(report.exclusion, EXCLUSION);
  fits(report.config, FILE);
  fits(report.manifest, STATE);
  for (const lease of report.leases) fits(lease, LEASE);
  if (report.pending !== null) fits(report.pending, PENDING);
  if (report.quarantine !== null) fits(report.quarantine, QUARANTINE);
  for (const lock of report.locks) fits(lock, HELD);
  for (const residue of report.residue) fits(residue, RESIDUE);
  for (const problem of report.problems) fits(problem, PROBLEM);
}

function wholeDone(report: CursorReconcileReport): void {
  fits(report, DONE);
  for (const action of report.actions) fits(action, ACTION);
  for (const problem of report.problems) fits(problem, PROBLEM);
  if (report.quarantine !== null) fits(report.quarantine, QUARANTINE);
}

const places: [string, (worktree: Worktree) => unknown][] = [
  ["nothing", () => {}],
  ["a lease", (one) => stageCursorMcpLease(one.options())],
  [
    "a dead lease",
    (one) =>
      inHost(
        "await cursor().stageCursorMcpLease(given); process.kill(process.pid, 'SIGKILL'); await new Promise(() => {});",
        one.options(),
      ).catch(() => {}),
  ],
  ["a config that is no JSON", (one) => one.write(CONFIG, "{")],
  ["a config of somebody", (one) => one.write(CONFIG, '{"mcpServers":{"fusion-custom-tools-x":{}}}')],
  ["a lock", (one) => one.lock()],
  ["a lock of nobody", (one) => one.write(`${LOCK}/owner.json`, "?")],
  ["a file in the way", (one) => one.write(".cursor", "")],
];

test.each(places)("every value has the type that is written of it: %s", async (_name, make) => {
  for (const repository of [true, false]) {
    const worktree = new Worktree({ repository });
    await make(worktree);
    const before = worktree.picture();
    wholeReport(await inspectCursorWorktree(worktree.folder));
    expect(worktree.picture(), "to inspect changes nothing").toEqual(before);
    wholeDone(await reconcileCursorWorktree(worktree.folder, { lockTimeoutMs: 100 }));
  }
});

test("a change that was not finished, and a worktree that is none", async () => {
  const worktree = new Worktree();
  const lease = await stageCursorMcpLease(worktree.options());
  const state = ".cursor/.fusion-mcp-state.json";
  const manifest = JSON.parse(worktree.read(state));
  manifest.pending = { kind: "write", raw: "{}", seq: 7 };
  worktree.write(state, JSON.stringify(manifest), 0o600);
  const report = await inspectCursorWorktree(worktree.folder);
  wholeReport(report);
  expect(report.pending).toEqual({ kind: "write", seq: 7 });
  await lease.dispose();
  const none = await inspectCursorWorktree(worktree.at("nowhere"));
  wholeReport(none);
  expect([none.exists, none.worktreePath]).toEqual([false, worktree.at("nowhere")]);
  wholeDone(await reconcileCursorWorktree(worktree.at("nowhere")));
});
