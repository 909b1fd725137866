/** MCP servers staged in a worktree, and what gives them up when nobody can wait any more. */

import type { CursorMcpLease, CursorMcpLeaseOptions } from "../index.js";
import type { HeldLease, StagingOptions } from "../native.js";
import { unlessAborted } from "./aborts.js";
import { aborted, internal, noRoom, notStaged } from "./errors.js";
import { native, scope } from "./scope.js";
import * as check from "./validate.js";

export function stageCursorMcpLease(options: CursorMcpLeaseOptions): Promise<CursorMcpLease> {
  const { staging, signal } = checked(options);
  if (signal?.aborted) return Promise.reject(aborted(signal));
  return stage(staging, signal);
}

export function releaseHeldLeasesSync(worktreePath?: string): void {
  const path = check.optional(worktreePath, (value) => check.path("worktreePath", value));
  native.releaseLeases(scope, path);
}

export function classifyCursorConfigTracking(worktreePath: string): "tracked" | "untracked" | "non-git" {
  const path = check.path("worktreePath", worktreePath);
  const { tracking, problem } = native.classifyTracking(scope, path, check.inherited(process.env));
  if (problem != null) throw notStaged(problem);
  return tracking as "tracked" | "untracked" | "non-git";
}

/** What the runtime answers; where it cannot even be asked, or fails inside, an error that says so. */
export async function settled<T>(question: () => Promise<T>, path?: string): Promise<T> {
  try {
    return await question();
  } catch (error) {
    const full = noRoom(error);
    if (full === undefined) throw internal(error as Error);
    throw notStaged({
      code: "bridge-start-failed",
      reason: "io",
      message: `${path ?? "the worktree"} cannot be worked on: ${(error as Error).message}; try again when the system has room`,
      retryable: true,
      ...(path === undefined ? {} : { path }),
    });
  }
}

async function stage(staging: StagingOptions, signal: AbortSignal | undefined): Promise<CursorMcpLease> {
  const path = staging.worktreePath;
  const attempt = new native.Staging(scope);
  let abandoned = false;
  const answer = settled(() => attempt.stage(staging), path).then((answer) => {
    // It was there in the moment of the abort, and nobody else gets it. Where this fails, the core tries again
    // at the end of the process.
    if (abandoned && answer.lease != null) answer.lease.dispose().catch(() => {});
    return answer;
  });
  const { lease, problem } = await unlessAborted(answer, signal, (signal) => {
    abandoned = true;
    attempt.giveUp();
    return aborted(signal);
  });
  if (lease != null) return new Lease(lease, staging.serverKey);
  if (problem != null) throw notStaged(problem);
  throw signal?.aborted ? aborted(signal) : internal(new Error("the staging was given up by nobody"));
}

class Lease implements CursorMcpLease {
  readonly #held: HeldLease;
  readonly serverKey: string;

  constructor(held: HeldLease, serverKey: string) {
    this.#held = held;
    this.serverKey = serverKey;
  }

  heartbeat(): Promise<boolean> {
    return settled(() => this.#held.heartbeat());
  }

  async dispose(): Promise<void> {
    const problem = await settled(() => this.#held.dispose());
    if (problem !== null) throw notStaged(problem);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }
}

/** What the caller passed, checked; nothing has happened yet where this throws. */
function checked(options: CursorMcpLeaseOptions): {
  staging: StagingOptions;
  signal: AbortSignal | undefined;
} {
  const given = check.object("the options of stageCursorMcpLease", options);
  const { env, ...entry } = check.serverEntry("serverEntry", given.serverEntry);
  const lockTimeoutMs = check.optional(given.lockTimeoutMs, (value) => check.timeout("lockTimeoutMs", value));
  const staging = {
    worktreePath: check.path("worktreePath", given.worktreePath),
    serverKey: check.serverKey("serverKey", given.serverKey),
    ...entry,
    env: env ?? [],
    ...(lockTimeoutMs === undefined ? {} : { lockTimeoutMs }),
    hostEnv: check.inherited(process.env),
  };
  return { staging, signal: check.optional(given.signal, (value) => check.abortSignal("signal", value)) };
}
