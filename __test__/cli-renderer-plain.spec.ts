import { describe, expect, test } from "vitest";
import { encodePlain } from "../cli/render/operations.ts";
import { PlainRenderer } from "../cli/render/plain.ts";
import { ended, SESSION_ID, started, text, thinking, thought, turnResult } from "./support/events.ts";

describe("in a pipe", () => {
  test("there is text only, and a call is one line when it has ended", () => {
    const renderer = new PlainRenderer("/w");
    const operations = [
      ...renderer.event(thinking("Hm."), 0),
      ...renderer.event(thought, 0),
      ...renderer.event(text("I look."), 0),
      ...renderer.event(started("a", "read", { path: "/w/a" }), 0),
      ...renderer.event(started("b", "shell", { command: "x" }), 0),
      ...renderer.tick(),
      ...renderer.event(ended("a", "read"), 100),
      ...renderer.event(ended("b", "shell", "failure", { exitCode: 2 }), 100),
      ...renderer.event(text("\u001b[1mDone.\u001b[0m"), 100),
      ...renderer.finish(turnResult({ usage: undefined }), 100),
    ];
    expect(encodePlain(operations)).toBe(
      [
        "Hm.",
        "",
        "I look.",
        "",
        "✓ read  a  0.1s",
        "✗ shell  x  exit 2  0.1s",
        "",
        "Done.",
        "",
        `session ${SESSION_ID} · 5 tools (1 failed, 1 rejected) · 12.3s`,
        "",
      ].join("\n"),
    );
    expect(renderer.animated).toBe(false);
  });
});
