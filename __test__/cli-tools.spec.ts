import type { ToolOutcome } from "fusion-cursor-native";
import { describe, expect, test } from "vitest";
import { displayWidth } from "../cli/render/text.ts";
import { toolRowSpans } from "../cli/render/tool-row.ts";
import { describeOutcome, summarizeTool } from "../cli/tools.ts";

const roots = ["/home/me/project", "/private/home/me/project"];

describe("what a call is about", () => {
  test.each<[string, Record<string, unknown>, string]>([
    ["shell", { command: "npm test" }, "npm test"],
    ["shell", { command: "cat <<E\n  one\nE" }, "cat <<E one E"],
    ["read", { path: "/home/me/project/src/a.ts" }, "src/a.ts"],
    ["read", { path: "/private/home/me/project/src/a.ts" }, "src/a.ts"],
    ["read", { path: "/home/me/project/..hidden" }, "..hidden"],
    ["read", { path: "/home/me/other/a.ts" }, "/home/me/other/a.ts"],
    ["read", { path: "/home/me/project/a.ts", offset: 10, limit: 5 }, "a.ts:10-14"],
    ["read", { path: "src/a.ts", offset: 3 }, "src/a.ts:3"],
    ["edit", { path: "/home/me/project/a.ts", streamContent: "…" }, "a.ts"],
    ["write", { filePath: "/home/me/project/b.ts" }, "b.ts"],
    ["delete", { path: "c.ts" }, "c.ts"],
    ["ls", { path: "/home/me/project" }, "."],
    ["glob", { globPattern: "**/*.ts", targetDirectory: "/home/me/project/src" }, "**/*.ts in src"],
    ["grep", { pattern: "TODO|FIXME", path: "/home/me/project" }, "TODO|FIXME"],
    ["semSearch", { query: "where is the lock" }, "where is the lock"],
    ["webSearch", { searchTerm: "napi" }, "napi"],
    ["webFetch", { url: "https://example.com/" }, "https://example.com/"],
    ["mcp", { name: "srv-echo", providerIdentifier: "srv", toolName: "echo" }, "srv echo"],
    ["mcp", {}, "the name"],
    ["function", { anything: 1 }, "the name"],
    ["task", { description: "Look into it", prompt: "long" }, "Look into it"],
    ["updateTodos", { todos: [{}, {}] }, "2 items"],
    ["readLints", { paths: ["/home/me/project/a.ts", "b.ts"] }, "a.ts, b.ts"],
    ["getMcpTools", { server: "srv" }, "srv"],
    ["neverSeen", { query: "x" }, "x"],
    ["neverSeen", { deep: { query: "x" } }, ""],
    ["constructor", {}, ""],
    ["shell", { command: 7 }, ""],
  ])("%s %j", (kind, args, summary) => {
    expect(summarizeTool({ kind, name: "the name", args }, roots)).toBe(summary);
  });

  test("nothing is known without arguments", () => {
    expect(summarizeTool({ kind: "shell", name: "shell", args: undefined }, roots)).toBe("");
  });

  test("it is one line that drives no terminal, and no longer than makes sense", () => {
    const command = `\u001b[2J\u009b1;1Hecho \u202egpj.exe\r\n${"x".repeat(10_000)}`;
    const summary = summarizeTool({ kind: "shell", name: "shell", args: { command } }, roots);
    expect(summary).toMatch(/^echo gpj\.exe x+…$/);
    expect(displayWidth(summary)).toBe(400);
  });
});

describe("why it did not work", () => {
  test.each<[ToolOutcome, unknown, string]>([
    ["success", { success: { exitCode: 0 } }, ""],
    ["failure", { failure: { exitCode: 1, stderr: "x" }, isBackground: false }, "exit 1"],
    ["failure", { failure: { exitCode: 0, signal: "SIGKILL" } }, "SIGKILL"],
    ["failure", { failure: { exitCode: 1, aborted: true } }, "aborted"],
    ["failure", {}, "failed"],
    ["rejected", { rejected: { reason: "" } }, "rejected"],
    ["rejected", { rejected: { reason: "not in ask mode\n" } }, "rejected: not in ask mode"],
    ["rejected", "rejected by the user", "rejected: rejected by the user"],
    ["permissionDenied", { permissionDenied: { error: "Command blocked" } }, "denied: Command blocked"],
    ["error", { error: { path: "/a", error: "ENOENT" } }, "error: ENOENT"],
    ["error", { error: { errorMessage: "no" } }, "error: no"],
    ["error", { fileNotFound: { path: "/a" } }, "error: /a"],
    ["error", { success: { content: [{ text: { text: "boom" } }], isError: true } }, "error: boom"],
    ["error", undefined, "error"],
    ["unknown", undefined, "ended without an outcome"],
  ])("%s %j", (outcome, result, description) => {
    expect(describeOutcome(outcome, result)).toBe(description);
  });
});

test("a row fits every width", () => {
  for (let columns = 1; columns < 90; columns += 1) {
    const row = toolRowSpans(
      {
        state: "failed",
        kind: "shell",
        summary: "echo 漢字 and more and more of it",
        detail: "rejected: a long reason that nobody reads to its end",
        duration: "12.3s",
      },
      columns,
    )
      .map((span) => span.text)
      .join("");
    expect(displayWidth(row)).toBeLessThanOrEqual(columns);
    if (columns >= 50) {
      expect(row).toMatch(/^✗ shell {2}echo .* {2}rejected: .* {2}12\.3s$/);
    }
  }
});
