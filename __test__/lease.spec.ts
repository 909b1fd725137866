/** The life of a staged server, in real worktrees. */

import { appendFileSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import {
  type CursorError,
  type CursorMcpLease,
  inspectCursorWorktree,
  reconcileCursorWorktree,
  releaseHeldLeasesSync,
  stageCursorMcpLease,
} from "fusion-cursor-native";
import { describe, expect, test } from "vitest";
import { eventually } from "./support/stage.js";
import { CONFIG, git, LOCK, STATE, TOKEN, Worktree } from "./support/worktree.js";

const OPERATOR =
  '\ufeff// mine\r\n{\r\n\t"mcpServers": {"a": {"url": "http://x//y",},}, /* and */ "n": 1.0e2,\r\n}';

describe("a lease", () => {
  test("is in the config until it is disposed, and leaves nothing", async () => {
    const worktree = new Worktree();
    const before = worktree.picture();
    const options = worktree.options();
    const lease = await stageCursorMcpLease(options);
    expect(lease.serverKey).toBe(options.serverKey);
    expect(worktree.entries()).toEqual({ [options.serverKey]: options.serverEntry });
    expect([worktree.mode(CONFIG), worktree.mode(STATE)]).toEqual(["600", "600"]);
    expect(worktree.has(LOCK)).toBe(false);
    expect(worktree.git("status", "--porcelain")).toBe("");
    worktree.git("add", "--all");
    expect(worktree.git("diff", "--cached", "--name-only")).toBe("");
    await expect(lease.heartbeat()).resolves.toBe(true);
    await expect(lease.dispose()).resolves.toBeUndefined();
    expect(worktree.picture()).toEqual(before);
    await expect(lease.heartbeat()).resolves.toBe(false);
    expect(worktree.picture()).toEqual(before);
  });

  test.each(["644", "640", "600", "444"])("keeps the operator's bytes, and their mode %s", async (mode) => {
    const worktree = new Worktree();
    worktree.write(CONFIG, OPERATOR, Number.parseInt(mode, 8));
    worktree.write(".gitignore", ".cursor/\n");
    const before = worktree.picture();
    const lease = await stageCursorMcpLease(worktree.options());
    expect(worktree.mode(CONFIG)).toBe(mode);
    const staged = worktree.read(CONFIG);
    expect(staged).toContain(TOKEN);
    expect(staged.startsWith("\ufeff// mine\r\n{\r\n\t")).toBe(true);
    expect(staged).toContain('"n": 1.0e2,\r\n}');
    await lease.dispose();
    expect(worktree.picture()).toEqual(before);
  });

  test("takes only its own key out of what the operator changed meanwhile", async () => {
    const worktree = new Worktree();
    worktree.write(CONFIG, '{ "mcpServers": {} } // x\n');
    const lease = await stageCursorMcpLease(worktree.options());
    const edited = worktree.read(CONFIG).replace("// x", "// y\n// and more");
    worktree.write(CONFIG, edited);
    await expect(lease.heartbeat()).resolves.toBe(true);
    await lease.dispose();
    expect(worktree.read(CONFIG)).toBe('{ "mcpServers": {} } // y\n// and more\n');
    worktree.git("add", "--all");
    expect(worktree.git("diff", "--cached", "--name-only")).toBe(`${CONFIG}\n`);
  });

  test("has the entry as it was given, odd names and all", async () => {
    const worktree = new Worktree({ repository: false });
    const serverEntry = {
      command: 'C:\\x "y"\u2028',
      args: ["", "--a=b c", "ü😀", "\u0001"],
      env: { Z: "1", A: "", "odd name": "\\", constructor: "c" },
    };
    const options = worktree.options({ serverKey: 'fusion-custom-tools-ü " \\ 😀', serverEntry });
    const lease = await stageCursorMcpLease(options);
    expect(worktree.entries()).toEqual({ [options.serverKey]: serverEntry });
    expect(Object.keys(worktree.entries()[options.serverKey]?.env ?? {})).toEqual(
      Object.keys(serverEntry.env),
    );
    await lease.dispose();
    expect(worktree.has(".cursor")).toBe(false);
  });

  test("has no env where none was given", async () => {
    const worktree = new Worktree({ repository: false });
    const serverEntry = { command: "x", args: [] };
    const options = worktree.options({ serverEntry });
    const lease = await stageCursorMcpLease(options);
    expect(worktree.entries()).toEqual({ [options.serverKey]: serverEntry });
    await lease.dispose();
  });

  test("belongs to its worktree however that is spelled, and wherever the host goes", async () => {
    const worktree = new Worktree();
    symlinkSync(worktree.folder, join(worktree.base, "link"));
    const before = worktree.picture();
    const home = process.cwd();
    const leases: CursorMcpLease[] = [];
    try {
      process.chdir(worktree.base);
      const staging = [
        "w t",
        "./w t/",
        "link",
        join(worktree.base, "link", ".git", ".."),
        worktree.folder,
      ].map((worktreePath) => stageCursorMcpLease(worktree.options({ worktreePath })));
      process.chdir("/");
      leases.push(...(await Promise.all(staging)));
    } finally {
      process.chdir(home);
    }
    expect(Object.keys(worktree.entries())).toHaveLength(5);
    const { leases: found } = await inspectCursorWorktree(join(worktree.base, "link"));
    expect(found.map((lease) => [lease.heldHere, lease.live, lease.owner])).toEqual(
      Array.from({ length: 5 }, () => [true, true, "alive"]),
    );
    await Promise.all(leases.map((lease) => lease.dispose()));
    expect(worktree.picture()).toEqual(before);
  });

  test("shares the file with others, and the last one gives it back", async () => {
    const worktree = new Worktree();
    worktree.write(CONFIG, OPERATOR);
    const before = worktree.picture();
    const leases = await Promise.all(
      Array.from({ length: 12 }, () => stageCursorMcpLease(worktree.options())),
    );
    for (const [number, lease] of leases.entries()) {
      for (const { serverKey } of leases.slice(number)) expect(worktree.read(CONFIG)).toContain(serverKey);
      await lease.dispose();
      expect(worktree.read(CONFIG)).not.toContain(lease.serverKey);
    }
    expect(worktree.picture()).toEqual(before);
  });

  test("in a linked worktree or a subfolder is hidden as long as it lives, whoever ends first", async () => {
    const worktree = new Worktree();
    const linked = join(worktree.base, "linked");
    worktree.git("worktree", "add", "--quiet", linked);
    const folders = [worktree.folder, linked, worktree.at("apps", "[a]*"), join(linked, "ü ")];
    for (const folder of folders) mkdirSync(folder, { recursive: true });
    const before = worktree.picture();
    const leases = await Promise.all(
      folders.map((worktreePath) => stageCursorMcpLease(worktree.options({ worktreePath }))),
    );
    for (const lease of leases) {
      for (const top of [worktree.folder, linked]) {
        expect(git(top, "status", "--porcelain", "--untracked-files=all")).toBe("");
      }
      await lease.dispose();
    }
    expect(worktree.picture()).toEqual(before);
    worktree.git("worktree", "remove", linked);
  });

  test("puts back at a beat what a peer took away", async () => {
    const worktree = new Worktree();
    const options = worktree.options();
    const lease = await stageCursorMcpLease(options);
    const exclude = worktree.read(".git/info/exclude");
    worktree.write(".git/info/exclude", "");
    worktree.write(CONFIG, '{"mcpServers": {"theirs": {}}}');
    await expect(lease.heartbeat()).resolves.toBe(true);
    expect(worktree.entries()).toEqual({ [options.serverKey]: options.serverEntry });
    expect(exclude).toContain(CONFIG);
    expect(worktree.read(".git/info/exclude")).toContain(`/${CONFIG}\n`);
    await lease.dispose();
    expect(worktree.read(CONFIG)).toBe('{"mcpServers": {"theirs": {}}}');
    expect(worktree.read(".git/info/exclude")).toBe("");
  });

  test("is not in force where the config is no JSON any more, and tells it by the beat", async () => {
    const worktree = new Worktree();
    const lease = await stageCursorMcpLease(worktree.options());
    appendFileSync(worktree.at(CONFIG), "}");
    const broken = worktree.read(CONFIG);
    await expect(lease.heartbeat()).resolves.toBe(false);
    expect(worktree.read(CONFIG)).toBe(broken);
    await lease.dispose().catch(() => {});
    expect(worktree.read(CONFIG)).toBe(broken);
    expect(worktree.git("status", "--porcelain")).toBe("");
    const { quarantine, clean } = await reconcileCursorWorktree(worktree.folder);
    expect([clean, quarantine?.fusionKeys]).toEqual([false, [lease.serverKey]]);
    rmSync(worktree.at(CONFIG));
    await expect(reconcileCursorWorktree(worktree.folder)).resolves.toMatchObject({
      clean: true,
      quarantine: null,
    });
    expect(worktree.has(".cursor")).toBe(false);
  });
});

describe("to dispose", () => {
  test("twice, at the same time and by every name is to dispose once", async () => {
    const worktree = new Worktree();
    const before = worktree.picture();
    const lease = await stageCursorMcpLease(worktree.options());
    await Promise.all([
      lease.dispose(),
      lease.dispose(),
      lease.heartbeat(),
      lease[Symbol.asyncDispose](),
      reconcileCursorWorktree(worktree.folder),
    ]);
    expect(worktree.picture()).toEqual(before);
    await lease.dispose();
    await lease[Symbol.asyncDispose]();
    expect(worktree.picture()).toEqual(before);
  });

  test("comes with the end of a block", async () => {
    const worktree = new Worktree();
    const before = worktree.picture();
    {
      await using lease = await stageCursorMcpLease(worktree.options());
      expect(Object.keys(worktree.entries())).toEqual([lease.serverKey]);
    }
    expect(worktree.picture()).toEqual(before);
  });

  test("a failure is told, and another try does it", async () => {
    const worktree = new Worktree();
    const before = worktree.picture();
    const lease = await stageCursorMcpLease(worktree.options({ lockTimeoutMs: 200 }));
    const holder = worktree.lock();
    const failures = await Promise.all(
      [lease.dispose(), lease.dispose()].map((disposal) => disposal.catch((error: CursorError) => error)),
    );
    for (const failure of failures) {
      expect(failure).toMatchObject({ code: "bridge-start-failed", reason: "lock-timeout", retryable: true });
      expect((failure as Error).message).toContain(String(holder));
    }
    await expect(lease.heartbeat()).resolves.toBe(false);
    worktree.unlock();
    await lease.dispose();
    expect(worktree.picture()).toEqual(before);
  });

  test("where the whole worktree is gone settles", async () => {
    const worktree = new Worktree();
    const lease = await stageCursorMcpLease(worktree.options());
    rmSync(worktree.folder, { recursive: true });
    await expect(lease.heartbeat()).resolves.toBe(false);
    await lease.dispose().catch(({ code }: CursorError) => expect(code).toBe("bridge-start-failed"));
    expect(existsSync(worktree.folder)).toBe(false);
  });
});

describe("to release at once", () => {
  test("gives up what is held in one worktree or in all", async () => {
    const [one, other] = [new Worktree(), new Worktree()];
    const before = [one.picture(), other.picture()];
    const lease = await stageCursorMcpLease(one.options());
    await stageCursorMcpLease(one.options());
    await stageCursorMcpLease(other.options());
    releaseHeldLeasesSync("/somewhere/else");
    releaseHeldLeasesSync(one.folder);
    expect(one.picture()).toEqual(before[0]);
    expect(Object.keys(other.entries())).toHaveLength(1);
    releaseHeldLeasesSync();
    expect(other.picture()).toEqual(before[1]);
    releaseHeldLeasesSync();
    await expect(lease.heartbeat()).resolves.toBe(false);
    await lease.dispose();
    expect([one.picture(), other.picture()]).toEqual(before);
  });

  test("does not wait for a lock, nor take one over", async () => {
    const worktree = new Worktree();
    const before = worktree.picture();
    await stageCursorMcpLease(worktree.options());
    worktree.lock();
    const began = performance.now();
    releaseHeldLeasesSync();
    expect(performance.now() - began).toBeLessThan(8000);
    expect(worktree.has(`${LOCK}/owner.json`)).toBe(true);
    expect(Object.keys(worktree.entries())).toHaveLength(1);
    worktree.unlock();
    releaseHeldLeasesSync();
    expect(worktree.picture()).toEqual(before);
  });
});

describe("an abort", () => {
  test("before the call touches nothing", async () => {
    const worktree = new Worktree();
    const before = worktree.picture();
    const reason = new Error("mine");
    const signal = AbortSignal.abort(reason);
    await expect(stageCursorMcpLease(worktree.options({ signal }))).rejects.toMatchObject({
      name: "AbortError",
      code: "CURSOR_ABORTED",
      cause: reason,
      retryable: false,
    });
    await expect(reconcileCursorWorktree(worktree.folder, { signal })).rejects.toThrow("aborted");
    await expect(inspectCursorWorktree(worktree.folder, { signal })).rejects.toThrow("aborted");
    expect(worktree.picture()).toEqual(before);
  });

  test("at any moment rejects at once, and nothing stays behind", async () => {
    const worktree = new Worktree();
    worktree.write(CONFIG, OPERATOR);
    const before = worktree.picture();
    const outcomes = { staged: 0, aborted: 0 };
    const one = async (afterMs: number): Promise<void> => {
      const controller = new AbortController();
      const staging = stageCursorMcpLease(worktree.options({ signal: controller.signal }));
      setTimeout(() => controller.abort(), afterMs);
      try {
        const lease = await staging;
        outcomes.staged++;
        await lease.dispose();
      } catch (error) {
        expect((error as CursorError).code).toBe("CURSOR_ABORTED");
        outcomes.aborted++;
      }
    };
    await one(0);
    expect(outcomes.aborted).toBe(1);
    for (let round = 0; round < 10; round++) {
      await Promise.all([one(round), one(round * 3), one(round * 10)]);
    }
    await eventually("all is as before", () => worktree.isLike(before));
  });

  test("while it waits for a lock gives up the wait", async () => {
    const worktree = new Worktree();
    const first = await stageCursorMcpLease(worktree.options());
    worktree.lock();
    const signal = AbortSignal.timeout(100);
    await expect(stageCursorMcpLease(worktree.options({ signal }))).rejects.toMatchObject({
      code: "CURSOR_ABORTED",
      cause: { name: "TimeoutError" },
    });
    const { pending } = await inspectCursorWorktree(worktree.folder);
    expect(pending).toBe(null);
    worktree.unlock();
    expect(Object.keys(worktree.entries())).toEqual([first.serverKey]);
    await first.dispose();
  });

  test("after the staging has no say any more", async () => {
    const worktree = new Worktree();
    const controller = new AbortController();
    const lease = await stageCursorMcpLease(worktree.options({ signal: controller.signal }));
    controller.abort();
    await expect(lease.heartbeat()).resolves.toBe(true);
    expect(Object.keys(worktree.entries())).toEqual([lease.serverKey]);
    await lease.dispose();
  });
});
