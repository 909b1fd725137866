/** What index.d.ts says of probing, held against the values: tsc checks the tables, the run what comes. */

import {
  type CursorAuthStatus,
  type CursorBinaryStatus,
  type CursorModel,
  type CursorModelDiscovery,
  type CursorProviderModels,
  type CursorValidation,
  discoverCursorModels,
  discoverCursorProviderModels,
  parseCursorAuthStatus,
  probeCursorBinary,
  validateCursorBinaryPath,
} from "fusion-cursor-native";
import { expect, test } from "vitest";
import { AGENT, Machine } from "./support/machine.ts";
import { fits, type Members } from "./support/members.ts";

const STATUS: Members<CursorBinaryStatus> = {
  available: "boolean",
  authenticated: "boolean",
  state: "string",
  binaryName: "string?",
  binaryPath: "string?",
  launchArgs: "object?",
  configuredBinaryPath: "string?",
  usingConfiguredBinaryPath: "boolean",
  version: "string?",
  reason: "string?",
  diagnostics: "object?",
  probeDurationMs: "number",
};
const VALIDATION: Members<CursorValidation> = { ok: "boolean", status: "object", diagnostic: "string?" };
const MODEL: Members<CursorModel> = {
  id: "string",
  label: "string",
  isDefault: "boolean",
  isCurrent: "boolean",
};
const DISCOVERY: Members<CursorModelDiscovery> = {
  models: "object",
  entries: "object",
  source: "string",
  fallbackUsed: "boolean",
  reason: "string?",
  modelMeta: "object?",
};
const PROVIDER: Members<CursorProviderModels> = {
  models: "object",
  source: "string",
  fallbackUsed: "boolean",
  reason: "string?",
};
const AUTH: Members<CursorAuthStatus> = { isAuthenticated: "boolean?", status: "string?", email: "string?" };

const SHIM = "echo 'Error: No Cursor IDE installation found.' >&2; exit 1";
const LOCKED = "echo 'Error: Your macOS login keychain is locked.' >&2; exit 1";

test.each<[CursorBinaryStatus["state"], string, string | undefined]>([
  ["ready", "cursor-agent", AGENT],
  ["ready", "cursor", `shift\n${AGENT}`],
  ["unauthenticated", "cursor-agent", AGENT.replace("true", "false")],
  ["auth-unknown", "cursor-agent", AGENT.replace("isAuth", "isOuth")],
  ["keychain-locked", "cursor-agent", LOCKED],
  ["ide-missing", "cursor", SHIM],
  ["not-runnable", "cursor-agent", "exit 3"],
  ["missing", "cursor-agent", undefined],
])("%s, as %s: every value has the type that is written of it", async (state, name, body) => {
  const machine = new Machine();
  if (body !== undefined) machine.script(`bin/${name}`, body);
  const { env } = machine;
  const status = await probeCursorBinary({ binaryPath: "/no/such/agent", env });
  expect(status.state).toBe(state);
  fits(status, STATUS);
  expect(status.reason === undefined).toBe(state === "ready");
  expect(status.binaryPath === undefined).toBe(["missing", "not-runnable"].includes(state));
  expect(status.authenticated).toBe(state === "ready");
  expect(status.available).toBe(!["missing", "not-runnable"].includes(state));

  const validation = await validateCursorBinaryPath(name, { env });
  fits(validation, VALIDATION);
  fits(validation.status, STATUS);
  expect(validation.diagnostic === undefined).toBe(validation.ok);

  const discovery = await discoverCursorModels(name, 0, { env });
  fits(discovery, DISCOVERY);
  for (const entry of discovery.entries) fits(entry, MODEL);
  fits(await discoverCursorProviderModels({ env }), PROVIDER);
});

test("a login has the type that is written of it", () => {
  fits(parseCursorAuthStatus('{"isAuthenticated":true,"status":"x","email":"a@b.co"}'), AUTH);
  fits(parseCursorAuthStatus('{"isAuthenticated":null,"status":7,"email":{}}'), AUTH);
});

test("what is no argument does not compile", () => {
  const wrong = [
    // @ts-expect-error: a path is a string
    () => probeCursorBinary({ binaryPath: 7 }),
    // @ts-expect-error: a validation has a path of its own
    () => validateCursorBinaryPath("x", { binaryPath: "y" }),
    // @ts-expect-error: a discovery needs its program
    () => discoverCursorModels(),
    // @ts-expect-error: the signal stands among the options
    () => discoverCursorModels("x", { signal: AbortSignal.abort() }),
  ];
  expect(wrong).toHaveLength(4);
});
