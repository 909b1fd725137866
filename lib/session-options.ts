/** What `CursorSession.create` is passed, checked. */

import { randomUUID } from "node:crypto";
import type { CursorError, CursorSessionOptions, CursorSessionToolError } from "../index.js";
import type { SessionOptions } from "../native.js";
import { serverChild } from "./bridge.js";
import type { Callbacks } from "./dispatch.js";
import { callbacks, defined, runOptions, signal } from "./options.js";
import { bridgeOptions, checked, type Toolbox } from "./tools.js";
import * as check from "./validate.js";

/** What is to become a session. */
export interface SessionPlan {
  cwd: string;
  /** The model's id, without the provider. */
  model: string;
  options: SessionOptions;
  callbacks: Callbacks;
  /** Absent where no tool is published. */
  toolbox: Toolbox | undefined;
  signal: AbortSignal | undefined;
}

/** Throws a `TypeError`, before anything has happened. */
export function checkedSession(options: CursorSessionOptions): SessionPlan {
  const given = check.object("the options of CursorSession.create", options);
  const lockTimeoutMs = check.optional(given.lockTimeoutMs, (value) => check.timeout("lockTimeoutMs", value));
  const run = runOptions(given, "defaultModelId");
  const tools = check.optional(given.fusionTools, (value) => value as never) ?? [];
  const serving = check.optional(given.toolBridge, (value) => value as object) ?? {};
  const toolbox = checked(tools, serving, ["fusionTools", "toolBridge"]);
  return {
    cwd: run.cwd,
    model: bare(run.model ?? "auto"),
    options: {
      run,
      skills: check.optional(given.skills, skills) ?? [],
      ...defined({
        systemPrompt: check.optional(given.systemPrompt, (value) => check.string("systemPrompt", value)),
        lockTimeoutMs,
      }),
    },
    callbacks: callbacks(given, options),
    toolbox: toolbox.tools.size === 0 ? undefined : toolbox,
    signal: signal(given),
  };
}

function skills(value: unknown): string[] {
  if (!Array.isArray(value)) check.fail("skills", "an array of strings", value);
  // Not by `map`, which passes over holes.
  return Array.from(value, (skill: unknown, index) => check.string(`skills[${index}]`, skill));
}

function bare(model: string): string {
  const id = model
    .trim()
    .replace(/^cursor-cli\//, "")
    .trim();
  return id === "" ? "auto" : id;
}

/** What the core needs to serve the tools, where there are any; or why that cannot be. */
export function server({ toolbox }: SessionPlan): {
  serves?: Pick<SessionOptions, "server" | "bridge">;
  missing?: CursorSessionToolError;
} {
  if (toolbox === undefined) return {};
  try {
    const key = `fusion-custom-tools-${randomUUID()}`;
    return { serves: { server: { key, ...serverChild() }, bridge: bridgeOptions(toolbox) } };
  } catch (error) {
    const { message, path } = error as CursorError;
    const missing = { reasonCode: "mcp-schema-server-missing" as const, detail: message };
    return { missing: { ...missing, ...(path === undefined ? {} : { path }) } };
  }
}
