/** Worktrees of real repositories: what lies in them, and whether it is as before. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { CursorMcpLeaseOptions } from "fusion-cursor-native";
import { onTestFinished } from "vitest";
import { GIT_ENV } from "../../scripts/git-env.mjs";

/** Never to be seen in an error, a report, a log or on a screen. */
export const TOKEN = "tok_0123456789abcdef_never_shown";

export const CONFIG = ".cursor/mcp.json";
export const STATE = ".cursor/.fusion-mcp-state.json";
export const LOCK = ".cursor/.fusion-mcp.lock";

export function git(folder: string, ...args: string[]): string {
  return execFileSync("git", args, { cwd: folder, env: GIT_ENV, encoding: "utf8", stdio: "pipe" });
}

/** The bytes of a file; of one that its own user may not read, only that. */
function readable(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "";
  }
}

/** Every file and folder below, with kind, mode and bytes. */
export type Picture = Record<string, string>;

function spawnLingering(): ChildProcess {
  const child = spawn("sleep", ["120"], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

export class Worktree {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "fusion-cursor-worktree-")));
  /** The top of a repository with one commit. */
  readonly folder = join(this.base, "w t");

  /** It is removed when the test is over. */
  constructor({ repository = true } = {}) {
    mkdirSync(this.folder);
    onTestFinished(() => {
      // What a test took away from its owner comes back, so that it can be removed.
      if (process.getuid?.() !== 0) execFileSync("chmod", ["-R", "u+rwX", this.base]);
      rmSync(this.base, { recursive: true, force: true });
    });
    if (!repository) return;
    this.git("init", "--quiet", "--initial-branch=main");
    this.write("README", "x\n");
    this.git("add", "README");
    this.git("commit", "--quiet", "--message=x");
  }

  git(...args: string[]): string {
    return git(this.folder, ...args);
  }

  at(...parts: string[]): string {
    return join(this.folder, ...parts);
  }

  write(name: string, content: string | Uint8Array, mode = 0o644): void {
    mkdirSync(dirname(this.at(name)), { recursive: true });
    writeFileSync(this.at(name), content);
    chmodSync(this.at(name), mode);
  }

  read(name: string): string {
    return readFileSync(this.at(name), "utf8");
  }

  has(name: string): boolean {
    return existsSync(this.at(name));
  }

  mode(name: string): string {
    return (lstatSync(this.at(name)).mode & 0o7777).toString(8);
  }

  /** The entries of ours in the config. */
  entries(folder = this.folder): Record<string, { command: string; args: string[]; env?: object }> {
    const file = join(folder, CONFIG);
    if (!existsSync(file)) return {};
    const all = JSON.parse(readFileSync(file, "utf8")).mcpServers ?? {};
    return Object.fromEntries(
      Object.entries(all).filter(([key]) => key.startsWith("fusion-custom-tools-")),
    ) as never;
  }

  /** All that lies here and in the git directory, but for what git itself writes at every look. */
  picture(): Picture {
    const picture: Picture = {};
    const walk = (folder: string): void => {
      for (const name of readdirSync(join(this.base, folder)).sort()) {
        const path = join(folder, name);
        const about = lstatSync(join(this.base, path));
        const kind = about.isDirectory() ? "folder" : about.isFile() ? "file" : "other";
        if (path.endsWith("/index") || path.endsWith(".git/objects")) continue;
        const content = kind === "file" ? readable(join(this.base, path)) : "";
        picture[path] = `${kind} ${(about.mode & 0o7777).toString(8)} ${content}`;
        if (kind === "folder") walk(path);
      }
    };
    walk(".");
    return picture;
  }

  /** Whether all is as in a picture; not, while somebody is at work here. */
  isLike(before: Picture): boolean {
    try {
      return JSON.stringify(this.picture()) === JSON.stringify(before);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
      throw error;
    }
  }

  /** What to stage here. */
  options(more: Partial<CursorMcpLeaseOptions> = {}): CursorMcpLeaseOptions {
    return {
      worktreePath: this.folder,
      serverKey: `fusion-custom-tools-${randomUUID()}`,
      serverEntry: { command: "/opt/my tools/node", args: ["server.cjs"], env: { MY_TOKEN: TOKEN } },
      ...more,
    };
  }

  /** The lock as the plugin takes it, in the name of a process of this machine that lives on; its id. */
  lock(): number {
    const { pid = 0 } = spawnLingering();
    const owner = { pid, hostname: hostname(), acquiredAt: Date.now() };
    this.write(`${LOCK}/owner.json`, JSON.stringify(owner), 0o600);
    return pid;
  }

  unlock(): void {
    rmSync(this.at(LOCK), { recursive: true });
  }
}
