/** `fusion-cursor worktree` on real worktrees. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  type CursorReconcileReport,
  type CursorWorktreeReport,
  stageCursorMcpLease,
} from "fusion-cursor-native";
import { expect, test } from "vitest";
import { runCommand } from "./support/command.ts";
import { inHost } from "./support/host.ts";
import { CONFIG, STATE, TOKEN, Worktree } from "./support/worktree.ts";

const inspect = (folder: string, ...more: string[]) => runCommand(["worktree", "inspect", folder, ...more]);
const reconcile = (folder: string, ...more: string[]) =>
  runCommand(["worktree", "reconcile", folder, ...more]);

/** A host that staged a server here and was killed. */
async function crash(worktree: Worktree): Promise<void> {
  const killed = inHost(
    `await cursor().stageCursorMcpLease(given); process.kill(process.pid, "SIGKILL"); await new Promise(() => {});`,
    worktree.options(),
  );
  await expect(killed).rejects.toMatchObject({ signal: "SIGKILL" });
}

test("a worktree in which nothing is", async () => {
  const worktree = new Worktree();
  const before = worktree.picture();
  const looked = await inspect(worktree.folder);
  expect(looked).toEqual({
    code: 0,
    signal: null,
    stderr: "",
    stdout: `✓ worktree  ${worktree.folder}
✓ git  ${worktree.folder}
– exclusion  ${worktree.at(".git/info/exclude")}  holds nothing of ours
– config  no .cursor/mcp.json
– state  nothing is staged

nothing to do
`,
  });
  const done = await reconcile(worktree.folder);
  expect(done).toEqual({
    code: 0,
    signal: null,
    stderr: "",
    stdout: `✓ worktree  ${worktree.folder}\n\nnothing to do\n`,
  });
  expect(worktree.picture()).toEqual(before);
});

test("a worktree in which a session is at work", async () => {
  const worktree = new Worktree();
  mkdirSync(worktree.at("app"));
  const lease = await stageCursorMcpLease(worktree.options({ worktreePath: worktree.at("app") }));
  const { code, stdout, stderr } = await inspect(worktree.at("app"));
  expect([code, stderr]).toEqual([0, ""]);
  const lines = stdout.split("\n");
  expect(lines).toContain(`✓ git  ${worktree.folder}  folder app/`);
  expect(lines).toContain("✓ config  .cursor/mcp.json  mode 0600  1 entry of ours");
  expect(lines.find((line) => line.startsWith("✓ exclusion"))).toMatch(
    /hides this folder {2}git ignores our files$/,
  );
  expect(lines.find((line) => line.includes(lease.serverKey))).toMatch(
    new RegExp(`^✓ lease {2}${lease.serverKey} {2}pid ${process.pid} on .+, alive {2}beat \\d+\\.\\ds ago$`),
  );
  expect(stdout).not.toContain(TOKEN);
  const done = await reconcile(worktree.at("app"));
  expect([done.code, done.stdout]).toEqual([
    0,
    `✓ worktree  ${worktree.at("app")}\n– 1 lease stays in force\n\nnothing to do\n`,
  ]);
  await lease.dispose();
});

test("a worktree in which a host was killed", async () => {
  const worktree = new Worktree();
  worktree.write(CONFIG, "{ // mine\n}\n", 0o640);
  const before = worktree.picture();
  await crash(worktree);
  const looked = await inspect(worktree.folder);
  expect(looked.code).toBe(1);
  expect(looked.stdout).toMatch(
    /^✗ lease {2}fusion-custom-tools-.*, dead {2}.*over: the next session drops it$/m,
  );
  expect(looked.stdout).toContain(`fusion-cursor worktree reconcile '${worktree.folder}'\n`);
  const done = await reconcile(worktree.folder);
  expect([done.code, done.stderr]).toEqual([0, ""]);
  expect(done.stdout).toMatch(/^✓ lease-dropped {2}/m);
  expect(done.stdout).toMatch(/^✓ config-restored {2}\.cursor\/mcp\.json/m);
  expect(done.stdout).toMatch(/\nin order again\n$/);
  expect(looked.stdout + done.stdout).not.toContain(TOKEN);
  expect(worktree.picture()).toEqual(before);
});

test("speaks JSON of both, in the shape of the types", async () => {
  const worktree = new Worktree();
  await crash(worktree);
  const looked = await inspect(worktree.folder, "--json");
  const report: CursorWorktreeReport & { type: string; clean: boolean } = JSON.parse(looked.stdout);
  expect([looked.code, report.type, report.clean]).toEqual([1, "worktree-inspect", false]);
  expect(report.leases).toMatchObject([{ owner: "dead", live: false, heldHere: false }]);
  const done = await reconcile(worktree.folder, "--json");
  const reconciled: CursorReconcileReport & { type: string } = JSON.parse(done.stdout);
  expect([done.code, reconciled.type, reconciled.clean]).toEqual([0, "worktree-reconcile", true]);
  expect(reconciled.actions.map((action) => action.kind)).toContain("config-removed");
  for (const { stdout } of [looked, done]) {
    expect(stdout.match(/\n/g)).toHaveLength(1);
    expect(stdout).not.toContain(TOKEN);
  }
  const { clean } = JSON.parse((await inspect(worktree.folder, "--json")).stdout);
  expect(clean).toBe(true);
});

test("a quarantine is told with its cure, and lifted when it is mended", async () => {
  const worktree = new Worktree();
  await crash(worktree);
  worktree.write(CONFIG, `${worktree.read(CONFIG)}}`);
  const broken = worktree.read(CONFIG);
  const done = await reconcile(worktree.folder);
  expect(done.code).toBe(1);
  expect(done.stdout).toMatch(/^✗ quarantine {2}.*its text still names fusion-custom-tools-/m);
  const looked = await inspect(worktree.folder);
  expect(looked.code).toBe(1);
  expect(looked.stdout).toMatch(/^✗ quarantine {2}/m);
  expect(looked.stdout).toMatch(/^cure: .*mcp\.json/m);
  expect(looked.stdout + done.stdout).not.toContain(TOKEN);
  expect(worktree.read(CONFIG)).toBe(broken);
  worktree.write(CONFIG, "{}\n");
  const mended = await reconcile(worktree.folder);
  expect(mended.code).toBe(0);
  expect(mended.stdout).toMatch(/^✓ quarantine-cleared {2}/m);
  expect([worktree.read(CONFIG), worktree.has(STATE)]).toEqual(["{}\n", false]);
});

test.each(["inspect", "reconcile"])(
  "%s tells of what is no folder, and of a wrong command line",
  async (action) => {
    const worktree = new Worktree();
    for (const path of [worktree.at("nowhere"), worktree.at("README"), join(worktree.at("README"), "x")]) {
      const missing = await runCommand(["worktree", action, path]);
      expect(missing.code).toBe(1);
      expect(missing.stdout).toContain(path);
      expect(missing.stdout).toMatch(/^problem: /m);
    }
    const wrong = await runCommand(["worktree", action]);
    expect(wrong).toMatchObject({
      code: 2,
      stdout: "",
      stderr: `error: worktree ${action} needs a folder\ntry fusion-cursor --help\n`,
    });
  },
);
