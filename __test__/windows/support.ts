/** A desk of a Windows user: a folder with blanks and letters of every kind, programs in it, and what leads there. */

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type CursorPromptInput, type CursorPromptResult, launchCursorPrompt } from "fusion-cursor-native";
import { standInAgentPath } from "fusion-cursor-native/testing";
import { expect, onTestFinished } from "vitest";
import { eventually, init, result, type Step } from "../support/stage.js";

/** How a program is reached: itself, or by a batch file. */
export const KINDS = ["exe", "cmd", "bat"] as const;
export type Kind = (typeof KINDS)[number];

/** What a batch file does before it runs the agent: it leaves a sign that it was started. */
const STARTED = "started.txt";

export class Desk {
  readonly base = mkdtempSync(join(realpathSync(tmpdir()), "fusion-cursor-windows-"));
  readonly folder = join(this.base, "Jürgen 中文 Ω");
  readonly env: Record<string, string>;

  /** It is removed when the test is over. */
  constructor(steps: Step[] = [init, result("done")], more: Record<string, unknown> = {}) {
    for (const name of ["bin", "home", "work"]) mkdirSync(this.at(name), { recursive: true });
    this.write("scenario.json", JSON.stringify({ turn: steps, ...more }));
    this.env = {
      PATH: this.at("bin"),
      USERPROFILE: this.at("home"),
      LOCALAPPDATA: this.at("home", "AppData", "Local"),
      FUSION_CURSOR_SCENARIO: this.at("scenario.json"),
    };
    onTestFinished(async () => {
      // A file of a process that has just ended may be held for a moment.
      rmSync(this.base, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
      expect(existsSync(this.base)).toBe(false);
    });
  }

  at(...parts: string[]): string {
    return join(this.folder, ...parts);
  }

  write(name: string, content: string): string {
    mkdirSync(dirname(this.at(name)), { recursive: true });
    writeFileSync(this.at(name), content);
    return this.at(name);
  }

  read(name: string): string {
    return readFileSync(this.at(name), "utf8");
  }

  has(name: string): boolean {
    return existsSync(this.at(name));
  }

  /** The stand-in under this name. */
  standIn(name: string): string {
    mkdirSync(dirname(this.at(name)), { recursive: true });
    copyFileSync(standInAgentPath(), this.at(name));
    return this.at(name);
  }

  /** A batch file that runs a program beside it, as npm's do. */
  shim(name: string, program = "agent program.exe"): string {
    if (!this.has(join(dirname(name), program))) this.standIn(join(dirname(name), program));
    return this.write(name, `@ECHO off\r\nSETLOCAL\r\necho x>"%~dp0${STARTED}"\r\n"%~dp0${program}" %*\r\n`);
  }

  /** An agent of this kind in `bin`. */
  agent(kind: Kind, name = "cursor-agent"): string {
    return kind === "exe" ? this.standIn(`bin/${name}.exe`) : this.shim(`bin/${name}.${kind}`);
  }

  /** Whether a batch file has been started, by the sign that it leaves. */
  get started(): boolean {
    return this.has(join("bin", STARTED));
  }

  input(more: Partial<CursorPromptInput> = {}): CursorPromptInput {
    const { env, ...rest } = more;
    return { cwd: this.at("work"), prompt: "hi", env: { ...this.env, ...env }, ...rest };
  }

  /** On a loaded machine Wine fails to start a process now and then, by a fault of its own, before it runs. */
  async launch(more: Partial<CursorPromptInput> = {}): Promise<CursorPromptResult> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await launchCursorPrompt(this.input(more));
      } catch (error) {
        if (!String(error).includes("(os error 1359)") || tries === 5) throw error;
      }
    }
  }

  echo(name = "echo.json"): {
    argv: string[];
    cwd: string;
    stdin: { text: string };
    env: Record<string, string>;
  } {
    return JSON.parse(this.read(name));
  }

  /** The number in a file, once it is there. */
  async pid(name: string): Promise<number> {
    await eventually(`${name} is touched`, () => this.has(name));
    return Number(this.read(name));
  }
}

/** Whether a process of this number runs. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A turn that does not end, of an agent with a child and a grandchild. */
export const family: Step[] = [
  init,
  {
    start: [
      { start: [{ touch: "grandchild" }, { linger: true }], hold: "none" },
      { waitFile: "grandchild" },
      { touch: "child" },
      { linger: true },
    ],
  },
  { waitFile: "child" },
  { touch: "leader" },
  { linger: true },
];

/** The processes of a {@link family} that is under way. */
export function members(desk: Desk): Promise<number[]> {
  return Promise.all(["leader", "child", "grandchild"].map((name) => desk.pid(name)));
}

/** None of them is there, within three seconds. */
export async function allGone(pids: number[]): Promise<void> {
  const from = performance.now();
  await eventually("all are gone", () => !pids.some(alive));
  expect(performance.now() - from).toBeLessThan(3000);
}

/** Numbers that look random and are the same in every run, from 0 to below 1. */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
