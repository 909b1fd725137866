/** One turn from the request to the exit code. What it needs of the world is handed in. */

import type { CursorPromptInput, CursorPromptResult } from "fusion-cursor-native";
import { describeAbort, describeFailure, describeLeftovers, errorCode } from "./failure.ts";
import type { Launch } from "./launch.ts";
import type { Output } from "./output.ts";
import { type Clock, createPresenter, type Presenter } from "./presenter.ts";

/** What is to be run, and how it is shown. */
export interface TurnRequest {
  readonly input: Omit<CursorPromptInput, "signal" | "onEvent">;
  readonly json: boolean;
}

/** The world around a turn. */
export interface Host {
  readonly launch: Launch;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly now: Clock;
  readonly platform: NodeJS.Platform;
  /** Tells of every Ctrl-C and the like, with the exit code that belongs to it, until the returned function is called. */
  readonly onInterrupt: (listener: (exitCode: number) => void) => () => void;
  /** Ends the process at once. */
  readonly exit: (code: number) => void;
  /** Called while the process exits, whatever the reason. */
  readonly onExit: (listener: () => void) => void;
}

export const EXIT = { success: 0, failed: 1, usage: 2 } as const;

/** Runs the turn and shows it. Never rejects. */
export async function runTurn(request: TurnRequest, host: Host): Promise<number> {
  const abort = new AbortController();
  let interruptCode: number | undefined;
  const stopListening = host.onInterrupt((exitCode) => {
    if (interruptCode !== undefined) {
      host.exit(exitCode);
      return;
    }
    interruptCode = exitCode;
    abort.abort();
  });
  host.stdout.onClosed(() => abort.abort());
  const presenter = createPresenter(host.stdout, { json: request.json, cwd: request.input.cwd }, host.now);
  host.onExit(() => presenter.restore());
  try {
    const result = await launch(request, host, presenter, abort.signal);
    presenter.succeed(result);
    host.stderr.print(describeLeftovers(result.leftovers));
    return EXIT.success;
  } catch (error) {
    presenter.fail(error);
    return reportFailure(error, interruptCode, host);
  } finally {
    presenter.restore();
    stopListening();
  }
}

/** The input was refused before anything was started. */
class RefusedInput extends Error {
  override name = "RefusedInput";
}

function launch(
  request: TurnRequest,
  host: Host,
  presenter: Presenter,
  signal: AbortSignal,
): Promise<CursorPromptResult> {
  try {
    return host.launch({ ...request.input, signal, onEvent: (event) => presenter.event(event) });
  } catch (error) {
    throw error instanceof TypeError ? new RefusedInput(error.message, { cause: error }) : error;
  }
}

function reportFailure(error: unknown, interruptCode: number | undefined, host: Host): number {
  if (interruptCode !== undefined && errorCode(error) === "CURSOR_ABORTED") {
    // Over the ^C that the terminal has echoed.
    host.stderr.draw([{ do: "move", rows: 0, column: 0 }, { do: "erase-row" }]);
    host.stderr.print(describeAbort(error));
    return interruptCode;
  }
  if (host.stdout.closed) {
    // As with any program before `| head`: not worth a word.
    return EXIT.failed;
  }
  host.stderr.print(describeFailure(error, host.platform));
  return error instanceof RefusedInput ? EXIT.usage : EXIT.failed;
}
