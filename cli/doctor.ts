/** `fusion-cursor doctor`: can a turn start here, and if not, what cures it. */

import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, type Stats, statSync } from "node:fs";
import path from "node:path";
import type { DoctorCommand } from "./arguments.ts";
import { type Diagnosis, describeDiagnosis, diagnose, type Found, type Worktree } from "./diagnosis.ts";
import { jsonLine } from "./json.ts";
import type { Output } from "./output.ts";
import { EXIT } from "./run.ts";

/** The world around a question to the CLI. */
export interface Inquirer {
  readonly load: () => Promise<typeof import("fusion-cursor-native")>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly onInterrupt: (listener: (exitCode: number) => void) => () => void;
}

export async function runDoctor(command: DoctorCommand, inquirer: Inquirer): Promise<number> {
  const outcome = await interruptible(inquirer, (signal) => examine(command, inquirer, signal));
  if (typeof outcome === "number") {
    return outcome;
  }
  if (command.json) {
    inquirer.stdout.write(jsonLine(outcome, "doctor"));
  } else {
    inquirer.stdout.print(describeDiagnosis(outcome));
  }
  return outcome.ok ? EXIT.success : EXIT.failed;
}

/** What `work` gives, or the exit code of a Ctrl-C, which ends what it started. */
export async function interruptible<T>(
  { onInterrupt }: Inquirer,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | number> {
  const abort = new AbortController();
  let code: number | undefined;
  const stopListening = onInterrupt((exitCode) => {
    code = exitCode;
    abort.abort();
  });
  try {
    return await work(abort.signal);
  } catch (error) {
    if (code !== undefined) {
      return code;
    }
    throw error;
  } finally {
    stopListening();
  }
}

async function examine(command: DoctorCommand, inquirer: Inquirer, signal: AbortSignal): Promise<Diagnosis> {
  const found: Found = {
    platform: process.platform,
    node: { version: process.version, platform: process.platform, arch: process.arch },
    binary: command.binary,
    hasKey: Boolean(process.env.CURSOR_API_KEY || process.env.CURSOR_AUTH_TOKEN),
  };
  if (command.worktree !== undefined) {
    found.worktree = await lookAtWorktree(path.resolve(command.worktree), signal);
  }
  let native: typeof import("fusion-cursor-native");
  try {
    native = await inquirer.load();
  } catch (error) {
    found.loadError = error instanceof Error ? error.message : String(error);
    return diagnose(found);
  }
  found.loaded = native.nativeInfo();
  const { binary } = command;
  const status = await native.probeCursorBinary({
    signal,
    ...(binary === undefined ? {} : { binaryPath: binary }),
  });
  found.cli = status;
  // An account that `status` calls logged out may be there by its key: whoever gives a list answers to it.
  if (
    status.binaryPath !== undefined &&
    ["ready", "unauthenticated", "auth-unknown"].includes(status.state)
  ) {
    const { entries, reason } = await native.discoverCursorModels(status.binaryPath, undefined, { signal });
    found.models = { count: entries.length, ...(reason === undefined ? {} : { reason }) };
  }
  return diagnose(found);
}

async function lookAtWorktree(folder: string, signal: AbortSignal): Promise<Worktree> {
  let about: Stats | undefined;
  try {
    about = statSync(folder, { throwIfNoEntry: false });
    if (about?.isDirectory()) {
      accessSync(folder, constants.R_OK | constants.X_OK);
    }
  } catch (error) {
    return { path: folder, kind: "closed", why: (error as NodeJS.ErrnoException).code ?? String(error) };
  }
  if (about === undefined || !about.isDirectory()) {
    return { path: folder, kind: about === undefined ? "missing" : "not-a-folder" };
  }
  const mcpConfig = existsSync(path.join(folder, ".cursor", "mcp.json"));
  return { path: folder, kind: "folder", git: await gitState(folder, signal), mcpConfig };
}

/** Asked of git itself: what a worktree is has too many shapes to guess from files. */
function gitState(folder: string, signal: AbortSignal): Promise<NonNullable<Worktree["git"]>> {
  const env: NodeJS.ProcessEnv = { ...process.env, LC_ALL: "C" };
  for (const name of ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"]) {
    delete env[name];
  }
  const options = { cwd: folder, env, timeout: 5000, signal };
  return new Promise((resolve) => {
    execFile("git", ["rev-parse", "--is-inside-work-tree"], options, (error, stdout, stderr) => {
      if (error === null) {
        resolve(stdout.trim() === "true" ? "worktree" : "none");
      } else {
        // Any other failure, such as a folder of somebody else, says nothing about the folder.
        resolve(stderr.includes("not a git repository") ? "none" : "unknown");
      }
    });
  });
}
