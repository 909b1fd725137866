/** Every code that a turn fails with: what brings it about, whether it is worth a retry, and what is kept. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CursorError, CursorErrorCode, CursorPromptInput } from "fusion-cursor-native";
import { expect, test } from "vitest";
import { init, result, Stage, type Step, started, text } from "./support/stage.js";

interface Case {
  steps?: Step[];
  input?: Partial<CursorPromptInput>;
  retryable?: true;
  /** Nothing ran, so there is nothing but the error. */
  nothingRan?: true;
  says?: RegExp;
}

/** The CLI's way to give up: words on standard error, and code 1. */
const said = (words: string, more: Omit<Case, "steps"> = {}): Case => ({
  steps: [init, text("half"), { text: `${words}\n`, to: "stderr" }, { exit: 1 }],
  ...more,
});

const race = "rename '/h/.cursor/cli-config.json.tmp' -> '/h/.cursor/cli-config.json'";
const retryable = true;

/** What comes of the launch on Windows alone, and is tested there. */
const windowsOnly = [
  "CURSOR_COMMAND_TOO_LONG",
  "CURSOR_LAUNCHER_UNSUPPORTED",
  "CURSOR_UNSAFE_TOKEN",
] as const;
/** What is not a turn's has its own tests. */
type Others =
  | "CURSOR_ADDON_UNAVAILABLE"
  | "CURSOR_INTERNAL"
  | "CURSOR_SESSION_DISPOSED"
  | "bridge-start-failed"
  | "mcp-schema-server-missing"
  | (typeof windowsOnly)[number];

const cases: Record<Exclude<CursorErrorCode, Others>, Case[]> = {
  CURSOR_CWD_MISSING: [
    { input: { cwd: "/none/at/all" }, nothingRan: true },
    said("Error: Workspace directory does not exist: /gone"),
  ],
  CURSOR_NOT_FOUND: [{ input: { binary: "/none/agent" }, nothingRan: true }],
  CURSOR_NOT_RUNNABLE: [{ input: { binary: "/" }, nothingRan: true }],
  CURSOR_SPAWN_FAILED: [
    { steps: [{ text: "The command line is too long.\r\n", to: "stderr" }, { exit: 1 }] },
    { steps: [{ text: "Error: spawn EAGAIN\n", to: "stderr" }, { exit: 1 }], retryable },
  ],
  CURSOR_FIRST_LINE_TIMEOUT: [
    {
      steps: [{ linger: true }],
      input: { firstLineTimeoutMs: 300 },
      says: /^Cursor CLI first-line timeout$/,
    },
  ],
  CURSOR_INACTIVITY_TIMEOUT: [
    {
      steps: [init, text("half"), { linger: true }],
      input: { inactivityTimeoutMs: 300 },
      says: /^Cursor CLI inactivity timeout$/,
    },
    {
      steps: [init, text("half"), started("c", "shell"), { linger: true }],
      input: { inactivityTimeoutMs: 300 },
    },
  ],
  CURSOR_TOOL_TIMEOUT: [
    {
      steps: [init, text("half"), started("c", "shell"), { linger: true }],
      input: { inactivityTimeoutMs: 20_000, toolTimeoutMs: 300 },
      says: /shell/,
    },
  ],
  CURSOR_ABORTED: [
    { input: { signal: AbortSignal.abort() }, nothingRan: true, says: /^Cursor CLI aborted$/ },
  ],
  CURSOR_AUTH_REQUIRED: [
    said(
      "Error: Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY environment variable.",
    ),
    said("⚠ Warning: The provided API key is invalid."),
  ],
  CURSOR_KEYCHAIN_LOCKED: [said("Error: Your macOS login keychain is locked.")],
  CURSOR_IDE_MISSING: [
    said("Error: No Cursor IDE installation found. Use 'cursor agent' or 'agent' to run the agent."),
  ],
  CURSOR_USAGE_LIMIT: [
    said("ActionRequiredError: You've hit your usage limit Get Cursor Pro for more Agent usage."),
    { steps: [init, text("half"), result("You've hit your usage limit", { is_error: true })] },
  ],
  CURSOR_PLAN_RESTRICTED: [
    said("ActionRequiredError: Named models unavailable Free plans can only use Auto."),
    said("ActionRequiredError: Review Data Policy"),
  ],
  CURSOR_CAPACITY: [said("ConnectError: [resource_exhausted] Error", { retryable })],
  CURSOR_NETWORK: [
    said("Connection failed. Check your internet connection.", { retryable }),
    said("RetriableError: [invalid_argument] Error", { retryable }),
  ],
  CURSOR_MODEL_UNAVAILABLE: [said("Cannot use this model: x. Available models: auto, y")],
  CURSOR_WORKSPACE_UNTRUSTED: [
    said("⚠ Workspace Trust Required"),
    { steps: [{ text: "⚠ Workspace Trust Required\n", to: "stderr" }] },
    { steps: [{ text: "⚠ Workspace Trust Required\n" }] },
    { steps: [{ text: "⚠ Workspace Trust Required\n" }, { exit: 1 }] },
  ],
  CURSOR_CONFIG_INVALID: [
    said("Error: .cursor/cli.json: permissions.deny is required"),
    said(`Error: EACCES: permission denied, ${race}`),
    said(`Error: ENOENT: no such file or directory, ${race}`, { retryable }),
    {
      steps: [{ text: `Error: EPERM: operation not permitted, ${race}\n`, to: "stderr" }, { exit: 1 }],
      retryable,
    },
  ],
  CURSOR_REPORTED_ERROR: [{ steps: [init, text("half"), result("Request timed out", { is_error: true })] }],
  CURSOR_NO_RESULT: [
    { steps: [init, text("half")], says: /^Cursor CLI stream ended without a result event\.$/ },
    { steps: [{ text: "An answer in plain text.\n" }] },
  ],
  CURSOR_EXITED: [
    said("NonRetriableError: [internal] Error"),
    said("error: unknown option '--x'", { says: /^Cursor CLI exited 1: error: unknown option '--x'$/ }),
    { steps: [init, text("half"), { raise: "SIGKILL" }], says: /^Cursor CLI exited SIGKILL: $/ },
  ],
};

const listed = Object.entries(cases).flatMap(([code, all]) =>
  all.map((one, n) => [`${code} (${n + 1})`, code, one] as const),
);

test.each(listed)("%s", async (_name, code, { steps, input, nothingRan, says, ...expected }) => {
  const stage = new Stage(steps ?? [{ touch: "started" }]);
  const failure = (await stage
    .launch({ killGraceMs: 500, ...input })
    .catch((error: unknown) => error)) as CursorError;
  expect(failure).toMatchObject({ code, retryable: expected.retryable ?? false });
  if (says !== undefined) expect(failure.message).toMatch(says);
  if (nothingRan) {
    expect(failure).not.toHaveProperty("exitCode");
    expect(failure).not.toHaveProperty("stderrTail");
    return;
  }
  const ownText = steps?.includes(init) === true;
  expect(failure.partial).toMatchObject(
    ownText ? { text: "half", sessionId: "s-1", model: "Auto" } : { text: "" },
  );
  expect(failure).toHaveProperty("exitCode", failure.partial?.exitCode);
  expect(failure).toHaveProperty("stderrTail");
});

test("the table has every code that a turn can have", () => {
  const types = readFileSync(join(__dirname, "..", "index.d.ts"), "utf8");
  const [, union = ""] = types.split("export type CursorErrorCode =");
  const codes = [...(union.split(";")[0] ?? "").matchAll(/"(CURSOR_\w+)"/g)].map((match) => match[1]);
  const others = [...windowsOnly, "CURSOR_ADDON_UNAVAILABLE", "CURSOR_INTERNAL", "CURSOR_SESSION_DISPOSED"];
  expect([...Object.keys(cases), ...others].sort()).toEqual(codes.sort());
});
