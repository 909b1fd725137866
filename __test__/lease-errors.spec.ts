/** Why nothing is staged: each reason, with its path and its cure, and the worktree as it was. */

import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, truncateSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import {
  CursorError,
  classifyCursorConfigTracking,
  inspectCursorWorktree,
  reconcileCursorWorktree,
  setLogger,
  stageCursorMcpLease,
} from "fusion-cursor-native";
import { describe, expect, onTestFinished, test } from "vitest";
import { CONFIG, LOCK, STATE, TOKEN, Worktree } from "./support/worktree.js";

const isRoot = process.getuid?.() === 0;

/** What a failed staging says. */
async function refusal(worktree: Worktree, worktreePath = worktree.folder): Promise<CursorError> {
  const options = worktree.options({ worktreePath, lockTimeoutMs: 300 });
  const error = await stageCursorMcpLease(options).then(
    () => expect.unreachable("it was staged"),
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(CursorError);
  expect(JSON.stringify([error, String(error)])).not.toContain(TOKEN);
  return error as CursorError;
}

/** A `git` in front of the real one. */
function fakeGit(worktree: Worktree, body: string): void {
  const bin = `${worktree.base}/bin`;
  mkdirSync(bin);
  worktree.write("../bin/git", `#!/bin/sh\n${body}\n`, 0o755);
  const before = process.env.PATH;
  process.env.PATH = `${bin}${delimiter}${before}`;
  onTestFinished(() => {
    process.env.PATH = before;
  });
}

interface Case {
  name: string;
  reason: string;
  make(worktree: Worktree): void;
  /** Behind the worktree's path. */
  path?: string;
  /** What a user is told to do, or of whom. */
  message: RegExp;
  retryable?: boolean;
  /** What may have changed: a record of what was seen. */
  leaves?: string[];
  /** Only a try can tell: it is not there yet, or passes. */
  unforeseen?: boolean;
  /** Permissions keep nobody from anything who is root. */
  forOthers?: boolean;
}

const cases: Case[] = [
  {
    name: "a tracked config",
    reason: "tracked",
    make: (one) => {
      one.write(CONFIG, "{}");
      one.git("add", CONFIG);
    },
    path: CONFIG,
    message: /git rm --cached/,
  },
  {
    name: "a rule that brings it back",
    reason: "not-ignored",
    make: (one) => one.write(".gitignore", `!${CONFIG}\n`),
    path: CONFIG,
    message: /\.gitignore/,
    unforeseen: true,
  },
  {
    name: "a config that is no JSON",
    reason: "unparsable",
    make: (one) => one.write(CONFIG, "{\n  nonsense"),
    path: CONFIG,
    message: /line 2/,
    leaves: [STATE, "info/exclude"],
  },
  {
    name: "a config twice",
    reason: "duplicate-keys",
    make: (one) => one.write(CONFIG, '{"mcpServers":{},"mcpServers":{}}'),
    path: CONFIG,
    message: /mcpServers/,
  },
  {
    name: "servers that are a list",
    reason: "unexpected-shape",
    make: (one) => one.write(CONFIG, '{"mcpServers":[]}'),
    path: CONFIG,
    message: /mcpServers/,
  },
  {
    name: "a config that is a list",
    reason: "unexpected-shape",
    make: (one) => one.write(CONFIG, "[]"),
    path: CONFIG,
    message: /object/,
  },
  {
    name: "a state of the future",
    reason: "unexpected-shape",
    make: (one) => one.write(STATE, '{"version":2}', 0o600),
    path: STATE,
    message: /version/,
    // It may hold leases, and is hidden like one that does.
    leaves: ["info/exclude"],
  },
  {
    name: "UTF-16",
    reason: "not-utf8",
    make: (one) => one.write(CONFIG, Buffer.from("\ufeff{}", "utf16le")),
    path: CONFIG,
    message: /UTF-/,
  },
  {
    name: "bytes that are no UTF-8",
    reason: "not-utf8",
    make: (one) => one.write(CONFIG, Buffer.from([0x7b, 0xff, 0x7d])),
    path: CONFIG,
    message: /UTF-8/,
  },
  {
    name: "a config without end",
    reason: "too-large",
    make: (one) => {
      one.write(CONFIG, "{}");
      truncateSync(one.at(CONFIG), 9 << 20);
    },
    path: CONFIG,
    message: /8388608|8 MiB/,
  },
  {
    name: "a link to a config",
    reason: "symlink",
    make: (one) => {
      one.write("elsewhere.json", "{}");
      mkdirSync(one.at(".cursor"));
      symlinkSync("../elsewhere.json", one.at(CONFIG));
    },
    path: CONFIG,
    message: /link/,
  },
  {
    name: "a link to nowhere",
    reason: "symlink",
    make: (one) => {
      mkdirSync(one.at(".cursor"));
      symlinkSync("nowhere", one.at(STATE));
    },
    path: STATE,
    message: /link/,
  },
  {
    name: "a link to a folder of another",
    reason: "symlink",
    make: (one) => {
      mkdirSync(`${one.base}/elsewhere`);
      symlinkSync("../elsewhere", one.at(".cursor"));
    },
    path: ".cursor",
    message: /link/,
  },
  {
    name: "a linked exclude file",
    reason: "symlink",
    make: (one) => {
      one.write("../elsewhere", "x\n");
      rmSync(one.at(".git/info/exclude"), { force: true });
      symlinkSync("../../../elsewhere", one.at(".git/info/exclude"));
    },
    path: ".git/info/exclude",
    message: /link/,
  },
  {
    name: "a folder in place of the config",
    reason: "not-a-file",
    make: (one) => mkdirSync(one.at(CONFIG), { recursive: true }),
    path: CONFIG,
    message: /folder|directory/,
  },
  {
    name: "a pipe in place of the config",
    reason: "not-a-file",
    make: (one) => {
      mkdirSync(one.at(".cursor"));
      execFileSync("mkfifo", [one.at(CONFIG)]);
    },
    path: CONFIG,
    message: /pipe|FIFO/i,
  },
  {
    name: "a file in place of the folder",
    reason: "not-a-file",
    make: (one) => one.write(".cursor", ""),
    path: ".cursor",
    message: /file/,
  },
  {
    name: "a file in place of the lock",
    reason: "not-a-file",
    make: (one) => one.write(LOCK, ""),
    path: LOCK,
    message: /file/,
  },
  {
    name: "a lock that somebody holds",
    reason: "lock-timeout",
    make: (one) => void one.lock(),
    path: LOCK,
    message: /process \d+ on /,
    unforeseen: true,
    retryable: true,
  },
  {
    name: "a config that nobody may read",
    reason: "read-only",
    make: (one) => one.write(CONFIG, "{}", 0),
    path: CONFIG,
    message: /permission|denied/i,
    forOthers: true,
  },
  {
    name: "a folder in which nobody may write",
    reason: "read-only",
    make: (one) => {
      one.write(CONFIG, "{}");
      execFileSync("chmod", ["555", one.at(".cursor")]);
    },
    message: /permission|denied/i,
    unforeseen: true,
    forOthers: true,
  },
  {
    name: "a git that refuses",
    reason: "git-failed",
    make: (one) => fakeGit(one, "echo 'fatal: detected dubious ownership' >&2; exit 128"),
    message: /safe\.directory/,
  },
  {
    name: "a git that says nothing",
    reason: "git-failed",
    make: (one) => fakeGit(one, "exit 0"),
    message: /git/,
  },
];

describe.each(cases)("$name", (one) => {
  // Nothing is forbidden to root.
  test.skipIf(one.forOthers === true && isRoot)(`is refused as ${one.reason}`, async () => {
    const worktree = new Worktree();
    one.make(worktree);
    const before = worktree.picture();
    const { problems } = await inspectCursorWorktree(worktree.folder);
    expect(worktree.picture()).toEqual(before);
    const error = await refusal(worktree);
    if (!one.unforeseen) {
      const { reason, path, message, retryable } = error;
      expect(problems).toContainEqual({
        reason,
        message,
        retryable,
        ...(path === undefined ? {} : { path }),
      });
    }
    expect(error).toMatchObject({
      name: "CursorError",
      code: "bridge-start-failed",
      reason: one.reason,
      retryable: one.retryable ?? false,
    });
    if (one.path !== undefined) expect(error.path).toBe(worktree.at(one.path));
    expect(error.message).toMatch(one.message);
    expect(error.message).not.toMatch(/[^\P{Cc}\n]/u);
    const after = worktree.picture();
    const kept = (name: string): boolean => !(one.leaves ?? []).some((end) => name.endsWith(end));
    const relevant = (picture: object): object =>
      Object.fromEntries(Object.entries(picture).filter(([name]) => kept(name)));
    expect(relevant(after)).toEqual(relevant(before));
    // The same once more, and the looks at it settle whatever lies there.
    await expect(inspectCursorWorktree(worktree.folder)).resolves.toMatchObject({ exists: true });
    await expect(reconcileCursorWorktree(worktree.folder, { lockTimeoutMs: 300 })).resolves.toBeDefined();
    expect(relevant(worktree.picture())).toEqual(relevant(before));
  });
});

test("a config that is still no JSON is quarantined, until it is mended", async () => {
  const worktree = new Worktree();
  worktree.write(CONFIG, "{");
  expect((await refusal(worktree)).reason).toBe("unparsable");
  expect((await refusal(worktree)).reason).toBe("quarantined");
  worktree.write(CONFIG, "{}\n");
  const lease = await stageCursorMcpLease(worktree.options());
  await lease.dispose();
  expect(worktree.read(CONFIG)).toBe("{}\n");
  expect(worktree.has(STATE)).toBe(false);
});

test("a key that is staged here already is no key for another", async () => {
  const worktree = new Worktree();
  const options = worktree.options();
  const lease = await stageCursorMcpLease(options);
  const staged = worktree.picture();
  await expect(stageCursorMcpLease(options)).rejects.toMatchObject({
    code: "bridge-start-failed",
    reason: "duplicate-keys",
    message: expect.stringContaining(`process ${process.pid}`),
  });
  expect(worktree.picture()).toEqual(staged);
  await lease.dispose();
  await (await stageCursorMcpLease(options)).dispose();
});

test.each(["no such folder", "README"])("%s is no worktree", async (name) => {
  const worktree = new Worktree();
  const before = worktree.picture();
  const error = await refusal(worktree, worktree.at(name));
  expect(error.code).toBe("bridge-start-failed");
  expect(["io", "not-a-file"]).toContain(error.reason);
  expect(error.message).toContain(worktree.at(name));
  await expect(inspectCursorWorktree(worktree.at(name))).resolves.toMatchObject({ exists: false });
  await expect(reconcileCursorWorktree(worktree.at(name))).resolves.toMatchObject({ leasesLeft: 0 });
  expect(worktree.picture()).toEqual(before);
});

test("git is found and run in this environment as it is at the call, without its own variables", async () => {
  const worktree = new Worktree();
  const other = new Worktree();
  for (const name of ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CEILING_DIRECTORIES"]) {
    process.env[name] = other.at(".git");
    onTestFinished(() => void delete process.env[name]);
  }
  const before = other.picture();
  const lease = await stageCursorMcpLease(worktree.options());
  expect(worktree.read(".git/info/exclude")).toContain(CONFIG);
  expect(other.picture()).toEqual(before);
  expect((await inspectCursorWorktree(worktree.folder)).git.top).toBe(worktree.folder);
  await lease.dispose();
});

test("a turn-less host is told of each problem in a report, and no secret is in it or in a log", async () => {
  const records: unknown[] = [];
  setLogger("trace", (record) => void records.push(record));
  onTestFinished(() => setLogger("off"));
  const worktree = new Worktree();
  const lease = await stageCursorMcpLease(worktree.options());
  await lease.heartbeat();
  const live = await inspectCursorWorktree(worktree.folder);
  worktree.write(CONFIG, `${worktree.read(CONFIG)}}`);
  await lease.heartbeat();
  const broken = await inspectCursorWorktree(worktree.folder);
  expect(broken.config).toMatchObject({ state: "unparsable", fusionKeys: [lease.serverKey] });
  await lease.dispose().catch(() => {});
  const reconciled = await reconcileCursorWorktree(worktree.folder);
  const shown = JSON.stringify([live, broken, reconciled, records]);
  expect(shown).toContain(lease.serverKey);
  expect(shown).not.toContain(TOKEN);
});

describe("the tracking", () => {
  test("of the config is told at once", () => {
    const worktree = new Worktree();
    expect(classifyCursorConfigTracking(worktree.folder)).toBe("untracked");
    worktree.write(CONFIG, "{}");
    expect(classifyCursorConfigTracking(worktree.folder)).toBe("untracked");
    worktree.git("add", CONFIG);
    expect(classifyCursorConfigTracking(worktree.folder)).toBe("tracked");
    expect(classifyCursorConfigTracking(dirname(worktree.folder))).toBe("non-git");
  });

  test("is an error where nobody can say", () => {
    const worktree = new Worktree();
    fakeGit(worktree, "exit 1");
    expect(() => classifyCursorConfigTracking(worktree.folder)).toThrow(CursorError);
    expect(() => classifyCursorConfigTracking(worktree.folder)).toThrow(
      expect.objectContaining({ code: "bridge-start-failed", reason: "git-failed", retryable: false }),
    );
    expect(() => classifyCursorConfigTracking(worktree.at("nowhere"))).toThrow(CursorError);
  });
});
