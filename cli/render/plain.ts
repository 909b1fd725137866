/** A turn as plain text, for a file or a pipe: a tool call is one line, written when it has ended. Pure. */

import type { CursorPromptResult, CursorStreamEvent } from "fusion-cursor-native";
import type { Operation, Renderer, Span } from "./operations.ts";
import { Transcript } from "./transcript.ts";

export class PlainRenderer implements Renderer<CursorStreamEvent, CursorPromptResult> {
  readonly animated = false;
  private readonly transcript: Transcript;

  constructor(cwd: string) {
    this.transcript = new Transcript(cwd);
  }

  event(event: CursorStreamEvent, now: number): Operation[] {
    return print(this.transcript.event(event, now));
  }

  finish(result: CursorPromptResult | undefined, now: number): Operation[] {
    return print(this.transcript.finish(result, now));
  }

  tick(): Operation[] {
    return [];
  }

  resize(): Operation[] {
    return [];
  }
}

function print(spans: readonly Span[]): Operation[] {
  return spans.map(({ text }) => ({ do: "print", text, style: "plain" }));
}
