import type {
  CursorAuthStatus,
  CursorBinaryStatus,
  CursorDiscoveryOptions,
  CursorModel,
  CursorModelDiscovery,
  CursorProbeOptions,
  CursorProviderModels,
  CursorValidation,
} from "../index.js";
import type { Inquiry, InquiryOptions, ModelEntry, ModelsAnswer, ProbeAnswer } from "../native.js";
import { unlessAborted } from "./aborts.js";
import { aborted, internal, noRoom } from "./errors.js";
import { native, scope } from "./scope.js";
import * as check from "./validate.js";

export function probeCursorBinary(options: CursorProbeOptions = {}): Promise<CursorBinaryStatus> {
  const given = checked("the options of probeCursorBinary", options);
  return ask(given, (inquiry) => inquiry.probe(given.options)).then(status);
}

export function validateCursorBinaryPath(
  path: string,
  options: Omit<CursorProbeOptions, "binaryPath"> = {},
): Promise<CursorValidation> {
  const binary = check.word("path", path);
  const given = checked("the options of validateCursorBinaryPath", options);
  return ask(given, (inquiry) => inquiry.validate({ ...given.options, binary })).then((answer) => {
    const found = status(answer.status);
    const diagnostic = answer.ok ? undefined : (found.diagnostics?.[0] ?? found.reason);
    return { ok: answer.ok, status: found, ...(diagnostic === undefined ? {} : { diagnostic }) };
  });
}

export function discoverCursorModels(
  binary: string,
  timeoutMs?: number,
  options: Pick<CursorDiscoveryOptions, "env" | "signal"> = {},
): Promise<CursorModelDiscovery> {
  const name = check.word("binary", binary);
  const { env, signal } = check.object("the options of discoverCursorModels", options);
  const given = checked("the arguments of discoverCursorModels", { env, signal, timeoutMs });
  return ask(given, (inquiry) => inquiry.models({ ...given.options, binary: name })).then((answer) => {
    const meta = answer.entries.flatMap((entry) => {
      const known = details(entry);
      return Object.keys(known).length > 0 ? [[entry.id, known] as const] : [];
    });
    return {
      models: answer.entries.map((entry) => entry.id),
      entries: answer.entries.map(model),
      source: answer.source as CursorModelDiscovery["source"],
      ...outcome(answer),
      ...(meta.length > 0 ? { modelMeta: Object.fromEntries(meta) } : {}),
    };
  });
}

export function discoverCursorProviderModels(
  options: CursorDiscoveryOptions = {},
): Promise<CursorProviderModels> {
  const given = checked("the options of discoverCursorProviderModels", options);
  return ask(given, (inquiry) => inquiry.providerModels(given.options)).then((answer) => ({
    models: answer.entries.map((entry) => ({ id: entry.id, label: entry.label, ...details(entry) })),
    source: answer.source,
    ...outcome(answer),
  }));
}

export function parseCursorModels(text: string): CursorModel[] {
  return native.parseModelsText(check.string("text", text)).map(model);
}

export function parseCursorAuthStatus(stdout: string): CursorAuthStatus {
  const { isAuthenticated, status, email } = native.parseAuthText(check.string("stdout", stdout));
  return {
    ...(isAuthenticated == null ? {} : { isAuthenticated }),
    ...(status == null ? {} : { status }),
    ...(email == null ? {} : { email }),
  };
}

interface Given {
  options: InquiryOptions;
  signal: AbortSignal | undefined;
}

/** What the caller passed, checked; nothing has happened yet where this throws. */
function checked(name: string, value: unknown): Given {
  const given = check.object(name, value);
  const binary = check.optional(given.binaryPath, (path) => check.perhapsBlank("binaryPath", path));
  const timeoutMs = check.optional(given.timeoutMs, (limit) => check.limit("timeoutMs", limit));
  return {
    options: {
      hostEnv: check.inherited(process.env),
      addedEnv: check.optional(given.env, (env) => check.environment("env", env)) ?? [],
      ...(binary === undefined ? {} : { binary }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    },
    signal: check.optional(given.signal, (signal) => check.abortSignal("signal", signal)),
  };
}

/** Ask; reject as soon as the signal says so, and have what runs for it killed. */
function ask<T>({ signal }: Given, question: (inquiry: Inquiry) => Promise<T>): Promise<T> {
  if (signal?.aborted) return Promise.reject(aborted(signal));
  const inquiry = new native.Inquiry(scope);
  // The core never fails for what a program does, so that what rejects here is a fault of ours.
  const answer = new Promise<T>((resolve) => resolve(question(inquiry))).catch((error: Error) => {
    throw noRoom(error) ?? internal(error);
  });
  return unlessAborted(answer, signal, (signal) => {
    inquiry.giveUp();
    return aborted(signal);
  });
}

function status(answer: ProbeAnswer): CursorBinaryStatus {
  const { binaryName, binaryPath, launchArgs, configuredBinaryPath, version, reason, diagnostics } = answer;
  return {
    available: answer.available,
    authenticated: answer.authenticated,
    state: answer.state as CursorBinaryStatus["state"],
    ...(binaryName == null ? {} : { binaryName }),
    ...(binaryPath == null ? {} : { binaryPath }),
    ...(launchArgs.length === 0 ? {} : { launchArgs }),
    ...(configuredBinaryPath == null ? {} : { configuredBinaryPath }),
    usingConfiguredBinaryPath: answer.usingConfiguredBinaryPath,
    ...(version == null ? {} : { version }),
    ...(reason == null ? {} : { reason }),
    ...(diagnostics.length === 0 ? {} : { diagnostics }),
    probeDurationMs: answer.probeDurationMs,
  };
}

function model({ id, label, isDefault, isCurrent }: ModelEntry): CursorModel {
  return { id, label, isDefault, isCurrent };
}

/** What only a structured list tells. */
function details({ reasoning, contextWindow }: ModelEntry): { reasoning?: boolean; contextWindow?: number } {
  return {
    ...(reasoning == null ? {} : { reasoning }),
    ...(contextWindow == null ? {} : { contextWindow }),
  };
}

function outcome({ fallbackUsed, reason }: ModelsAnswer): { fallbackUsed: boolean; reason?: string } {
  return { fallbackUsed, ...(reason == null ? {} : { reason }) };
}
