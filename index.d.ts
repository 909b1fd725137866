/**
 * Drive Cursor's CLI (`cursor-agent`) from Node: one supervised process per prompt, its stream as typed
 * events in order, and nothing left behind when the turn is over.
 *
 * Rules for everything here: no function blocks the event loop unless it says *sync*; every promise
 * settles; a wrong argument is a `TypeError` before anything happens; every other failure is a
 * {@link CursorError} with a stable `code`.
 */

/** What one turn is asked to do. */
export interface CursorPromptInput {
  /** The workspace: an existing directory; a relative one is looked up from where Node is at the call. The process runs there. */
  cwd: string;
  /** The prompt, written to the process's standard input as UTF-8, whatever its length. */
  prompt: string;
  /**
   * The program to run: an absolute path, or a name that is looked up in `PATH`. It is one string: spaces
   * and non-ASCII characters are fine and quotes are not stripped. Absent: `cursor-agent` from `PATH`, and
   * where there is none (one that may not be run is an error), `cursor`; then the same two where their installers
   * put them, as in {@link probeCursorBinary}. A program named `cursor` is the editor's launcher, and is run as
   * `cursor agent`.
   */
  binary?: string;
  /** A model id; it may not begin with `-`. A leading `cursor-cli/` is dropped. Default: `auto`. */
  model?: string;
  /** `coding` may change files and run commands (`--force`); everything else is `--mode plan`. Default: `readonly`. */
  tools?: "coding" | "readonly";
  /** The session to go on with: `sessionId` of an earlier result. It may not begin with `-`. */
  resumeId?: string;
  /** Pass `--approve-mcps`, which approves **every** configured MCP server, the repository's own included. Default: false. */
  approveMcps?: boolean;
  /** Pass `--workspace <cwd>` too. The CLI takes the workspace from `cwd`; only a launcher that changes folder needs this. Default: false. */
  workspaceFlagRequired?: boolean;
  /**
   * Ends the turn: the promise rejects at once with a {@link CursorError} of code `CURSOR_ABORTED` whose `cause` is
   * `signal.reason`, and the processes are ended behind it. Aborted before the call, nothing is started.
   */
  signal?: AbortSignal;
  /**
   * Added to the environment of the process, over what it inherits from this one; an empty string overrides
   * too. Not inherited: `NODE_OPTIONS`, `NODE_CHANNEL_FD`, `ELECTRON_RUN_AS_NODE`, `GIT_DIR`, `GIT_WORK_TREE`,
   * `GIT_INDEX_FILE`, `GIT_COMMON_DIR`, `GIT_PREFIX`. `CURSOR_API_KEY` is never passed on empty, which the CLI
   * takes for a wrong key: `""` takes the inherited one away.
   */
  env?: Record<string, string>;
  /** Limit until the first line, in milliseconds; covers the start and the writing of the prompt too. Default: `PI_CURSOR_CLI_FIRST_LINE_TIMEOUT_MS`, else 30 000. */
  firstLineTimeoutMs?: number;
  /** Limit between two lines, in milliseconds; every line of any kind starts it anew. Default: `PI_CURSOR_CLI_TIMEOUT_MS`, else 120 000. */
  inactivityTimeoutMs?: number;
  /**
   * Limit between two lines while a tool call is open, in milliseconds; the CLI prints nothing while a tool
   * runs. Over it the turn fails with `CURSOR_TOOL_TIMEOUT`. Default: the largest of the inactivity limit, 10
   * minutes, and the open shell call's own timeout plus 30 s; but where the inactivity limit was set by option or
   * variable, that one governs alone, with its own code.
   */
  toolTimeoutMs?: number;
  /** How long the process may stay after its `result`, in milliseconds, before it is ended. The turn is a success all the same. Default: 2000. */
  exitGraceMs?: number;
  /** Time between SIGTERM and SIGKILL, in milliseconds. Default: 2000. */
  killGraceMs?: number;
  /**
   * What becomes of processes that the turn started and that are still there after a **good** turn.
   *
   * `kill`: they are ended, also those that left the process group (`setsid`, `nohup`, a double fork). Those that
   * left it live on while another turn of this host runs in the same `cwd`, whichever thread started that: the CLI
   * shares helpers between the runs of one folder. The last turn that ends there ends them.
   *
   * `keep`: nothing but the CLI's own process is ended; the rest lives on, after the end of this host too, and is
   * listed in `leftovers` of the result.
   *
   * After a turn that failed or was aborted all of its processes are ended at once, whatever is said here.
   *
   * They are found by a variable in their environment (`FUSION_CURSOR_TURN`), by their parents, group and session.
   * One that cleared its environment *and* lost its parent before the turn was over, in a session of its own, is not
   * found. On macOS programs that the system protects show no environment. Default: `kill`.
   */
  leftovers?: "kill" | "keep";
  /**
   * The longest line of the stream that is read, in bytes: from 1 to 67 108 864 (64 MiB). A longer one is
   * skipped to its end, counted in `dropped` and reported as an `unknown` event, and the turn goes on.
   * Default: 33 554 432 (32 MiB).
   */
  maxLineBytes?: number;
  /** New text of the answer. */
  onText?(text: string): void | Promise<void>;
  /** New text of the model's thinking. */
  onThinking?(text: string): void | Promise<void>;
  /** A tool call has begun. `name` is the MCP tool's own name where it is one. */
  onToolStart?(name: string, args?: Record<string, unknown>, info?: ToolCallInfo): void | Promise<void>;
  /** A tool call has ended. `isError` is true for every outcome but success. */
  onToolEnd?(name: string, isError: boolean, result?: unknown, info?: ToolCallInfo): void | Promise<void>;
  /**
   * Every event, in order, before the callbacks above see it.
   *
   * For all five callbacks: they run in stream order, never two at a time. One that throws or rejects ends
   * the turn with that error. One that returns a promise holds the stream until it settles; meanwhile the
   * process's output is read no further than a bounded buffer, so a slow consumer costs no memory.
   */
  onEvent?(event: CursorStreamEvent): void | Promise<void>;
}

/** Which tool call a callback is about. */
export interface ToolCallInfo {
  /** Pairs the start of a call with its end. Opaque; may hold a line break. */
  callId?: string;
  /** `shell`, `read`, `edit`, `mcp`, `function`, …: the CLI's key without its ending `ToolCall`. */
  kind: string;
  /** Only on the end of a call. */
  outcome?: ToolOutcome;
  /** On the end too, remembered from the start where the CLI leaves it out. */
  args?: Record<string, unknown>;
}

/** How a tool call ended. `rejected`: not approved; `permissionDenied`: a deny rule; `unknown`: the CLI did not say. */
export type ToolOutcome = "success" | "failure" | "rejected" | "permissionDenied" | "error" | "unknown";

/** What a turn gave. */
export interface CursorPromptResult {
  /** For `resumeId` of the next prompt. */
  sessionId?: string;
  /** The answer: what `onText` was given, joined; or the result's own text where no text came. */
  text: string;
  /** Token counts as the CLI wrote them (`inputTokens`, `outputTokens`, `cacheReadTokens`, `cacheWriteTokens`); for this turn alone. */
  usage?: unknown;
  /** Cursor's own id of the request. */
  requestId?: string;
  /** The display name of the requested model. The CLI never tells which model `Auto` chose. */
  model?: string;
  /** From the call to the settled turn, in milliseconds. */
  durationMs: number;
  /** `failed` counts failures and errors; `rejected` counts denials too; `abandoned` began and never ended. */
  toolCalls: { started: number; completed: number; failed: number; rejected: number; abandoned: number };
  /** Lines that were too long or no JSON, and their bytes. */
  dropped: { lines: number; bytes: number };
  /** The exit code; `null` where a signal ended the process. */
  exitCode: number | null;
  /** The signal that ended the process, as in `SIGTERM`. */
  signal: string | null;
  /**
   * Processes of the turn that are still there now: kept, waiting for another turn in the same `cwd` to end, or
   * another user's, which this one may not end. `command` is the command line, its words joined by blanks: at most
   * 200 characters, keys and tokens masked. Empty for an aborted turn, whose promise does not wait for its end.
   */
  leftovers: { pid: number; command: string }[];
}

/**
 * Run one turn: start the process, give it the prompt, hand its events to the callbacks, and resolve when it
 * is over and the process is gone, with all that it started.
 *
 * At the end of this host (`process.exit`, an uncaught error) all running turns are aborted, and the exit waits for
 * their processes: up to about 2 s, then they are killed. Where the host is killed itself, its guard ends them within
 * 3 s.
 *
 * @throws {TypeError} synchronously, for a wrong option; nothing was started.
 * @throws {CursorError} as a rejection, for everything else; `partial` holds what the turn had so far.
 */
export function launchCursorPrompt(input: CursorPromptInput): Promise<CursorPromptResult>;

/** What a probe may be told. */
export interface CursorProbeOptions {
  /**
   * A program that somebody configured: a path, or a name that is looked up in `PATH`. It is one string: spaces
   * and non-ASCII characters are fine, quotes are not stripped, and no shell ever sees it. It is trimmed; blank
   * counts as absent. It is tried first, and where it fails, what is in `PATH` is tried all the same.
   */
  binaryPath?: string;
  /**
   * Limit for each command, in milliseconds. The whole call takes at most four times that, and a moment for
   * killing what hangs. Zero, less or NaN: the default, 3000.
   */
  timeoutMs?: number;
  /** Added to the environment, as in {@link CursorPromptInput}. Its `PATH` and `HOME` are the ones that count. */
  env?: Record<string, string>;
  /** Ends the call at once: it rejects with a {@link CursorError} of code `CURSOR_ABORTED`, and what it started is killed. */
  signal?: AbortSignal;
}

/** What a probe found. */
export interface CursorBinaryStatus {
  /** There is a CLI that answers. True for `keychain-locked` and `ide-missing` too, which keep it from working. */
  available: boolean;
  /** True for `ready` alone. */
  authenticated: boolean;
  /**
   * - `ready`: it answers, and `status` says that somebody is logged in.
   * - `unauthenticated`: `status` says that nobody is. Where `CURSOR_API_KEY` is set turns may work all the same,
   *   and `reason` says so.
   * - `auth-unknown`: `status` hung, crashed, or could not be read.
   * - `keychain-locked`: macOS keeps the login in a keychain that is locked.
   * - `ide-missing`: there is only the command `cursor`, with neither editor nor agent behind it.
   * - `not-runnable`: it is there, and cannot be started or ends with an error.
   * - `missing`: it is not there, or what is there is not Cursor's agent.
   */
  state:
    | "ready"
    | "unauthenticated"
    | "auth-unknown"
    | "keychain-locked"
    | "ide-missing"
    | "not-runnable"
    | "missing";
  /** The candidate that won: `cursor-agent`, `cursor`, or the configured string. */
  binaryName?: string;
  /** Its absolute path. Give it as `binary` to {@link launchCursorPrompt} and {@link discoverCursorModels}. */
  binaryPath?: string;
  /**
   * `["agent"]` where the winner is the wrapper `cursor`. A `binary` of that name gets it by itself; it is
   * for those who run the program on their own.
   */
  launchArgs?: string[];
  /** `binaryPath` of the options, trimmed; absent where that is blank. */
  configuredBinaryPath?: string;
  /** True where the winner is the configured program. */
  usingConfiguredBinaryPath: boolean;
  /** The agent's version, as in `2026.08.11-e8db854`. Never taken from an error, a notice, or the editor. */
  version?: string;
  /** What keeps it from being `ready`, and what to do. At most 600 characters. */
  reason?: string;
  /**
   * One line for every program or name that failed before the winner, at most 180 characters each, without
   * control characters and keys. Also says where the winner was found outside `PATH`.
   */
  diagnostics?: string[];
  /** From the call to the answer, in milliseconds. */
  probeDurationMs: number;
}

/**
 * Find Cursor's CLI and ask it for its version and its login.
 *
 * The candidates are the configured program, `cursor-agent` and `cursor` in `PATH`, and then the same two where
 * their installers put them: `~/.local/bin` and `~/.cursor/bin`, `%LOCALAPPDATA%\cursor-agent` on Windows. The
 * first that answers `--version` as the agent does wins. `cursor` is the editor's launcher, so that it is asked
 * as `cursor agent`. The login is what `status --format json` of the winner says in `isAuthenticated`.
 *
 * Never rejects for what a program prints or does.
 *
 * @throws {TypeError} synchronously, for a wrong option; nothing was started.
 * @throws {CursorError} as a rejection, for an aborted `signal` or a fault in this package.
 */
export function probeCursorBinary(options?: CursorProbeOptions): Promise<CursorBinaryStatus>;

/** Whether a configured program can be saved. */
export interface CursorValidation {
  /** True where that program itself answers as Cursor's agent does; whether somebody is logged in does not matter. */
  ok: boolean;
  /** The probe of that program alone. */
  status: CursorBinaryStatus;
  /** Why not, in one line of at most 180 characters, fit to stand beside a settings field. */
  diagnostic?: string;
}

/**
 * Probe one program, as a settings page does before it saves it. Nothing in `PATH` stands in for it.
 *
 * @throws {TypeError} synchronously, for a blank path or a wrong option.
 * @throws {CursorError} as a rejection, for an aborted `signal` or a fault in this package.
 */
export function validateCursorBinaryPath(
  path: string,
  options?: Omit<CursorProbeOptions, "binaryPath">,
): Promise<CursorValidation>;

/** A model of the CLI's list. The list is a catalogue: the account may be refused some of it. */
export interface CursorModel {
  /** What `model` takes. */
  id: string;
  /** For people. */
  label: string;
  /** Marked as the default. */
  isDefault: boolean;
  /** Marked as the one in use. */
  isCurrent: boolean;
}

/** What the CLI's `models` said. */
export interface CursorModelDiscovery {
  /** The ids, in the CLI's order, each once. */
  models: string[];
  entries: CursorModel[];
  /** `none`: the CLI could not be asked, or did not answer with a list. */
  source: "models-text" | "models-json" | "none";
  /** True where the CLI gave no list. An account without models is a list that is empty, and no fallback. */
  fallbackUsed: boolean;
  /** Why there are no models: the CLI's own sentence where it has one, at most 180 characters. */
  reason?: string;
  /** By id, and only what a structured list of the CLI tells; never made up from the text. */
  modelMeta?: Record<string, { reasoning?: boolean; contextWindow?: number }>;
}

/**
 * Ask a program for its models.
 *
 * @param binary a path, or a name that is looked up; a program named `cursor` is asked as `cursor agent`.
 * @param timeoutMs limit in milliseconds. Zero, less or NaN: the default, 5000.
 * @throws {TypeError} synchronously, for a wrong argument; nothing was started.
 * @throws {CursorError} as a rejection, for an aborted `signal`; never for what the program prints or does.
 */
export function discoverCursorModels(
  binary: string,
  timeoutMs?: number,
  options?: Pick<CursorDiscoveryOptions, "env" | "signal">,
): Promise<CursorModelDiscovery>;

/** What a discovery may be told: see {@link CursorProbeOptions}. */
export interface CursorDiscoveryOptions {
  binaryPath?: string;
  /** Limit for each command, in milliseconds. Zero, less or NaN: the defaults, 3000 for the probe's and 5000 for `models`. */
  timeoutMs?: number;
  env?: Record<string, string>;
  signal?: AbortSignal;
}

/** The models as a provider offers them. */
export interface CursorProviderModels {
  models: { id: string; label: string; reasoning?: boolean; contextWindow?: number }[];
  /** As in {@link CursorModelDiscovery}; `probe` where the probe found nothing to ask. */
  source: string;
  fallbackUsed: boolean;
  reason?: string;
}

/**
 * Probe, and ask the winner for its models.
 *
 * @throws {TypeError} synchronously, for a wrong option; nothing was started.
 * @throws {CursorError} as a rejection, for an aborted `signal`; never for what a program prints or does.
 */
export function discoverCursorProviderModels(options?: CursorDiscoveryOptions): Promise<CursorProviderModels>;

/** *Sync.* The models in the output of `cursor-agent models`, text or JSON. Never throws for what the text holds. */
export function parseCursorModels(text: string): CursorModel[];

/** What a `status` said. Absent: it did not say. */
export interface CursorAuthStatus {
  isAuthenticated?: boolean;
  status?: string;
  email?: string;
}

/** *Sync.* The login in the output of `cursor-agent status`, JSON or text. Never throws for what the text holds. */
export function parseCursorAuthStatus(stdout: string): CursorAuthStatus;

/**
 * One event of the stream. Switch on `type`; a later version may add types.
 *
 * `args`, `result`, `payload` and `usage` are JSON as the CLI wrote it: they are parsed when they are first
 * read, by `JSON.parse`, so huge numbers, duplicate keys, lone surrogates and any depth mean what they mean
 * there. Raw control characters in their strings are kept. One that `JSON.parse` does not take all the same,
 * for a `NaN` or an escape that JSON does not know, reads as its text: a string.
 */
export type CursorStreamEvent =
  | SystemInitEvent
  | UserEvent
  | ThinkingDeltaEvent
  | ThinkingCompletedEvent
  | AssistantTextEvent
  | ToolCallStartedEvent
  | ToolCallCompletedEvent
  | InteractionQueryEvent
  | ConnectionEvent
  | RetryEvent
  | ResultEvent
  | UnknownEvent;

/** The session has begun. */
export interface SystemInitEvent {
  readonly type: "system-init";
  readonly sessionId?: string;
  /** The workspace as the CLI resolved it. */
  readonly cwd?: string;
  /** The display name of the requested model. */
  readonly model?: string;
  /** `login`, `env` or `flag`. */
  readonly apiKeySource?: string;
  /** `default` in every known recording. */
  readonly permissionMode?: string;
}

/** The echo of the prompt. */
export interface UserEvent {
  readonly type: "user";
  readonly text: string;
}

/** A piece of thinking. */
export interface ThinkingDeltaEvent {
  readonly type: "thinking-delta";
  readonly text: string;
}

/** A block of thinking has ended. */
export interface ThinkingCompletedEvent {
  readonly type: "thinking-completed";
}

/** New text of the answer; never a repeat of what came before. */
export interface AssistantTextEvent {
  readonly type: "assistant-text";
  readonly text: string;
}

/** A tool call has begun. */
export interface ToolCallStartedEvent {
  readonly type: "tool-call-started";
  /** Opaque; pairs start and end. */
  readonly callId?: string;
  /** The MCP tool's or function's own name, else the same as `kind`. */
  readonly name: string;
  /** `shell`, `read`, `mcp`, … */
  readonly kind: string;
  /** Parsed when read. `undefined` where the record has none. */
  readonly args?: Record<string, unknown>;
}

/** A tool call has ended. */
export interface ToolCallCompletedEvent {
  readonly type: "tool-call-completed";
  readonly callId?: string;
  readonly name: string;
  readonly kind: string;
  readonly outcome: ToolOutcome;
  readonly isError: boolean;
  /** Those of the start where the record has none. Parsed when read. */
  readonly args?: Record<string, unknown>;
  /** The CLI's whole `result` value, as in `{ success: { exitCode: 0, … } }`. Parsed when read. */
  readonly result?: unknown;
}

/** A question of the CLI, or its answer; without a terminal it answers itself. */
export interface InteractionQueryEvent {
  readonly type: "interaction-query";
  /** `request` or `response`. */
  readonly phase: string;
  /** As in `webSearchRequestQuery`. */
  readonly queryType?: string;
  /** The `query` or `response` object. Parsed when read. */
  readonly payload?: unknown;
}

/** The link to Cursor's servers broke or came back. */
export interface ConnectionEvent {
  readonly type: "connection";
  /** `reconnecting`, `reconnected`. */
  readonly state: string;
  readonly attempt?: number;
}

/** The CLI tries a request again. */
export interface RetryEvent {
  readonly type: "retry";
  /** `starting`, `resuming`. */
  readonly state: string;
  readonly attempt?: number;
}

/** The record that ends a turn. */
export interface ResultEvent {
  readonly type: "result";
  readonly sessionId?: string;
  /** `success` in every known recording. */
  readonly subtype?: string;
  /** The answer once more, its segments joined without a separator; or the error's text. */
  readonly text?: string;
  readonly isError: boolean;
  /** Parsed when read. */
  readonly usage?: unknown;
  readonly requestId?: string;
  /** As the CLI measured it, in milliseconds. */
  readonly durationMs?: number;
}

/** A line that is none of the above. */
export interface UnknownEvent {
  readonly type: "unknown";
  /** `too-long`: over the line limit, skipped; `new-type`: a JSON object of a kind not known here. */
  readonly reason: "blank" | "not-json" | "too-long" | "new-type";
  /** The record's own `type` and `subtype`, where it has them. */
  readonly recordType?: string;
  readonly recordSubtype?: string;
  /** At most 4096 bytes of the line. */
  readonly raw: string;
}

/**
 * *Sync.* Read one line of the stream by itself. It always gives an event, whatever the line holds: one that
 * is empty, no JSON or of a new kind is `unknown`, with the reason.
 *
 * Nothing is known of the lines before it. So text is given as it stands, also where it is empty or repeats
 * what came before; a lone surrogate in it is U+FFFD; and a completed tool call has only the `args` of its
 * own record. {@link CursorStreamParser} reads whole streams.
 *
 * A line end or a byte order mark around the line does not matter. Where several objects stand on the line,
 * or a record behind a banner, the event is that of the first record of a known type, and else that of the
 * first thing on the line. A line over 64 MiB is `too-long`. In a string, a lone surrogate is read as the
 * escape that JSON has for it; bytes that are no UTF-8 are read as U+FFFD.
 *
 * @throws {TypeError} only where `line` is neither a string nor a `Uint8Array`.
 */
export function parseCursorStreamLine(line: string | Uint8Array): CursorStreamEvent;

/** How {@link CursorStreamParser} reads. */
export interface CursorStreamParserOptions {
  /** As in {@link CursorPromptInput}. Default: 33 554 432 (32 MiB). */
  maxLineBytes?: number;
  /**
   * The CLI runs with `--stream-partial-output`: records that are no deltas only repeat deltas, however they
   * spell them. Deltas are recognised without it too. Default: false.
   */
  partialOutput?: boolean;
}

/**
 * *Sync.* Turns the bytes that the CLI writes to its standard output into events, for those who run the
 * process themselves. The events are those of `onEvent`, however the bytes are cut into chunks.
 */
export class CursorStreamParser {
  /** @throws {TypeError} for a wrong option. */
  constructor(options?: CursorStreamParserOptions);
  /**
   * The events of every line that ends in `chunk`, in order. The bytes are not kept: they may be changed
   * once this returns. Memory is bounded by the longest line.
   *
   * @throws {TypeError} only where `chunk` is no `Uint8Array`.
   */
  push(chunk: Uint8Array): CursorStreamEvent[];
  /**
   * The stream is over: the events of a last line without a line end. A `push` after it begins a new stream,
   * which knows nothing of the one before; `dropped` goes on counting.
   */
  finish(): CursorStreamEvent[];
  /** Lines that were too long or no JSON, and their bytes, so far. */
  readonly dropped: { lines: number; bytes: number };
}

/** Every failure of a turn. */
export class CursorError extends Error {
  private constructor();
  /** Stable; see {@link CursorErrorCode}. */
  readonly code: CursorErrorCode;
  /** True where the same call may succeed later without anybody changing anything. */
  readonly retryable: boolean;
  /** Present where a process ran, but for an abort, which does not wait for its end; `null` where a signal ended it. */
  readonly exitCode?: number | null;
  /** Present where `exitCode` is. */
  readonly signal?: string | null;
  /**
   * The end of what the process wrote to standard error: at most 16 KiB, lossy UTF-8. In it, as in the message,
   * the values of `CURSOR_API_KEY` and `CURSOR_AUTH_TOKEN` and what looks like a key or a token are masked.
   */
  readonly stderrTail?: string;
  /** What the turn had so far. */
  readonly partial?: CursorPromptResult;
}

/** The codes of {@link CursorError}. `CURSOR_ABORTED` comes with the `name` `AbortError`. */
export type CursorErrorCode =
  | "CURSOR_CWD_MISSING"
  | "CURSOR_NOT_FOUND"
  | "CURSOR_NOT_RUNNABLE"
  | "CURSOR_SPAWN_FAILED"
  | "CURSOR_FIRST_LINE_TIMEOUT"
  | "CURSOR_INACTIVITY_TIMEOUT"
  | "CURSOR_TOOL_TIMEOUT"
  | "CURSOR_ABORTED"
  | "CURSOR_AUTH_REQUIRED"
  | "CURSOR_KEYCHAIN_LOCKED"
  | "CURSOR_IDE_MISSING"
  | "CURSOR_USAGE_LIMIT"
  | "CURSOR_PLAN_RESTRICTED"
  | "CURSOR_CAPACITY"
  | "CURSOR_NETWORK"
  | "CURSOR_MODEL_UNAVAILABLE"
  | "CURSOR_WORKSPACE_UNTRUSTED"
  | "CURSOR_CONFIG_INVALID"
  | "CURSOR_REPORTED_ERROR"
  | "CURSOR_NO_RESULT"
  | "CURSOR_EXITED"
  | "CURSOR_INTERNAL";

/** How much is logged. */
export type LogLevel = "off" | "error" | "warn" | "info" | "debug" | "trace";

/** One log record. Never holds prompt text, tokens or environment values. */
export interface LogRecord {
  level: Exclude<LogLevel, "off">;
  /** The module, as in `fusion_cursor_native::turn`. */
  target: string;
  message: string;
  /** Those of the record and of the spans around it, as in `turn` and `pid`. */
  fields: Record<string, unknown>;
  /** Milliseconds since 1970. */
  time: number;
}

/**
 * *Sync.* Set how much is logged, and where to. Without a `sink`, records go to standard error as lines. The
 * sink never keeps Node from exiting, and never slows a turn: where it falls behind, records are dropped,
 * and the next one that arrives says how many in `fields.dropped`. `FUSION_CURSOR_LOG` sets the level at
 * load, as a level or as a list like `warn,fusion_cursor_native::process=trace`; off without it.
 */
export function setLogger(level: LogLevel, sink?: (record: LogRecord) => void): void;

/** *Sync.* What was loaded: the package version, the platform target, and the addon's file. */
export function nativeInfo(): { version: string; target: string; file: string };
