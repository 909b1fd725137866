/** The provider: is Cursor's CLI here, who is logged in, and what models has it. */

import {
  type CursorBinaryStatus,
  discoverCursorProviderModels,
  probeCursorBinary,
  validateCursorBinaryPath,
} from "fusion-cursor-native";
import { CursorRuntimeAdapter } from "./adapter.js";
import type {
  CursorCliProvider,
  CursorPluginContext,
  CursorPluginRoute,
  CursorRouteAnswer,
} from "./index.js";
import { BINARY_SETTING, configuredBinary, filled, PROVIDER, RUNTIME } from "./settings.js";

const STATUS_ROUTE = "/providers/cursor-cli/status";
const AUTH_ROUTE = "/auth/cursor-cli";

export const cursorCliProvider: CursorCliProvider = {
  providerId: PROVIDER,
  displayName: "Cursor CLI",
  binaryName: "cursor-agent",
  providerType: "cli",
  statusRoute: STATUS_ROUTE,
  authRoute: AUTH_ROUTE,
  onboarding: {
    title: "Cursor CLI",
    description:
      "Run tasks with Cursor's models. Install the CLI from cursor.com/cli and run `cursor-agent login`.",
  },
  settings: { sectionId: PROVIDER, pluginSettingKeys: [BINARY_SETTING] },
  actions: [
    { actionId: "enable", label: "Enable", actionType: "enable", route: AUTH_ROUTE, method: "POST" },
    { actionId: "disable", label: "Disable", actionType: "disable", route: AUTH_ROUTE, method: "POST" },
    { actionId: "test", label: "Test", actionType: "test", route: STATUS_ROUTE, method: "GET" },
  ],
  probe: (context) => probeCursorBinary(binaryOf(context)),
  discoverModels: (context) => discoverCursorProviderModels(binaryOf(context)),
  runtime: { runtimeId: RUNTIME, createAdapter: (context) => new CursorRuntimeAdapter(context) },
};

export const cursorCliRoutes: CursorPluginRoute[] = [
  {
    method: "GET",
    path: STATUS_ROUTE,
    description: "Whether Cursor's CLI is here, and who is logged in.",
    async handler(_request, context) {
      const binary = await cursorCliProvider.probe(context);
      const enabled = context.settings?.useCursorCli !== false;
      return answer({ binary, enabled, extension: null, ready: enabled && binary.authenticated });
    },
  },
  {
    method: "POST",
    path: AUTH_ROUTE,
    description: "Whether the provider can be enabled or disabled.",
    async handler(request, context) {
      const { enabled, binaryPath } = bodyOf(request);
      if (typeof enabled !== "boolean") return refused("enabled must be true or false");
      if (binaryPath != null && typeof binaryPath !== "string") return refused("binaryPath must be a string");
      if (binaryPath?.includes("\0")) return refused("binaryPath must be a string without NUL characters");
      if (!enabled) return answer({ enabled, restartRequired: false });
      const path = binaryPath == null ? configuredBinary(context) : filled(binaryPath);
      const { binary, problem } = await tried(path);
      if (problem !== undefined) return refused(`Cursor CLI was not enabled: ${problem}`);
      return answer({ enabled, restartRequired: false, binary });
    },
  },
];

/** The configured program itself has to answer; where none is configured, any that is found. */
async function tried(path: string | undefined): Promise<{ binary: CursorBinaryStatus; problem?: string }> {
  if (path === undefined) {
    const binary = await probeCursorBinary();
    return { binary, ...(binary.available ? {} : { problem: binary.reason ?? "no Cursor CLI was found" }) };
  }
  const { ok, status, diagnostic } = await validateCursorBinaryPath(path);
  return { binary: status, ...(ok ? {} : { problem: diagnostic ?? `${path} does not answer` }) };
}

function binaryOf(context: CursorPluginContext): { binaryPath?: string } {
  const binaryPath = configuredBinary(context);
  return binaryPath === undefined ? {} : { binaryPath };
}

/** The body of a request, as far as there is one. */
function bodyOf(request: unknown): { enabled?: unknown; binaryPath?: unknown } {
  return (request as { body?: object } | null | undefined)?.body ?? {};
}

function answer(body: Record<string, unknown>): CursorRouteAnswer {
  return { status: 200, body };
}

function refused(error: string): CursorRouteAnswer {
  return { status: 400, body: { error } };
}
