/** Who hears of a session: the callbacks that it was opened with, and those who subscribed. */

import type { CursorSessionOptions } from "fusion-cursor-native";
import type { CursorPluginLogger, CursorRuntimeEvent, CursorRuntimeOptions } from "./index.js";

export type Listener = (event: CursorRuntimeEvent) => void;

export class Listeners {
  /** For the session; the subscribers hear of everything first. */
  readonly callbacks: Required<
    Pick<CursorSessionOptions, "onText" | "onThinking" | "onToolStart" | "onToolEnd">
  >;
  readonly #log: CursorPluginLogger | undefined;
  readonly #all = new Set<{ hear: Listener }>();

  constructor(options: CursorRuntimeOptions, log: CursorPluginLogger | undefined) {
    for (const name of ["onText", "onThinking", "onToolStart", "onToolEnd"] as const) {
      const given: unknown = options[name];
      // Else it would be found out in the middle of a turn.
      if (given != null && typeof given !== "function") throw new TypeError(`${name} must be a function`);
    }
    this.#log = log;
    this.callbacks = {
      onText: (delta) => {
        this.#update("text_delta", 0, delta);
        return options.onText?.(delta);
      },
      onThinking: (delta) => {
        this.#update("thinking_delta", 1, delta);
        return options.onThinking?.(delta);
      },
      onToolStart: (name, args, info) => {
        if (this.#all.size > 0) {
          const toolCallId = info?.callId ?? "";
          this.tell({ type: "tool_execution_start", toolCallId, toolName: name, args: args ?? {} });
        }
        return options.onToolStart?.(name, args, info);
      },
      onToolEnd: (name, isError, result, info) => {
        if (this.#all.size > 0) {
          const toolCallId = info?.callId ?? "";
          this.tell({ type: "tool_execution_end", toolCallId, toolName: name, isError, result });
        }
        return options.onToolEnd?.(name, isError, result, info);
      },
    };
  }

  /** The same function twice is heard twice, and leaves once at a time. */
  add(hear: Listener): () => void {
    if (typeof hear !== "function") throw new TypeError("listener must be a function");
    const entry = { hear };
    this.#all.add(entry);
    return () => void this.#all.delete(entry);
  }

  tell(event: CursorRuntimeEvent): void {
    const failed = (error: unknown): void =>
      this.#log?.warn(`A listener of a Cursor session failed at ${event.type}:`, error);
    for (const { hear } of this.#all) {
      try {
        // One that is async rejects, which ends the host where nobody catches it.
        const heard: unknown = hear(event);
        if (heard !== undefined) Promise.resolve(heard).catch(failed);
      } catch (error) {
        failed(error);
      }
    }
  }

  #update(type: "text_delta" | "thinking_delta", contentIndex: number, delta: string): void {
    this.tell({ type: "message_update", assistantMessageEvent: { type, contentIndex, delta } });
  }
}
