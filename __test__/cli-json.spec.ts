import { expect, test } from "vitest";
import { jsonErrorLine, jsonLine } from "../cli/json.ts";
import { SESSION_ID, turnResult } from "./support/events.ts";

/** As the addon makes them: fields on the object, costly ones as accessors of its class. */
class LazyEvent {
  readonly type = "tool-call-completed";
  readonly callId = "call\nfc";
  get args(): unknown {
    return { command: "ls" };
  }
  get result(): unknown {
    return { success: { exitCode: 0 } };
  }
  get missing(): undefined {
    return undefined;
  }
  method(): void {
    throw new Error("never called");
  }
}

class StillLazierEvent extends LazyEvent {
  get kind(): string {
    return "shell";
  }
}

const whole = {
  type: "tool-call-completed",
  callId: "call\nfc",
  args: { command: "ls" },
  result: { success: { exitCode: 0 } },
};

test("fields that are computed when read are there, whoever defines them", () => {
  expect(JSON.parse(jsonLine(new LazyEvent()))).toEqual(whole);
  expect(JSON.parse(jsonLine(new StillLazierEvent()))).toEqual({ ...whole, kind: "shell" });
  const hidden = Object.defineProperty({ type: "result" }, "usage", { get: () => ({ inputTokens: 1 }) });
  expect(jsonLine(hidden)).toBe('{"type":"result","usage":{"inputTokens":1}}\n');
});

test("the type comes first, and an event is one line", () => {
  const line = jsonLine({ text: "a\nb\u2028", type: "assistant-text" });
  expect(line).toMatch(/^\{"type":"assistant-text",[^\n]*\}\n$/);
});

test("a terminal finds nothing in it to obey", () => {
  const line = jsonLine({ type: "assistant-text", text: "\u001b[2J\u009b2J\u007f" });
  expect(line.slice(0, -1)).not.toMatch(/\p{Cc}/u);
  expect(JSON.parse(line).text).toBe("\u001b[2J\u009b2J\u007f");
});

test("the result and the error of a turn have their own lines", () => {
  expect(JSON.parse(jsonLine(turnResult(), "turn-result"))).toEqual({ type: "turn-result", ...turnResult() });
  const error = Object.assign(new Error("Cursor CLI exited 1: no"), {
    code: "CURSOR_EXITED",
    retryable: false,
    exitCode: 1,
    signal: null,
    stderrTail: "no",
    partial: turnResult(),
  });
  expect(JSON.parse(jsonErrorLine(error))).toEqual({
    type: "turn-error",
    code: "CURSOR_EXITED",
    message: "Cursor CLI exited 1: no",
    retryable: false,
    exitCode: 1,
    signal: null,
    stderrTail: "no",
    partial: { ...turnResult(), sessionId: SESSION_ID },
  });
  expect(JSON.parse(jsonErrorLine("odd"))).toEqual({
    type: "turn-error",
    code: "CURSOR_INTERNAL",
    message: "odd",
  });
});
