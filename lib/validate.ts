/** Checks of what a caller passes. Each throws a `TypeError` that names the option and what it takes. */

import { isUint8Array } from "node:util/types";
import { native } from "./scope.js";

function describe(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return Array.isArray(value) ? "an array" : `a value of type ${typeof value}`;
}

export function fail(name: string, expected: string, value: unknown): never {
  throw new TypeError(`${name} must be ${expected}, not ${describe(value)}`);
}

/** As {@link fail}, where the value may be a secret. */
function refuse(name: string, expected: string): never {
  throw new TypeError(`${name} must be ${expected}`);
}

/** Node itself cannot pass a NUL to a process, and a path or flag that holds one would be cut there. */
function withoutNul(name: string, value: string): string {
  if (value.includes("\0")) fail(name, "a string without NUL characters", value);
  return value;
}

export function string(name: string, value: unknown): string {
  return typeof value === "string" ? value : fail(name, "a string", value);
}

export function word(name: string, value: unknown): string {
  const text = withoutNul(name, string(name, value));
  return text.trim() === "" ? fail(name, "a string that is not blank", value) : text;
}

/** A string that may be blank, where blank means that nothing was said. */
export function perhapsBlank(name: string, value: unknown): string {
  return withoutNul(name, string(name, value));
}

/** A word of the command line that must not be read as an option: `--force` as an id would let a reader write. */
export function argument(name: string, value: unknown): string {
  const text = word(name, value);
  return text.trim().startsWith("-") ? fail(name, "a string that does not begin with -", value) : text;
}

/** A model's id; the provider's prefix is no hiding place for an option. */
export function modelId(name: string, value: unknown): string {
  const text = argument(name, value);
  const bare = text.trim().replace(/^cursor-cli\//, "");
  return bare.trim().startsWith("-") ? fail(name, "an id that does not begin with -", value) : text;
}

/** Text for a file, which is UTF-8: a lone surrogate would not come back as it went. */
function wellFormed(name: string, text: string): string {
  return text.isWellFormed() ? text : refuse(name, "a string without lone surrogates");
}

/** A path that is looked up as it stands. */
export function path(name: string, value: unknown): string {
  return wellFormed(name, word(name, value));
}

const SERVER_KEY = /^fusion-custom-tools-[^\p{Cc}\p{Zl}\p{Zp}]{1,200}$/u;

/** The key of a staged server. Whatever has its prefix is ours, so that nothing else may be staged. */
export function serverKey(name: string, value: unknown): string {
  return SERVER_KEY.test(string(name, value)) && (value as string).isWellFormed()
    ? (value as string)
    : fail(name, '"fusion-custom-tools-" and 1 to 200 characters, none of them a control character', value);
}

/** A server as Cursor starts it. Any of it may be a secret, so that no value is told. */
export function serverEntry(
  name: string,
  value: unknown,
): { command: string; args: string[]; env: string[] | undefined } {
  const { command, args, env } = object(name, value);
  if (!Array.isArray(args)) refuse(`${name}.args`, "an array of strings");
  return {
    command: secret(`${name}.command`, command, "a string that is not blank"),
    // Not by `map`, which passes over holes.
    args: Array.from(args, (arg: unknown, index) => secret(`${name}.args[${index}]`, arg)),
    env: optional(env, (env) => {
      const flat = environment(`${name}.env`, env);
      for (const text of flat) wellFormed(`each name and value in ${name}.env`, text);
      return flat;
    }),
  };
}

function secret(name: string, value: unknown, expected = "a string"): string {
  if (typeof value !== "string") refuse(name, `${expected}, not of type ${typeof value}`);
  if (expected !== "a string" && value.trim() === "") refuse(name, expected);
  if (value.includes("\0")) refuse(name, "a string without NUL characters");
  return wellFormed(name, value);
}

/** Milliseconds for a wait that has to have an end. */
export function timeout(name: string, value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0
    ? value
    : fail(name, "a finite number of milliseconds over 0", value);
}

export function optional<T>(value: unknown, check: (value: unknown) => T): T | undefined {
  return value === undefined || value === null ? undefined : check(value);
}

export function flag(name: string, value: unknown): boolean {
  return typeof value === "boolean" ? value : fail(name, "true or false", value);
}

export function callback(name: string, value: unknown): (...args: never[]) => unknown {
  return typeof value === "function" ? (value as () => unknown) : fail(name, "a function", value);
}

export function oneOf<T extends string>(name: string, allowed: readonly T[], value: unknown): T {
  return allowed.includes(value as T)
    ? (value as T)
    : fail(name, `one of ${allowed.map((one) => JSON.stringify(one)).join(", ")}`, value);
}

/** Milliseconds for a limit: zero, less or NaN means the default, as in the variables. */
export function limit(name: string, value: unknown): number {
  return typeof value === "number" ? value : fail(name, "a number of milliseconds", value);
}

/** Milliseconds for a wait, which may be none. */
export function wait(name: string, value: unknown): number {
  return typeof value === "number" && value >= 0
    ? value
    : fail(name, "a number of milliseconds from 0", value);
}

/** The longest line in bytes. What is made of one has to fit into a string. */
export function lineLimit(name: string, value: unknown): number {
  const most = native.mostLineBytes();
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most
    ? (value as number)
    : fail(name, `a whole number of bytes from 1 to ${most}`, value);
}

export function bytes(name: string, value: unknown, expected = "a Uint8Array"): Uint8Array {
  return isUint8Array(value) ? value : fail(name, expected, value);
}

export function abortSignal(name: string, value: unknown): AbortSignal {
  // Not by its class: one of another realm, or of a library, is as good.
  const given = value as Partial<AbortSignal> | null | undefined;
  const isOne = typeof given?.aborted === "boolean" && typeof given.addEventListener === "function";
  return isOne ? (given as AbortSignal) : fail(name, "an AbortSignal", value);
}

/** A record of strings, flattened to names and values one after the other. */
export function environment(name: string, value: unknown): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    fail(name, "an object of strings", value);
  const flat: string[] = [];
  for (const [key, one] of Object.entries(value)) {
    if (one === undefined) continue;
    if (!isVariable(key)) {
      fail(`a name in ${name}`, "a string without = and NUL that is not empty", key);
    }
    if (typeof one !== "string") refuse(`${name}.${key}`, `a string, not of type ${typeof one}`);
    if (one.includes("\0")) refuse(`${name}.${key}`, "a string without NUL characters");
    flat.push(key, one);
  }
  return flat;
}

/** The same of what this environment has. A worker's own may hold what no process can be given; it is left out. */
export function inherited(from: NodeJS.ProcessEnv): string[] {
  const flat: string[] = [];
  for (const [key, value] of Object.entries(from)) {
    if (value !== undefined && isVariable(key) && !value.includes("\0")) flat.push(key, value);
  }
  return flat;
}

function isVariable(name: string): boolean {
  return name !== "" && !name.includes("=") && !name.includes("\0");
}

export function object(name: string, value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : fail(name, "an object", value);
}
