/** A standard stream that may be a terminal, a slow pipe, or a pipe whose reader has left. */

import type { Writable } from "node:stream";
import { encode, encodePlain, type Operation, type Size, type Span } from "./render/operations.ts";

/** What is needed of `process.stdout` and `process.stderr`. */
export type TerminalLike = Writable & { isTTY?: boolean; columns?: number; rows?: number };

export class Output {
  private readonly stream: TerminalLike;
  /** Does it take colours and cursor movements? */
  readonly styled: boolean;
  private gone = false;
  private readonly listeners = new Set<() => void>();

  constructor(stream: TerminalLike, env: NodeJS.ProcessEnv) {
    this.stream = stream;
    this.styled = stream.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
    // A pipe without a reader gives EPIPE, a terminal that was closed EIO: nobody is there to be told.
    stream.on("error", () => this.close());
    stream.on("close", () => this.close());
  }

  /** Nobody reads any more. */
  get closed(): boolean {
    return this.gone;
  }

  get size(): Size {
    return { columns: this.stream.columns ?? 0, rows: this.stream.rows ?? 0 };
  }

  /** Called once, when nobody reads any more. */
  onClosed(listener: () => void): void {
    if (this.gone) {
      listener();
    } else {
      this.listeners.add(listener);
    }
  }

  /** Calls `listener` whenever the terminal has a new size, until the returned function is called. */
  onResize(listener: () => void): () => void {
    this.stream.on("resize", listener);
    return () => this.stream.off("resize", listener);
  }

  write(text: string): void {
    if (text !== "" && !this.gone) {
      this.stream.write(text);
    }
  }

  /** Does the reader lag behind? */
  get full(): boolean {
    return !this.gone && this.stream.writableNeedDrain;
  }

  /** Resolves when there is room for more; absent where there is room now. */
  room(): Promise<void> | undefined {
    if (!this.full) {
      return undefined;
    }
    return new Promise((resolve) => {
      this.onClosed(resolve);
      this.stream.once("drain", () => {
        this.listeners.delete(resolve);
        resolve();
      });
    });
  }

  draw(operations: readonly Operation[]): void {
    this.write(this.styled ? encode(operations) : encodePlain(operations));
  }

  print(spans: readonly Span[]): void {
    this.draw(spans.map(({ text, style }) => ({ do: "print", text, style })));
  }

  /** Resolves when everything was handed to the system. */
  flush(): Promise<void> {
    return new Promise((resolve) => {
      if (this.gone) {
        resolve();
      } else {
        this.onClosed(resolve);
        this.stream.write("", () => resolve());
      }
    });
  }

  private close(): void {
    if (!this.gone) {
      this.gone = true;
      for (const listener of this.listeners) {
        listener();
      }
      this.listeners.clear();
    }
  }
}
