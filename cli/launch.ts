/** One turn in a session of its own, which puts the worktree in order first. */

import type { CursorPromptInput, CursorPromptResult, CursorSession } from "fusion-cursor-native";

/** What runs a turn; throws a `TypeError` before it, as `launchCursorPrompt` does. */
export type Launch = (input: CursorPromptInput) => Promise<CursorPromptResult>;

export function inSession(create: typeof CursorSession.create): Launch {
  return ({ prompt, model, ...input }) => {
    const opened = create({ ...input, ...(model === undefined ? {} : { defaultModelId: model }) });
    return run(opened, prompt, input.signal);
  };
}

async function run(
  opened: Promise<CursorSession>,
  prompt: string,
  signal: AbortSignal | undefined,
): Promise<CursorPromptResult> {
  const session = await opened;
  try {
    return await session.prompt(prompt, signal === undefined ? {} : { signal });
  } finally {
    const disposed = session.dispose();
    // After a Ctrl-C the end is told at once, and the exit of the process waits for what is left.
    if (signal?.aborted) disposed.catch(() => {});
    else await disposed;
  }
}
