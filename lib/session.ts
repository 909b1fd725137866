/** Sessions: turns in a line, one conversation, and this host's tools for as long as it lasts. */

import { inspect } from "node:util";
import type {
  CursorPromptResult,
  CursorSessionOptions,
  CursorSessionStream,
  CursorSessionToolError,
  CursorStagingReason,
  CursorTurnOptions,
  CursorSession as Declared,
} from "../index.js";
import type { SessionAnswer, SessionHandle, SessionStart, StagingProblem } from "../native.js";
import { unlessAborted } from "./aborts.js";
import { Host } from "./bridge.js";
import { type Callbacks, wantsEvents, wantsPayloads } from "./dispatch.js";
import { aborted, CursorError, internal, noRoom, notStaged } from "./errors.js";
import { settled } from "./lease.js";
import { signal as signalOf } from "./options.js";
import { native, scope } from "./scope.js";
import { checkedSession, type SessionPlan, server } from "./session-options.js";
import { SessionStream } from "./session-stream.js";
import { Totals } from "./session-totals.js";
import { drive, refused, type Turn } from "./turn.js";
import * as check from "./validate.js";

/** What only this module can make one with. */
interface Made {
  plan: SessionPlan;
  handle: SessionHandle;
  host: Host | undefined;
  missing: CursorSessionToolError | undefined;
}

/** Whoever has no such thing calls the constructor from outside. */
const made = new WeakSet<Made>();

type Optional = "sessionId" | "fusionToolBridgeError";

export class CursorSession implements Omit<Declared, Optional>, Record<Optional, unknown> {
  readonly cwd: string;
  readonly model: string;
  readonly #handle: SessionHandle;
  readonly #host: Host | undefined;
  readonly #missing: CursorSessionToolError | undefined;
  readonly #callbacks: Callbacks;
  readonly #program: string | undefined;
  readonly #totals = new Totals();
  #disposed = false;

  private constructor(from: Made) {
    if (!made.has(from)) throw new TypeError("a CursorSession is made by CursorSession.create");
    const { plan, handle, host, missing } = from;
    this.cwd = plan.cwd;
    this.model = plan.model;
    this.#callbacks = plan.callbacks;
    this.#program = plan.options.run.binary;
    this.#handle = handle;
    this.#host = host;
    this.#missing = missing;
  }

  static create(options: CursorSessionOptions): Promise<CursorSession> {
    const plan = checkedSession(options);
    if (plan.signal?.aborted) return Promise.reject(aborted(plan.signal));
    return CursorSession.#open(plan);
  }

  static async #open(plan: SessionPlan): Promise<CursorSession> {
    const { toolbox, signal } = plan;
    const { serves, missing } = server(plan);
    const host = serves === undefined || toolbox === undefined ? undefined : new Host(toolbox);
    const start = begin(plan, serves, host);
    let abandoned = false;
    const opened = asked(start, plan).then(({ session, bridge }) => {
      // It was there in the moment of the abort, and nobody else gets it. Where this fails, the core tries again at
      // the end of the process.
      if (abandoned) session?.dispose().catch(() => {});
      return { session, bridge };
    });
    const { session, bridge } = await unlessAborted(opened, signal, (signal) => {
      abandoned = true;
      start.giveUp();
      host?.end();
      return aborted(signal);
    });
    if (session == null) {
      throw signal?.aborted ? aborted(signal) : internal(new Error("the session was given up by nobody"));
    }
    if (bridge == null) host?.end();
    else host?.serve(bridge);
    const from: Made = { plan, handle: session, host, missing };
    made.add(from);
    return new CursorSession(from);
  }

  get sessionId(): string | undefined {
    return this.#handle.sessionId() ?? undefined;
  }

  get toolNames(): readonly string[] {
    return Object.freeze(this.#handle.toolNames());
  }

  get fusionToolBridgeError(): CursorSessionToolError | undefined {
    if (this.#missing !== undefined) return this.#missing;
    const problem = this.#handle.problem();
    return problem === null ? undefined : toolError(problem);
  }

  get usage(): Totals["usage"] {
    return this.#totals.usage;
  }

  get toolCalls(): Totals["toolCalls"] {
    return this.#totals.toolCalls;
  }

  get turns(): number {
    return this.#totals.turns;
  }

  get disposed(): boolean {
    return this.#disposed;
  }

  prompt(text: string, options: CursorTurnOptions = {}): Promise<CursorPromptResult> {
    const { prompt, signal } = checkedTurn(text, options);
    return this.#run(prompt, this.#callbacks, signal).result;
  }

  stream(text: string, options: CursorTurnOptions = {}): CursorSessionStream {
    const { prompt, signal } = checkedTurn(text, options);
    return new SessionStream(
      (callbacks, signal) => this.#run(prompt, callbacks, signal),
      this.#callbacks,
      signal,
      () => this.#disposed,
    );
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    this.#host?.end();
    const problem = await settled(() => this.#handle.dispose(), this.cwd);
    if (problem !== null) throw notStaged(problem);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  [inspect.custom](_depth: number, options: object): string {
    const { cwd, model, sessionId, toolNames, fusionToolBridgeError, usage, toolCalls, turns, disposed } =
      this;
    const shown = {
      cwd,
      model,
      sessionId,
      toolNames,
      fusionToolBridgeError,
      usage,
      toolCalls,
      turns,
      disposed,
    };
    return `CursorSession ${inspect(shown, options)}`;
  }

  #run(prompt: string, callbacks: Callbacks, signal: AbortSignal | undefined): Turn {
    if (signal?.aborted) return refused(aborted(signal));
    if (this.#disposed) return refused(disposed());
    const [events, payloads] = [wantsEvents(callbacks), wantsPayloads(this.#callbacks)];
    return drive((onBatch) => this.#handle.startTurn(prompt, events, payloads, onBatch), {
      callbacks,
      signal,
      program: this.#program,
      over: () => this.#disposed,
      onOutcome: (outcome, good) => this.#totals.add(outcome, good),
    });
  }
}

function begin(
  { options }: SessionPlan,
  serves: Pick<typeof options, "server" | "bridge"> | undefined,
  host: Host | undefined,
): SessionStart {
  try {
    return native.createSession(scope, { ...options, ...serves }, (event) => host?.hear(event));
  } catch (error) {
    throw noRoom(error, options.run.binary) ?? internal(error as Error);
  }
}

async function asked(start: SessionStart, { options }: SessionPlan): Promise<SessionAnswer> {
  try {
    return await start.opened();
  } catch (error) {
    throw noRoom(error, options.run.binary) ?? internal(error as Error);
  }
}

function checkedTurn(
  text: string,
  options: CursorTurnOptions,
): { prompt: string; signal: AbortSignal | undefined } {
  const prompt = check.string("the prompt", text);
  return { prompt, signal: signalOf(check.object("the options of the turn", options)) };
}

function disposed(): CursorError {
  return new CursorError("Cursor session is disposed.", {
    code: "CURSOR_SESSION_DISPOSED",
    retryable: false,
  });
}

function toolError({ code, reason, path, message }: StagingProblem): CursorSessionToolError {
  return {
    reasonCode: code as CursorSessionToolError["reasonCode"],
    detail: message,
    reason: reason as CursorStagingReason,
    ...(path == null ? {} : { path }),
  };
}
