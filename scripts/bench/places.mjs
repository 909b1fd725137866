// What the measured programs work on: agents that do nothing of their own, and git worktrees.

import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeTranscript } from "./transcript.mjs";

const RESULT = JSON.stringify({ type: "result", subtype: "success", is_error: false, result: "x" });

/** @param {string} file @param {string[]} lines */
function program(file, lines) {
  writeFileSync(file, ["#!/bin/sh", ...lines, ""].join("\n"));
  chmodSync(file, 0o755);
  return file;
}

/** A program that reads its input and answers at once. @param {string} folder */
export function agent(folder) {
  return program(join(folder, "agent"), ["read -r line", `echo '${RESULT}'`]);
}

/**
 * A program that begins, and goes on when there is a byte for it in the pipe `gate`.
 * @param {string} folder
 */
export function waitingAgent(folder) {
  const gate = join(folder, "gate");
  if (!existsSync(gate)) execFileSync("mkfifo", [gate]);
  const begins = JSON.stringify({
    type: "system",
    subtype: "init",
    cwd: "/",
    session_id: "3f0c1d52-8a77-4c7b-9a34-0d6b1c2e9f10",
    model: "Auto",
    permissionMode: "default",
  });
  const lines = ["read -r line", `echo '${begins}'`, `read -r go < '${gate}'`, `echo '${RESULT}'`];
  return { binary: program(join(folder, "waiting-agent"), lines), gate };
}

/**
 * A program that writes a session of that size, and how large it is.
 * @param {string} folder
 * @param {number} megabytes
 */
export function replay(folder, megabytes) {
  const session = join(folder, `session-${megabytes}.jsonl`);
  const transcript = writeTranscript(session, megabytes * 1e6);
  return { binary: program(join(folder, `replay-${megabytes}`), [`exec cat '${session}'`]), ...transcript };
}

/** @param {string} top */
function operated(top) {
  mkdirSync(join(top, ".cursor"));
  writeFileSync(join(top, ".cursor", "mcp.json"), '{\n  "mcpServers": {}\n}\n');
}

/** A repository with a config of the operator's. @param {string} folder @param {string} name */
export function repository(folder, name) {
  const top = join(folder, name);
  mkdirSync(top);
  execFileSync("git", ["init", "--quiet"], { cwd: top });
  operated(top);
  return top;
}

/**
 * A folder of so many linked worktrees of one repository, named by their numbers.
 * @param {string} folder
 * @param {number} count
 */
export function worktrees(folder, count) {
  const base = join(folder, `worktrees-${count}`);
  if (existsSync(base)) return base;
  const top = join(base, "repository");
  mkdirSync(top, { recursive: true });
  /** @param {string[]} args */
  const git = (...args) => execFileSync("git", args, { cwd: top, stdio: ["ignore", "ignore", "inherit"] });
  git("init", "--quiet");
  const author = ["-c", "user.name=Bench", "-c", "user.email=bench@example.com"];
  git(...author, "commit", "--quiet", "--allow-empty", "--message=begin");
  for (let number = 0; number < count; number += 1) {
    const one = join(base, String(number));
    git("worktree", "add", "--quiet", "--detach", one);
    operated(one);
  }
  return base;
}
