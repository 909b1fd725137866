import {
  type CursorMcpLeaseOptions,
  classifyCursorConfigTracking,
  inspectCursorWorktree,
  reconcileCursorWorktree,
  releaseHeldLeasesSync,
  stageCursorMcpLease,
} from "fusion-cursor-native";
import { expect, test } from "vitest";
import { TOKEN, Worktree } from "./support/worktree.js";

const LONE = "\ud800";

const entry = { command: "node", args: ["x"], env: { A: TOKEN } };
const wrong: [string, object | undefined | null | string, RegExp][] = [
  ["no options", undefined, /^the options of stageCursorMcpLease must be an object/],
  ["null", null, /^the options of stageCursorMcpLease must be an object, not null/],
  ["no path", { worktreePath: undefined }, /^worktreePath must be a string, not/],
  ["a path that is a number", { worktreePath: 7 }, /^worktreePath must be a string, not 7/],
  ["an empty path", { worktreePath: "" }, /^worktreePath must be a string that is not blank/],
  ["a NUL in the path", { worktreePath: "/a\0b" }, /^worktreePath must be a string without NUL/],
  ["half a character in the path", { worktreePath: `/a${LONE}` }, /^worktreePath .* lone surrogates/],
  ["no key", { serverKey: undefined }, /^serverKey must be a string/],
  ["a key of somebody else", { serverKey: "github" }, /^serverKey must be "fusion-custom-tools-" and/],
  ["a key that is only the prefix", { serverKey: "fusion-custom-tools-" }, /^serverKey must be/],
  ["a key that only holds the prefix", { serverKey: "x-fusion-custom-tools-1" }, /^serverKey must be/],
  ["a line break in the key", { serverKey: "fusion-custom-tools-a\n" }, /^serverKey must be/],
  ["a NUL in the key", { serverKey: "fusion-custom-tools-\0" }, /^serverKey must be/],
  ["an escape in the key", { serverKey: "fusion-custom-tools-\u009b1m" }, /^serverKey must be/],
  ["a long key", { serverKey: `fusion-custom-tools-${"x".repeat(201)}` }, /^serverKey must be/],
  ["half a character in the key", { serverKey: `fusion-custom-tools-${LONE}` }, /^serverKey must be/],
  ["no entry", { serverEntry: undefined }, /^serverEntry must be an object/],
  ["an entry that is a list", { serverEntry: [] }, /^serverEntry must be an object, not an array/],
  ["no command", { serverEntry: { args: [] } }, /^serverEntry\.command must be a string/],
  ["an empty command", { serverEntry: { ...entry, command: " " } }, /^serverEntry\.command .* not blank/],
  ["a NUL in the command", { serverEntry: { ...entry, command: "a\0" } }, /^serverEntry\.command .* NUL/],
  ["half a character there", { serverEntry: { ...entry, command: LONE } }, /^serverEntry\.command .* lone/],
  ["no args", { serverEntry: { command: "x" } }, /^serverEntry\.args must be an array of strings/],
  ["args that are a string", { serverEntry: { ...entry, args: "x" } }, /^serverEntry\.args must be an array/],
  [
    "an arg that is a number",
    { serverEntry: { ...entry, args: ["a", 1] } },
    /^serverEntry\.args\[1\] must be a s/,
  ],
  // biome-ignore lint/suspicious/noSparseArray: what a caller may pass
  ["a hole among the args", { serverEntry: { ...entry, args: [, "a"] } }, /^serverEntry\.args\[0\] must be/],
  ["a NUL in an arg", { serverEntry: { ...entry, args: ["a\0"] } }, /^serverEntry\.args\[0\] .* NUL/],
  ["half a character there", { serverEntry: { ...entry, args: [LONE] } }, /^serverEntry\.args\[0\] .* lone/],
  ["an env that is a list", { serverEntry: { ...entry, env: [] } }, /^serverEntry\.env must be an object/],
  ["a number in env", { serverEntry: { ...entry, env: { A: 1 } } }, /^serverEntry\.env\.A must be a string/],
  ["a NUL in env", { serverEntry: { ...entry, env: { A: "\0" } } }, /^serverEntry\.env\.A .* NUL/],
  ["half a character there", { serverEntry: { ...entry, env: { A: LONE } } }, /serverEntry\.env .* lone/],
  ["and in a name", { serverEntry: { ...entry, env: { [LONE]: "" } } }, /serverEntry\.env .* lone/],
  ["an empty name", { serverEntry: { ...entry, env: { "": "x" } } }, /^a name in serverEntry\.env must be/],
  ["a limit of zero", { lockTimeoutMs: 0 }, /^lockTimeoutMs must be a finite number of milliseconds over 0/],
  ["a negative limit", { lockTimeoutMs: -1 }, /^lockTimeoutMs must be/],
  ["a limit that is none", { lockTimeoutMs: Number.NaN }, /^lockTimeoutMs must be .* not NaN/],
  ["an endless limit", { lockTimeoutMs: Number.POSITIVE_INFINITY }, /^lockTimeoutMs must be .* not Infinity/],
  ["a limit that is text", { lockTimeoutMs: "5" }, /^lockTimeoutMs must be/],
  ["a signal that is none", { signal: {} }, /^signal must be an AbortSignal/],
];

test.each(wrong)("%s is a TypeError before anything happens, and tells no secret", (_name, more, message) => {
  const worktree = new Worktree({ repository: false });
  const before = worktree.picture();
  const options = typeof more === "object" && more !== null ? { ...worktree.options(), ...more } : more;
  const call = (): unknown => stageCursorMcpLease(options as CursorMcpLeaseOptions);
  expect(call).toThrow(TypeError);
  expect(call).toThrow(message);
  expect(call).not.toThrow(TOKEN);
  expect(worktree.picture()).toEqual(before);
});

const calls: [string, (path: never, options?: never) => unknown][] = [
  ["inspectCursorWorktree", inspectCursorWorktree],
  ["reconcileCursorWorktree", reconcileCursorWorktree],
  ["classifyCursorConfigTracking", classifyCursorConfigTracking],
  ["releaseHeldLeasesSync", releaseHeldLeasesSync],
];

test.each(calls)("%s refuses what is no path", (name, call) => {
  const none = name === "releaseHeldLeasesSync" ? [] : [undefined, null];
  for (const path of [...none, 7, {}, "", " ", "/a\0b", LONE, ["/"]]) {
    expect(() => call(path as never)).toThrow(/^worktreePath must be/);
    expect(() => call(path as never)).toThrow(TypeError);
  }
});

test.each(calls.slice(0, 2))("%s refuses options that make no sense", (name, call) => {
  const cases: [unknown, RegExp][] = [
    [7, new RegExp(`^the options of ${name} must be an object, not 7`)],
    [null, new RegExp(`^the options of ${name} must be an object, not null`)],
    [{ lockTimeoutMs: 0 }, /^lockTimeoutMs must be/],
    [{ lockTimeoutMs: "1" }, /^lockTimeoutMs must be/],
    [{ signal: "x" }, /^signal must be an AbortSignal/],
  ];
  for (const [options, message] of cases) {
    expect(() => call("/" as never, options as never)).toThrow(message);
    expect(() => call("/" as never, options as never)).toThrow(TypeError);
  }
});

test("what is no argument does not compile", () => {
  const good = { worktreePath: "/", serverKey: "fusion-custom-tools-1", serverEntry: entry };
  const refused = [
    // @ts-expect-error: a server has arguments, be it none
    () => stageCursorMcpLease({ ...good, serverEntry: { command: "x" } }),
    // @ts-expect-error: a key is needed
    () => stageCursorMcpLease({ worktreePath: "/", serverEntry: entry }),
    // @ts-expect-error: a limit is a number
    () => reconcileCursorWorktree("/", { lockTimeoutMs: "1" }),
    // @ts-expect-error: a path is a string
    () => releaseHeldLeasesSync(1),
  ];
  expect(refused).toHaveLength(4);
});
