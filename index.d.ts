/// <reference lib="esnext.disposable" />
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
   * `signal.reason`, and the processes are ended behind it. Aborted before the call, nothing is started; aborted when
   * the turn has ended well and its processes are gone, it gives its result.
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
  /**
   * Time between SIGTERM and SIGKILL, in milliseconds. Default: 2000. On Windows nobody can be asked to end, and it
   * has no meaning.
   */
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
  /**
   * The key of this session's own MCP server, as {@link stageCursorMcpLease} took it. Cursor names MCP tools
   * `<server>-<tool>`; those of this server whose name begins with `fn_` have their bare name in `onToolStart`,
   * `onToolEnd` and the events. Every other tool keeps the name that Cursor gives it.
   */
  fusionServerKey?: string;
  /** New text of the answer. */
  onText?(text: string): unknown;
  /** New text of the model's thinking. */
  onThinking?(text: string): unknown;
  /** A tool call has begun. `name` is the MCP tool's own name where it is one. */
  onToolStart?(name: string, args?: Record<string, unknown>, info?: ToolCallInfo): unknown;
  /** A tool call has ended. `isError` is true for every outcome but success. */
  onToolEnd?(name: string, isError: boolean, result?: unknown, info?: ToolCallInfo): unknown;
  /**
   * Every event, in order, before the callbacks above see it.
   *
   * For all five callbacks: they run in stream order, never two at a time. One that throws or rejects ends
   * the turn with that error. One that returns a promise holds the stream until it settles; meanwhile the
   * process's output is read no further than a bounded buffer, so a slow consumer costs no memory. What else they
   * return does not matter.
   */
  onEvent?(event: CursorStreamEvent): unknown;
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
  /** The signal that ended the process, as in `SIGTERM`. None on Windows, where a process that is ended exits with 1. */
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

/** What is staged, and where. */
export interface CursorMcpLeaseOptions {
  /**
   * The folder that Cursor runs in: an existing one; a relative path is looked up from where Node is at the call, and
   * links on the way are followed. It may be a subfolder of a repository, a linked worktree, a submodule, or in no
   * repository at all.
   */
  worktreePath: string;
  /**
   * The key in `mcpServers`: `fusion-custom-tools-` and 1 to 200 characters that tell it from every other session,
   * such as a UUID; no control characters. Every key with that prefix is ours, whoever wrote it, and no other is.
   */
  serverKey: string;
  /**
   * What Cursor is to start. It is written as it stands, a token in `env` included, into a file that only its owner
   * can read, unless the operator's own file was wider. Nothing of it is in an error, a report or a log.
   */
  serverEntry: { command: string; args: string[]; env?: Record<string, string> };
  /** How long each lock is waited for, in milliseconds; finite and over 0. Default: 10 000, at most an hour. */
  lockTimeoutMs?: number;
  /**
   * Calls it off: the promise rejects at once with a {@link CursorError} of code `CURSOR_ABORTED` whose `cause` is
   * `signal.reason`, and what was done is taken back behind it; Node stays until it is. Aborted before the call,
   * nothing happens. Once there is a lease, the signal has no say any more.
   */
  signal?: AbortSignal;
}

/** A staged server, until it is disposed. */
export interface CursorMcpLease extends AsyncDisposable {
  readonly serverKey: string;
  /**
   * Beat now: renew the lease, and put back what a peer has dropped, the entry or the lines in the exclude file. It
   * beats by itself every 5 minutes, also while the event loop stands still. True: the server is in force. False: it
   * is not, as the lease is disposed, or the config is no JSON any more. Never rejects for what is on disk.
   */
  heartbeat(): Promise<boolean>;
  /**
   * Take the server out. With the last lease the operator's file comes back byte for byte, with its mode; where they
   * changed it in between, only our keys go. Once done it stays done, and calls at the same time share one outcome.
   *
   * @throws {CursorError} as a rejection, as of {@link stageCursorMcpLease}, where it could not be done. The lease is
   *   in force no more, and another call tries again; so does the exit of the process, and {@link reconcileCursorWorktree}.
   */
  dispose(): Promise<void>;
  /** {@link dispose}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Stage an MCP server in a worktree's `.cursor/mcp.json`: it is in the config when this resolves, and git neither
 * tracks nor shows what was written.
 *
 * The operator's bytes stay as they are around our entry: comments, trailing commas, line ends, byte order mark and
 * mode. Sessions of this process, of others and of the TypeScript plugin share a worktree; each sees only its own
 * entry come and go. A lease does not keep Node from exiting: it ends with `dispose`, with its worker, with the exit of
 * the process ({@link releaseHeldLeasesSync}), and where the process is killed, with the next session in that folder or
 * {@link reconcileCursorWorktree}.
 *
 * @throws {TypeError} synchronously, for a wrong option; nothing was touched.
 * @throws {CursorError} as a rejection: code `bridge-start-failed` with `reason`, `path` and the cure in the message;
 *   the worktree is then as it was. `CURSOR_ABORTED` for an aborted `signal`.
 */
export function stageCursorMcpLease(options: CursorMcpLeaseOptions): Promise<CursorMcpLease>;

/** Why a server was not staged, or could not be taken out. */
export type CursorStagingReason =
  /** Git tracks the config, the manifest or the lock: a commit would take the token. */
  | "tracked"
  /** The operator's config was no JSON in an earlier session, and still is not: it is left alone until it is mended. */
  | "quarantined"
  /** The operator's config is no JSON, even with comments and trailing commas allowed. */
  | "unparsable"
  /** Git would show our files all the same, as a `!` rule of the repository wants it. */
  | "not-ignored"
  /** Somebody held a lock for longer than `lockTimeoutMs`; the message names them. Retryable. */
  | "lock-timeout"
  /** A symbolic link lies in the place of one of our files or folders. */
  | "symlink"
  /** A folder, FIFO, device or socket lies in the place of a file, or a file in the place of a folder. */
  | "not-a-file"
  /** A file is larger than 8 MiB. */
  | "too-large"
  /** The config is UTF-16, or holds bytes that are no UTF-8. */
  | "not-utf8"
  /** `mcpServers`, or a key of ours in it, is in the config twice; or the `serverKey` is staged there already. */
  | "duplicate-keys"
  /** The top level of the config, or its `mcpServers`, is no object; or the manifest is of a version not known here. */
  | "unexpected-shape"
  /** A file or folder may not be read or written, or its file system is read-only. */
  | "read-only"
  /** Git could not be run, did not answer within 10 s, or would not say; the message has its words. */
  | "git-failed"
  /** Anything else that a disk does: it is full, it fails, the folder is gone. Retryable. */
  | "io";

/** How a worktree is looked at or put in order. */
export interface CursorWorktreeOptions {
  /** How long each lock is waited for, in milliseconds; finite and over 0. Default: 10 000, at most an hour. To inspect takes none. */
  lockTimeoutMs?: number;
  /**
   * The promise rejects at once with a {@link CursorError} of code `CURSOR_ABORTED`; what was begun is brought to its end
   * behind it, and Node stays until it is.
   */
  signal?: AbortSignal;
}

/** Something that is wrong with a worktree. */
export interface CursorWorktreeProblem {
  reason: CursorStagingReason;
  /** The file or folder that it is about. */
  path?: string;
  /** What is wrong, where, and the cure. */
  message: string;
  /** True where it may pass by itself. */
  retryable: boolean;
}

/** A config that is no JSON, and is left alone. */
export interface CursorQuarantine {
  /** When it was first seen so, as ISO 8601. */
  observedAt: string;
  /** Keys of ours that its text still seems to hold; their servers do not run any more. */
  fusionKeys: string[];
  /** What to do. */
  cure: string;
}

/** A lease as the manifest has it. What the server is started with is no part of it. */
export interface CursorLeaseReport {
  serverKey: string;
  /** Who holds it, and on which machine. */
  pid: number;
  hostname: string;
  /** The last beat, in milliseconds since 1970. */
  heartbeatAt: number;
  /** How long ago that was, in milliseconds; negative where it lies in the future. */
  ageMs: number;
  /**
   * `alive`: that very process runs; `dead`: it does not; `maybe-alive`: a process of that number runs, and nothing
   * tells whether it is the one; `unknown`: another machine or container.
   */
  owner: "alive" | "dead" | "maybe-alive" | "unknown";
  /** True where the next session keeps it; one that is not live is dropped. */
  live: boolean;
  /** Held by this process. */
  heldHere: boolean;
}

/** What lies in a worktree, as {@link inspectCursorWorktree} found it. */
export interface CursorWorktreeReport {
  /** Canonical where the folder exists. */
  worktreePath: string;
  /** True where it is a folder that can be opened. */
  exists: boolean;
  /** What git says of it. Paths are there for a `repository` only; `error` says why it is `unknown`. */
  git: {
    kind: "repository" | "non-git" | "unknown";
    /** The top of the working tree. */
    top?: string;
    gitDir?: string;
    /** What all worktrees of the repository share; the exclude file is `info/exclude` in it. */
    commonDir?: string;
    /** From the top to the folder, with a final `/`; empty at the top. */
    prefix?: string;
    error?: string;
  };
  /** Which of our paths git tracks, as git spells them. */
  tracked: string[];
  /** The marker block in the exclude file; `null` outside of a repository. */
  exclusion: {
    file: string;
    /** The file has the block. */
    present: boolean;
    /** The folders whose files it hides, from the top. */
    prefixes: string[];
    /** Git ignores our paths here. Absent where it was not asked, as nothing of ours lies here. */
    ignored?: boolean;
  } | null;
  /** `.cursor/mcp.json`. */
  config: {
    /** `ok`, `absent`, or why no server could be staged in it. */
    state: "ok" | "absent" | CursorStagingReason;
    /** Keys of ours in it. */
    fusionKeys: string[];
    /** Its permission bits. */
    mode?: number;
    /** What is wrong with it. */
    detail?: string;
  };
  /** `.cursor/.fusion-mcp-state.json`. `torn` is what a crash or a full disk leaves; it is replaced by the next session. */
  manifest: {
    state: "ok" | "absent" | "torn" | "unknown-version" | "unexpected-shape" | "unreadable";
    detail?: string;
  };
  leases: CursorLeaseReport[];
  /** A change of the config that was begun and not finished: by a session at work, or by one that crashed. */
  pending: { kind: "write" | "restore" | "delete" | "quarantine"; seq: number } | null;
  quarantine: CursorQuarantine | null;
  /** The operator changed the config while a lease was live. */
  operatorEditObserved: boolean;
  /** The lock directories that are there. `since` is in milliseconds since 1970; a stale one is taken over. */
  locks: { path: string; pid?: number; hostname?: string; since?: number; stale: boolean }[];
  /** What nobody uses any more, and {@link reconcileCursorWorktree} takes away. */
  residue: { path: string; what: string }[];
  /** What could not be read, or stands in the way of staging. */
  problems: CursorWorktreeProblem[];
}

/** What {@link reconcileCursorWorktree} did. */
export interface CursorReconcileReport {
  /** Canonical where the folder exists. */
  worktreePath: string;
  /** Nothing of ours is left but what live leases need, and nothing went wrong. A quarantine is not clean. */
  clean: boolean;
  /** In order; empty where there was nothing to do. */
  actions: {
    kind:
      | "journal-recovered"
      | "lease-dropped"
      | "config-restored"
      | "keys-removed"
      | "config-removed"
      | "config-written"
      | "manifest-removed"
      | "manifest-replaced"
      | "quarantined"
      | "quarantine-cleared"
      | "exclusion-added"
      | "exclusion-removed"
      | "lock-removed"
      | "folder-removed";
    path: string;
    /** A sentence. */
    detail: string;
  }[];
  /** What could not be done. */
  problems: CursorWorktreeProblem[];
  quarantine: CursorQuarantine | null;
  /** How many leases are in force. */
  leasesLeft: number;
}

/**
 * Put a worktree in order after a crash: finish the journal, drop leases of dead processes, give the operator's config
 * back, lift a quarantine that has passed, and take away what nobody uses. What live leases need stays. With nothing to
 * do it changes nothing.
 *
 * @throws {TypeError} synchronously, for a wrong argument.
 * @throws {CursorError} as a rejection, for an aborted `signal` or where the system has no thread left; never for what
 *   it finds on disk: that is in `problems`.
 */
export function reconcileCursorWorktree(
  worktreePath: string,
  options?: CursorWorktreeOptions,
): Promise<CursorReconcileReport>;

/**
 * Look at a worktree: leases, journal, quarantine, exclusion, residue, and what git tracks. Nothing is written and no
 * lock taken, so that a session at work may be seen in the middle of a step.
 *
 * @throws {TypeError} synchronously, for a wrong argument.
 * @throws {CursorError} as a rejection, for an aborted `signal` or where the system has no thread left; never for what
 *   it finds on disk: that is in `problems`.
 */
export function inspectCursorWorktree(
  worktreePath: string,
  options?: CursorWorktreeOptions,
): Promise<CursorWorktreeReport>;

/**
 * *Sync.* Give up the leases that this environment (the main thread or a worker) holds, in one worktree or in all: each
 * lock is tried once, never waited for and never taken over. For a host that ends, and called by the package itself
 * when the process exits, then for all of its environments. What could not be given up is left to the next session in
 * that folder or to {@link reconcileCursorWorktree}. Nothing is thrown for what is on disk.
 *
 * @throws {TypeError} for a wrong argument.
 */
export function releaseHeldLeasesSync(worktreePath?: string): void;

/**
 * *Sync*, and it runs git: the event loop stands still for some milliseconds, and for 10 s where git hangs. Whether git
 * tracks `.cursor/mcp.json` or another file of ours in a worktree, in which case nothing is staged there.
 *
 * @throws {TypeError} for a wrong argument.
 * @throws {CursorError} code `bridge-start-failed`, most often with `reason` `git-failed`, where nobody can say.
 */
export function classifyCursorConfigTracking(worktreePath: string): "tracked" | "untracked" | "non-git";

/** A tool of the host, as Fusion's tools are. */
export interface ToolLike {
  /** Published is a tool whose name begins with `fn_`. Not empty, and no other tool's. */
  name: string;
  /** Its title, for people. */
  label?: string;
  /** What it does, for the model. */
  description?: string;
  /**
   * A JSON schema of its arguments: a plain object of type `object`; `type` may be left out. Nothing is checked against
   * it here. Default: an object with any members.
   */
  parameters?: object;
  /** The same under MCP's name; `parameters` comes first. */
  inputSchema?: object;
  /**
   * What a call runs, with the tool as `this`; without it the tool is not published.
   *
   * It returns or resolves to a string; `{ content }`, a list of MCP content; `{ text }`; or anything that has JSON,
   * which is given as its text. `content` of the kinds `text`, `image`, `audio`, `resource` and `resource_link` is passed
   * on unchanged, other entries as their text; `structuredContent` and `isError: true` beside it are passed on too.
   * `undefined` is an empty text. What it throws, or rejects with, becomes an error result with the message, at most 4096
   * characters of it, and without the stack. A lone surrogate becomes U+FFFD.
   *
   * @param id the call's own id.
   * @param args the arguments, as the model gave them.
   * @param signal aborted once, when nobody waits for the result any more: the caller has cancelled or gone
   *   (`AbortError`), the time is up (`TimeoutError`), or the bridge was disposed (`AbortError`).
   * @param update takes what a tool tells of its progress; nothing is done with it, and it extends no limit.
   * @param context that of the options.
   */
  execute?(
    id: string,
    args: Record<string, unknown>,
    signal: AbortSignal,
    update: (...progress: unknown[]) => void,
    context: unknown,
  ): unknown;
}

/** How {@link startCursorToolBridge} serves. */
export interface CursorToolBridgeOptions {
  /**
   * How long one call may take, in milliseconds; finite and over 0. Over it the caller gets an error result and `signal`
   * is aborted; it is kept while the event loop stands still, too. Default: 600 000 (10 minutes), at most a day.
   */
  callTimeoutMs?: number;
  /** Given to every `execute`. */
  context?: unknown;
  /** The name that the server tells of itself. Default: `fusion-custom-tools`. */
  serverName?: string;
}

/** A bridge that is open. To print it does not show its token. */
export interface CursorToolBridge extends AsyncDisposable {
  /**
   * What {@link stageCursorMcpLease} is to stage. The same for the life of the bridge, so that Cursor's approval, which is
   * a hash over it, stays good. Its `env` holds the token.
   */
  readonly serverEntry: { command: string; args: string[]; env: Record<string, string> };
  /** What a caller has to show: 64 hexadecimal digits. A secret. */
  readonly token: string;
  /** How many tools are published. */
  readonly toolCount: number;
  /**
   * Close it: calls that run are answered with an error, their `signal` is aborted, and port and files are gone when
   * this resolves, within about 1 s. Twice is as good as once.
   */
  dispose(): Promise<void>;
  /** {@link dispose}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Serve tools of this host to the child that Cursor starts for an MCP server, over a port of 127.0.0.1 that takes
 * nothing without the bridge's token. Resolves to `null` where no tool is named `fn_*` and has an `execute` function:
 * others are left out. A name proves nothing, so pass only tools that the model may call.
 *
 * Calls run at the same time as each other, up to 64. A request may have 4 MiB, and a result 16 MiB as JSON; a larger one
 * becomes an error result that says so. A bridge does not keep Node from exiting, and ends with its worker and with the
 * process. Where the process is killed, its folder with the list of tools, which holds no token, is removed by the next
 * bridge that is opened.
 *
 * @throws {TypeError} synchronously, for a wrong option, an empty name, a name that two published tools have, or a
 *   schema that is no JSON object; nothing was opened.
 * @throws {CursorError} as a rejection: code `mcp-schema-server-missing` as of {@link cursorMcpSchemaServerPath};
 *   `bridge-start-failed` with `reason`, where the system gives no port or the folder of `os.tmpdir()` cannot be
 *   written to.
 */
export function startCursorToolBridge(
  tools: readonly ToolLike[],
  options?: CursorToolBridgeOptions,
): Promise<CursorToolBridge | null>;

/**
 * *Sync.* The file that Cursor starts, `mcp-schema-server.cjs`: it lies beside this package's `index.js`. A bundle that
 * has this package in it needs a copy of it, unchanged, beside the bundle.
 *
 * @throws {CursorError} code `mcp-schema-server-missing`, with `path`, where it is not there.
 */
export function cursorMcpSchemaServerPath(): string;

/**
 * What one agent's session is made of. What has no word here means what it means in {@link CursorPromptInput}, for every
 * turn; the environment of this process is taken as it is at `create`.
 */
export interface CursorSessionOptions
  extends Pick<
    CursorPromptInput,
    | "cwd"
    | "binary"
    | "tools"
    | "env"
    | "workspaceFlagRequired"
    | "firstLineTimeoutMs"
    | "inactivityTimeoutMs"
    | "toolTimeoutMs"
    | "exitGraceMs"
    | "killGraceMs"
    | "leftovers"
    | "maxLineBytes"
    | "onText"
    | "onThinking"
    | "onToolStart"
    | "onToolEnd"
    | "onEvent"
  > {
  /** Goes before the first prompt, as the CLI has no flag for it. Blank counts as absent. */
  systemPrompt?: string;
  /** The model of every turn, as in `model` of {@link CursorPromptInput}. Default: `auto`. */
  defaultModelId?: string;
  /** Names of skills that the model is to use; they go before the first prompt. A blank one counts as none. */
  skills?: readonly string[];
  /**
   * Tools of this host that the model may call, as of {@link startCursorToolBridge}. Where one is published, a bridge is
   * opened and staged in `.cursor/mcp.json` of `cwd` for the life of the session, and turns run with `--approve-mcps` as
   * long as it is in force: that flag approves the repository's own MCP servers too.
   */
  fusionTools?: readonly ToolLike[];
  /** How they are served. */
  toolBridge?: CursorToolBridgeOptions;
  /** Pass `--approve-mcps` in every turn, also without tools of this host: it approves **every** configured MCP server. Default: false. */
  approveMcps?: boolean;
  /** How long each lock of the worktree is waited for, in milliseconds; finite and over 0. Default: 10 000, at most an hour. */
  lockTimeoutMs?: number;
  /**
   * Go on with an earlier session: its `sessionId`, or that of a result. The CLI has its context already, so that none is
   * sent, the names of `fusionTools` included: the CLI lists them itself. It may not begin with `-`.
   */
  resumeId?: string;
  /**
   * Calls `create` off: it rejects at once with a {@link CursorError} of code `CURSOR_ABORTED` whose `cause` is
   * `signal.reason`, and what was done is taken back behind it. Once there is a session, the signal has no say any more.
   */
  signal?: AbortSignal;
}

/** Why a session has no tools. */
export interface CursorSessionToolError {
  reasonCode: "mcp-schema-server-missing" | "bridge-start-failed";
  /** What is wrong, where, and what to repair. */
  detail: string;
  /** As in {@link CursorError}, where the reason code is `bridge-start-failed`. */
  reason?: CursorStagingReason;
  /** The file or folder that it is about. */
  path?: string;
}

/** A turn as a stream of its events. */
export interface CursorSessionStream extends AsyncIterable<CursorStreamEvent> {
  /**
   * What {@link CursorSession.prompt} would have given. It rejects with the same error that the iteration throws, and
   * nobody has to catch both.
   *
   * Where it is read and nothing iterates when the first event comes, the events go by without being kept, and there is
   * nothing left to iterate.
   */
  readonly result: Promise<CursorPromptResult>;
  /**
   * Begin the iteration, which can be done once.
   *
   * An event is given out after the session's own callbacks saw it, and the next is not read before it is asked for, so
   * that a slow consumer costs no memory. To leave the loop (`break`, `return`, an error in it) stops the turn, and the
   * loop is left when its processes are gone; behind the `result` event there is nothing to stop, and the turn counts.
   *
   * @throws {TypeError} where it was begun before, or the events have gone by.
   */
  [Symbol.asyncIterator](): AsyncIterator<CursorStreamEvent>;
}

/**
 * An agent's conversation with Cursor in one folder: turns one after the other, each going on where the last one ended,
 * and this host's tools for as long as it lives.
 *
 * A session that is forgotten stays until its environment ends (the process, or its worker), like a lease; what it runs
 * and what it staged ends then.
 */
export class CursorSession implements AsyncDisposable {
  private constructor();
  /**
   * Put the worktree in order after a crash, as of {@link reconcileCursorWorktree}, and, where there are tools, open
   * their bridge and stage it.
   *
   * Nothing of that fails the session: where tools cannot be served it has none, what was begun is taken down, and
   * {@link fusionToolBridgeError} says why. A `cwd` that is not there is an error of the turns.
   *
   * @throws {TypeError} synchronously, for a wrong option; nothing was touched.
   * @throws {CursorError} as a rejection, for an aborted `signal` or where the system has no thread left.
   */
  static create(options: CursorSessionOptions): Promise<CursorSession>;
  /** The folder, as it was passed. */
  readonly cwd: string;
  /** The model's id without `cursor-cli/`; `auto` where none was passed. */
  readonly model: string;
  /**
   * Cursor's id of the conversation, which the next turn goes on with: as soon as the CLI has told it, and that of before
   * again where the turn fails.
   */
  readonly sessionId?: string;
  /** The names of this session's tools as Cursor shows them to the model, `<server>-<tool>`. Empty where none were staged. */
  readonly toolNames: readonly string[];
  /**
   * Why there are no tools, in spite of `fusionTools`. Where they were staged it is asked before every turn, and gone again
   * when what it tells of is repaired; where they were not, it stays, and a new session has them after the repair.
   */
  readonly fusionToolBridgeError?: CursorSessionToolError;
  /** Tokens of all turns that told any, failed ones included. */
  readonly usage: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly cacheReadTokens: number;
    readonly cacheWriteTokens: number;
  };
  /** The tool calls of all turns, failed ones included. */
  readonly toolCalls: Readonly<CursorPromptResult["toolCalls"]>;
  /** How many turns ended well. */
  readonly turns: number;
  /** True as soon as {@link dispose} was called. */
  readonly disposed: boolean;
  /**
   * Run a turn as {@link launchCursorPrompt} does, when those before it are over: one at a time, in the order of the
   * calls. A turn that fails does not fail those that wait.
   *
   * The first is sent behind the system prompt, what the model may do (`tools`), the skills and the names of the tools;
   * every later one goes alone, and resumes the conversation. Where the first fails, the next is the first.
   *
   * An aborted `signal` rejects it at once with code `CURSOR_ABORTED`. One that waits leaves the line, and nothing is
   * started; one that runs is ended behind the rejection, and the next starts when its processes are gone. One that has
   * ended well by then gives its result: the next may have gone on with it.
   *
   * A callback or tool of this session, or a loop over a stream of it, that waits for another turn of it waits for ever:
   * that turn is behind its own.
   *
   * @throws {TypeError} synchronously, for a wrong argument.
   * @throws {CursorError} as a rejection, for everything else: as of {@link launchCursorPrompt}, or code
   *   `CURSOR_SESSION_DISPOSED`.
   */
  prompt(text: string, options?: CursorTurnOptions): Promise<CursorPromptResult>;
  /**
   * The same as a stream of events. The turn takes its place in line at the call, and runs no further than its first
   * event until somebody iterates it or reads its `result`; so do not forget it, or those behind it wait for `dispose`.
   *
   * @throws {TypeError} synchronously, for a wrong argument.
   */
  stream(text: string, options?: CursorTurnOptions): CursorSessionStream;
  /**
   * End it: the turn that runs is aborted and rejects with code `CURSOR_ABORTED`; those that wait, and later calls,
   * reject with `CURSOR_SESSION_DISPOSED`; the tools' `signal` is aborted, and their lease and bridge go. It resolves when
   * all of that is gone, processes and files. It can be called twice, at any moment, also in a callback or a tool.
   *
   * @throws {CursorError} as a rejection, as of `dispose` of {@link CursorMcpLease}, where the lease could not be taken
   *   out; everything else is gone then, and another call tries again.
   */
  dispose(): Promise<void>;
  /** {@link dispose}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** What one turn of a session may be told. */
export interface CursorTurnOptions {
  /** Aborts that turn alone. Aborted before the call, the turn takes no place in line. */
  signal?: AbortSignal;
}

/** Every failure but that of a wrong argument. */
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
  /** Why, where the code is `bridge-start-failed`. */
  readonly reason?: CursorStagingReason;
  /** The file or folder that the reason is about. */
  readonly path?: string;
}

/**
 * The codes of {@link CursorError}. `CURSOR_ABORTED` comes with the `name` `AbortError`; `CURSOR_SESSION_DISPOSED` says
 * that the session ended before the turn began. `CURSOR_ADDON_UNAVAILABLE` is thrown by `import` and `require`, as the
 * package cannot be loaded; that error has the fields of a {@link CursorError}, but no class to compare it with.
 */
export type CursorErrorCode =
  | "CURSOR_CWD_MISSING"
  | "CURSOR_NOT_FOUND"
  | "CURSOR_NOT_RUNNABLE"
  | "CURSOR_SPAWN_FAILED"
  | "CURSOR_LAUNCHER_UNSUPPORTED"
  | "CURSOR_UNSAFE_TOKEN"
  | "CURSOR_COMMAND_TOO_LONG"
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
  | "CURSOR_SESSION_DISPOSED"
  | "CURSOR_ADDON_UNAVAILABLE"
  | "CURSOR_INTERNAL"
  | "bridge-start-failed"
  | "mcp-schema-server-missing";

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
