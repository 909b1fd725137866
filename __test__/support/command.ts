/** The built command in a process of its own. */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const COMMAND = fileURLToPath(new URL("../../dist/fusion-cursor.mjs", import.meta.url));

export interface Finished {
  code: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
}

export interface CommandOptions {
  env?: Record<string, string>;
  /** What standard input holds; empty without it. */
  input?: string;
  cwd?: string;
}

/** Runs it to its end, with pipes for all three streams. */
export function runCommand(argv: string[], options: CommandOptions = {}): Promise<Finished> {
  const child = startCommand(argv, options);
  child.stdin?.end(options.input ?? "");
  return finished(child);
}

export function startCommand(argv: string[], options: CommandOptions = {}): ChildProcess {
  return spawn(process.execPath, [COMMAND, ...argv], spawnOptions(options));
}

/** The way to start a program on a terminal of its own: the program `script`, whose options differ by system. */
export function startOnTerminal(argv: string[], options: CommandOptions = {}): ChildProcess {
  const words = [process.execPath, COMMAND, ...argv];
  const quoted = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const scriptArgv =
    process.platform === "darwin" ? ["-q", "/dev/null", ...words] : ["-qefc", `exec ${quoted}`, "/dev/null"];
  const env = { TERM: "xterm-256color", SHELL: "/bin/sh", ...options.env };
  return spawn("script", scriptArgv, spawnOptions({ ...options, env }));
}

function spawnOptions({ env, cwd }: CommandOptions) {
  const inherited: NodeJS.ProcessEnv = { ...process.env, ...env };
  // Set by the test runner or by a CI, and not what a person has.
  for (const name of ["NO_COLOR", "FORCE_COLOR", "CI"]) {
    if (env?.[name] === undefined) {
      delete inherited[name];
    }
  }
  return { env: inherited, ...(cwd === undefined ? {} : { cwd }) };
}

export function finished(child: ChildProcess): Promise<Finished> {
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (chunk: string) => {
      output[name] += chunk;
    });
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, ...output }));
  });
}

/** A folder for one test: its scenario files, and the ids of the processes that played them. */
export class Scratch {
  readonly folder = mkdtempSync(path.join(tmpdir(), "fusion-cursor-test-"));

  /** A scenario whose steps may use `touch` with {@link pidStep}. */
  scenario(turn: object[]): string {
    const file = path.join(this.folder, "scenario.json");
    writeFileSync(file, JSON.stringify({ turn }));
    return file;
  }

  /** The step with which a process of a scenario makes itself known. */
  pidStep(name: string): object {
    return { touch: path.join(this.folder, `${name}.pid`), content: "${pid}" };
  }

  get pids(): number[] {
    return readdirSync(this.folder)
      .filter((name) => name.endsWith(".pid"))
      .map((name) => Number(readFileSync(path.join(this.folder, name), "utf8")))
      .filter((pid) => pid > 0);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export async function until(condition: () => boolean, what: string, limitMs = 10_000): Promise<void> {
  const end = performance.now() + limitMs;
  while (!condition()) {
    if (performance.now() > end) {
      throw new Error(`not within ${limitMs} ms: ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
