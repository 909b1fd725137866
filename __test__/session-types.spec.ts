/** What index.d.ts says of sessions, held against the values: tsc checks the tables, the run what comes. */

import {
  CursorSession,
  type CursorSessionStream,
  type CursorSessionToolError,
  type CursorStreamEvent,
} from "fusion-cursor-native";
import { expect, expectTypeOf, test } from "vitest";
import { fits, type Members } from "./support/members.js";
import { parrot, play, Scene, staged } from "./support/session.js";
import { CONFIG } from "./support/worktree.js";

const SESSION: Members<Pick<CursorSession, Values>> = {
  cwd: "string",
  model: "string",
  sessionId: "string?",
  toolNames: "object",
  fusionToolBridgeError: "object?",
  usage: "object",
  toolCalls: "object",
  turns: "number",
  disposed: "boolean",
};
type Values = Exclude<keyof CursorSession, "prompt" | "stream" | "dispose" | typeof Symbol.asyncDispose>;

const USAGE: Members<CursorSession["usage"]> = {
  inputTokens: "number",
  outputTokens: "number",
  cacheReadTokens: "number",
  cacheWriteTokens: "number",
};
const CALLS: Members<CursorSession["toolCalls"]> = {
  started: "number",
  completed: "number",
  failed: "number",
  rejected: "number",
  abandoned: "number",
};
const ERROR: Members<CursorSessionToolError> = {
  reasonCode: "string",
  detail: "string",
  reason: "string?",
  path: "string?",
};

/** What there is to be read of a session, accessors included. */
function valuesOf(session: CursorSession): CursorSession {
  const accessors = Object.entries(Object.getOwnPropertyDescriptors(CursorSession.prototype));
  const names = accessors.flatMap(([name, { get }]) => (get === undefined ? [] : [name]));
  const all = [...Object.keys(session), ...names].map((name) => [name, Reflect.get(session, name)] as const);
  return Object.fromEntries(all.filter(([, value]) => value !== undefined)) as never;
}

test("a session has the members of its type, and no others", async () => {
  const { session } = await staged();
  fits(valuesOf(session) as Pick<CursorSession, Values>, SESSION);
  await session.prompt("hi");
  fits(valuesOf(session) as Pick<CursorSession, Values>, SESSION);
  fits(session.usage, USAGE);
  fits(session.toolCalls, CALLS);
  const methods = Object.getOwnPropertyNames(CursorSession.prototype).filter(
    (name) => !(name in valuesOf(session)) && name !== "constructor" && name !== "fusionToolBridgeError",
  );
  expect(methods.sort()).toEqual(["dispose", "prompt", "stream"]);
});

test("a tool error has the members of its type, and no others", async () => {
  const one = new Scene();
  play(one, parrot);
  one.write(CONFIG, "{");
  const session = await one.session({ fusionTools: [{ name: "fn_x", execute() {} }] });
  const error = session.fusionToolBridgeError;
  expect(error).toBeDefined();
  if (error !== undefined) fits(error, ERROR);
});

test("a stream is iterated as a stream of events, and its result is a turn's", async () => {
  const { session } = await staged();
  const stream = session.stream("hi");
  expectTypeOf(stream).toEqualTypeOf<CursorSessionStream>();
  for await (const event of stream) expectTypeOf(event).toEqualTypeOf<CursorStreamEvent>();
  expectTypeOf(await stream.result).toEqualTypeOf<Awaited<ReturnType<typeof session.prompt>>>();
  expect(Object.keys(stream)).toEqual([]);
});
