/** What `fusion-cursor worktree` makes of a report: its words, its JSON, its exit code. */

import type { CursorLeaseReport, CursorReconcileReport, CursorWorktreeReport } from "fusion-cursor-native";
import { describe, expect, test } from "vitest";
import { parseCommandLine, UsageError } from "../cli/arguments.ts";
import { encode, encodePlain, type Span } from "../cli/render/operations.ts";
import { describeReconciliation, describeWorktree, isClean } from "../cli/report.ts";

const NOW = 1_800_000_000_000;

const nothing: CursorWorktreeReport = {
  worktreePath: "/w t",
  exists: true,
  git: { kind: "repository", top: "/w t", gitDir: "/w t/.git", commonDir: "/w t/.git", prefix: "" },
  tracked: [],
  exclusion: { file: "/w t/.git/info/exclude", present: false, prefixes: [] },
  config: { state: "ok", fusionKeys: [], mode: 0o640 },
  manifest: { state: "absent" },
  leases: [],
  pending: null,
  quarantine: null,
  operatorEditObserved: false,
  locks: [],
  residue: [],
  problems: [],
};

const lease: CursorLeaseReport = {
  serverKey: "fusion-custom-tools-1",
  pid: 7,
  hostname: "h",
  heartbeatAt: NOW - 62_000,
  ageMs: 62_000,
  owner: "alive",
  live: true,
  heldHere: false,
};

const staged: CursorWorktreeReport = {
  ...nothing,
  git: { ...nothing.git, top: "/", prefix: "w t/" },
  exclusion: { file: "/.git/info/exclude", present: true, prefixes: ["w t/", "x/"], ignored: true },
  config: { state: "ok", fusionKeys: ["fusion-custom-tools-1"], mode: 0o600 },
  manifest: { state: "ok" },
  leases: [lease],
};

const broken: CursorWorktreeReport = {
  ...staged,
  tracked: ["w t/.cursor/mcp.json"],
  exclusion: { file: "/.git/info/exclude", present: true, prefixes: ["x/"], ignored: false },
  config: { state: "unparsable", fusionKeys: ["fusion-custom-tools-1"], detail: "line 3, column 7: a comma" },
  operatorEditObserved: true,
  leases: [
    { ...lease, owner: "dead", live: false },
    { ...lease, serverKey: "fusion-custom-tools-2", owner: "unknown", hostname: "far", ageMs: -3_000 },
  ],
  pending: { kind: "restore", seq: 4 },
  quarantine: {
    observedAt: "2026-11-30T20:00:00.000Z",
    fusionKeys: ["fusion-custom-tools-1"],
    cure: "mend /w t/.cursor/mcp.json",
  },
  locks: [{ path: "/w t/.cursor/.fusion-mcp.lock", pid: 9, hostname: "h", since: NOW - 90_000, stale: true }],
  residue: [{ path: "/w t/.cursor/.fusion-mcp.lock/x.tmp", what: "a temporary file of a dead process" }],
  problems: [
    {
      reason: "tracked",
      path: "/w t/.cursor/mcp.json",
      message: "git tracks it: git rm --cached",
      retryable: false,
    },
  ],
};

const text = (spans: readonly Span[]): string =>
  encodePlain(spans.map(({ text, style }) => ({ do: "print", text, style })));

const inspected = (report: CursorWorktreeReport): string => text(describeWorktree(report, NOW));

describe("inspect", () => {
  test("tells that there is nothing", () => {
    expect(inspected(nothing)).toBe(`✓ worktree  /w t
✓ git  /w t
– exclusion  /w t/.git/info/exclude  holds nothing of ours
✓ config  .cursor/mcp.json  mode 0640  0 entries of ours
– state  nothing is staged

nothing to do
`);
    expect(isClean(nothing)).toBe(true);
  });

  test("tells what a live session has", () => {
    expect(inspected(staged)).toBe(`✓ worktree  /w t
✓ git  /  folder w t/
✓ exclusion  /.git/info/exclude  hides this folder and 1 other  git ignores our files
✓ config  .cursor/mcp.json  mode 0600  1 entry of ours
✓ state  .cursor/.fusion-mcp-state.json
✓ lease  fusion-custom-tools-1  pid 7 on h, alive  beat 1m 02s ago

nothing to do
`);
    expect(isClean(staged)).toBe(true);
  });

  test("tells all that is wrong, and the cures", () => {
    expect(inspected(broken)).toBe(`✓ worktree  /w t
✓ git  /  folder w t/
✗ exclusion  /.git/info/exclude  hides 1 other  git does not ignore our files
✗ config  .cursor/mcp.json  unparsable  line 3, column 7: a comma
✓ state  .cursor/.fusion-mcp-state.json  the config was changed by its owner meanwhile
✗ tracked by git  w t/.cursor/mcp.json
✗ lease  fusion-custom-tools-1  pid 7 on h, dead  beat 1m 02s ago  over: the next session drops it
✓ lease  fusion-custom-tools-2  pid 7 on far, of another machine  beat 3.0s in the future
✗ journal  restore number 4  was begun and not finished
✗ quarantine  .cursor/mcp.json is no JSON, and left alone since 2026-11-30T20:00:00.000Z  its text still names fusion-custom-tools-1
✗ lock  .cursor/.fusion-mcp.lock  pid 9 on h  for 1m 30s  stale: the next session takes it over
✗ residue  .cursor/.fusion-mcp.lock/x.tmp  a temporary file of a dead process

problem: git tracks it: git rm --cached (tracked)
cure: mend /w t/.cursor/mcp.json
to put it in order: fusion-cursor worktree reconcile '/w t'
`);
  });

  test.each<[string, Partial<CursorWorktreeReport>]>([
    ["a folder that is none", { exists: false }],
    ["a dead lease", { leases: [{ ...lease, owner: "dead", live: false }] }],
    ["a journal that nobody is at", { pending: { kind: "write", seq: 1 } }],
    ["a stale lock", { locks: [{ path: "/w t/l", stale: true }] }],
    ["residue", { residue: [{ path: "/w t/x", what: "y" }] }],
    ["a torn state", { manifest: { state: "torn" } }],
    ["a state that is not known", { manifest: { state: "unknown-version" } }],
    ["a config that cannot be edited", { config: { state: "not-utf8", fusionKeys: [] } }],
    ["a quarantine", { quarantine: { observedAt: "x", fusionKeys: [], cure: "y" } }],
    ["a tracked config", { tracked: ["x"] }],
    ["a git that cannot say", { git: { kind: "unknown", error: "x" }, exclusion: null }],
    ["files that git shows", { exclusion: { file: "/x", present: true, prefixes: [], ignored: false } }],
    ["a problem", { problems: [{ reason: "io", message: "x", retryable: true }] }],
  ])("%s is something to do", (_name, more) => {
    const report = { ...nothing, ...more };
    expect(isClean(report)).toBe(false);
    expect(inspected(report)).not.toContain("nothing to do");
    expect(inspected(report)).toMatch(/^(✗|problem:)/m);
  });

  test.each<[string, Partial<CursorWorktreeReport>]>([
    ["no repository", { git: { kind: "non-git" }, exclusion: null }],
    ["no config", { config: { state: "absent", fusionKeys: [] } }],
    [
      "a session at work",
      { pending: { kind: "write", seq: 1 }, locks: [{ path: "/w t/l", pid: 1, stale: false }] },
    ],
  ])("%s is nothing to do", (_name, more) => {
    const report = { ...nothing, ...more };
    expect(isClean(report)).toBe(true);
    expect(inspected(report)).not.toContain("✗");
  });

  test("lets nothing that somebody wrote drive the terminal", () => {
    const evil = "a\u001b[2Jb\u009b1mc\u0007\r\nd\u202e\u2066e";
    const report: CursorWorktreeReport = {
      ...broken,
      worktreePath: `/${evil}`,
      git: { kind: "repository", top: evil, prefix: evil, error: evil },
      tracked: [evil],
      exclusion: { file: evil, present: true, prefixes: [evil], ignored: false },
      config: { state: "unparsable", fusionKeys: [evil], detail: evil },
      manifest: { state: "unreadable", detail: evil },
      leases: [{ ...lease, serverKey: evil, hostname: evil }],
      quarantine: { observedAt: evil, fusionKeys: [evil], cure: evil },
      locks: [{ path: evil, hostname: evil, stale: true }],
      residue: [{ path: evil, what: evil }],
      problems: [{ reason: "io", path: evil, message: evil, retryable: true }],
    };
    const reconciled: CursorReconcileReport = {
      worktreePath: evil,
      clean: false,
      actions: [{ kind: "lease-dropped", path: evil, detail: evil }],
      problems: report.problems,
      quarantine: report.quarantine,
      leasesLeft: 0,
    };
    for (const spans of [describeWorktree(report, NOW), describeReconciliation(reconciled)]) {
      expect(text(spans)).not.toMatch(/[^\P{Cc}\n]|[\u202e\u2066]/u);
      expect(
        text(spans)
          .split("\n")
          .every((line) => line.length < 700),
      ).toBe(true);
      // In colours, only the styles of our own.
      const styled = encode(spans.map(({ text, style }) => ({ do: "print", text, style })));
      expect(styled.replace(/\u001b\[\d+m/g, "")).toBe(text(spans));
    }
  });

  test("a thousand leases and a name without end fit on a screen", () => {
    const leases = Array.from({ length: 1000 }, (_, n) => ({
      ...lease,
      serverKey: `k${n}`.padEnd(9000, "x"),
    }));
    const shown = inspected({ ...staged, leases });
    expect(shown.split("\n").length).toBeLessThan(70);
    expect(shown).toContain("… and 950 more");
    expect(shown.length).toBeLessThan(20_000);
  });
});

describe("reconcile", () => {
  const done: CursorReconcileReport = {
    worktreePath: "/w",
    clean: true,
    actions: [],
    problems: [],
    quarantine: null,
    leasesLeft: 0,
  };

  test("tells that there was nothing to do", () => {
    expect(text(describeReconciliation(done))).toBe("✓ worktree  /w\n\nnothing to do\n");
  });

  test("tells what it did", () => {
    const report: CursorReconcileReport = {
      ...done,
      actions: [
        { kind: "lease-dropped", path: "/w/.cursor/.fusion-mcp-state.json", detail: "pid 7 is gone" },
        { kind: "exclusion-removed", path: "/r/.git/info/exclude", detail: "nobody needs it" },
      ],
      leasesLeft: 2,
    };
    expect(text(describeReconciliation(report))).toBe(`✓ worktree  /w
✓ lease-dropped  .cursor/.fusion-mcp-state.json  pid 7 is gone
✓ exclusion-removed  /r/.git/info/exclude  nobody needs it
– 2 leases stay in force

in order again
`);
  });

  test("tells what it could not do", () => {
    const report: CursorReconcileReport = {
      ...done,
      clean: false,
      problems: [{ reason: "lock-timeout", message: "pid 9 has the lock", retryable: true }],
      quarantine: broken.quarantine,
      leasesLeft: 1,
    };
    expect(text(describeReconciliation(report))).toBe(`✗ worktree  /w
✗ quarantine  .cursor/mcp.json is no JSON, and left alone since 2026-11-30T20:00:00.000Z  its text still names fusion-custom-tools-1
– 1 lease stays in force

problem: pid 9 has the lock (lock-timeout)
cure: mend /w t/.cursor/mcp.json
not in order yet
`);
  });
});

describe("the command line", () => {
  test("takes a folder and --json, in any order", () => {
    const command = { name: "worktree", action: "inspect", folder: "/w t", json: false };
    expect(parseCommandLine(["worktree", "inspect", "/w t"])).toEqual(command);
    expect(parseCommandLine(["worktree", "--json", "reconcile", "."])).toEqual({
      ...command,
      action: "reconcile",
      folder: ".",
      json: true,
    });
    expect(parseCommandLine(["worktree", "inspect", "--", "-odd"])).toEqual({ ...command, folder: "-odd" });
  });

  test.each([
    [["worktree"], "worktree needs inspect or reconcile, and a folder"],
    [["worktree", "."], 'worktree is inspect or reconcile, not "."'],
    [["worktree", "inspect"], "worktree inspect needs a folder"],
    [["worktree", "reconcile", ""], "worktree reconcile needs a folder"],
    [["worktree", "inspect", "a", "b"], 'worktree inspect takes no "b"'],
    [["worktree", "inspect", ".", "--binary", "x"], "worktree inspect has no option --binary"],
    [["worktree", "reconcile", ".", "--worktree", "x"], "worktree reconcile has no option --worktree"],
  ])("%j is refused", (argv, message) => {
    expect(() => parseCommandLine(argv)).toThrow(UsageError);
    expect(() => parseCommandLine(argv)).toThrow(message);
  });
});
