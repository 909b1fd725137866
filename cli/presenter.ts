/** One turn on standard output: as a person reads it, or as JSON. */

import type { CursorPromptResult, CursorStreamEvent } from "fusion-cursor-native";
import { jsonErrorLine, jsonLine } from "./json.ts";
import type { Output } from "./output.ts";
import { LiveRenderer } from "./render/live.ts";
import { FRAME_MS, type Renderer, SHOW_CURSOR } from "./render/operations.ts";
import { PlainRenderer } from "./render/plain.ts";

/** Shows a turn. A returned promise asks to wait with the next event. */
export interface Presenter {
  event(event: CursorStreamEvent): Promise<void> | undefined;
  succeed(result: CursorPromptResult): void;
  fail(error: unknown): void;
  /** Undo what was done to the terminal. Works while the process exits, any number of times. */
  restore(): void;
}

/** A clock that only runs forward, in milliseconds. */
export type Clock = () => number;

export function createPresenter(
  output: Output,
  options: { json: boolean; cwd: string },
  now: Clock,
): Presenter {
  return options.json ? new JsonPresenter(output) : new ScreenPresenter(output, options.cwd, now);
}

class JsonPresenter implements Presenter {
  private readonly output: Output;

  constructor(output: Output) {
    this.output = output;
  }

  event(event: CursorStreamEvent): Promise<void> | undefined {
    this.output.write(jsonLine(event));
    return this.output.room();
  }

  succeed(result: CursorPromptResult): void {
    this.output.write(jsonLine(result, "turn-result"));
  }

  fail(error: unknown): void {
    this.output.write(jsonErrorLine(error));
  }

  restore(): void {
    // Nothing was done to the terminal.
  }
}

class ScreenPresenter implements Presenter {
  private readonly output: Output;
  private readonly now: Clock;
  private readonly renderer: Renderer<CursorStreamEvent, CursorPromptResult>;
  private readonly stopResizing: () => void;
  private restored = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(output: Output, cwd: string, now: Clock) {
    this.output = output;
    this.now = now;
    this.renderer = output.styled ? new LiveRenderer(cwd, output.size, now()) : new PlainRenderer(cwd);
    this.stopResizing = output.onResize(() => this.output.draw(this.renderer.resize(output.size, now())));
    this.output.draw(this.renderer.tick(now()));
    this.animate();
  }

  event(event: CursorStreamEvent): Promise<void> | undefined {
    this.output.draw(this.renderer.event(event, this.now()));
    this.animate();
    return this.output.room();
  }

  succeed(result: CursorPromptResult): void {
    this.end(result);
  }

  fail(): void {
    this.end(undefined);
  }

  restore(): void {
    if (this.restored) {
      return;
    }
    this.restored = true;
    clearInterval(this.timer);
    this.stopResizing();
    if (this.output.styled) {
      this.output.write(SHOW_CURSOR);
    }
  }

  private end(result: CursorPromptResult | undefined): void {
    this.output.draw(this.renderer.finish(result, this.now()));
    this.animate();
  }

  /** The clock ticks only while something moves. */
  private animate(): void {
    if (!this.renderer.animated) {
      clearInterval(this.timer);
      this.timer = undefined;
    } else if (this.timer === undefined) {
      this.timer = setInterval(() => this.tick(), FRAME_MS);
      this.timer.unref();
    }
  }

  private tick(): void {
    // A frame that nobody saw is not worth keeping.
    if (!this.output.full) {
      this.output.draw(this.renderer.tick(this.now()));
    }
  }
}
