/** The command `fusion-cursor`: from the command line to the exit code. */

import { readFileSync } from "node:fs";
import path from "node:path";
import { HELP, parseCommandLine, type RunCommand, UsageError } from "./arguments.ts";
import { runDemo } from "./demo.ts";
import { runDoctor } from "./doctor.ts";
import { describeFailure } from "./failure.ts";
import { inSession } from "./launch.ts";
import { listModels } from "./models.ts";
import { Output } from "./output.ts";
import { EXIT, type Host, runTurn, type TurnRequest } from "./run.ts";
import { onInterrupt } from "./signals.ts";
import { runWorktree } from "./worktree.ts";

const stdout = new Output(process.stdout, process.env);
const stderr = new Output(process.stderr, process.env);

const exitCode = await main(process.argv.slice(2));
await Promise.all([stdout.flush(), stderr.flush()]);
// Not left to the event loop: a pipe on standard input may stay open for ever.
process.exit(exitCode);

async function main(argv: readonly string[]): Promise<number> {
  try {
    const command = parseCommandLine(argv);
    switch (command.name) {
      case "help":
        stdout.write(HELP);
        return EXIT.success;
      case "version":
        stdout.write(`${packageVersion()}\n`);
        return EXIT.success;
      case "demo":
        return await runDemo(command.json, await createHost());
      case "doctor":
        return await runDoctor(command, { load, stdout, stderr, onInterrupt });
      case "models":
        return await listModels(command, { load, stdout, stderr, onInterrupt });
      case "worktree":
        return await runWorktree(command, { load, stdout, stderr, onInterrupt });
      case "run": {
        const prompt = await readPrompt(command.prompt);
        return await runTurn(createRequest(command, prompt), await createHost());
      }
    }
  } catch (error) {
    if (error instanceof UsageError) {
      stderr.write(`error: ${error.message}\ntry fusion-cursor --help\n`);
      return EXIT.usage;
    }
    stderr.print(describeFailure(error, process.platform));
    return EXIT.failed;
  }
}

function packageVersion(): string {
  // From cli/ and from dist/, the same step up.
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

async function readPrompt(given: string | undefined): Promise<string> {
  if (given !== undefined && given !== "-") {
    return given;
  }
  if (given === undefined && process.stdin.isTTY) {
    throw new UsageError("the prompt is missing");
  }
  let prompt = "";
  process.stdin.setEncoding("utf8");
  for await (const chunk of process.stdin) {
    prompt += chunk;
  }
  if (prompt.trim() === "") {
    throw new UsageError("the prompt on standard input is empty");
  }
  return prompt;
}

function createRequest(command: RunCommand, prompt: string): TurnRequest {
  const { binary, model, resumeId } = command;
  return {
    input: {
      cwd: path.resolve(command.cwd ?? "."),
      prompt,
      tools: command.tools,
      approveMcps: command.approveMcps,
      ...(binary === undefined ? {} : { binary }),
      ...(model === undefined ? {} : { model }),
      ...(resumeId === undefined ? {} : { resumeId }),
    },
    json: command.json,
  };
}

/** Loads the addon, which --help and --version do without. */
function load() {
  return import("fusion-cursor-native");
}

async function createHost(): Promise<Host> {
  const { CursorSession } = await load();
  return {
    launch: inSession(CursorSession.create),
    stdout,
    stderr,
    now: () => performance.now(),
    platform: process.platform,
    onInterrupt,
    exit: (code) => process.exit(code),
    onExit: (listener) => process.on("exit", listener),
  };
}
