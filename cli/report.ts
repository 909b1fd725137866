/** What lies in a worktree, and what was done about it, told to a person. Pure. */

import type {
  CursorLeaseReport,
  CursorQuarantine,
  CursorReconcileReport,
  CursorWorktreeProblem,
  CursorWorktreeReport,
} from "fusion-cursor-native";
import { formatDuration } from "./render/format.ts";
import { type Line, NO, OTHER, spansOf, YES } from "./render/lines.ts";
import type { Span } from "./render/operations.ts";
import { quote, singleLine, truncate } from "./render/text.ts";

/** Nothing longer than this is worth a line; a file of somebody else may hold any name. */
const NAME_COLUMNS = 120;
/** More of a kind are only counted. */
const MOST_LINES = 50;

/** Nothing to do and nothing wrong: live leases need no care. */
export function isClean(report: CursorWorktreeReport): boolean {
  return report.exists && !needsReconcile(report) && !needsPerson(report);
}

/** What `reconcile` would see to. */
function needsReconcile(report: CursorWorktreeReport): boolean {
  return (
    report.residue.length > 0 ||
    report.leases.some((lease) => !lease.live) ||
    report.locks.some((lock) => lock.stale) ||
    (report.pending !== null && !isAtWork(report)) ||
    report.manifest.state === "torn"
  );
}

/** What only a person can see to. */
function needsPerson(report: CursorWorktreeReport): boolean {
  return (
    report.problems.length > 0 ||
    report.quarantine !== null ||
    report.tracked.length > 0 ||
    report.git.kind === "unknown" ||
    report.exclusion?.ignored === false ||
    !["ok", "absent"].includes(report.config.state) ||
    !["ok", "absent", "torn"].includes(report.manifest.state)
  );
}

/** Somebody holds a lock, so that a journal is no leftover. */
function isAtWork(report: CursorWorktreeReport): boolean {
  return report.locks.some((lock) => !lock.stale);
}

export function describeWorktree(report: CursorWorktreeReport, now: number): Span[] {
  const { worktreePath } = report;
  const lines: Line[] = [
    [report.exists ? YES : NO, "worktree", worktreePath, report.exists ? "" : "is no folder"],
  ];
  if (report.exists) {
    lines.push(gitLine(report), ...exclusionLines(report), configLine(report), manifestLine(report));
  }
  lines.push(
    ...some(report.tracked, (path): Line => [NO, "tracked by git", name(path)]),
    ...some(report.leases, leaseLine),
    ...pendingLines(report),
    ...quarantineLines(report.quarantine),
    ...some(report.locks, (lock): Line => {
      const since = lock.since === undefined ? "" : `for ${formatDuration(now - lock.since)}`;
      const fate = lock.stale ? "stale: the next session takes it over" : "";
      return [
        lock.stale ? NO : OTHER,
        "lock",
        inside(worktreePath, lock.path),
        holder(lock.pid, lock.hostname),
        since,
        fate,
      ];
    }),
    ...some(report.residue, ({ path, what }): Line => [NO, "residue", inside(worktreePath, path), what]),
  );
  return [
    ...lines.flatMap(spansOf),
    { text: "\n", style: "plain" },
    ...problemSpans(report.problems),
    ...cureSpans(report.quarantine),
    ...verdict(report),
  ];
}

function verdict(report: CursorWorktreeReport): Span[] {
  if (isClean(report)) {
    return [{ text: "nothing to do\n", style: "green" }];
  }
  if (needsReconcile(report)) {
    return [
      { text: "to put it in order: ", style: "cyan" },
      {
        text: `${singleLine(`fusion-cursor worktree reconcile ${quote(report.worktreePath)}`)}\n`,
        style: "bold",
      },
    ];
  }
  return [{ text: "no server can be staged here as it is\n", style: "red" }];
}

export function describeReconciliation(report: CursorReconcileReport): Span[] {
  const { worktreePath, leasesLeft, clean } = report;
  const lines: Line[] = [
    [clean ? YES : NO, "worktree", worktreePath],
    ...some(
      report.actions,
      ({ kind, path, detail }): Line => [YES, kind, inside(worktreePath, path), detail],
    ),
    ...quarantineLines(report.quarantine),
  ];
  if (leasesLeft > 0) {
    lines.push([OTHER, leasesLeft === 1 ? "1 lease stays in force" : `${leasesLeft} leases stay in force`]);
  }
  return [
    ...lines.flatMap(spansOf),
    { text: "\n", style: "plain" },
    ...problemSpans(report.problems),
    ...cureSpans(report.quarantine),
    clean
      ? { text: report.actions.length > 0 ? "in order again\n" : "nothing to do\n", style: "green" }
      : { text: "not in order yet\n", style: "red" },
  ];
}

/** What is wrong with a part, where no problem says the same in full. */
function more(detail: string | undefined, { problems }: CursorWorktreeReport): string {
  return problems.some(({ message }) => detail !== undefined && message.includes(detail))
    ? ""
    : (detail ?? "");
}

function gitLine(report: CursorWorktreeReport): Line {
  const { git } = report;
  switch (git.kind) {
    case "repository": {
      const folder = git.prefix === undefined || git.prefix === "" ? "" : `folder ${git.prefix}`;
      return [YES, "git", git.top ?? "", folder];
    }
    case "non-git":
      return [OTHER, "git", "not in a repository"];
    default:
      return [NO, "git", "cannot say what this is", more(git.error, report)];
  }
}

function exclusionLines({ exclusion, git }: CursorWorktreeReport): Line[] {
  if (exclusion === null) {
    return [];
  }
  const { file, present, prefixes, ignored } = exclusion;
  const own = prefixes.includes(git.prefix ?? "") ? "this folder" : "";
  const others = prefixes.length - (own === "" ? 0 : 1);
  const folders = [own, others > 0 ? `${others} other${others === 1 ? "" : "s"}` : ""].filter(Boolean);
  const hides = present ? `hides ${folders.join(" and ") || "nothing"}` : "holds nothing of ours";
  const seen =
    ignored === undefined ? "" : ignored ? "git ignores our files" : "git does not ignore our files";
  return [[ignored === false ? NO : present ? YES : OTHER, "exclusion", file, hides, seen]];
}

function configLine(report: CursorWorktreeReport): Line {
  const { state, fusionKeys, mode, detail } = report.config;
  if (state === "absent") {
    return [OTHER, "config", "no .cursor/mcp.json"];
  }
  const permissions = mode === undefined ? "" : `mode ${mode.toString(8).padStart(4, "0")}`;
  const fine = state === "ok";
  return [
    fine ? YES : NO,
    "config",
    ".cursor/mcp.json",
    permissions,
    fine ? counted(fusionKeys.length, "entry of ours", "entries of ours") : state,
    more(detail, report),
  ];
}

function manifestLine(report: CursorWorktreeReport): Line {
  const { manifest, operatorEditObserved } = report;
  const { state, detail } = manifest;
  if (state === "absent") {
    return [OTHER, "state", "nothing is staged"];
  }
  const edited = operatorEditObserved ? "the config was changed by its owner meanwhile" : "";
  return [
    state === "ok" ? YES : NO,
    "state",
    ".cursor/.fusion-mcp-state.json",
    state === "ok" ? edited : state,
    more(detail, report),
  ];
}

const OWNERS: Record<CursorLeaseReport["owner"], string> = {
  alive: "alive",
  dead: "dead",
  "maybe-alive": "perhaps alive",
  unknown: "of another machine",
};

function leaseLine(lease: CursorLeaseReport): Line {
  const beat =
    lease.ageMs < 0
      ? `beat ${formatDuration(-lease.ageMs)} in the future`
      : `beat ${formatDuration(lease.ageMs)} ago`;
  const fate = lease.live ? "" : "over: the next session drops it";
  const who = `${holder(lease.pid, lease.hostname)}, ${OWNERS[lease.owner] ?? ""}`;
  return [lease.live ? YES : NO, "lease", name(lease.serverKey), who, beat, fate];
}

function pendingLines(report: CursorWorktreeReport): Line[] {
  if (report.pending === null) {
    return [];
  }
  const { kind, seq } = report.pending;
  const fate = isAtWork(report) ? "somebody is at it" : "was begun and not finished";
  return [[isAtWork(report) ? OTHER : NO, "journal", `${kind} number ${seq}`, fate]];
}

function quarantineLines(quarantine: CursorQuarantine | null): Line[] {
  if (quarantine === null) {
    return [];
  }
  const { observedAt, fusionKeys } = quarantine;
  const keys = fusionKeys.length > 0 ? `its text still names ${fusionKeys.map(name).join(", ")}` : "";
  return [[NO, "quarantine", `.cursor/mcp.json is no JSON, and left alone since ${observedAt}`, keys]];
}

function cureSpans(quarantine: CursorQuarantine | null): Span[] {
  return quarantine === null ? [] : cure(quarantine.cure);
}

function cure(text: string): Span[] {
  return [
    { text: "cure: ", style: "cyan" },
    { text: `${singleLine(text)}\n`, style: "bold" },
  ];
}

function problemSpans(problems: readonly CursorWorktreeProblem[]): Span[] {
  return problems.flatMap(({ reason, message }) => [
    { text: "problem:", style: "red" },
    { text: ` ${singleLine(message)}`, style: "plain" },
    { text: ` (${reason})\n`, style: "dim" },
  ]);
}

/** The lines of so many; the rest is a number. */
function some<T>(all: readonly T[], line: (one: T) => Line): Line[] {
  const lines = all.slice(0, MOST_LINES).map(line);
  return all.length > MOST_LINES ? [...lines, [OTHER, `… and ${all.length - MOST_LINES} more`]] : lines;
}

function holder(pid: number | undefined, hostname: string | undefined): string {
  const process = pid === undefined ? "of nobody known" : `pid ${pid}`;
  return hostname === undefined ? process : `${process} on ${name(hostname)}`;
}

function counted(count: number, one: string, more: string): string {
  return `${count} ${count === 1 ? one : more}`;
}

function name(text: string): string {
  return truncate(singleLine(text), NAME_COLUMNS);
}

/** A path in the worktree, from there. */
function inside(worktree: string, path: string): string {
  const start = worktree.endsWith("/") ? worktree : `${worktree}/`;
  return path.startsWith(start) ? path.slice(start.length) : path;
}
