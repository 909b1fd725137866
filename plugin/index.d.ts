/**
 * Cursor as a plugin of Fusion: an agent runtime (`cursor`) and a CLI provider (`cursor-cli`), on the public surface of
 * `fusion-cursor-native` alone. Nothing of Fusion is needed at run time; the types here fit those of its plugin SDK and
 * of its engine by their shape.
 */

import type {
  CursorBinaryStatus,
  CursorProviderModels,
  CursorSession,
  CursorSessionToolError,
  ToolCallInfo,
  ToolLike,
} from "../index.js";

/** What Fusion gives a plugin: a part of its `PluginContext`. */
export interface CursorPluginContext {
  /**
   * Read anew for every session and every request, so that a change needs no restart.
   *
   * - `cursorCliBinaryPath`: the program to use, as `binaryPath` of `CursorProbeOptions`. Blank, or no string: what is
   *   found on this machine.
   * - `useCursorCli`: false where the provider was disabled. The host keeps it; it is only told again.
   */
  settings?: Readonly<Record<string, unknown>> | undefined;
  /** Told what a user may have to repair, and what was left out. */
  logger?: CursorPluginLogger | undefined;
}

/** A part of Fusion's `PluginLogger`. */
export interface CursorPluginLogger {
  warn(message: string, ...details: unknown[]): void;
  debug(message: string, ...details: unknown[]): void;
}

/** What a session is asked for: a part of the engine's `AgentRuntimeOptions`. What is not listed here is not read. */
export interface CursorRuntimeOptions {
  /** The task's worktree; an existing directory. */
  cwd: string;
  /** Goes before the first prompt. */
  systemPrompt?: string | undefined;
  /** `coding` may change files and run commands; everything else plans only. Default: `readonly`. */
  tools?: "coding" | "readonly" | undefined;
  /** The provider that `defaultModelId` is of. A model of any other than `cursor-cli` (or `cursor`) is no model of Cursor's: `auto` runs, with a warning. */
  defaultProvider?: string | undefined;
  /** The model, with or without `cursor-cli/`. Blank or absent: `auto`. */
  defaultModelId?: string | undefined;
  /** Names of skills that the model is to use. */
  skills?: readonly string[] | undefined;
  /** Its skills count where `skills` is absent. */
  runtimeContext?: { requestedSkillNames?: readonly string[] | undefined } | undefined;
  /**
   * Tools of the host that the model may call. Only these: a name that begins with `fn_` among the custom tools proves
   * nothing, so that those are never served.
   */
  fusionTools?: readonly ToolLike[] | undefined;
  /** The environment of the task. What differs from this process's is added to that of the turns. */
  taskEnv?: Readonly<Record<string, string | undefined>> | undefined;
  onText?: ((delta: string) => void | Promise<void>) | undefined;
  onThinking?: ((delta: string) => void | Promise<void>) | undefined;
  onToolStart?:
    | ((name: string, args?: Record<string, unknown>, info?: ToolCallInfo) => void | Promise<void>)
    | undefined;
  /** `isError` is true for every outcome but success. One of the four that throws or rejects ends the turn with that error. */
  onToolEnd?:
    | ((name: string, isError: boolean, result?: unknown, info?: ToolCallInfo) => void | Promise<void>)
    | undefined;
  /** Called when the session stands, and before anything of Cursor runs. Where it throws, the session is taken down again. */
  beforeSpawnSession?: (() => void | Promise<void>) | undefined;
}

/** What one prompt may be told. Anything else that Fusion passes is not read, but for `images`, which the CLI cannot take. */
export interface CursorRuntimePromptOptions {
  /** Aborts that turn alone. */
  signal?: AbortSignal | undefined;
}

/** A message of the conversation, in the shape that Fusion's engine reads. */
export interface CursorRuntimeMessage {
  role: "user" | "assistant";
  content: { type: "text"; text: string }[];
  /** Milliseconds since 1970. */
  timestamp: number;
  /** On the assistant's: how its turn ended. */
  stopReason?: "stop" | "error" | "aborted";
  /** On the assistant's: why it failed. */
  errorMessage?: string;
}

/** What {@link CursorRuntimeSession.subscribe} tells, in the shape that Fusion's engine reads. */
export type CursorRuntimeEvent =
  | { type: "agent_start" }
  | {
      type: "message_update";
      assistantMessageEvent: {
        type: "text_delta" | "thinking_delta";
        contentIndex: number;
        delta: string;
      };
    }
  | { type: "tool_execution_start"; toolCallId: string; toolName: string; args: Record<string, unknown> }
  | { type: "tool_execution_end"; toolCallId: string; toolName: string; isError: boolean; result: unknown }
  | { type: "message_end"; message: CursorRuntimeMessage }
  | { type: "agent_end"; messages: CursorRuntimeMessage[] };

/** What the session has used, in the shape that Fusion's engine reads. */
export interface CursorRuntimeStats {
  /** Empty before the first turn. */
  sessionId: string;
  userMessages: number;
  assistantMessages: number;
  totalMessages: number;
  /** Begun and ended tool calls. */
  toolCalls: number;
  toolResults: number;
  /** `total` is the sum of the four. */
  tokens: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
  /** Always 0: the CLI tells no price. */
  cost: 0;
}

/** An agent's conversation with Cursor, as Fusion's engine uses it. */
export interface CursorRuntimeSession
  extends Pick<CursorSession, "cwd" | "toolNames" | "usage" | "toolCalls" | "turns" | "disposed"> {
  /** Cursor's id of the conversation, as of `CursorSession`. */
  readonly sessionId: string | undefined;
  readonly model: { readonly provider: "cursor-cli"; readonly id: string; readonly name: string };
  /** Why the model cannot call the host's tools, in spite of `fusionTools`. */
  readonly fusionToolBridgeError: CursorSessionToolError | undefined;
  /** The prompts that were run and their answers, failed ones included. */
  readonly messages: CursorRuntimeMessage[];
  /** The same messages, and why the last turn failed, if it did. */
  readonly state: { readonly messages: CursorRuntimeMessage[]; errorMessage?: string };
  /**
   * Run a turn, when those before it are over. The callbacks of the session have its text and tool calls meanwhile.
   *
   * @throws {TypeError} as a rejection, for a prompt that is no string.
   * @throws {CursorError} as a rejection, as `prompt` of `CursorSession`.
   */
  prompt(text: string, options?: CursorRuntimePromptOptions | null): Promise<void>;
  /**
   * Hear of what happens; the returned function ends that. A listener that throws or rejects is logged and disturbs
   * nothing; nobody waits for one that is async.
   *
   * @throws {TypeError} for a listener that is no function.
   */
  subscribe(listener: (event: CursorRuntimeEvent) => void): () => void;
  /** Abort the turns that run or wait; resolves when they have settled. The session can be prompted again. */
  abort(): Promise<void>;
  /** {@link usage} and the counts. */
  getSessionStats(): CursorRuntimeStats;
  /** As of `CursorSession`. Nobody has to wait for it or catch what it rejects with, which is logged. */
  dispose(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Fusion's agent runtime `cursor`. */
export class CursorRuntimeAdapter {
  /** Without a context there are no settings and no log. */
  constructor(context?: CursorPluginContext);
  readonly id: "cursor";
  readonly name: string;
  /**
   * Open a session. It has no tools where they cannot be served, one of them being wrong included, and
   * `fusionToolBridgeError` then says why.
   *
   * @throws {TypeError} as a rejection, for any other wrong option.
   */
  createSession(
    options: CursorRuntimeOptions,
  ): Promise<{ session: CursorRuntimeSession; sessionFile: undefined }>;
  /**
   * `session.prompt`, with the same errors. There is no second try with another model: the host decides on that by the
   * error.
   */
  promptWithFallback(session: object, prompt: string, options?: unknown): Promise<void>;
  /** `cursor-cli/` and the model's id; `unknown model` for what is no session of Cursor's. */
  describeModel(session: object): string;
}

/** An answer of a route, as Fusion's `PluginRouteResponse`. */
export interface CursorRouteAnswer {
  status: number;
  body: Record<string, unknown>;
}

/** A route of the plugin, as Fusion's `PluginRouteDefinition`; below `/api/plugins/fusion-plugin-cursor-runtime`. */
export interface CursorPluginRoute {
  method: "GET" | "POST";
  path: string;
  description: string;
  handler(request: unknown, context: CursorPluginContext): Promise<CursorRouteAnswer>;
}

/** The provider `cursor-cli`, as Fusion's `CliProviderContribution`. */
export interface CursorCliProvider {
  providerId: "cursor-cli";
  displayName: string;
  binaryName: "cursor-agent";
  providerType: "cli";
  statusRoute: "/providers/cursor-cli/status";
  authRoute: "/auth/cursor-cli";
  onboarding: { title: string; description: string };
  settings: { sectionId: string; pluginSettingKeys: string[] };
  actions: {
    actionId: "enable" | "disable" | "test";
    label: string;
    actionType: "enable" | "disable" | "test";
    route: string;
    method: "GET" | "POST";
  }[];
  /** Find the CLI and ask for its login, as of `probeCursorBinary`, with the configured path. */
  probe(context: CursorPluginContext): Promise<CursorBinaryStatus>;
  /** Ask it for its models, as of `discoverCursorProviderModels`, with the configured path. */
  discoverModels(context: CursorPluginContext): Promise<CursorProviderModels>;
  runtime: { runtimeId: "cursor"; createAdapter(context: CursorPluginContext): CursorRuntimeAdapter };
}

/** The plugin, as Fusion's `FusionPlugin`. */
export interface CursorFusionPlugin {
  manifest: {
    id: "fusion-plugin-cursor-runtime";
    name: string;
    /** That of this package. */
    version: string;
    description: string;
    settingsSchema: Record<string, { type: "string"; label: string; description: string; group: string }>;
    runtime: { runtimeId: "cursor"; name: string; description: string; version: string };
  };
  /** The host's to change. */
  state: "installed" | "started" | "stopped" | "error";
  hooks: { onLoad(context: CursorPluginContext): void };
  routes: CursorPluginRoute[];
  runtime: {
    metadata: CursorFusionPlugin["manifest"]["runtime"];
    factory(context: CursorPluginContext): CursorRuntimeAdapter;
  };
  cliProviders: CursorCliProvider[];
}

/** The provider alone, as the plugin has it. */
export const cursorCliProvider: CursorCliProvider;

/**
 * The routes alone, as the plugin has them, for a host that serves them elsewhere.
 *
 * - `GET /providers/cursor-cli/status`: `{ binary, enabled, extension: null, ready }`, where `binary` is what the probe
 *   found and `ready` says that the provider is enabled and somebody is logged in.
 * - `POST /auth/cursor-cli` with `{ enabled, binaryPath? }`: may the provider be enabled? Yes is `{ enabled,
 *   restartRequired: false }` and, where it was asked to be enabled, `binary`; no is status 400 with `{ error }`. To be
 *   enabled, the program of `binaryPath`, or else of the settings, has to answer itself; without one, any that is found
 *   has to. Nothing is stored: that is the host's.
 */
export const cursorCliRoutes: CursorPluginRoute[];

/** The plugin; the default export too. */
export const plugin: CursorFusionPlugin;
export default plugin;
