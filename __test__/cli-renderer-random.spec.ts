import type { CursorStreamEvent, ToolOutcome } from "fusion-cursor-native";
import { expect, test } from "vitest";
import { LiveRenderer } from "../cli/render/live.ts";
import { encode, encodePlain, type Size } from "../cli/render/operations.ts";
import { PlainRenderer } from "../cli/render/plain.ts";
import { ended, started, text, thinking, thought, turnResult } from "./support/events.ts";
import { Screen } from "./support/screen.ts";

const TEXTS = [
  "a",
  "word ",
  "two words",
  "line\n",
  "\n",
  "\n\n",
  " ",
  "漢字",
  "👩‍👩‍👧",
  "x".repeat(40),
  "y".repeat(39),
  "z".repeat(81),
];

/** The same numbers for the same seed. */
function random(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return ((state ^ (state >>> 13)) >>> 0) % below;
  };
}

function events(next: (below: number) => number): CursorStreamEvent[] {
  const open: string[] = [];
  return Array.from({ length: 40 }, (_, index): CursorStreamEvent => {
    const piece = TEXTS[next(TEXTS.length)] ?? "";
    switch (next(6)) {
      case 0:
      case 1:
        return text(piece);
      case 2:
        return thinking(piece);
      case 3:
        return thought;
      case 4:
        open.push(`c${index}`);
        return started(`c${index}`, "shell", { command: `job ${index}` });
      default: {
        const outcome: ToolOutcome = next(2) === 0 ? "success" : "failure";
        return ended(open.splice(next(open.length), 1)[0] ?? "none", "shell", outcome, { exitCode: 1 });
      }
    }
  });
}

function play(seed: number, size: Size): { live: Screen; plain: Screen } {
  const next = random(seed);
  const live = new Screen(size.columns, size.rows);
  const onTerminal = new LiveRenderer("/w", size, 0);
  const inPipe = new PlainRenderer("/w");
  let plainText = "";
  let now = 0;
  live.write(encode(onTerminal.tick(now)));
  for (const event of events(next)) {
    now += next(300);
    live.write(encode(onTerminal.event(event, now)));
    plainText += encodePlain(inPipe.event(event, now));
    for (let ticks = next(3); ticks > 0; ticks -= 1) {
      live.write(encode(onTerminal.tick(now)));
    }
  }
  const result = turnResult({ sessionId: "s" });
  live.write(encode(onTerminal.finish(result, now)));
  plainText += encodePlain(inPipe.finish(result, now));
  return { live, plain: new Screen(size.columns, size.rows).write(plainText) };
}

test.each([
  { columns: 40, rows: 24 },
  { columns: 81, rows: 6 },
  { columns: 39, rows: 3 },
  { columns: 40, rows: 2 },
])("whatever comes, a terminal of %o shows in the end what a pipe gets", (size) => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const { live, plain } = play(seed, size);
    expect(live.lines, `seed ${seed}`).toEqual(plain.lines);
    expect(live.clipped, `seed ${seed}`).toBe(0);
    expect(live.cursorVisible).toBe(true);
  }
});
