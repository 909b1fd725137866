/** The tools that a caller passes: which are published, and what the child is told of them. */

import { tmpdir } from "node:os";
import type { CursorToolBridgeOptions, ToolLike } from "../index.js";
import type { BridgeOptions } from "../native.js";
import { native } from "./scope.js";
import { wellFormed } from "./tool-result.js";
import * as check from "./validate.js";

/** What is called for one tool, with the tool as `this`. */
export type Run = (...args: unknown[]) => unknown;

/** Everything that a bridge is made of. */
export interface Toolbox {
  tools: Map<string, Run>;
  /** JSON text for the child. */
  schema: string;
  /** Tools that are not published. */
  leftOut: number;
  callTimeoutMs: number;
  context: unknown;
}

const CALL_TIMEOUT_MS = 600_000;

/**
 * What the caller passed, checked; nothing has happened yet where this throws. The names are those that the caller
 * knows the two by.
 */
export function checked(
  tools: readonly ToolLike[],
  options: CursorToolBridgeOptions,
  [list, settings]: [list: string, settings: string] = ["tools", "the options of startCursorToolBridge"],
): Toolbox {
  if (!Array.isArray(tools)) check.fail(list, "an array of tools", tools);
  const given = check.object(settings, options);
  const callTimeoutMs = check.optional(given.callTimeoutMs, (value) => check.timeout("callTimeoutMs", value));
  const serverName = check.optional(given.serverName, (value) => check.word("serverName", value));
  const published = new Map<string, Run>();
  const described: object[] = [];
  // Not by `entries()`, which a hole in the array would pass through as undefined all the same.
  for (const [index, tool] of Array.from(tools).entries()) {
    const { name, run } = named(`${list}[${index}]`, tool);
    if (run === undefined) continue;
    if (published.has(name)) {
      throw new TypeError(
        `${list}[${index}].name must be one that no other tool has, not ${JSON.stringify(name)}`,
      );
    }
    published.set(name, run);
    described.push(description(name, tool));
  }
  const serverInfo = { name: serverName ?? "fusion-custom-tools", version: native.coreVersion() };
  return {
    tools: published,
    schema: wellFormed(JSON.stringify({ serverInfo, tools: described })),
    leftOut: tools.length - published.size,
    callTimeoutMs: callTimeoutMs ?? CALL_TIMEOUT_MS,
    context: given.context,
  };
}

/** The name of a tool, and what to call where it is published. */
function named(place: string, tool: ToolLike): { name: string; run: Run | undefined } {
  const { name, execute } = check.object(place, tool);
  const word = check.path(`${place}.name`, name);
  if (!/^fn_./.test(word) || typeof execute !== "function") return { name: word, run: undefined };
  return { name: word, run: (...args) => Reflect.apply(execute, tool, args) };
}

/** What the child tells of a tool. */
function description(name: string, tool: ToolLike): object {
  const { label, description } = tool;
  return {
    name,
    ...(typeof label === "string" && label !== "" ? { title: label } : {}),
    ...(typeof description === "string" ? { description } : {}),
    inputSchema: inputSchema(name, tool.parameters ?? tool.inputSchema ?? {}),
  };
}

/** A schema as JSON has it. MCP wants every input to be an object, and clients drop all tools over one that is not. */
function inputSchema(name: string, schema: unknown): object {
  const expected = (what: string): TypeError =>
    new TypeError(`the parameters of the tool ${JSON.stringify(name)} must be ${what}`);
  if (!isPlain(schema)) throw expected("a JSON schema: a plain object");
  let copy: unknown;
  try {
    copy = JSON.parse(JSON.stringify(schema));
  } catch (error) {
    throw expected(`a JSON schema: ${(error as Error).message}`);
  }
  if (!isPlain(copy)) throw expected("a JSON schema: a plain object");
  const { type = "object", ...rest } = copy;
  if (type !== "object") throw expected('of the type "object"');
  // A client may insist on them.
  return { type, ...("properties" in rest || "$ref" in rest ? {} : { properties: {} }), ...rest };
}

/** An object that is made of nothing but its members; of this realm or another. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** What the core is told of them. */
export function bridgeOptions({ tools, schema, leftOut, callTimeoutMs }: Toolbox): BridgeOptions {
  return { names: [...tools.keys()], schema, folder: tmpdir(), callTimeoutMs, leftOut };
}
