/** The command line, read. Pure. */

import { parseArgs } from "node:util";

/** What the command line asks for. */
export type Command =
  | { readonly name: "help" }
  | { readonly name: "version" }
  | { readonly name: "demo"; readonly json: boolean }
  | DoctorCommand
  | ModelsCommand
  | RunCommand
  | WorktreeCommand;

export interface DoctorCommand {
  readonly name: "doctor";
  readonly worktree: string | undefined;
  readonly binary: string | undefined;
  readonly json: boolean;
}

export interface ModelsCommand {
  readonly name: "models";
  readonly binary: string | undefined;
  readonly json: boolean;
}

export interface WorktreeCommand {
  readonly name: "worktree";
  readonly action: "inspect" | "reconcile";
  readonly folder: string;
  readonly json: boolean;
}

export interface RunCommand {
  readonly name: "run";
  /** `-`: on standard input. Absent: on standard input where that is no terminal. */
  readonly prompt: string | undefined;
  readonly cwd: string | undefined;
  readonly tools: "coding" | "readonly";
  readonly model: string | undefined;
  readonly resumeId: string | undefined;
  readonly binary: string | undefined;
  readonly approveMcps: boolean;
  readonly json: boolean;
}

/** The command line makes no sense; the message says what about it. */
export class UsageError extends Error {
  override name = "UsageError";
}

export const HELP = `fusion-cursor: run Cursor's CLI from the terminal, supervised

Usage
  fusion-cursor run "prompt" [options]   run one turn and stream it
  fusion-cursor run - < prompt.txt       the prompt on standard input
  fusion-cursor demo [--json]            the same on a built-in stand-in agent; no account needed
  fusion-cursor doctor [--json] [--worktree DIR] [--binary PATH]
                                         can a turn start here? what is missing, and the command that cures it
  fusion-cursor models [--json] [--binary PATH]
                                         the models that the CLI offers
  fusion-cursor worktree inspect DIR [--json]
                                         what is staged in a folder, by whom, and what was left behind there
  fusion-cursor worktree reconcile DIR [--json]
                                         put it in order after a crash; what live sessions need stays

Options of run
  --cwd DIR                the workspace; default: this folder
  --tools coding|readonly  coding may change files and run commands; default: readonly
  --model M                a model id; default: auto
  --resume ID              go on with an earlier session
  --binary PATH            the program to run instead of cursor-agent
  --approve-mcps           approve every configured MCP server, the repository's own included
  --json                   every event as one JSON object per line

  -h, --help               this text
  -v, --version            the version

Exit codes
  0 success · 1 the turn failed, or could not start · 2 wrong usage · 130 ended with Ctrl-C
  worktree: 0 nothing is left to do · 1 something is to be done, or wrong
`;

const NAMES = "run, demo, doctor, models or worktree";

const OPTIONS = {
  cwd: { type: "string" },
  tools: { type: "string" },
  model: { type: "string" },
  resume: { type: "string" },
  binary: { type: "string" },
  "approve-mcps": { type: "boolean" },
  json: { type: "boolean" },
  worktree: { type: "string" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

/** @throws {UsageError} */
export function parseCommandLine(argv: readonly string[]): Command {
  const { values, positionals } = parse(argv);
  if (values.help === true) {
    return { name: "help" };
  }
  if (values.version === true) {
    return { name: "version" };
  }
  const [name, ...rest] = positionals;
  switch (name) {
    case "help":
      return { name: "help" };
    case "demo":
      return demo(values, rest);
    case "doctor":
      allow(name, values, rest, ["json", "worktree", "binary"]);
      return { name, worktree: values.worktree, binary: values.binary, json: values.json === true };
    case "models":
      allow(name, values, rest, ["json", "binary"]);
      return { name, binary: values.binary, json: values.json === true };
    case "run":
      return run(values, rest);
    case "worktree":
      return worktree(values, rest);
    case undefined:
      throw new UsageError(`a command is missing: ${NAMES}`);
    default:
      throw new UsageError(`there is no command "${name}": ${NAMES}`);
  }
}

type Values = ReturnType<typeof parse>["values"];

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true, strict: true });
  } catch (error) {
    if (error instanceof TypeError && "code" in error) {
      // Node adds advice about `--` in a second sentence.
      throw new UsageError(error.message.split(/\. |\n/)[0]);
    }
    throw error;
  }
}

function demo(values: Values, rest: readonly string[]): Command {
  allow("demo", values, [], ["json"]);
  if (rest.length > 0) {
    throw new UsageError("demo takes no prompt");
  }
  return { name: "demo", json: values.json === true };
}

/** Refuses words, options that the command does not have, and options without a value. */
function allow(name: string, values: Values, rest: readonly string[], options: readonly string[]): void {
  const wrong = Object.keys(values).find((option) => !options.includes(option));
  if (wrong !== undefined) {
    throw new UsageError(`${name} has no option --${wrong}`);
  }
  for (const [option, value] of Object.entries(values)) {
    if (typeof value === "string" && value.trim() === "") {
      throw new UsageError(`--${option} needs a value`);
    }
  }
  if (rest.length > 0) {
    throw new UsageError(`${name} takes no "${rest[0]}"`);
  }
}

function worktree(values: Values, [action, folder, ...rest]: readonly string[]): Command {
  if (action !== "inspect" && action !== "reconcile") {
    throw new UsageError(
      action === undefined
        ? "worktree needs inspect or reconcile, and a folder"
        : `worktree is inspect or reconcile, not "${action}"`,
    );
  }
  allow(`worktree ${action}`, values, rest, ["json"]);
  if (folder === undefined || folder.trim() === "") {
    throw new UsageError(`worktree ${action} needs a folder`);
  }
  return { name: "worktree", action, folder, json: values.json === true };
}

function run(values: Values, rest: readonly string[]): RunCommand {
  if (values.worktree !== undefined) {
    throw new UsageError("run has no option --worktree: its workspace is --cwd");
  }
  for (const [name, value] of Object.entries(values)) {
    if (value === "") {
      throw new UsageError(`--${name} needs a value`);
    }
  }
  if (rest.length > 1) {
    throw new UsageError("more than one prompt: put it in quotes");
  }
  const tools = values.tools ?? "readonly";
  if (tools !== "coding" && tools !== "readonly") {
    throw new UsageError(`--tools is coding or readonly, not "${tools}"`);
  }
  if (rest[0]?.trim() === "") {
    throw new UsageError("the prompt is empty");
  }
  return {
    name: "run",
    prompt: rest[0],
    cwd: values.cwd,
    tools,
    model: values.model,
    resumeId: values.resume,
    binary: values.binary,
    approveMcps: values["approve-mcps"] === true,
    json: values.json === true,
  };
}
