/** What a tool call is about, in a few words, and how it went wrong. Pure. */

import path from "node:path";
import type { ToolOutcome } from "fusion-cursor-native";
import { singleLine, truncate } from "./render/text.ts";

type Args = Record<string, unknown>;

/** Folders that file names are shown relative to. */
export type Roots = readonly string[];

/** Nothing longer than this is worth a line, whatever the terminal. */
const SUMMARY_COLUMNS = 400;

type Summarizer = (args: Args, roots: Roots) => string | undefined;

const file: Summarizer = (args, roots) => relative(string(args, "path", "filePath", "file"), roots);

const SUMMARIZERS: Record<string, Summarizer> = {
  shell: (args) => string(args, "command"),
  read: (args, roots) => withRange(file(args, roots), args),
  edit: file,
  write: file,
  delete: file,
  ls: file,
  list: file,
  glob: (args, roots) => within(string(args, "globPattern", "pattern"), args, "targetDirectory", roots),
  grep: (args, roots) => within(string(args, "pattern"), args, "path", roots),
  semSearch: (args) => string(args, "query"),
  webSearch: (args) => string(args, "searchTerm", "query"),
  webFetch: (args) => string(args, "url"),
  fetch: (args) => string(args, "url"),
  task: (args) => string(args, "description", "prompt"),
  createPlan: (args) => string(args, "name", "overview"),
  updateTodos: todos,
  todo: todos,
  readLints: (args, roots) => paths(args, roots),
  askQuestion: (args) => string(args, "title"),
  switchMode: (args) => string(args, "targetModeId", "mode"),
  getMcpTools: (args) => joined(string(args, "server"), string(args, "toolName")),
  readMcpResource: (args) => joined(string(args, "server"), string(args, "uri")),
  generateImage: (args) => string(args, "description", "prompt"),
};

/** One line without control characters: the command, the file, the pattern. Empty where nothing is known. */
export function summarizeTool(
  tool: { kind: string; name: string; args: Args | undefined },
  roots: Roots,
): string {
  const args = tool.args ?? {};
  return truncate(singleLine(rawSummary(tool.kind, tool.name, args, roots) ?? ""), SUMMARY_COLUMNS);
}

function rawSummary(kind: string, name: string, args: Args, roots: Roots): string | undefined {
  if (kind === "mcp") {
    return joined(string(args, "providerIdentifier", "serverIdentifier"), string(args, "toolName") ?? name);
  }
  if (kind === "function") {
    return name;
  }
  const known = Object.hasOwn(SUMMARIZERS, kind) ? SUMMARIZERS[kind]?.(args, roots) : undefined;
  // A kind that is not known here, or one whose arguments have changed.
  return known ?? string(args, "description", "command", "path", "pattern", "query", "url", "name");
}

function string(args: Args, ...keys: string[]): string | undefined {
  for (const key of keys) {
    const value = args[key];
    if (typeof value === "string" && value.trim() !== "") {
      return value;
    }
  }
  return undefined;
}

function joined(first: string | undefined, second: string | undefined): string | undefined {
  return first === undefined || second === undefined ? (first ?? second) : `${first} ${second}`;
}

/** The path from the first root that holds it, else as it is. */
function relative(target: string | undefined, roots: Roots): string | undefined {
  if (target === undefined || !path.isAbsolute(target)) {
    return target;
  }
  for (const root of roots) {
    const inside = path.relative(root, target);
    if (inside === "") {
      return ".";
    }
    if (inside.split(path.sep)[0] !== ".." && !path.isAbsolute(inside)) {
      return inside;
    }
  }
  return target;
}

function within(pattern: string | undefined, args: Args, key: string, roots: Roots): string | undefined {
  const folder = relative(string(args, key), roots);
  return pattern === undefined || folder === undefined || folder === "."
    ? pattern
    : `${pattern} in ${folder}`;
}

function withRange(target: string | undefined, { offset, limit }: Args): string | undefined {
  if (target === undefined || typeof offset !== "number" || offset < 1) {
    return target;
  }
  return typeof limit === "number" ? `${target}:${offset}-${offset + limit - 1}` : `${target}:${offset}`;
}

function paths(args: Args, roots: Roots): string | undefined {
  const list = Array.isArray(args.paths) ? args.paths : [args.path];
  const names = list.filter((entry) => typeof entry === "string").map((entry) => relative(entry, roots));
  return names.length > 0 ? names.join(", ") : undefined;
}

function todos(args: Args): string | undefined {
  if (!Array.isArray(args.todos)) {
    return undefined;
  }
  return `${args.todos.length} item${args.todos.length === 1 ? "" : "s"}`;
}

/** Why a call has no success, in a few words; empty for a success. */
export function describeOutcome(outcome: ToolOutcome, result: unknown): string {
  if (outcome === "success") {
    return "";
  }
  const payload = payloadOf(result);
  const detail = truncate(singleLine(detailOf(payload)), SUMMARY_COLUMNS);
  switch (outcome) {
    case "rejected":
      return detail === "" ? "rejected" : `rejected: ${detail}`;
    case "permissionDenied":
      return detail === "" ? "denied" : `denied: ${detail}`;
    case "failure":
      return exitOf(payload) ?? (detail === "" ? "failed" : detail);
    case "error":
      return detail === "" ? "error" : `error: ${detail}`;
    default:
      return "ended without an outcome";
  }
}

/** The value of the one key that says how it went; siblings of it hold no object. */
function payloadOf(result: unknown): Args {
  if (typeof result === "string") {
    return { reason: result };
  }
  if (!isObject(result)) {
    return {};
  }
  const keys = ["failure", "rejected", "permissionDenied", "error", "success"];
  const key =
    keys.find((name) => name in result) ?? Object.keys(result).find((name) => isObject(result[name]));
  const payload = key === undefined ? undefined : result[key];
  return isObject(payload) ? payload : typeof payload === "string" ? { reason: payload } : {};
}

function detailOf(payload: Args): string {
  return string(payload, "reason", "error", "message", "errorMessage", "path") ?? contentText(payload) ?? "";
}

/** An MCP tool tells its error in its content. */
function contentText({ content }: Args): string | undefined {
  if (!Array.isArray(content)) {
    return undefined;
  }
  for (const item of content) {
    const text = isObject(item) ? item.text : undefined;
    const inner = isObject(text) ? text.text : text;
    if (typeof inner === "string" && inner.trim() !== "") {
      return inner;
    }
  }
  return undefined;
}

function exitOf({ exitCode, signal, aborted }: Args): string | undefined {
  if (aborted === true) {
    return "aborted";
  }
  if (typeof signal === "string" && signal !== "") {
    return singleLine(signal);
  }
  return typeof exitCode === "number" ? `exit ${exitCode}` : undefined;
}

function isObject(value: unknown): value is Args {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
