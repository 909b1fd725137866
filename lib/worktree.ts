/** What lies in a worktree: to look at it, and to put it in order. */

import type { CursorReconcileReport, CursorWorktreeOptions, CursorWorktreeReport } from "../index.js";
import type { StagingProblem, WorktreeOptions } from "../native.js";
import { unlessAborted } from "./aborts.js";
import { aborted } from "./errors.js";
import { settled } from "./lease.js";
import { native, scope } from "./scope.js";
import * as check from "./validate.js";

export function inspectCursorWorktree(
  worktreePath: string,
  options: CursorWorktreeOptions = {},
): Promise<CursorWorktreeReport> {
  return ask("inspectCursorWorktree", worktreePath, options, async (given) => {
    const { exclusion, pending, quarantine, ...found } = await native.inspectWorktree(scope, given);
    const report = {
      ...found,
      git: present(found.git),
      exclusion: exclusion == null ? null : present(exclusion),
      config: present(found.config),
      manifest: present(found.manifest),
      pending: pending ?? null,
      quarantine: quarantine ?? null,
      locks: found.locks.map(present),
      problems: found.problems.map(problem),
    };
    return report as CursorWorktreeReport;
  });
}

export function reconcileCursorWorktree(
  worktreePath: string,
  options: CursorWorktreeOptions = {},
): Promise<CursorReconcileReport> {
  return ask("reconcileCursorWorktree", worktreePath, options, async (given) => {
    const { problems, quarantine, ...done } = await native.reconcileWorktree(scope, given);
    const report = { ...done, problems: problems.map(problem), quarantine: quarantine ?? null };
    return report as CursorReconcileReport;
  });
}

/** Reject as soon as the signal says so; what was begun is brought to its end behind it. */
function ask<T>(
  name: string,
  path: string,
  options: CursorWorktreeOptions,
  question: (given: WorktreeOptions) => Promise<T>,
): Promise<T> {
  const given = check.object(`the options of ${name}`, options);
  const lockTimeoutMs = check.optional(given.lockTimeoutMs, (value) => check.timeout("lockTimeoutMs", value));
  const signal = check.optional(given.signal, (value) => check.abortSignal("signal", value));
  const worktreePath = check.path("worktreePath", path);
  const hostEnv = check.inherited(process.env);
  if (signal?.aborted) return Promise.reject(aborted(signal));
  const answer = settled(
    () => question({ worktreePath, hostEnv, ...(lockTimeoutMs === undefined ? {} : { lockTimeoutMs }) }),
    worktreePath,
  );
  return unlessAborted(answer, signal, aborted);
}

/** What stands in the way, without its code: here it is no error. */
function problem({ code: _, ...rest }: StagingProblem): object {
  return present(rest);
}

/** Without the members that have no value. */
function present<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one != null)) as T;
}
