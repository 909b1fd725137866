/** A session in the shape that Fusion's engine uses: with its messages, its subscribers and its statistics. */

import type {
  CursorError,
  CursorPromptResult,
  CursorSession,
  CursorSessionToolError,
} from "fusion-cursor-native";
import type {
  CursorPluginLogger,
  CursorRuntimeMessage,
  CursorRuntimePromptOptions,
  CursorRuntimeSession,
  CursorRuntimeStats,
} from "./index.js";
import type { Listener, Listeners } from "./listeners.js";
import { PROVIDER } from "./settings.js";

/** Not frozen, and its methods are no fields: the engine puts its own in their place. */
export class RuntimeSession implements CursorRuntimeSession {
  readonly model: CursorRuntimeSession["model"];
  readonly messages: CursorRuntimeMessage[] = [];
  readonly state: CursorRuntimeSession["state"] = { messages: this.messages };
  readonly #inner: CursorSession;
  readonly #listeners: Listeners;
  readonly #log: CursorPluginLogger | undefined;
  readonly #wrongTool: CursorSessionToolError | undefined;
  readonly #turns = new Set<AbortController>();
  /** Resolves when every turn so far has settled. */
  #last: Promise<void> = Promise.resolve();

  constructor(
    inner: CursorSession,
    listeners: Listeners,
    log: CursorPluginLogger | undefined,
    wrongTool: CursorSessionToolError | undefined,
  ) {
    this.#inner = inner;
    this.#listeners = listeners;
    this.#log = log;
    this.#wrongTool = wrongTool;
    this.model = { provider: PROVIDER, id: inner.model, name: inner.model };
  }

  get cwd(): string {
    return this.#inner.cwd;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  get toolNames(): readonly string[] {
    return this.#inner.toolNames;
  }

  get fusionToolBridgeError(): CursorSessionToolError | undefined {
    return this.#wrongTool ?? this.#inner.fusionToolBridgeError;
  }

  get usage(): CursorSession["usage"] {
    return this.#inner.usage;
  }

  get toolCalls(): CursorSession["toolCalls"] {
    return this.#inner.toolCalls;
  }

  get turns(): number {
    return this.#inner.turns;
  }

  get disposed(): boolean {
    return this.#inner.disposed;
  }

  // Async, so that a wrong argument rejects as everything else does; the place in line is taken in this call all the same.
  async prompt(text: string, options?: CursorRuntimePromptOptions | null): Promise<void> {
    const { signal } = options ?? {};
    const controller = new AbortController();
    const either = signal == null ? controller.signal : AbortSignal.any([controller.signal, signal]);
    const turn = this.#inner.prompt(text, { signal: either });
    this.#turns.add(controller);
    const followed = this.#follow(this.#last, turn, text, either).finally(() =>
      this.#turns.delete(controller),
    );
    this.#last = Promise.allSettled([this.#last, followed]).then(() => {});
    return followed;
  }

  subscribe(listener: Listener): () => void {
    return this.#listeners.add(listener);
  }

  async abort(): Promise<void> {
    for (const controller of this.#turns) controller.abort();
    await this.#last;
  }

  getSessionStats(): CursorRuntimeStats {
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = this.usage;
    const userMessages = this.messages.filter(({ role }) => role === "user").length;
    return {
      sessionId: this.sessionId ?? "",
      userMessages,
      assistantMessages: this.messages.length - userMessages,
      totalMessages: this.messages.length,
      toolCalls: this.toolCalls.started,
      toolResults: this.toolCalls.completed,
      tokens: {
        input: inputTokens,
        output: outputTokens,
        cacheRead: cacheReadTokens,
        cacheWrite: cacheWriteTokens,
        total: inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens,
      },
      cost: 0,
    };
  }

  dispose(): Promise<void> {
    const ended = this.#inner.dispose();
    // The engine does not wait for it everywhere, and a rejection that nobody catches ends the host.
    ended.catch((error: Error) => this.#log?.warn(`A Cursor session was not taken down: ${error.message}`));
    return ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  /** Keep the messages of a turn and tell of it, from when those before it are over. */
  async #follow(
    before: Promise<void>,
    turn: Promise<CursorPromptResult>,
    text: string,
    called: AbortSignal,
  ): Promise<void> {
    let asked: CursorRuntimeMessage | undefined;
    const begin = before.then(() => {
      // What is refused, or has left the line, was never asked.
      if (called.aborted || this.disposed) return;
      asked = message("user", text);
      this.messages.push(asked);
      delete this.state.errorMessage;
      this.#listeners.tell({ type: "agent_start" });
    });
    const end = (said: CursorRuntimeMessage): void => {
      if (asked === undefined) return;
      this.messages.push(said);
      if (said.errorMessage !== undefined) this.state.errorMessage = said.errorMessage;
      this.#listeners.tell({ type: "message_end", message: said });
      this.#listeners.tell({ type: "agent_end", messages: [asked, said] });
    };
    try {
      const { text: answer } = await turn;
      await begin;
      end({ ...message("assistant", answer), stopReason: "stop" });
    } catch (error) {
      // A callback may throw anything.
      const known: Partial<CursorError> = error instanceof Error ? error : { message: String(error) };
      const { name, message: errorMessage = "", partial } = known;
      const stopReason = name === "AbortError" ? "aborted" : "error";
      end({ ...message("assistant", partial?.text ?? ""), stopReason, errorMessage });
      throw error;
    }
  }
}

function message(role: CursorRuntimeMessage["role"], text: string): CursorRuntimeMessage {
  return { role, content: text === "" ? [] : [{ type: "text", text }], timestamp: Date.now() };
}
