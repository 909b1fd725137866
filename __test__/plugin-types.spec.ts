/** The types of the plugin held against those that Fusion has, as far as it uses them, written out by hand. */

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import plugin, {
  type CursorFusionPlugin,
  type CursorPluginContext,
  CursorRuntimeAdapter,
  type CursorRuntimeEvent,
  type CursorRuntimeOptions,
  type CursorRuntimeSession,
  cursorCliProvider,
  cursorCliRoutes,
  plugin as named,
} from "fusion-cursor-native/plugin";
import { expect, test } from "vitest";

type Log = (message: string, ...args: unknown[]) => void;

interface PluginContext {
  pluginId: string;
  taskStore: { getTask(id: string): Promise<unknown> };
  settings: Record<string, unknown>;
  logger: { info: Log; warn: Log; error: Log; debug: Log };
  emitEvent: (event: string, data: unknown) => void;
  createAiSession?: (options: { cwd: string; systemPrompt: string }) => Promise<unknown>;
}

interface RuntimeMetadata {
  runtimeId: string;
  name: string;
  description?: string;
  version?: string;
}

interface CliProviderContribution {
  providerId: string;
  displayName: string;
  binaryName: string;
  providerType: "cli" | "oauth" | "api_key" | "custom";
  statusRoute: string;
  authRoute: string;
  onboarding?: { title?: string; description?: string };
  settings?: { sectionId?: string; pluginSettingKeys?: string[] };
  actions?: {
    actionId: string;
    label: string;
    actionType: "enable" | "disable" | "test" | "open-url" | "custom";
    route?: string;
    method?: "GET" | "POST";
  }[];
  probe?: (context: PluginContext) => Promise<{
    available: boolean;
    authenticated?: boolean;
    binaryPath?: string;
    binaryName?: string;
    version?: string;
    reason?: string;
    hostReady?: boolean;
    pluginReady?: boolean;
  }>;
  discoverModels?: (context: PluginContext) => Promise<{
    models: { id: string; label?: string; metadata?: Record<string, unknown> }[];
    source: string;
    fallbackUsed: boolean;
    reason?: string;
  }>;
  runtime?: { runtimeId?: string; createAdapter?: (context: PluginContext) => Promise<unknown> | unknown };
}

interface FusionPlugin {
  manifest: {
    id: string;
    name: string;
    version: string;
    description?: string;
    dependencies?: string[];
    settingsSchema?: Record<
      string,
      {
        type: "string" | "number" | "boolean" | "enum" | "password" | "array";
        label?: string;
        description?: string;
        defaultValue?: unknown;
        required?: boolean;
        group?: string;
      }
    >;
    runtime?: RuntimeMetadata;
  };
  state: "installed" | "started" | "stopped" | "error";
  hooks: {
    onLoad?: (context: PluginContext) => Promise<void> | void;
    onUnload?: (context: PluginContext) => Promise<void> | void;
    onTaskCreated?: (task: object, context: PluginContext) => Promise<void> | void;
  };
  tools?: object[];
  routes?: {
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
    path: string;
    handler: (request: unknown, context: PluginContext) => Promise<unknown>;
    description?: string;
  }[];
  runtime?: { metadata: RuntimeMetadata; factory: (context: PluginContext) => Promise<unknown> | unknown };
  cliProviders?: CliProviderContribution[];
}

interface ToolDefinition {
  name: string;
  label: string;
  description: string;
  parameters: { [schema: symbol]: string; type?: string };
  execute(
    toolCallId: string,
    params: { a: number },
    signal: AbortSignal | undefined,
    onUpdate: ((partial: { content: unknown[]; details: unknown }) => void) | undefined,
    context: { cwd: string },
  ): Promise<{
    content: ({ type: "text"; text: string } | { type: "image"; data: string })[];
    details: unknown;
  }>;
}

interface AgentRuntimeOptions {
  cwd: string;
  systemPrompt: string;
  sessionPurpose?: string;
  tools?: "coding" | "readonly";
  customTools?: ToolDefinition[];
  fusionTools?: ToolDefinition[];
  onText?: (delta: string) => void;
  onThinking?: (delta: string) => void;
  onToolStart?: (name: string, args?: Record<string, unknown>) => void;
  onToolEnd?: (name: string, isError: boolean, result?: unknown) => void;
  defaultProvider?: string;
  defaultModelId?: string;
  fallbackProvider?: string;
  skills?: string[];
  skillSelection?: { projectRootDir: string; requestedSkillNames?: string[] };
  runtimeContext?: {
    sessionPurpose?: string;
    toolMode?: "coding" | "readonly";
    requestedSkillNames?: string[];
  };
  taskEnv?: NodeJS.ProcessEnv;
  beforeSpawnSession?: () => Promise<void> | void;
  taskId?: string;
}

/** What the engine reads of a session, wherever it came from. */
interface AgentSession {
  prompt(text: string): Promise<void>;
  subscribe(handler: (event: AgentEvent) => void): () => void;
  state: { messages: { role: string; content?: unknown }[]; errorMessage?: string };
  messages: unknown[];
  model?: { provider?: string; id?: string };
  sessionId?: string | undefined;
  getSessionStats?: () => {
    tokens?: { input?: number; output?: number; cacheRead?: number; cacheWrite?: number; total?: number };
  };
  fusionToolBridgeError?: { reasonCode?: unknown } | undefined;
  abort?(): Promise<void>;
  dispose(): Promise<void> | void;
}

type AgentEvent =
  | { type: "agent_start" }
  | { type: "agent_end"; messages: unknown[] }
  | {
      type: "message_end";
      message: { role: string; content?: unknown; stopReason?: string; errorMessage?: string };
    }
  | { type: "message_update"; assistantMessageEvent: { type: string; contentIndex: number; delta: string } }
  | { type: "tool_execution_start"; toolCallId: string; toolName: string; args: unknown }
  | { type: "tool_execution_end"; toolCallId: string; toolName: string; result: unknown; isError: boolean };

// biome-ignore lint/suspicious/noConfusingVoidType: as Fusion writes it
type Prompted = void | { stopReason?: string };

interface AgentRuntime {
  readonly id: string;
  readonly name: string;
  createSession(
    options: AgentRuntimeOptions,
  ): Promise<{ session: AgentSession; sessionFile?: string | undefined }>;
  promptWithFallback(session: AgentSession, prompt: string, options?: unknown): Promise<Prompted>;
  describeModel(session: AgentSession): string;
}

/** Compiles where a value of the first type can stand for one of the second. */
function fits<From extends To, To>(): [From, To] | undefined {
  return undefined;
}

test("Fusion takes the plugin for one of its own", () => {
  const registered: FusionPlugin = plugin;
  const provider: CliProviderContribution = cursorCliProvider;
  const routes: FusionPlugin["routes"] = cursorCliRoutes;
  const runtime: AgentRuntime = new CursorRuntimeAdapter();
  expect([registered, registered.cliProviders?.[0], registered.routes]).toEqual([named, provider, routes]);
  expect(runtime).toBeInstanceOf(CursorRuntimeAdapter);
  // The loader writes it.
  registered.state = "started";
  registered.state = "installed";
});

test("what Fusion passes is what the plugin takes, and what it is given is what it reads", () => {
  fits<PluginContext, CursorPluginContext>();
  fits<AgentRuntimeOptions, CursorRuntimeOptions>();
  fits<CursorRuntimeSession, AgentSession>();
  fits<CursorRuntimeEvent, AgentEvent>();
  fits<CursorFusionPlugin, FusionPlugin>();
});

test("what fits nothing does not compile", () => {
  const wrong = [
    // @ts-expect-error: a session has a folder
    () => new CursorRuntimeAdapter().createSession({}),
    // @ts-expect-error: there are two kinds of tools
    () => new CursorRuntimeAdapter().createSession({ cwd: "/", tools: "all" }),
    // @ts-expect-error: a context is no list of settings
    () => new CursorRuntimeAdapter(7),
    // @ts-expect-error: a prompt is a string
    () => new CursorRuntimeAdapter().promptWithFallback({}, 7),
  ];
  expect(wrong).toHaveLength(4);
});

// Fusion is compiled as Node resolves modules, not as bundlers do, where default exports of CommonJS differ.
test.each(["mts", "cts"])("a consumer in .%s compiles as Node resolves it", (ending) => {
  const root = join(__dirname, "..");
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023", "--types", "node"];
  const file = join("__test__", "support", `plugin-consumer.${ending}`);
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const run = (): string =>
    execFileSync(process.execPath, [tsc, "--ignoreConfig", ...options, file], {
      cwd: root,
      encoding: "utf8",
    });
  expect(run()).toBe("");
});
