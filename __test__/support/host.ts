/** Hosts of their own: a Node that loads the package, and what is to be seen of it from outside. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { eventually, runs, type Stage, type Step } from "./stage.js";

export const root = join(__dirname, "..", "..");

/** The processes that {@link forest} starts. Only Linux lets those of another session be found. */
export const KINDS = process.platform === "linux" ? ["member", "session", "daemon"] : ["member"];

/** A turn that does not end, with one process of every kind; `leader` is touched when all are there. */
export function forest(init: Step): Step[] {
  const children = KINDS.flatMap((kind) => [
    {
      start: [...(kind === "daemon" ? [] : [{ ignore: ["SIGTERM"] }]), { touch: kind }, { linger: true }],
      as: kind,
    },
    { waitFile: kind },
  ]);
  return [{ ignore: ["SIGTERM"] }, init, ...children, { touch: "leader" }, { linger: true }];
}

/** All processes of a {@link forest} that is under way. */
export function pids(stage: Stage): Promise<number[]> {
  return Promise.all(["leader", ...KINDS].map((name) => stage.pid(name)));
}

/** A Node of its own, which leads a process group. `code` finds `turn`, the input of a turn on the stage. */
export function startHost(stage: Stage, code: string, command = [process.execPath]): ChildProcess {
  const program = `const { launchCursorPrompt } = require(${JSON.stringify(root)});
    const { Worker } = require("node:worker_threads");
    const turn = ${JSON.stringify(stage.input())};
    const tell = (line) => require("node:fs").writeSync(1, JSON.stringify(line) + "\\n");
    const inWorker = (code) => new Worker(\`const { launchCursorPrompt } = require(${JSON.stringify(root)});
      const { workerData: turn } = require("node:worker_threads");
      \${code}\`, { eval: true, workerData: turn });
    process.on("message", (code) => eval(code));
    ${code}`;
  const [first = "", ...rest] = command;
  const child = spawn(first, [...rest, "--eval", program], {
    stdio: ["ignore", "pipe", "ignore", "ipc"],
    detached: true,
  });
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  });
  return child;
}

/** What `code` prints as its last line, as JSON. It has the package as `cursor`, and `given`. */
export async function inHost<T>(code: string, given: unknown = null, flags: string[] = []): Promise<T> {
  const program = `const cursor = () => require(${JSON.stringify(root)});
    const given = ${JSON.stringify(given)};
    (async () => { ${code} })().then((said) => console.log(JSON.stringify(said)));`;
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, "--eval", program], {
    timeout: 60_000,
    killSignal: "SIGKILL",
    maxBuffer: 64 << 20,
  });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}

/** Resolves when it has ended, with how it did. */
export async function ended(child: ChildProcess): Promise<{ code: number | null; signal: string | null }> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return { code: child.exitCode, signal: child.signalCode };
}

/** The lines that a host tells. */
export function told(child: ChildProcess): unknown[] {
  const lines: unknown[] = [];
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (more: string) => {
    const parts = (text + more).split("\n");
    text = parts.pop() ?? "";
    lines.push(...parts.map((line) => JSON.parse(line)));
  });
  return lines;
}

/** The guards of a host. Without /proc there is no telling. */
export function guards(host: number): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && command(name).includes(`fusion-cursor-guard\0${host}-`))
    .map(Number);
}

function command(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

/** All of these and the guard of the host are gone, within three seconds of now. */
export async function allGone(host: number, processes: number[]): Promise<void> {
  const died = performance.now();
  await eventually("all are gone", () => !processes.some(runs) && guards(host).length === 0);
  const took = performance.now() - died;
  if (took > 3000) throw new Error(`gone only after ${took} ms`);
}
