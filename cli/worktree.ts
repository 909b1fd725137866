/** `fusion-cursor worktree`: what lies in a worktree, and putting it in order. */

import type { WorktreeCommand } from "./arguments.ts";
import { type Inquirer, interruptible } from "./doctor.ts";
import { jsonLine } from "./json.ts";
import type { Span } from "./render/operations.ts";
import { describeReconciliation, describeWorktree, isClean } from "./report.ts";
import { EXIT } from "./run.ts";

/** What is shown, and whether all is well. */
interface Told {
  readonly clean: boolean;
  readonly report: object;
  readonly spans: Span[];
}

export async function runWorktree(command: WorktreeCommand, inquirer: Inquirer): Promise<number> {
  const told = await interruptible(inquirer, (signal) => tell(command, inquirer, signal));
  if (typeof told === "number") {
    return told;
  }
  const { clean, report, spans } = told;
  if (command.json) {
    inquirer.stdout.write(jsonLine({ ...report, clean }, `worktree-${command.action}`));
  } else {
    inquirer.stdout.print(spans);
  }
  return clean ? EXIT.success : EXIT.failed;
}

async function tell(command: WorktreeCommand, { load }: Inquirer, signal: AbortSignal): Promise<Told> {
  const { inspectCursorWorktree, reconcileCursorWorktree } = await load();
  if (command.action === "inspect") {
    const report = await inspectCursorWorktree(command.folder, { signal });
    return { clean: isClean(report), report, spans: describeWorktree(report, Date.now()) };
  }
  const report = await reconcileCursorWorktree(command.folder, { signal });
  return { clean: report.clean, report, spans: describeReconciliation(report) };
}
