// Generated from the TypeScript beside it by scripts/bundle.mjs; changes belong there.
"use strict";
var __defProp = Object.defineProperty;
var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __hasOwnProp = Object.prototype.hasOwnProperty;
var __export = (target2, all) => {
  for (var name in all)
    __defProp(target2, name, { get: all[name], enumerable: true });
};
var __copyProps = (to, from, except, desc) => {
  if (from && typeof from === "object" || typeof from === "function") {
    for (let key of __getOwnPropNames(from))
      if (!__hasOwnProp.call(to, key) && key !== except)
        __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
  }
  return to;
};
var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

// plugin/main.ts
var main_exports = {};
__export(main_exports, {
  CursorRuntimeAdapter: () => CursorRuntimeAdapter,
  cursorCliProvider: () => cursorCliProvider,
  cursorCliRoutes: () => cursorCliRoutes,
  default: () => main_default,
  plugin: () => plugin
});
module.exports = __toCommonJS(main_exports);
var import_fusion_cursor_native3 = require("fusion-cursor-native");

// plugin/adapter.ts
var import_fusion_cursor_native = require("fusion-cursor-native");

// plugin/listeners.ts
var Listeners = class {
  /** For the session; the subscribers hear of everything first. */
  callbacks;
  #log;
  #all = /* @__PURE__ */ new Set();
  constructor(options, log) {
    for (const name of ["onText", "onThinking", "onToolStart", "onToolEnd"]) {
      const given = options[name];
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
      }
    };
  }
  /** The same function twice is heard twice, and leaves once at a time. */
  add(hear) {
    if (typeof hear !== "function") throw new TypeError("listener must be a function");
    const entry = { hear };
    this.#all.add(entry);
    return () => void this.#all.delete(entry);
  }
  tell(event) {
    const failed = (error) => this.#log?.warn(`A listener of a Cursor session failed at ${event.type}:`, error);
    for (const { hear } of this.#all) {
      try {
        const heard = hear(event);
        if (heard !== void 0) Promise.resolve(heard).catch(failed);
      } catch (error) {
        failed(error);
      }
    }
  }
  #update(type, contentIndex, delta) {
    this.tell({ type: "message_update", assistantMessageEvent: { type, contentIndex, delta } });
  }
};

// plugin/settings.ts
var PROVIDER = "cursor-cli";
var RUNTIME = "cursor";
var BINARY_SETTING = "cursorCliBinaryPath";
function configuredBinary({ settings }) {
  return filled(settings?.[BINARY_SETTING]);
}
function filled(value) {
  return typeof value === "string" && value.trim() || void 0;
}

// plugin/session.ts
var RuntimeSession = class {
  model;
  messages = [];
  state = { messages: this.messages };
  #inner;
  #listeners;
  #log;
  #wrongTool;
  #turns = /* @__PURE__ */ new Set();
  /** Resolves when every turn so far has settled. */
  #last = Promise.resolve();
  constructor(inner, listeners, log, wrongTool) {
    this.#inner = inner;
    this.#listeners = listeners;
    this.#log = log;
    this.#wrongTool = wrongTool;
    this.model = { provider: PROVIDER, id: inner.model, name: inner.model };
  }
  get cwd() {
    return this.#inner.cwd;
  }
  get sessionId() {
    return this.#inner.sessionId;
  }
  get toolNames() {
    return this.#inner.toolNames;
  }
  get fusionToolBridgeError() {
    return this.#wrongTool ?? this.#inner.fusionToolBridgeError;
  }
  get usage() {
    return this.#inner.usage;
  }
  get toolCalls() {
    return this.#inner.toolCalls;
  }
  get turns() {
    return this.#inner.turns;
  }
  get disposed() {
    return this.#inner.disposed;
  }
  // Async, so that a wrong argument rejects as everything else does; the place in line is taken in this call all the same.
  async prompt(text, options) {
    const { signal } = options ?? {};
    const controller = new AbortController();
    const either = signal == null ? controller.signal : AbortSignal.any([controller.signal, signal]);
    const turn = this.#inner.prompt(text, { signal: either });
    this.#turns.add(controller);
    const followed = this.#follow(this.#last, turn, text, either).finally(
      () => this.#turns.delete(controller)
    );
    this.#last = Promise.allSettled([this.#last, followed]).then(() => {
    });
    return followed;
  }
  subscribe(listener) {
    return this.#listeners.add(listener);
  }
  async abort() {
    for (const controller of this.#turns) controller.abort();
    await this.#last;
  }
  getSessionStats() {
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
        total: inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens
      },
      cost: 0
    };
  }
  dispose() {
    const ended = this.#inner.dispose();
    ended.catch((error) => this.#log?.warn(`A Cursor session was not taken down: ${error.message}`));
    return ended;
  }
  [Symbol.asyncDispose]() {
    return this.dispose();
  }
  /** Keep the messages of a turn and tell of it, from when those before it are over. */
  async #follow(before, turn, text, called) {
    let asked;
    const begin = before.then(() => {
      if (called.aborted || this.disposed) return;
      asked = message("user", text);
      this.messages.push(asked);
      delete this.state.errorMessage;
      this.#listeners.tell({ type: "agent_start" });
    });
    const end = (said) => {
      if (asked === void 0) return;
      this.messages.push(said);
      if (said.errorMessage !== void 0) this.state.errorMessage = said.errorMessage;
      this.#listeners.tell({ type: "message_end", message: said });
      this.#listeners.tell({ type: "agent_end", messages: [asked, said] });
    };
    try {
      const { text: answer2 } = await turn;
      await begin;
      end({ ...message("assistant", answer2), stopReason: "stop" });
    } catch (error) {
      const known = error instanceof Error ? error : { message: String(error) };
      const { name, message: errorMessage = "", partial } = known;
      const stopReason = name === "AbortError" ? "aborted" : "error";
      end({ ...message("assistant", partial?.text ?? ""), stopReason, errorMessage });
      throw error;
    }
  }
};
function message(role, text) {
  return { role, content: text === "" ? [] : [{ type: "text", text }], timestamp: Date.now() };
}

// plugin/adapter.ts
var CursorRuntimeAdapter = class {
  id = RUNTIME;
  name = "Cursor CLI";
  #context;
  constructor(context = {}) {
    this.#context = context;
  }
  async createSession(options) {
    if (options === null || typeof options !== "object") {
      throw new TypeError("the options of createSession must be an object");
    }
    const { logger } = this.#context;
    const listeners = new Listeners(options, logger);
    const { inner, wrongTool } = await opened({ ...this.#asked(options), ...listeners.callbacks });
    const session = new RuntimeSession(inner, listeners, logger, wrongTool);
    try {
      const { fusionToolBridgeError: problem } = session;
      if (problem !== void 0) logger?.warn(`Cursor runs without the tools of Fusion: ${problem.detail}`);
      await options.beforeSpawnSession?.();
    } catch (error) {
      await session.dispose().catch(() => {
      });
      throw error;
    }
    return { session, sessionFile: void 0 };
  }
  async promptWithFallback(session, prompt, options) {
    if (!(session instanceof RuntimeSession)) {
      throw new TypeError("session must be one that createSession of the Cursor runtime gave");
    }
    const { images, signal } = options ?? {};
    if (Array.isArray(images) && images.length > 0) {
      this.#context.logger?.warn(`Cursor's CLI takes no images: ${images.length} left out`);
    }
    await session.prompt(prompt, { signal });
  }
  describeModel(session) {
    return session instanceof RuntimeSession ? `${PROVIDER}/${session.model.id}` : "unknown model";
  }
  /** The options of the engine in the words of this package. */
  #asked(options) {
    const { cwd, systemPrompt, tools, fusionTools } = options;
    const binary = configuredBinary(this.#context);
    const skills = options.skills ?? options.runtimeContext?.requestedSkillNames;
    const model = this.#model(options);
    return {
      cwd,
      env: differing(options.taskEnv ?? {}),
      ...systemPrompt === void 0 ? {} : { systemPrompt },
      ...tools === void 0 ? {} : { tools },
      ...fusionTools === void 0 ? {} : { fusionTools },
      ...binary === void 0 ? {} : { binary },
      ...skills === void 0 ? {} : { skills },
      ...model === void 0 ? {} : { defaultModelId: model }
    };
  }
  /** An agent that was given this runtime keeps the project's default model, which may be another provider's. */
  #model({ defaultProvider, defaultModelId }) {
    const model = filled(defaultModelId);
    const provider = filled(defaultProvider) ?? PROVIDER;
    const own = provider === PROVIDER || provider === RUNTIME || model?.startsWith(`${PROVIDER}/`);
    if (model === void 0 || own) return model;
    this.#context.logger?.warn(`${provider}/${model} is no model of Cursor's CLI: auto runs in its place`);
    return void 0;
  }
};
async function opened(options) {
  try {
    return { inner: await import_fusion_cursor_native.CursorSession.create(options) };
  } catch (error) {
    const { fusionTools, ...rest } = options;
    if (!(error instanceof TypeError) || fusionTools === void 0) throw error;
    const inner = await import_fusion_cursor_native.CursorSession.create(rest);
    return { inner, wrongTool: { reasonCode: "bridge-start-failed", detail: error.message } };
  }
}
function differing(env) {
  const own = process.env;
  return Object.fromEntries(
    Object.entries(env).flatMap(
      ([name, value]) => value === void 0 || value === own[name] ? [] : [[name, value]]
    )
  );
}

// plugin/provider.ts
var import_fusion_cursor_native2 = require("fusion-cursor-native");
var STATUS_ROUTE = "/providers/cursor-cli/status";
var AUTH_ROUTE = "/auth/cursor-cli";
var cursorCliProvider = {
  providerId: PROVIDER,
  displayName: "Cursor CLI",
  binaryName: "cursor-agent",
  providerType: "cli",
  statusRoute: STATUS_ROUTE,
  authRoute: AUTH_ROUTE,
  onboarding: {
    title: "Cursor CLI",
    description: "Run tasks with Cursor's models. Install the CLI from cursor.com/cli and run `cursor-agent login`."
  },
  settings: { sectionId: PROVIDER, pluginSettingKeys: [BINARY_SETTING] },
  actions: [
    { actionId: "enable", label: "Enable", actionType: "enable", route: AUTH_ROUTE, method: "POST" },
    { actionId: "disable", label: "Disable", actionType: "disable", route: AUTH_ROUTE, method: "POST" },
    { actionId: "test", label: "Test", actionType: "test", route: STATUS_ROUTE, method: "GET" }
  ],
  probe: (context) => (0, import_fusion_cursor_native2.probeCursorBinary)(binaryOf(context)),
  discoverModels: (context) => (0, import_fusion_cursor_native2.discoverCursorProviderModels)(binaryOf(context)),
  runtime: { runtimeId: RUNTIME, createAdapter: (context) => new CursorRuntimeAdapter(context) }
};
var cursorCliRoutes = [
  {
    method: "GET",
    path: STATUS_ROUTE,
    description: "Whether Cursor's CLI is here, and who is logged in.",
    async handler(_request, context) {
      const binary = await cursorCliProvider.probe(context);
      const enabled = context.settings?.useCursorCli !== false;
      return answer({ binary, enabled, extension: null, ready: enabled && binary.authenticated });
    }
  },
  {
    method: "POST",
    path: AUTH_ROUTE,
    description: "Whether the provider can be enabled or disabled.",
    async handler(request, context) {
      const { enabled, binaryPath } = bodyOf(request);
      if (typeof enabled !== "boolean") return refused("enabled must be true or false");
      if (binaryPath != null && typeof binaryPath !== "string") return refused("binaryPath must be a string");
      if (binaryPath?.includes("\0")) return refused("binaryPath must be a string without NUL characters");
      if (!enabled) return answer({ enabled, restartRequired: false });
      const path = binaryPath == null ? configuredBinary(context) : filled(binaryPath);
      const { binary, problem } = await tried(path);
      if (problem !== void 0) return refused(`Cursor CLI was not enabled: ${problem}`);
      return answer({ enabled, restartRequired: false, binary });
    }
  }
];
async function tried(path) {
  if (path === void 0) {
    const binary = await (0, import_fusion_cursor_native2.probeCursorBinary)();
    return { binary, ...binary.available ? {} : { problem: binary.reason ?? "no Cursor CLI was found" } };
  }
  const { ok, status, diagnostic } = await (0, import_fusion_cursor_native2.validateCursorBinaryPath)(path);
  return { binary: status, ...ok ? {} : { problem: diagnostic ?? `${path} does not answer` } };
}
function binaryOf(context) {
  const binaryPath = configuredBinary(context);
  return binaryPath === void 0 ? {} : { binaryPath };
}
function bodyOf(request) {
  return request?.body ?? {};
}
function answer(body) {
  return { status: 200, body };
}
function refused(error) {
  return { status: 400, body: { error } };
}

// plugin/main.ts
var { version, target } = (0, import_fusion_cursor_native3.nativeInfo)();
var runtime = {
  runtimeId: RUNTIME,
  name: "Cursor CLI",
  description: "Runs agents with Cursor's CLI, one supervised process per prompt.",
  // Fusion takes three numbers and nothing behind them.
  version: version.replace(/[-+].*$/, "")
};
var plugin = {
  manifest: {
    id: "fusion-plugin-cursor-runtime",
    name: "Cursor Runtime",
    version: runtime.version,
    description: "Cursor CLI as an agent runtime and a model provider.",
    settingsSchema: {
      [BINARY_SETTING]: {
        type: "string",
        label: "Cursor CLI path",
        description: "The program to run, as one path without quotes. Blank: cursor-agent or cursor, where they are found.",
        group: "Cursor CLI"
      }
    },
    runtime
  },
  state: "installed",
  hooks: {
    onLoad: ({ logger }) => logger?.debug(`fusion-cursor-native ${version} for ${target}`)
  },
  routes: cursorCliRoutes,
  runtime: { metadata: runtime, factory: (context) => new CursorRuntimeAdapter(context) },
  cliProviders: [cursorCliProvider]
};
var main_default = plugin;
// Annotate the CommonJS export names for ESM import in node:
0 && (module.exports = {
  CursorRuntimeAdapter,
  cursorCliProvider,
  cursorCliRoutes,
  plugin
});
