/** A failed turn, told to a person: what happened, what to do, how to go on. Pure. */

import type { Span } from "./render/operations.ts";
import { printable, singleLine, truncate } from "./render/text.ts";

const INSTALL_UNIX =
  "install it with `curl https://cursor.com/install -fsS | bash`, or name it with --binary";
const INSTALL_WINDOWS =
  "install it with `irm 'https://cursor.com/install?win32=true' | iex`, or name it with --binary";

const HINTS: Record<string, string> = {
  CURSOR_CWD_MISSING: "--cwd must name an existing folder",
  CURSOR_NOT_RUNNABLE: "the file is there but cannot be run: look at its permissions, or install it again",
  CURSOR_LAUNCHER_UNSUPPORTED: "--binary must name an .exe, .com, .cmd, .bat or .ps1 file",
  CURSOR_UNSAFE_TOKEN: "leave the sign out, or name the program's .exe file with --binary",
  CURSOR_IDE_MISSING:
    "`cursor` is the editor's launcher here: install Cursor's CLI, or name it with --binary",
  CURSOR_AUTH_REQUIRED: "log in with `cursor-agent login`, or set CURSOR_API_KEY",
  CURSOR_KEYCHAIN_LOCKED: "unlock it with `security unlock-keychain` and try again",
  CURSOR_USAGE_LIMIT:
    "the account's usage is spent: wait for its reset or set a spend limit at cursor.com/dashboard",
  CURSOR_PLAN_RESTRICTED: "the plan or a policy does not allow this: try `--model auto`",
  CURSOR_CAPACITY: "Cursor's servers are busy: try again in a minute",
  CURSOR_NETWORK: "look at the connection and at HTTPS_PROXY, then try again",
  CURSOR_MODEL_UNAVAILABLE: "`cursor-agent models` lists what there is",
  CURSOR_WORKSPACE_UNTRUSTED: "run `cursor-agent` once in that folder and trust it",
  CURSOR_CONFIG_INVALID: "look at ~/.cursor/cli-config.json and at .cursor/cli.json in the workspace",
  CURSOR_FIRST_LINE_TIMEOUT: "PI_CURSOR_CLI_FIRST_LINE_TIMEOUT_MS sets a longer limit",
  CURSOR_INACTIVITY_TIMEOUT: "PI_CURSOR_CLI_TIMEOUT_MS sets a longer limit",
  CURSOR_TOOL_TIMEOUT: "PI_CURSOR_CLI_TIMEOUT_MS sets a longer limit",
};

/** What to do about an error code, in one line. */
export function hintFor(code: string, platform: NodeJS.Platform): string | undefined {
  if (code === "CURSOR_NOT_FOUND") {
    return platform === "win32" ? INSTALL_WINDOWS : INSTALL_UNIX;
  }
  return Object.hasOwn(HINTS, code) ? HINTS[code] : undefined;
}

/** The stable code of an error that has one. */
export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** The lines for standard error about processes of the turn that are still there; none where there are none. */
export function describeLeftovers(leftovers: readonly { pid: number; command: string }[]): Span[] {
  if (leftovers.length === 0) return [];
  const what = leftovers.length === 1 ? "a process" : `${leftovers.length} processes`;
  const lines = leftovers.map(({ pid, command }) => ({
    text: `  ${pid} ${truncate(singleLine(printable(command)), 100)}\n`,
    style: "dim" as const,
  }));
  return [
    { text: "note:", style: "cyan" },
    { text: ` the turn left ${what} behind\n`, style: "plain" },
    ...lines,
  ];
}

/** The lines for standard error. */
export function describeFailure(error: unknown, platform: NodeJS.Platform): Span[] {
  const code = errorCode(error);
  if (code === "CURSOR_ADDON_UNAVAILABLE") return describeUnavailable(error as Error);
  const message = printable(error instanceof Error ? error.message : String(error)).trim();
  const spans: Span[] = [
    { text: "error:", style: "red" },
    { text: ` ${message}`, style: "plain" },
    { text: code === undefined ? "\n" : ` (${code})\n`, style: "dim" },
  ];
  for (const line of stderrLines(error, message)) {
    spans.push({ text: `  ${line}\n`, style: "dim" });
  }
  const hint = code === undefined ? undefined : hintFor(code, platform);
  if (hint !== undefined) {
    spans.push({ text: "hint:", style: "cyan" }, { text: ` ${hint}\n`, style: "plain" });
  }
  return [...spans, ...describeResumption(error)];
}

/** Its message has all that there is to say, and ends with a command that is to be copied. */
function describeUnavailable({ message }: Error): Span[] {
  return [
    { text: "error:", style: "red" },
    { text: ` ${printable(message)}\n`, style: "plain" },
  ];
}

/** The lines for a turn that was ended with Ctrl-C. */
export function describeAbort(error: unknown): Span[] {
  return [{ text: "aborted\n", style: "dim" }, ...describeResumption(error)];
}

function describeResumption(error: unknown): Span[] {
  const sessionId = sessionOf(error);
  return sessionId === undefined
    ? []
    : [{ text: `session ${sessionId} · go on with --resume ${sessionId}\n`, style: "dim" }];
}

function sessionOf(error: unknown): string | undefined {
  const partial = error instanceof Error && "partial" in error ? error.partial : undefined;
  if (typeof partial !== "object" || partial === null || !("sessionId" in partial)) {
    return undefined;
  }
  return typeof partial.sessionId === "string" ? singleLine(partial.sessionId) : undefined;
}

const STDERR_LINES = 12;
const STDERR_COLUMNS = 300;

/** The end of the process's own words, where the message does not hold them already. */
function stderrLines(error: unknown, message: string): string[] {
  const tail = error instanceof Error && "stderrTail" in error ? error.stderrTail : undefined;
  if (typeof tail !== "string" || singleLine(message).includes(singleLine(tail))) {
    return [];
  }
  const lines = tail
    .split("\n")
    .map((line) => truncate(singleLine(line), STDERR_COLUMNS))
    .filter((line) => line !== "");
  const left = lines.length - STDERR_LINES;
  return left > 0 ? [`… ${left} lines before`, ...lines.slice(-STDERR_LINES)] : lines;
}
