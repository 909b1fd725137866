/** What a turn and a session are asked alike, checked. */

import type { RunOptions } from "../native.js";
import type { Callbacks } from "./dispatch.js";
import * as check from "./validate.js";

type Given = Record<string, unknown>;

/** Throws a `TypeError`. What names the model differs, and so `model` is the name of that option. */
export function runOptions(given: Given, model: "model" | "defaultModelId"): RunOptions {
  const flag = (name: string): boolean =>
    check.optional(given[name], (value) => check.flag(name, value)) ?? false;
  const limit = (name: string): number | undefined =>
    check.optional(given[name], (value) => check.limit(name, value));
  const wait = (name: string): number | undefined =>
    check.optional(given[name], (value) => check.wait(name, value));
  const tools = check.optional(given.tools, (value) => check.oneOf("tools", ["coding", "readonly"], value));
  const leftovers = check.optional(given.leftovers, (value) =>
    check.oneOf("leftovers", ["kill", "keep"], value),
  );
  return {
    cwd: check.word("cwd", given.cwd),
    coding: tools === "coding",
    approveMcps: flag("approveMcps"),
    workspaceFlag: flag("workspaceFlagRequired"),
    hostEnv: check.inherited(process.env),
    addedEnv: check.optional(given.env, (value) => check.environment("env", value)) ?? [],
    keepLeftovers: leftovers === "keep",
    ...defined({
      binary: check.optional(given.binary, (value) => check.word("binary", value)),
      model: check.optional(given[model], (value) => check.modelId(model, value)),
      resumeId: check.optional(given.resumeId, (value) => check.argument("resumeId", value)),
      firstLineTimeoutMs: limit("firstLineTimeoutMs"),
      inactivityTimeoutMs: limit("inactivityTimeoutMs"),
      toolTimeoutMs: limit("toolTimeoutMs"),
      exitGraceMs: wait("exitGraceMs"),
      killGraceMs: wait("killGraceMs"),
      maxLineBytes: check.optional(given.maxLineBytes, (value) => check.lineLimit("maxLineBytes", value)),
    }),
  };
}

/** The callbacks, to be called as methods of `owner`, as their types say. */
export function callbacks(given: Given, owner: object): Callbacks {
  const found: Record<string, unknown> = {};
  for (const name of ["onText", "onThinking", "onToolStart", "onToolEnd", "onEvent"]) {
    const callback = check.optional(given[name], (value) => check.callback(name, value));
    if (callback !== undefined) found[name] = (...args: never[]) => Reflect.apply(callback, owner, args);
  }
  return found as Callbacks;
}

export function signal(given: Given): AbortSignal | undefined {
  return check.optional(given.signal, (value) => check.abortSignal("signal", value));
}

/** The entries that are there. */
export function defined<T extends Record<string, unknown>>(
  entries: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as never;
}
