import type { CursorStreamEvent } from "fusion-cursor-native";
import { describe, expect, test } from "vitest";
import { LiveRenderer } from "../cli/render/live.ts";
import { encode, type Size } from "../cli/render/operations.ts";
import { ended, SESSION_ID, started, text, thinking, thought, turnResult } from "./support/events.ts";
import { Screen } from "./support/screen.ts";

/** A turn on a terminal, one step of time per event. */
function terminal(size: Size = { columns: 80, rows: 24 }) {
  const screen = new Screen(size.columns, size.rows);
  const renderer = new LiveRenderer("/w", size, 0);
  let now = 0;
  return {
    screen,
    renderer,
    feed(event: CursorStreamEvent, at = now) {
      now = at;
      screen.write(encode(renderer.event(event, now)));
    },
    tick(at: number) {
      now = at;
      screen.write(encode(renderer.tick(now)));
    },
    finish(result = turnResult()) {
      screen.write(encode(renderer.finish(result, now)));
    },
  };
}

describe("on a terminal", () => {
  test("until something is there to see, a row says that the agent is awaited", () => {
    const { screen, tick, feed } = terminal();
    tick(1500);
    expect(screen.text).toBe(`${spinner(1500)} waiting for the agent  1.5s`);
    feed({ type: "system-init", sessionId: SESSION_ID });
    expect(screen.text).toContain("waiting for the agent");
    feed(text("Hello"));
    expect(screen.text).toBe("Hello");
    expect(screen.cursorVisible).toBe(true);
  });

  test("an open call is a row with a running duration, and becomes its outcome", () => {
    const { screen, tick, feed } = terminal();
    feed(text("I run the tests."));
    feed(started("a", "shell", { command: "npm test" }), 1000);
    expect(screen.lines).toEqual(["I run the tests.", "", `${spinner(1000)} shell  npm test  0.0s`]);
    expect(screen.cursorVisible).toBe(false);
    tick(1800);
    expect(screen.lines).toEqual(["I run the tests.", "", `${spinner(1800)} shell  npm test  0.8s`]);
    feed(ended("a", "shell"), 2200);
    expect(screen.lines).toEqual(["I run the tests.", "", "✓ shell  npm test  1.2s"]);
    expect(screen.cursorVisible).toBe(true);
  });

  test("the row of a finished call keeps no rest of a longer row before it", () => {
    const { screen, feed } = terminal();
    feed(started("a", "shell", { command: "a very long command that will be gone" }));
    feed(started("b", "read", { path: "/w/b" }));
    feed(ended("a", "shell"));
    feed(ended("b", "read"));
    expect(screen.lines).toEqual(["✓ shell  a very long command that will be gone  0.0s", "✓ read  b  0.0s"]);
  });

  test("parallel calls stand together and settle in the order in which they end", () => {
    const { screen, feed } = terminal();
    feed(started("a", "shell", { command: "sleep 6" }), 0);
    feed(started("b", "shell", { command: "sleep 4" }), 0);
    feed(started("c", "grep", { pattern: "x" }), 0);
    expect(screen.lines).toHaveLength(3);
    feed(ended("b", "shell"), 4000);
    expect(screen.lines).toEqual([
      "✓ shell  sleep 4  4.0s",
      `${spinner(4000)} shell  sleep 6  4.0s`,
      `${spinner(4000)} grep  x  4.0s`,
    ]);
    feed(ended("c", "grep"), 5000);
    feed(ended("a", "shell"), 6000);
    expect(screen.lines).toEqual(["✓ shell  sleep 4  4.0s", "✓ grep  x  5.0s", "✓ shell  sleep 6  6.0s"]);
  });

  test("failures say why", () => {
    const { screen, feed } = terminal();
    feed(started("a", "shell", { command: "npm test" }));
    feed(ended("a", "shell", "failure", { exitCode: 1 }));
    feed(started("b", "edit", { path: "/w/src/a.ts" }));
    feed(ended("b", "edit", "rejected", { reason: "Hook blocked" }));
    expect(screen.lines).toEqual([
      "✗ shell  npm test  exit 1  0.0s",
      "✗ edit  src/a.ts  rejected: Hook blocked  0.0s",
    ]);
  });

  test("text that comes while a call is open goes on where it was", () => {
    const { screen, feed, tick } = terminal({ columns: 20, rows: 10 });
    feed(started("a", "shell", { command: "x" }), 0);
    for (const piece of ["One two ", "three", " four five six", "\nseven", "\n", "eight"]) {
      feed(text(piece), 0);
      tick(0);
    }
    expect(screen.lines).toEqual([
      "One two three four f",
      "ive six",
      "seven",
      "eight",
      "",
      `${spinner(0)} shell  x  0.0s`,
    ]);
    feed(ended("a", "shell"), 0);
    expect(screen.lines.slice(3)).toEqual(["eight", "", "✓ shell  x  0.0s"]);
  });

  test.each(["0123456789", "01234567\u6f22", "漢字漢字漢"])(
    "a row that is exactly full (%s) is not written over",
    (full) => {
      const { screen, feed } = terminal({ columns: 10, rows: 10 });
      feed(started("a", "x"));
      feed(text(full));
      feed(text("next"));
      feed(text(" one\nlast"));
      expect(screen.lines.slice(0, 3)).toEqual([full, "next one", "last"]);
      const broken = terminal({ columns: 10, rows: 10 });
      broken.feed(started("a", "x"));
      broken.feed(text(full));
      broken.feed(text("\nnext"));
      expect(broken.screen.lines.slice(0, 2)).toEqual([full, "next"]);
      broken.feed(ended("a", "x"));
      expect(broken.screen.lines.slice(0, 4)).toEqual([full, "next", "", "✓ x  0.0s"]);
    },
  );

  test("thinking is dim and apart from the text, and so is each block of it", () => {
    const { screen, feed, renderer } = terminal();
    feed(thinking("Let me "));
    feed(thinking("think."));
    feed(thought);
    feed(thinking("More."));
    feed(thought);
    feed(text("\n\nAnswer."));
    feed(started("a", "read", { path: "a" }));
    feed(ended("a", "read"));
    feed(text("Then."));
    expect(screen.lines).toEqual([
      "Let me think.",
      "",
      "More.",
      "",
      "Answer.",
      "",
      "✓ read  a  0.0s",
      "",
      "Then.",
    ]);
    expect(encode(renderer.event(thinking("hm"), 0))).toContain("\u001b[2mhm\u001b[22m");
  });

  test("a break that the text brings itself is not doubled", () => {
    const { screen, feed, finish } = terminal({ columns: 120, rows: 24 });
    feed(text("One.\n\n"));
    feed(started("a", "read", { path: "a" }));
    feed(ended("a", "read"));
    finish();
    expect(screen.lines).toEqual([
      "One.",
      "",
      "✓ read  a  0.0s",
      "",
      `session ${SESSION_ID} · 18.4k in / 102 out · 5 tools (1 failed, 1 rejected) · 12.3s`,
    ]);
  });

  test("control sequences of the agent do not reach the terminal", () => {
    const { screen, feed } = terminal();
    const evil = "\u001b]0;title\u0007\u001b[2J\u001b[31mred\u009b2Jb\rc\u0008d\u0000";
    feed(text(evil));
    feed(started("a", "shell", { command: `echo ${evil}\nrm \u202etxt` }));
    feed(ended("a", "shell", "rejected", { reason: evil }));
    expect(screen.lines).toEqual(["redbcd", "", "✗ shell  echo redb cd rm txt  rejected: redb cd  0.0s"]);
  });

  test("the block is never higher than the terminal, whatever else happens", () => {
    const { screen, feed, tick } = terminal({ columns: 30, rows: 6 });
    feed(text("Text"));
    for (let index = 0; index < 20; index += 1) {
      feed(started(`c${index}`, "shell", { command: `job ${index}` }), 0);
      tick(0);
    }
    expect(screen.lines).toEqual([
      "Text",
      "",
      `${spinner(0)} shell  job 0  0.0s`,
      `${spinner(0)} shell  job 1  0.0s`,
      "… and 18 more running",
    ]);
    for (let index = 0; index < 20; index += 1) {
      feed(ended(`c${index}`, "shell"), 0);
      feed(text(`line ${index}\n`), 0);
    }
    const rows = screen.lines.filter((line) => line.startsWith("✓"));
    expect(rows).toEqual(Array.from({ length: 20 }, (_, index) => `✓ shell  job ${index}  0.0s`));
    expect(screen.text).not.toMatch(/running|[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
    expect(screen.clipped).toBe(0);
  });

  test.each([2, 3, 4])("a terminal of %i rows is enough", (rows) => {
    const { screen, feed, tick } = terminal({ columns: 30, rows });
    feed(text("Text"));
    feed(started("a", "shell", { command: "one" }), 0);
    feed(started("b", "shell", { command: "two" }), 0);
    tick(80);
    feed(text("More"), 0);
    feed(ended("b", "shell"), 0);
    feed(ended("a", "shell"), 0);
    expect(screen.lines.filter((line) => line !== "")).toEqual([
      "Text",
      "More",
      "✓ shell  two  0.0s",
      "✓ shell  one  0.0s",
    ]);
    expect(screen.clipped).toBe(0);
  });

  test("a long command is cut to the width, its duration and its reason are not", () => {
    const { screen, feed } = terminal({ columns: 40, rows: 10 });
    feed(started("a", "shell", { command: "echo 漢字 ".repeat(20) }), 0);
    expect(screen.lines).toEqual([`${spinner(0)} shell  echo 漢字 echo 漢字 e…  0.0s`]);
    feed(ended("a", "shell", "failure", { exitCode: 127 }), 0);
    expect(screen.lines).toEqual(["✗ shell  echo 漢字 ech…  exit 127  0.0s"]);
  });

  test("a ^C that the terminal echoes into the block does no harm", () => {
    const { screen, feed } = terminal({ columns: 20, rows: 10 });
    feed(text("Text"));
    feed(started("a", "shell", { command: "a command that is too long" }), 0);
    screen.write("^C");
    feed(ended("a", "shell"), 0);
    expect(screen.lines).toEqual(["Text", "", "✓ shell  a c…  0.0s"]);
  });

  test("a smaller window in the middle of it loses nothing", () => {
    const { screen, feed, renderer } = terminal({ columns: 40, rows: 10 });
    feed(text("Before"));
    feed(started("a", "shell", { command: "one" }), 0);
    screen.write(encode(renderer.resize({ columns: 30, rows: 8 }, 0)));
    expect(screen.lines).toEqual(["Before", "", `${spinner(0)} shell  one  0.0s`]);
    feed(text("After"), 0);
    feed(ended("a", "shell"), 0);
    expect(screen.lines).toEqual(["Before", "", "After", "", "✓ shell  one  0.0s"]);
  });

  test("a call that never ends is told at the end, and the cursor is back", () => {
    const { screen, feed, finish } = terminal({ columns: 120, rows: 10 });
    feed(started("a", "shell", { command: "sleep 99" }), 0);
    feed(text("Done."), 3000);
    finish(turnResult({ toolCalls: { started: 1, completed: 0, failed: 0, rejected: 0, abandoned: 1 } }));
    expect(screen.lines).toEqual([
      "Done.",
      "",
      "– shell  sleep 99  not finished  3.0s",
      "",
      `session ${SESSION_ID} · 18.4k in / 102 out · 1 tool (1 unfinished) · 12.3s`,
    ]);
    expect(screen.cursorVisible).toBe(true);
  });

  test("calls without an id, and ends without a start, find their place", () => {
    const { screen, feed } = terminal();
    feed(
      {
        type: "tool-call-started",
        kind: "mcp",
        name: "srv-echo",
        args: { providerIdentifier: "srv", toolName: "echo" },
      },
      0,
    );
    feed({ type: "tool-call-completed", kind: "mcp", name: "mcp", outcome: "success", isError: false }, 500);
    feed({ ...ended("z", "shell"), args: { command: "ls" } }, 500);
    expect(screen.lines).toEqual(["✓ mcp  srv echo  0.5s", "✓ shell  ls"]);
  });

  test("a plan is shown, since plan mode says it nowhere else", () => {
    const { screen, feed } = terminal();
    feed(started("p", "createPlan", { name: "Fix it", plan: "# Plan\n1. Look" }));
    feed({ ...ended("p", "createPlan"), args: { name: "Fix it", plan: "# Plan\n1. Look" } });
    expect(screen.lines).toEqual(["✓ createPlan  Fix it  0.0s", "", "# Plan", "1. Look"]);
  });

  test("an answer that comes only with the result is shown", () => {
    const { screen, finish } = terminal({ columns: 120, rows: 24 });
    finish(turnResult({ text: "Only here." }));
    expect(screen.lines[0]).toBe("Only here.");
  });

  test("a lost connection is a dim note", () => {
    const { screen, feed } = terminal();
    feed({ type: "connection", state: "reconnecting", attempt: 1 });
    feed({ type: "retry", state: "starting", attempt: 2 });
    expect(screen.lines).toEqual(["reconnecting (attempt 1)", "retry starting (attempt 2)"]);
  });
});

function spinner(now: number): string {
  return [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"][Math.floor(now / 80) % 10] ?? "";
}
