// Generated from lib/ by scripts/bundle.mjs; changes belong there.
"use strict";
var __create = Object.create;
var __defProp = Object.defineProperty;
var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __getProtoOf = Object.getPrototypeOf;
var __hasOwnProp = Object.prototype.hasOwnProperty;
var __export = (target, all) => {
  for (var name in all)
    __defProp(target, name, { get: all[name], enumerable: true });
};
var __copyProps = (to, from, except, desc) => {
  if (from && typeof from === "object" || typeof from === "function") {
    for (let key of __getOwnPropNames(from))
      if (!__hasOwnProp.call(to, key) && key !== except)
        __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
  }
  return to;
};
var __toESM = (mod, isNodeMode, target) => (target = mod != null ? __create(__getProtoOf(mod)) : {}, __copyProps(
  // If the importer is in node compatibility mode or this is not an ESM
  // file that has been converted to a CommonJS file using a Babel-
  // compatible transform (i.e. "__esModule" has not been set), then set
  // "default" to the CommonJS "module.exports" for node compatibility.
  isNodeMode || !mod || !mod.__esModule ? __defProp(target, "default", { value: mod, enumerable: true }) : target,
  mod
));
var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

// lib/index.ts
var index_exports = {};
__export(index_exports, {
  CursorError: () => CursorError,
  CursorSession: () => CursorSession,
  CursorStreamParser: () => CursorStreamParser,
  classifyCursorConfigTracking: () => classifyCursorConfigTracking,
  cursorMcpSchemaServerPath: () => cursorMcpSchemaServerPath,
  discoverCursorModels: () => discoverCursorModels,
  discoverCursorProviderModels: () => discoverCursorProviderModels,
  inspectCursorWorktree: () => inspectCursorWorktree,
  launchCursorPrompt: () => launchCursorPrompt,
  nativeInfo: () => nativeInfo,
  parseCursorAuthStatus: () => parseCursorAuthStatus,
  parseCursorModels: () => parseCursorModels,
  parseCursorStreamLine: () => parseCursorStreamLine,
  probeCursorBinary: () => probeCursorBinary,
  reconcileCursorWorktree: () => reconcileCursorWorktree,
  releaseHeldLeasesSync: () => releaseHeldLeasesSync,
  setLogger: () => setLogger,
  stageCursorMcpLease: () => stageCursorMcpLease,
  startCursorToolBridge: () => startCursorToolBridge,
  validateCursorBinaryPath: () => validateCursorBinaryPath
});
module.exports = __toCommonJS(index_exports);

// lib/bridge.ts
var import_node_fs = require("node:fs");
var import_node_path = require("node:path");

// lib/errors.ts
var CursorError = class extends Error {
  constructor(message, { cause, ...fields }) {
    super(message, cause === void 0 ? void 0 : { cause });
    Object.assign(this, fields);
    hide(this, "name", fields.code === "CURSOR_ABORTED" ? "AbortError" : "CursorError");
  }
};
function hide(error, key, value) {
  Object.defineProperty(error, key, { value, configurable: true, writable: true });
}
function aborted(signal2, fields = {}) {
  return new CursorError("Cursor CLI aborted", {
    code: "CURSOR_ABORTED",
    retryable: false,
    cause: signal2.reason,
    ...fields
  });
}
function notStaged({ code, message, reason, path: path2, retryable }) {
  return new CursorError(message, {
    code,
    retryable,
    reason,
    ...path2 == null ? {} : { path: path2 }
  });
}
function internal(error) {
  return new CursorError(error.message, { code: "CURSOR_INTERNAL", retryable: false, cause: error });
}
function noRoom(error, target = "cursor-agent") {
  const { code, message } = error;
  if (code !== "QueueFull") return void 0;
  return new CursorError(`Cursor CLI spawn failed for ${target}: ${message}`, {
    code: "CURSOR_SPAWN_FAILED",
    retryable: true,
    cause: error
  });
}

// lib/runtime.ts
var import_node_worker_threads = require("node:worker_threads");
var { Deno: deno } = globalThis;
var isHost = import_node_worker_threads.isMainThread && !("WorkerGlobalScope" in globalThis);
var endsUnheard = deno !== void 0;
function runner(script) {
  const command = process.execPath;
  if (isCompiled()) {
    throw new CursorError(
      `${command} is compiled from a script, and cannot run ${script}, which Cursor starts to call tools of this host; run the host with node, bun or deno, or do without tools`,
      { code: "mcp-schema-server-missing", retryable: false, path: command }
    );
  }
  if (deno !== void 0) {
    const flags = ["run", "--allow-all", "--no-config", "--no-lock", "--quiet"];
    return { command, flags, env: ["DENO_NO_PACKAGE_JSON", "1", "DENO_NO_UPDATE_CHECK", "1"] };
  }
  if ("bun" in process.versions) return { command, flags: [], env: ["BUN_BE_BUN", "1"] };
  if ("electron" in process.versions) return { command, flags: [], env: ["ELECTRON_RUN_AS_NODE", "1"] };
  return { command, flags: [], env: [] };
}
function isCompiled() {
  if (deno !== void 0) return deno.build.standalone === true;
  if ("bun" in process.versions || "electron" in process.versions) return false;
  const { isSea } = require("node:sea");
  return isSea();
}

// lib/scope.ts
var import_native = __toESM(require("./native.js"));
var scope = import_native.default.openScope(isHost, !isHost || endsUnheard);
process.once("exit", end);
if (endsUnheard) globalThis.addEventListener("unload", end, { once: true });
function end() {
  import_native.default.endScope(scope, isHost);
}

// lib/tool-result.ts
var MESSAGE_LIMIT = 4096;
function outcome(value) {
  if (value instanceof Error) return failed(value);
  const { content, text, isError, structuredContent } = typeof value === "object" && value !== null ? value : {};
  const answer = {
    content: contentOf(value, content, text),
    isError: isError === true,
    ...isRecord(structuredContent) && isItsOwnJson(structuredContent) ? { structuredContent } : {}
  };
  return wellFormed(json(answer) ?? "");
}
function json(value) {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError) || !/string length/i.test(error.message)) throw error;
    throw new RangeError("The result of the tool is longer than any text can be. Return less of it.");
  }
}
function isItsOwnJson(value) {
  return typeof value.toJSON !== "function";
}
function failed(error) {
  let text = messageOf(error);
  if (text.length > MESSAGE_LIMIT) text = `${text.slice(0, MESSAGE_LIMIT)}…`;
  return wellFormed(JSON.stringify({ content: [{ type: "text", text }], isError: true }));
}
function messageOf(error) {
  try {
    const { message } = Object(error);
    const text = typeof message === "string" && message !== "" ? message : String(error);
    return text === "" ? "The tool failed, and did not say why." : text;
  } catch {
    return "The tool failed, and what it threw cannot be read.";
  }
}
function contentOf(value, content, text) {
  if (Array.isArray(content)) return Array.from(content, entry);
  if (typeof text === "string") return [{ type: "text", text }];
  return [{ type: "text", text: asText(value) }];
}
function entry(value) {
  return isKnown(value) ? value : { type: "text", text: asText(value) };
}
function isKnown(value) {
  if (!isRecord(value) || !isItsOwnJson(value)) return false;
  const { type, text, data, mimeType, resource, uri, name } = value;
  switch (type) {
    case "text":
      return typeof text === "string";
    case "image":
    case "audio":
      return typeof data === "string" && typeof mimeType === "string";
    case "resource":
      return isRecord(resource) && typeof resource.uri === "string" && (typeof resource.text === "string" || typeof resource.blob === "string");
    case "resource_link":
      return typeof uri === "string" && typeof name === "string";
    default:
      return false;
  }
}
function asText(value) {
  if (typeof value === "string") return value;
  if (value === void 0) return "";
  const text = json(value);
  if (text === void 0) throw new TypeError(`The tool returned a ${typeof value}, which has no JSON.`);
  return wellFormed(text);
}
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
function wellFormed(json2) {
  if (!json2.includes("\\ud")) return json2;
  return json2.replace(/\\\\|\\ud[89a-f][0-9a-f]{2}/g, (found) => found === "\\\\" ? found : "�");
}

// lib/tools.ts
var import_node_os = require("node:os");

// lib/validate.ts
var import_types = require("node:util/types");
function describe(value) {
  if (value === null) return "null";
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return Array.isArray(value) ? "an array" : `a value of type ${typeof value}`;
}
function fail(name, expected, value) {
  throw new TypeError(`${name} must be ${expected}, not ${describe(value)}`);
}
function refuse(name, expected) {
  throw new TypeError(`${name} must be ${expected}`);
}
function withoutNul(name, value) {
  if (value.includes("\0")) fail(name, "a string without NUL characters", value);
  return value;
}
function string(name, value) {
  return typeof value === "string" ? value : fail(name, "a string", value);
}
function word(name, value) {
  const text = withoutNul(name, string(name, value));
  return text.trim() === "" ? fail(name, "a string that is not blank", value) : text;
}
function perhapsBlank(name, value) {
  return withoutNul(name, string(name, value));
}
function argument(name, value) {
  const text = word(name, value);
  return text.trim().startsWith("-") ? fail(name, "a string that does not begin with -", value) : text;
}
function modelId(name, value) {
  const text = argument(name, value);
  const bare2 = text.trim().replace(/^cursor-cli\//, "");
  return bare2.trim().startsWith("-") ? fail(name, "an id that does not begin with -", value) : text;
}
function wellFormed2(name, text) {
  return text.isWellFormed() ? text : refuse(name, "a string without lone surrogates");
}
function path(name, value) {
  return wellFormed2(name, word(name, value));
}
var SERVER_KEY = /^fusion-custom-tools-[^\p{Cc}\p{Zl}\p{Zp}]{1,200}$/u;
function serverKey(name, value) {
  return SERVER_KEY.test(string(name, value)) && value.isWellFormed() ? value : fail(name, '"fusion-custom-tools-" and 1 to 200 characters, none of them a control character', value);
}
function serverEntry(name, value) {
  const { command, args, env } = object(name, value);
  if (!Array.isArray(args)) refuse(`${name}.args`, "an array of strings");
  return {
    command: secret(`${name}.command`, command, "a string that is not blank"),
    // Not by `map`, which passes over holes.
    args: Array.from(args, (arg, index) => secret(`${name}.args[${index}]`, arg)),
    env: optional(env, (env2) => {
      const flat = environment(`${name}.env`, env2);
      for (const text of flat) wellFormed2(`each name and value in ${name}.env`, text);
      return flat;
    })
  };
}
function secret(name, value, expected = "a string") {
  if (typeof value !== "string") refuse(name, `${expected}, not of type ${typeof value}`);
  if (expected !== "a string" && value.trim() === "") refuse(name, expected);
  if (value.includes("\0")) refuse(name, "a string without NUL characters");
  return wellFormed2(name, value);
}
function timeout(name, value) {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : fail(name, "a finite number of milliseconds over 0", value);
}
function optional(value, check) {
  return value === void 0 || value === null ? void 0 : check(value);
}
function flag(name, value) {
  return typeof value === "boolean" ? value : fail(name, "true or false", value);
}
function callback(name, value) {
  return typeof value === "function" ? value : fail(name, "a function", value);
}
function oneOf(name, allowed, value) {
  return allowed.includes(value) ? value : fail(name, `one of ${allowed.map((one) => JSON.stringify(one)).join(", ")}`, value);
}
function limit(name, value) {
  return typeof value === "number" ? value : fail(name, "a number of milliseconds", value);
}
function wait(name, value) {
  return typeof value === "number" && value >= 0 ? value : fail(name, "a number of milliseconds from 0", value);
}
function lineLimit(name, value) {
  const most = import_native.default.mostLineBytes();
  return Number.isInteger(value) && value >= 1 && value <= most ? value : fail(name, `a whole number of bytes from 1 to ${most}`, value);
}
function bytes(name, value, expected = "a Uint8Array") {
  return (0, import_types.isUint8Array)(value) ? value : fail(name, expected, value);
}
function abortSignal(name, value) {
  const given = value;
  const isOne = typeof given?.aborted === "boolean" && typeof given.addEventListener === "function";
  return isOne ? given : fail(name, "an AbortSignal", value);
}
function environment(name, value) {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    fail(name, "an object of strings", value);
  const flat = [];
  for (const [key, one] of Object.entries(value)) {
    if (one === void 0) continue;
    if (!isVariable(key)) {
      fail(`a name in ${name}`, "a string without = and NUL that is not empty", key);
    }
    if (typeof one !== "string") refuse(`${name}.${key}`, `a string, not of type ${typeof one}`);
    if (one.includes("\0")) refuse(`${name}.${key}`, "a string without NUL characters");
    flat.push(key, one);
  }
  return flat;
}
function inherited(from) {
  const flat = [];
  for (const [key, value] of Object.entries(from)) {
    if (value !== void 0 && isVariable(key) && !value.includes("\0")) flat.push(key, value);
  }
  return flat;
}
function isVariable(name) {
  return name !== "" && !name.includes("=") && !name.includes("\0");
}
function object(name, value) {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : fail(name, "an object", value);
}

// lib/tools.ts
var CALL_TIMEOUT_MS = 6e5;
function checked(tools, options, [list, settings] = ["tools", "the options of startCursorToolBridge"]) {
  if (!Array.isArray(tools)) fail(list, "an array of tools", tools);
  const given = object(settings, options);
  const callTimeoutMs = optional(given.callTimeoutMs, (value) => timeout("callTimeoutMs", value));
  const serverName = optional(given.serverName, (value) => word("serverName", value));
  const published = /* @__PURE__ */ new Map();
  const described = [];
  for (const [index, tool] of Array.from(tools).entries()) {
    const { name, run } = named(`${list}[${index}]`, tool);
    if (run === void 0) continue;
    if (published.has(name)) {
      throw new TypeError(
        `${list}[${index}].name must be one that no other tool has, not ${JSON.stringify(name)}`
      );
    }
    published.set(name, run);
    described.push(description(name, tool));
  }
  const serverInfo = { name: serverName ?? "fusion-custom-tools", version: import_native.default.coreVersion() };
  return {
    tools: published,
    schema: wellFormed(JSON.stringify({ serverInfo, tools: described })),
    leftOut: tools.length - published.size,
    callTimeoutMs: callTimeoutMs ?? CALL_TIMEOUT_MS,
    context: given.context
  };
}
function named(place, tool) {
  const { name, execute } = object(place, tool);
  const word2 = path(`${place}.name`, name);
  if (!/^fn_./.test(word2) || typeof execute !== "function") return { name: word2, run: void 0 };
  return { name: word2, run: (...args) => Reflect.apply(execute, tool, args) };
}
function description(name, tool) {
  const { label, description: description2 } = tool;
  return {
    name,
    ...typeof label === "string" && label !== "" ? { title: label } : {},
    ...typeof description2 === "string" ? { description: description2 } : {},
    inputSchema: inputSchema(name, tool.parameters ?? tool.inputSchema ?? {})
  };
}
function inputSchema(name, schema) {
  const expected = (what) => new TypeError(`the parameters of the tool ${JSON.stringify(name)} must be ${what}`);
  if (!isPlain(schema)) throw expected("a JSON schema: a plain object");
  let copy;
  try {
    copy = JSON.parse(JSON.stringify(schema));
  } catch (error) {
    throw expected(`a JSON schema: ${error.message}`);
  }
  if (!isPlain(copy)) throw expected("a JSON schema: a plain object");
  const { type = "object", ...rest2 } = copy;
  if (type !== "object") throw expected('of the type "object"');
  return { type, ..."properties" in rest2 || "$ref" in rest2 ? {} : { properties: {} }, ...rest2 };
}
function isPlain(value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
function bridgeOptions({ tools, schema, leftOut, callTimeoutMs }) {
  return { names: [...tools.keys()], schema, folder: (0, import_node_os.tmpdir)(), callTimeoutMs, leftOut };
}

// lib/bridge.ts
var SERVER = "mcp-schema-server.cjs";
function cursorMcpSchemaServerPath() {
  const path2 = (0, import_node_path.join)(__dirname, SERVER);
  if ((0, import_node_fs.existsSync)(path2)) return path2;
  throw new CursorError(
    `${path2} is not there; copy ${SERVER} from the package fusion-cursor-native to that place, as it is`,
    { code: "mcp-schema-server-missing", retryable: false, path: path2 }
  );
}
function startCursorToolBridge(tools, options = {}) {
  const toolbox = checked(tools, options);
  return toolbox.tools.size === 0 ? Promise.resolve(null) : open(toolbox);
}
async function open(toolbox) {
  const child = serverChild();
  const host = new Host(toolbox);
  const { bridge, problem: problem2 } = await asked(bridgeOptions(toolbox), host);
  if (problem2 != null) throw notStaged(problem2);
  if (bridge == null) throw internal(new Error("the tool bridge is neither open nor refused"));
  host.serve(bridge);
  return new Bridge(host, bridge, child, toolbox.tools.size);
}
async function asked(options, host) {
  try {
    return await import_native.default.openBridge(scope, options, (event) => host.hear(event));
  } catch (error) {
    if (noRoom(error) === void 0) throw internal(error);
    throw notStaged({
      code: "bridge-start-failed",
      reason: "io",
      message: `a tool bridge was not opened: ${error.message}; try again when the system has room`,
      retryable: true
    });
  }
}
function serverChild() {
  const script = cursorMcpSchemaServerPath();
  return { ...runner(script), script };
}
var Host = class {
  #handle;
  /** What came before the handle: a bridge is staged, and called, before anybody here has it. */
  #early = [];
  #toolbox;
  #running = /* @__PURE__ */ new Map();
  constructor(toolbox) {
    this.#toolbox = toolbox;
  }
  serve(handle) {
    this.#handle = handle;
    const early = this.#early ?? [];
    this.#early = void 0;
    for (const event of early) this.hear(event);
  }
  hear(event) {
    if (this.#early !== void 0) return void this.#early.push(event);
    const { number, cancelled } = event;
    if (cancelled == null) return void this.#run(number);
    const controller = this.#running.get(number);
    this.#running.delete(number);
    controller?.abort(this.#reason(cancelled));
  }
  /** Call off all that runs, and answer nothing any more: what a tool says to its abort is no result. */
  end() {
    this.#handle = void 0;
    this.#early = void 0;
    for (const controller of this.#running.values()) controller.abort(this.#reason("disposed"));
  }
  async #run(number) {
    const call = this.#handle?.take(number);
    if (call == null) return;
    const controller = new AbortController();
    this.#running.set(number, controller);
    const { tools, context } = this.#toolbox;
    let answer;
    try {
      const args = JSON.parse(call.arguments);
      answer = outcome(await tools.get(call.name)?.(call.callId, args, controller.signal, update, context));
    } catch (error) {
      answer = failed(error);
    }
    this.#running.delete(number);
    this.#handle?.answer(number, answer);
  }
  #reason(why) {
    if (why === "timeout") {
      const limit2 = `the tool call took longer than ${this.#toolbox.callTimeoutMs} ms`;
      return new DOMException(limit2, "TimeoutError");
    }
    const said = why === "disposed" ? "the tool bridge was disposed" : "the caller of the tool has gone";
    return new DOMException(said, "AbortError");
  }
};
function update() {
}
var Bridge = class {
  #host;
  #handle;
  #child;
  #toolCount;
  #token;
  constructor(host, handle, child, toolCount) {
    this.#host = host;
    this.#handle = handle;
    this.#child = child;
    this.#toolCount = toolCount;
    this.#token = handle.token();
  }
  get serverEntry() {
    const { command, args, env } = this.#handle.entry(this.#child);
    const names = env.filter((_, index) => index % 2 === 0);
    return {
      command,
      args,
      env: Object.fromEntries(names.map((name, index) => [name, env[2 * index + 1] ?? ""]))
    };
  }
  get token() {
    return this.#token;
  }
  get toolCount() {
    return this.#toolCount;
  }
  async dispose() {
    this.#host.end();
    await this.#handle.dispose().catch((error) => {
      throw noRoom(error) ?? internal(error);
    });
  }
  [Symbol.asyncDispose]() {
    return this.dispose();
  }
};

// lib/info.ts
function nativeInfo() {
  return { version: import_native.default.coreVersion(), target: import_native.default.coreTarget(), file: import_native.default.addonFile };
}

// lib/aborts.ts
var import_node_events = require("node:events");
var waiting = /* @__PURE__ */ new WeakMap();
function unlessAborted(answer, signal2, abort) {
  if (signal2 === void 0) return answer;
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal2, () => {
      const error = abort(signal2);
      if (error !== void 0) reject(error);
    });
    answer.then(resolve, reject).finally(forget);
  });
}
function onAbort(signal2, abort) {
  const { turns, forget } = waiting.get(signal2) ?? listen(signal2);
  turns.add(abort);
  return () => {
    turns.delete(abort);
    if (turns.size > 0 || waiting.get(signal2)?.turns !== turns) return;
    forget[Symbol.dispose]();
    waiting.delete(signal2);
  };
}
function listen(signal2) {
  const turns = /* @__PURE__ */ new Set();
  const forget = (0, import_node_events.addAbortListener)(signal2, () => {
    waiting.delete(signal2);
    for (const abort of turns) abort();
  });
  const made2 = { turns, forget };
  waiting.set(signal2, made2);
  return made2;
}

// lib/lease.ts
function stageCursorMcpLease(options) {
  const { staging, signal: signal2 } = checked2(options);
  if (signal2?.aborted) return Promise.reject(aborted(signal2));
  return stage(staging, signal2);
}
function releaseHeldLeasesSync(worktreePath) {
  const path2 = optional(worktreePath, (value) => path("worktreePath", value));
  import_native.default.releaseLeases(scope, path2);
}
function classifyCursorConfigTracking(worktreePath) {
  const path2 = path("worktreePath", worktreePath);
  const { tracking, problem: problem2 } = import_native.default.classifyTracking(scope, path2, inherited(process.env));
  if (problem2 != null) throw notStaged(problem2);
  return tracking;
}
async function settled(question, path2) {
  try {
    return await question();
  } catch (error) {
    const full = noRoom(error);
    if (full === void 0) throw internal(error);
    throw notStaged({
      code: "bridge-start-failed",
      reason: "io",
      message: `${path2 ?? "the worktree"} cannot be worked on: ${error.message}; try again when the system has room`,
      retryable: true,
      ...path2 === void 0 ? {} : { path: path2 }
    });
  }
}
async function stage(staging, signal2) {
  const path2 = staging.worktreePath;
  const attempt = new import_native.default.Staging(scope);
  let abandoned = false;
  const answer = settled(() => attempt.stage(staging), path2).then((answer2) => {
    if (abandoned && answer2.lease != null) answer2.lease.dispose().catch(() => {
    });
    return answer2;
  });
  const { lease, problem: problem2 } = await unlessAborted(answer, signal2, (signal3) => {
    abandoned = true;
    attempt.giveUp();
    return aborted(signal3);
  });
  if (lease != null) return new Lease(lease, staging.serverKey);
  if (problem2 != null) throw notStaged(problem2);
  throw signal2?.aborted ? aborted(signal2) : internal(new Error("the staging was given up by nobody"));
}
var Lease = class {
  #held;
  serverKey;
  constructor(held, serverKey2) {
    this.#held = held;
    this.serverKey = serverKey2;
  }
  heartbeat() {
    return settled(() => this.#held.heartbeat());
  }
  async dispose() {
    const problem2 = await settled(() => this.#held.dispose());
    if (problem2 !== null) throw notStaged(problem2);
  }
  [Symbol.asyncDispose]() {
    return this.dispose();
  }
};
function checked2(options) {
  const given = object("the options of stageCursorMcpLease", options);
  const { env, ...entry2 } = serverEntry("serverEntry", given.serverEntry);
  const lockTimeoutMs = optional(given.lockTimeoutMs, (value) => timeout("lockTimeoutMs", value));
  const staging = {
    worktreePath: path("worktreePath", given.worktreePath),
    serverKey: serverKey("serverKey", given.serverKey),
    ...entry2,
    env: env ?? [],
    ...lockTimeoutMs === void 0 ? {} : { lockTimeoutMs },
    hostEnv: inherited(process.env)
  };
  return { staging, signal: optional(given.signal, (value) => abortSignal("signal", value)) };
}

// lib/log.ts
var LEVELS = ["off", "error", "warn", "info", "debug", "trace"];
function setLogger(level, sink) {
  oneOf("level", LEVELS, level);
  const callback2 = optional(sink, (value) => callback("sink", value));
  if (callback2 === void 0) {
    import_native.default.setLog(scope, level);
    return;
  }
  const failed2 = (error) => process.emitWarning(`a log sink of fusion-cursor-native failed: ${String(error)}`);
  import_native.default.setLog(scope, level, (json2) => {
    try {
      const returned = callback2(JSON.parse(json2));
      if (returned instanceof Promise) returned.catch(failed2);
    } catch (error) {
      failed2(error);
    }
  });
}
function fromEnvironment() {
  const said = process.env.FUSION_CURSOR_LOG;
  if (said === void 0 || said === "") return;
  try {
    import_native.default.setLog(scope, said);
  } catch (error) {
    process.emitWarning(`FUSION_CURSOR_LOG is ignored: ${error.message}`);
  }
}
fromEnvironment();

// lib/events.ts
var import_node_util = require("node:util");
function parseOrText(json2) {
  try {
    return JSON.parse(json2);
  } catch {
    return json2;
  }
}
var Lazy = class {
  #payload;
  #value;
  constructor(payload) {
    this.#payload = payload;
  }
  get() {
    if (this.#payload !== void 0) {
      const { batch, number } = this.#payload;
      this.#value = parseOrText(batch.payload(number));
      this.#payload = void 0;
    }
    return this.#value;
  }
};
var NOTHING = new Lazy(void 0);
function lazy(payload) {
  return payload === void 0 ? NOTHING : new Lazy(payload);
}
var LazyEvent = class {
  [import_node_util.inspect.custom](_depth, options) {
    return (0, import_node_util.inspect)(this.toJSON(), options);
  }
};
var ToolStarted = class extends LazyEvent {
  type = "tool-call-started";
  callId;
  name;
  kind;
  #args;
  constructor(callId, name, kind, args) {
    super();
    this.callId = callId;
    this.name = name;
    this.kind = kind;
    this.#args = lazy(args);
  }
  get args() {
    return this.#args.get();
  }
  toJSON() {
    const { type, callId, name, kind, args } = this;
    return { type, callId, name, kind, args };
  }
};
var ToolCompleted = class extends LazyEvent {
  type = "tool-call-completed";
  callId;
  name;
  kind;
  outcome;
  isError;
  #args;
  #result;
  constructor(call, end2) {
    super();
    this.callId = call.callId;
    this.name = call.name;
    this.kind = call.kind;
    this.outcome = end2.outcome;
    this.isError = end2.isError;
    this.#args = lazy(call.args);
    this.#result = lazy(end2.result);
  }
  get args() {
    return this.#args.get();
  }
  get result() {
    return this.#result.get();
  }
  toJSON() {
    const { type, callId, name, kind, outcome: outcome3, isError, args, result: result2 } = this;
    return { type, callId, name, kind, outcome: outcome3, isError, args, result: result2 };
  }
};
var Interaction = class extends LazyEvent {
  type = "interaction-query";
  phase;
  queryType;
  #payload;
  constructor(phase, queryType, payload) {
    super();
    this.phase = phase;
    this.queryType = queryType;
    this.#payload = lazy(payload);
  }
  get payload() {
    return this.#payload.get();
  }
  toJSON() {
    const { type, phase, queryType, payload } = this;
    return { type, phase, queryType, payload };
  }
};
var Result = class extends LazyEvent {
  type = "result";
  #usage;
  constructor(fields, usage) {
    super();
    Object.assign(this, fields);
    this.#usage = lazy(usage);
  }
  get usage() {
    return this.#usage.get();
  }
  toJSON() {
    const { type, sessionId, subtype, text, isError, usage, requestId, durationMs } = this;
    return { type, sessionId, subtype, text, isError, usage, requestId, durationMs };
  }
};

// lib/batch.ts
var KINDS = [
  "system-init",
  "user",
  "thinking-delta",
  "thinking-completed",
  "assistant-text",
  "tool-call-started",
  "tool-call-completed",
  "interaction-query",
  "connection",
  "retry",
  "result",
  "unknown"
];
var ABSENT = 4294967295;
var WIDE = 2147483648;
var OUTCOMES = [
  "success",
  "failure",
  "rejected",
  "permissionDenied",
  "error",
  "unknown"
];
var REASONS = ["blank", "not-json", "too-long", "new-type"];
var BatchReader = class {
  #batch;
  #narrow;
  #wide;
  #table;
  #at = 0;
  constructor(batch) {
    this.#batch = batch;
    this.#narrow = batch.narrow();
    this.#wide = batch.wide();
    this.#table = batch.table();
  }
  /** The next event, or `undefined` behind the last. */
  next() {
    if (this.#at >= this.#table.length) return void 0;
    return this.#read(KINDS[this.#number()]);
  }
  #read(kind) {
    switch (kind) {
      case "assistant-text":
      case "thinking-delta":
      case "user":
        return { type: kind, text: this.#text() };
      case "thinking-completed":
        return { type: kind };
      case "tool-call-started": {
        const call = this.#call();
        return new ToolStarted(call.callId, call.name, call.kind, call.args);
      }
      case "tool-call-completed": {
        const call = this.#call();
        const result2 = this.#payload();
        const outcome3 = OUTCOMES[this.#number()] ?? "unknown";
        return new ToolCompleted(call, { result: result2, outcome: outcome3, isError: this.#number() === 1 });
      }
      case "system-init":
        return {
          type: kind,
          sessionId: this.#optional(),
          cwd: this.#optional(),
          model: this.#optional(),
          apiKeySource: this.#optional(),
          permissionMode: this.#optional()
        };
      case "interaction-query":
        return new Interaction(this.#text(), this.#optional(), this.#payload());
      case "connection":
      case "retry":
        return { type: kind, state: this.#text(), attempt: this.#optionalNumber() };
      case "result":
        return this.#result();
      case "unknown":
        return {
          type: kind,
          reason: REASONS[this.#number()] ?? "new-type",
          recordType: this.#optional(),
          recordSubtype: this.#optional(),
          raw: this.#text()
        };
      default:
        throw new Error("index.js and the native addon do not fit together; install the package anew");
    }
  }
  #result() {
    const [sessionId, subtype, text, requestId] = [
      this.#optional(),
      this.#optional(),
      this.#optional(),
      this.#optional()
    ];
    const isError = this.#number() === 1;
    const usage = this.#payload();
    const duration = this.#optional();
    const durationMs = duration === void 0 ? void 0 : Number(duration);
    return new Result({ sessionId, subtype, text, requestId, isError, durationMs }, usage);
  }
  #call() {
    return { callId: this.#optional(), name: this.#text(), kind: this.#text(), args: this.#payload() };
  }
  #number() {
    return this.#table[this.#at++] ?? ABSENT;
  }
  #optionalNumber() {
    const number = this.#number();
    return number === ABSENT ? void 0 : number;
  }
  #payload() {
    const number = this.#number();
    return number === ABSENT ? void 0 : { batch: this.#batch, number };
  }
  #text() {
    return this.#optional() ?? "";
  }
  #optional() {
    const start = this.#number();
    const length = this.#number();
    if (length === ABSENT) return void 0;
    return length < WIDE ? this.#narrow.substring(start, start + length) : this.#wide.substring(start, start + length - WIDE);
  }
};

// lib/parser.ts
var SLICE = 16 * 1024 * 1024;
function parseCursorStreamLine(line) {
  const batch = typeof line === "string" ? import_native.default.parseLineText(spelled(line)) : import_native.default.parseLineBytes(own(bytes("line", line, "a string or a Uint8Array")));
  return new BatchReader(batch).next();
}
var CursorStreamParser = class {
  #options;
  /** What the streams before this one could not use. */
  #before = { lines: 0, bytes: 0 };
  #reader;
  constructor(options) {
    const given = optional(options, (value) => object("the options", value)) ?? {};
    this.#options = [
      optional(given.maxLineBytes, (value) => lineLimit("maxLineBytes", value)),
      optional(given.partialOutput, (value) => flag("partialOutput", value)) ?? false
    ];
    this.#reader = new import_native.default.StreamReader(...this.#options);
  }
  push(chunk) {
    const bytes2 = bytes("chunk", chunk);
    const events = [];
    for (let at = 0; at < bytes2.length; at += SLICE) {
      read(this.#reader.push(own(bytes2.subarray(at, at + SLICE))), events);
    }
    return events;
  }
  finish() {
    const events = [];
    read(this.#reader.finish(), events);
    this.#before = this.dropped;
    this.#reader = new import_native.default.StreamReader(...this.#options);
    return events;
  }
  get dropped() {
    const { lines, bytes: bytes2 } = this.#reader.dropped();
    return { lines: this.#before.lines + lines, bytes: this.#before.bytes + bytes2 };
  }
};
function read(batch, events) {
  if (batch === null) return;
  const reader = new BatchReader(batch);
  for (let event = reader.next(); event !== void 0; event = reader.next()) events.push(event);
}
function own(bytes2) {
  return bytes2.buffer instanceof SharedArrayBuffer ? new Uint8Array(bytes2) : bytes2;
}
function spelled(line) {
  if (line.isWellFormed()) return line;
  return line.replace(new RegExp("\\p{Surrogate}", "gu"), (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}

// lib/probe.ts
function probeCursorBinary(options = {}) {
  const given = checked3("the options of probeCursorBinary", options);
  return ask(given, (inquiry) => inquiry.probe(given.options)).then(status);
}
function validateCursorBinaryPath(path2, options = {}) {
  const binary = word("path", path2);
  const given = checked3("the options of validateCursorBinaryPath", options);
  return ask(given, (inquiry) => inquiry.validate({ ...given.options, binary })).then((answer) => {
    const found = status(answer.status);
    const diagnostic = answer.ok ? void 0 : found.diagnostics?.[0] ?? found.reason;
    return { ok: answer.ok, status: found, ...diagnostic === void 0 ? {} : { diagnostic } };
  });
}
function discoverCursorModels(binary, timeoutMs, options = {}) {
  const name = word("binary", binary);
  const { env, signal: signal2 } = object("the options of discoverCursorModels", options);
  const given = checked3("the arguments of discoverCursorModels", { env, signal: signal2, timeoutMs });
  return ask(given, (inquiry) => inquiry.models({ ...given.options, binary: name })).then((answer) => {
    const meta = answer.entries.flatMap((entry2) => {
      const known = details(entry2);
      return Object.keys(known).length > 0 ? [[entry2.id, known]] : [];
    });
    return {
      models: answer.entries.map((entry2) => entry2.id),
      entries: answer.entries.map(model),
      source: answer.source,
      ...outcome2(answer),
      ...meta.length > 0 ? { modelMeta: Object.fromEntries(meta) } : {}
    };
  });
}
function discoverCursorProviderModels(options = {}) {
  const given = checked3("the options of discoverCursorProviderModels", options);
  return ask(given, (inquiry) => inquiry.providerModels(given.options)).then((answer) => ({
    models: answer.entries.map((entry2) => ({ id: entry2.id, label: entry2.label, ...details(entry2) })),
    source: answer.source,
    ...outcome2(answer)
  }));
}
function parseCursorModels(text) {
  return import_native.default.parseModelsText(string("text", text)).map(model);
}
function parseCursorAuthStatus(stdout) {
  const { isAuthenticated, status: status2, email } = import_native.default.parseAuthText(string("stdout", stdout));
  return {
    ...isAuthenticated == null ? {} : { isAuthenticated },
    ...status2 == null ? {} : { status: status2 },
    ...email == null ? {} : { email }
  };
}
function checked3(name, value) {
  const given = object(name, value);
  const binary = optional(given.binaryPath, (path2) => perhapsBlank("binaryPath", path2));
  const timeoutMs = optional(given.timeoutMs, (limit2) => limit("timeoutMs", limit2));
  return {
    options: {
      hostEnv: inherited(process.env),
      addedEnv: optional(given.env, (env) => environment("env", env)) ?? [],
      ...binary === void 0 ? {} : { binary },
      ...timeoutMs === void 0 ? {} : { timeoutMs }
    },
    signal: optional(given.signal, (signal2) => abortSignal("signal", signal2))
  };
}
function ask({ signal: signal2 }, question) {
  if (signal2?.aborted) return Promise.reject(aborted(signal2));
  const inquiry = new import_native.default.Inquiry(scope);
  const answer = new Promise((resolve) => resolve(question(inquiry))).catch((error) => {
    throw noRoom(error) ?? internal(error);
  });
  return unlessAborted(answer, signal2, (signal3) => {
    inquiry.giveUp();
    return aborted(signal3);
  });
}
function status(answer) {
  const { binaryName, binaryPath, launchArgs, configuredBinaryPath, version, reason, diagnostics } = answer;
  return {
    available: answer.available,
    authenticated: answer.authenticated,
    state: answer.state,
    ...binaryName == null ? {} : { binaryName },
    ...binaryPath == null ? {} : { binaryPath },
    ...launchArgs.length === 0 ? {} : { launchArgs },
    ...configuredBinaryPath == null ? {} : { configuredBinaryPath },
    usingConfiguredBinaryPath: answer.usingConfiguredBinaryPath,
    ...version == null ? {} : { version },
    ...reason == null ? {} : { reason },
    ...diagnostics.length === 0 ? {} : { diagnostics },
    probeDurationMs: answer.probeDurationMs
  };
}
function model({ id, label, isDefault, isCurrent }) {
  return { id, label, isDefault, isCurrent };
}
function details({ reasoning, contextWindow }) {
  return {
    ...reasoning == null ? {} : { reasoning },
    ...contextWindow == null ? {} : { contextWindow }
  };
}
function outcome2({ fallbackUsed, reason }) {
  return { fallbackUsed, ...reason == null ? {} : { reason } };
}

// lib/session.ts
var import_node_util2 = require("node:util");

// lib/breath.ts
var SLICE_MS = 4;
var LOOK_EVERY = 16;
var unseen = 0;
var sliceBegan;
function isBreathDue() {
  unseen += 1;
  if (unseen < LOOK_EVERY) return false;
  unseen = 0;
  const now = performance.now();
  if (sliceBegan !== void 0) return now - sliceBegan > SLICE_MS;
  sliceBegan = now;
  setImmediate(() => {
    sliceBegan = void 0;
  });
  return false;
}
function breath() {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

// lib/dispatch.ts
function wantsEvents(callbacks2) {
  const { onText, onThinking, onToolStart, onToolEnd, onEvent } = callbacks2;
  return [onText, onThinking, onToolStart, onToolEnd, onEvent].some((callback2) => callback2 !== void 0);
}
function wantsPayloads({ onToolStart, onToolEnd }) {
  return onToolStart !== void 0 || onToolEnd !== void 0;
}
function dispatch(batch, callbacks2, over) {
  const reader = new BatchReader(batch);
  const held = untilHeld(reader, callbacks2, over);
  if (held !== void 0) return rest(held, batch, reader, callbacks2, over);
  done(batch, callbacks2);
  return void 0;
}
async function rest(first, batch, reader, callbacks2, over) {
  for (let held = first; held !== void 0; ) {
    await held;
    if (isBreathDue()) await breath();
    held = untilHeld(reader, callbacks2, over);
  }
  done(batch, callbacks2);
}
function done(batch, callbacks2) {
  if (callbacks2.onEvent === void 0) batch.release();
}
function untilHeld(reader, callbacks2, over) {
  for (let event = next(reader, over); event !== void 0; event = next(reader, over)) {
    const held = deliver(event, callbacks2, over) ?? (isBreathDue() ? breath() : void 0);
    if (held !== void 0) return held;
  }
  return void 0;
}
function next(reader, over) {
  return over() ? void 0 : reader.next();
}
function deliver(event, callbacks2, over) {
  const seen = promised(callbacks2.onEvent?.(event));
  if (seen !== void 0)
    return seen.then(() => over() ? void 0 : promised(deliverTyped(event, callbacks2)));
  if (over()) return void 0;
  return promised(deliverTyped(event, callbacks2));
}
function promised(returned) {
  return isThenable(returned) ? Promise.resolve(returned) : void 0;
}
function deliverTyped(event, callbacks2) {
  switch (event.type) {
    case "assistant-text":
      return callbacks2.onText?.(event.text);
    case "thinking-delta":
      return callbacks2.onThinking?.(event.text);
    case "tool-call-started": {
      if (callbacks2.onToolStart === void 0) return void 0;
      return callbacks2.onToolStart(event.name, event.args, info(event));
    }
    case "tool-call-completed": {
      if (callbacks2.onToolEnd === void 0) return void 0;
      const { name, isError, result: result2, outcome: outcome3 } = event;
      return callbacks2.onToolEnd(name, isError, result2, { ...info(event), outcome: outcome3 });
    }
    default:
      return void 0;
  }
}
function info(event) {
  const { callId, kind, args } = event;
  return {
    kind,
    ...callId === void 0 ? {} : { callId },
    ...args === void 0 ? {} : { args }
  };
}
function isThenable(value) {
  return (typeof value === "object" && value !== null || typeof value === "function") && typeof value.then === "function";
}

// lib/options.ts
function runOptions(given, model2) {
  const flag2 = (name) => optional(given[name], (value) => flag(name, value)) ?? false;
  const limit2 = (name) => optional(given[name], (value) => limit(name, value));
  const wait2 = (name) => optional(given[name], (value) => wait(name, value));
  const tools = optional(given.tools, (value) => oneOf("tools", ["coding", "readonly"], value));
  const leftovers = optional(
    given.leftovers,
    (value) => oneOf("leftovers", ["kill", "keep"], value)
  );
  return {
    cwd: word("cwd", given.cwd),
    coding: tools === "coding",
    approveMcps: flag2("approveMcps"),
    workspaceFlag: flag2("workspaceFlagRequired"),
    hostEnv: inherited(process.env),
    addedEnv: optional(given.env, (value) => environment("env", value)) ?? [],
    keepLeftovers: leftovers === "keep",
    ...defined({
      binary: optional(given.binary, (value) => word("binary", value)),
      model: optional(given[model2], (value) => modelId(model2, value)),
      resumeId: optional(given.resumeId, (value) => argument("resumeId", value)),
      firstLineTimeoutMs: limit2("firstLineTimeoutMs"),
      inactivityTimeoutMs: limit2("inactivityTimeoutMs"),
      toolTimeoutMs: limit2("toolTimeoutMs"),
      exitGraceMs: wait2("exitGraceMs"),
      killGraceMs: wait2("killGraceMs"),
      maxLineBytes: optional(given.maxLineBytes, (value) => lineLimit("maxLineBytes", value))
    })
  };
}
function callbacks(given, owner) {
  const found = {};
  for (const name of ["onText", "onThinking", "onToolStart", "onToolEnd", "onEvent"]) {
    const callback2 = optional(given[name], (value) => callback(name, value));
    if (callback2 !== void 0) found[name] = (...args) => Reflect.apply(callback2, owner, args);
  }
  return found;
}
function signal(given) {
  return optional(given.signal, (value) => abortSignal("signal", value));
}
function defined(entries) {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== void 0));
}

// lib/session-options.ts
var import_node_crypto = require("node:crypto");
function checkedSession(options) {
  const given = object("the options of CursorSession.create", options);
  const lockTimeoutMs = optional(given.lockTimeoutMs, (value) => timeout("lockTimeoutMs", value));
  const run = runOptions(given, "defaultModelId");
  const tools = optional(given.fusionTools, (value) => value) ?? [];
  const serving = optional(given.toolBridge, (value) => value) ?? {};
  const toolbox = checked(tools, serving, ["fusionTools", "toolBridge"]);
  return {
    cwd: run.cwd,
    model: bare(run.model ?? "auto"),
    options: {
      run,
      skills: optional(given.skills, skills) ?? [],
      ...defined({
        systemPrompt: optional(given.systemPrompt, (value) => string("systemPrompt", value)),
        lockTimeoutMs
      })
    },
    callbacks: callbacks(given, options),
    toolbox: toolbox.tools.size === 0 ? void 0 : toolbox,
    signal: signal(given)
  };
}
function skills(value) {
  if (!Array.isArray(value)) fail("skills", "an array of strings", value);
  return Array.from(value, (skill, index) => string(`skills[${index}]`, skill));
}
function bare(model2) {
  const id = model2.trim().replace(/^cursor-cli\//, "").trim();
  return id === "" ? "auto" : id;
}
function server({ toolbox }) {
  if (toolbox === void 0) return {};
  try {
    const key = `fusion-custom-tools-${(0, import_node_crypto.randomUUID)()}`;
    return { serves: { server: { key, ...serverChild() }, bridge: bridgeOptions(toolbox) } };
  } catch (error) {
    const { message, path: path2 } = error;
    const missing = { reasonCode: "mcp-schema-server-missing", detail: message };
    return { missing: { ...missing, ...path2 === void 0 ? {} : { path: path2 } } };
  }
}

// lib/session-stream.ts
var DONE = { value: void 0, done: true };
var SessionStream = class {
  #abort = new AbortController();
  #calledOff;
  #turn;
  #pulls = [];
  #held;
  #begun = false;
  /** `result` was read. */
  #asked = false;
  /** Nobody is given any event any more. */
  #passing = false;
  /** The `result` event was given out, so that there is nothing left to stop. */
  #complete = false;
  #over = false;
  /** The turn's error, until the iteration has thrown it. */
  #error;
  constructor(begin2, callbacks2, signal2, disposed2) {
    this.#calledOff = () => this.#abort.signal.aborted || disposed2();
    const abort = () => this.#abort.abort(signal2?.reason);
    if (signal2?.aborted) abort();
    const forget = signal2 === void 0 ? () => {
    } : onAbort(signal2, abort);
    const onEvent = (event) => {
      const seen = deliver(event, callbacks2, this.#calledOff);
      return seen === void 0 ? this.#offer(event) : seen.then(() => this.#offer(event));
    };
    this.#turn = begin2({ onEvent }, this.#abort.signal);
    const end2 = (failed2) => {
      forget();
      this.#end(failed2);
    };
    this.#turn.result.then(
      () => end2(),
      (error) => end2({ error })
    );
  }
  get result() {
    this.#asked = true;
    if (this.#held !== void 0 && !this.#begun) setImmediate(() => this.#begun || this.#pass());
    return this.#turn.result;
  }
  [Symbol.asyncIterator]() {
    if (this.#begun) throw new TypeError("this stream is iterated already; one turn can be iterated once");
    if (this.#passing) {
      throw new TypeError(
        "the events of this stream have gone by, as its result was read before it was iterated; begin with the iteration"
      );
    }
    this.#begun = true;
    const iterator = {
      next: () => this.#next(),
      return: () => this.#leave(),
      [Symbol.asyncIterator]: () => iterator
    };
    return iterator;
  }
  #offer(event) {
    if (this.#calledOff() || this.#over) return;
    if (this.#asked && !this.#begun) this.#passing = true;
    if (this.#passing) return;
    const pull = this.#pulls.shift();
    if (pull !== void 0) return this.#give(event, pull.resolve);
    return new Promise((resolve) => {
      this.#held = { event, letGo: resolve };
    });
  }
  #give(event, to) {
    if (event.type === "result") this.#complete = true;
    to({ value: event, done: false });
  }
  #next() {
    return new Promise((resolve, reject) => {
      const held = this.#held;
      if (held !== void 0 && !this.#calledOff()) {
        this.#held = void 0;
        this.#give(held.event, resolve);
        held.letGo();
        return;
      }
      this.#pulls.push({ resolve, reject });
      if (this.#over || this.#passing) this.#answerAll();
    });
  }
  /** The loop was left. */
  async #leave() {
    if (!this.#complete && !this.#over) {
      this.#abort.abort(new DOMException("the iteration of the stream was left", "AbortError"));
    }
    this.#error = void 0;
    this.#pass();
    await this.#turn.gone;
    return DONE;
  }
  /** Let what is held go, and all that comes. */
  #pass() {
    this.#passing = true;
    this.#held?.letGo();
    this.#held = void 0;
    this.#answerAll();
  }
  #end(failed2) {
    this.#over = true;
    if (!this.#passing) this.#error = failed2;
    if (errorCode(failed2?.error) === "CURSOR_ABORTED") {
      this.#held?.letGo();
      this.#held = void 0;
    }
    this.#answerAll();
  }
  #answerAll() {
    for (const { resolve, reject } of this.#pulls.splice(0)) {
      const failed2 = this.#error;
      this.#error = void 0;
      if (failed2 === void 0) resolve(DONE);
      else reject(failed2.error);
    }
  }
};
function errorCode(error) {
  return Object(error).code;
}

// lib/session-totals.ts
var Totals = class {
  #usage = Object.freeze({ inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 });
  #toolCalls = Object.freeze({ started: 0, completed: 0, failed: 0, rejected: 0, abandoned: 0 });
  #turns = 0;
  get usage() {
    return this.#usage;
  }
  get toolCalls() {
    return this.#toolCalls;
  }
  get turns() {
    return this.#turns;
  }
  add(outcome3, good) {
    if (good) this.#turns += 1;
    this.#toolCalls = sum(this.#toolCalls, outcome3);
    if (outcome3.usage != null) this.#usage = sum(this.#usage, parseOrText(outcome3.usage));
  }
};
function sum(so, more) {
  const added = Object(more);
  const entries = Object.entries(so).map(([name, value]) => {
    const one = added[name];
    const counts = typeof one === "number" && one > 0 && Number.isFinite(value + one);
    return [name, counts ? value + one : value];
  });
  return Object.freeze(Object.fromEntries(entries));
}

// lib/turn.ts
function launchCursorPrompt(input) {
  const { options, callbacks: callbacks2, signal: signal2 } = checked4(input);
  if (signal2?.aborted) return Promise.reject(aborted(signal2));
  const start = (onBatch) => import_native.default.startTurn(scope, options, onBatch);
  return drive(start, { callbacks: callbacks2, signal: signal2, program: options.run.binary }).result;
}
function drive(start, driven) {
  const { callbacks: callbacks2, signal: signal2 } = driven;
  const began = performance.now();
  const failed2 = {};
  const over = () => signal2?.aborted === true || driven.over?.() === true;
  let handle;
  try {
    handle = start((batch) => {
      const stop = (error) => {
        failed2.error = error;
        failed2.with = true;
        handle.taken(false);
      };
      try {
        const held = dispatch(batch, callbacks2, over);
        if (held === void 0) handle.taken(true);
        else held.then(() => handle.taken(true), stop);
      } catch (error) {
        stop(error);
      }
    });
  } catch (error) {
    return refused(noRoom(error, driven.program) ?? error);
  }
  const settled2 = handle.settled().then((outcome4) => {
    driven.onOutcome?.(outcome4, outcome4.code == null && failed2.with !== true);
    return outcome4;
  });
  const outcome3 = unlessAborted(settled2, signal2, (signal3) => {
    if (!handle.abort()) return void 0;
    const partial = { ...result(handle.soFar()), durationMs: performance.now() - began };
    return aborted(signal3, { partial });
  });
  return {
    result: outcome3.then((outcome4) => {
      if (failed2.with) throw failed2.error;
      if (outcome4.code == null) return result(outcome4);
      throw failure(outcome4, signal2);
    }),
    gone: settled2.then(
      () => {
      },
      () => {
      }
    )
  };
}
function refused(error) {
  return { result: Promise.reject(error), gone: Promise.resolve() };
}
function result(outcome3) {
  const { sessionId, usage, requestId, model: model2, started, completed, failed: failed2, rejected, abandoned } = outcome3;
  return {
    ...sessionId == null ? {} : { sessionId },
    text: outcome3.text,
    ...usage == null ? {} : { usage: parseOrText(usage) },
    ...requestId == null ? {} : { requestId },
    ...model2 == null ? {} : { model: model2 },
    durationMs: outcome3.durationMs,
    toolCalls: { started, completed, failed: failed2, rejected, abandoned },
    dropped: { lines: outcome3.droppedLines, bytes: outcome3.droppedBytes },
    exitCode: outcome3.exitCode ?? null,
    signal: outcome3.signal ?? null,
    leftovers: outcome3.leftovers
  };
}
function failure(outcome3, signal2) {
  const fields = {
    code: outcome3.code,
    retryable: outcome3.retryable,
    partial: result(outcome3)
  };
  if (outcome3.ran) {
    fields.exitCode = outcome3.exitCode ?? null;
    fields.signal = outcome3.signal ?? null;
  }
  if (outcome3.stderrTail != null) fields.stderrTail = outcome3.stderrTail;
  if (fields.code === "CURSOR_ABORTED" && signal2?.aborted) return aborted(signal2, fields);
  return new CursorError(outcome3.message ?? fields.code, fields);
}
function checked4(input) {
  const given = object("the input of launchCursorPrompt", input);
  const found = callbacks(given, input);
  const options = {
    run: runOptions(given, "model"),
    prompt: string("prompt", given.prompt),
    wantsEvents: wantsEvents(found),
    wantsPayloads: wantsPayloads(found),
    ...defined({
      ownServer: optional(given.fusionServerKey, (value) => serverKey("fusionServerKey", value))
    })
  };
  return { options, callbacks: found, signal: signal(given) };
}

// lib/session.ts
var made = /* @__PURE__ */ new WeakSet();
var CursorSession = class _CursorSession {
  cwd;
  model;
  #handle;
  #host;
  #missing;
  #callbacks;
  #program;
  #totals = new Totals();
  #disposed = false;
  constructor(from) {
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
  static create(options) {
    const plan = checkedSession(options);
    if (plan.signal?.aborted) return Promise.reject(aborted(plan.signal));
    return _CursorSession.#open(plan);
  }
  static async #open(plan) {
    const { toolbox, signal: signal2 } = plan;
    const { serves, missing } = server(plan);
    const host = serves === void 0 || toolbox === void 0 ? void 0 : new Host(toolbox);
    const start = begin(plan, serves, host);
    let abandoned = false;
    const opened = asked2(start, plan).then(({ session: session2, bridge: bridge2 }) => {
      if (abandoned) session2?.dispose().catch(() => {
      });
      return { session: session2, bridge: bridge2 };
    });
    const { session, bridge } = await unlessAborted(opened, signal2, (signal3) => {
      abandoned = true;
      start.giveUp();
      host?.end();
      return aborted(signal3);
    });
    if (session == null) {
      throw signal2?.aborted ? aborted(signal2) : internal(new Error("the session was given up by nobody"));
    }
    if (bridge == null) host?.end();
    else host?.serve(bridge);
    const from = { plan, handle: session, host, missing };
    made.add(from);
    return new _CursorSession(from);
  }
  get sessionId() {
    return this.#handle.sessionId() ?? void 0;
  }
  get toolNames() {
    return Object.freeze(this.#handle.toolNames());
  }
  get fusionToolBridgeError() {
    if (this.#missing !== void 0) return this.#missing;
    const problem2 = this.#handle.problem();
    return problem2 === null ? void 0 : toolError(problem2);
  }
  get usage() {
    return this.#totals.usage;
  }
  get toolCalls() {
    return this.#totals.toolCalls;
  }
  get turns() {
    return this.#totals.turns;
  }
  get disposed() {
    return this.#disposed;
  }
  prompt(text, options = {}) {
    const { prompt, signal: signal2 } = checkedTurn(text, options);
    return this.#run(prompt, this.#callbacks, signal2).result;
  }
  stream(text, options = {}) {
    const { prompt, signal: signal2 } = checkedTurn(text, options);
    return new SessionStream(
      (callbacks2, signal3) => this.#run(prompt, callbacks2, signal3),
      this.#callbacks,
      signal2,
      () => this.#disposed
    );
  }
  async dispose() {
    this.#disposed = true;
    this.#host?.end();
    const problem2 = await settled(() => this.#handle.dispose(), this.cwd);
    if (problem2 !== null) throw notStaged(problem2);
  }
  [Symbol.asyncDispose]() {
    return this.dispose();
  }
  [import_node_util2.inspect.custom](_depth, options) {
    const { cwd, model: model2, sessionId, toolNames, fusionToolBridgeError, usage, toolCalls, turns, disposed: disposed2 } = this;
    const shown = {
      cwd,
      model: model2,
      sessionId,
      toolNames,
      fusionToolBridgeError,
      usage,
      toolCalls,
      turns,
      disposed: disposed2
    };
    return `CursorSession ${(0, import_node_util2.inspect)(shown, options)}`;
  }
  #run(prompt, callbacks2, signal2) {
    if (signal2?.aborted) return refused(aborted(signal2));
    if (this.#disposed) return refused(disposed());
    const [events, payloads] = [wantsEvents(callbacks2), wantsPayloads(this.#callbacks)];
    return drive((onBatch) => this.#handle.startTurn(prompt, events, payloads, onBatch), {
      callbacks: callbacks2,
      signal: signal2,
      program: this.#program,
      over: () => this.#disposed,
      onOutcome: (outcome3, good) => this.#totals.add(outcome3, good)
    });
  }
};
function begin({ options }, serves, host) {
  try {
    return import_native.default.createSession(scope, { ...options, ...serves }, (event) => host?.hear(event));
  } catch (error) {
    throw noRoom(error, options.run.binary) ?? internal(error);
  }
}
async function asked2(start, { options }) {
  try {
    return await start.opened();
  } catch (error) {
    throw noRoom(error, options.run.binary) ?? internal(error);
  }
}
function checkedTurn(text, options) {
  const prompt = string("the prompt", text);
  return { prompt, signal: signal(object("the options of the turn", options)) };
}
function disposed() {
  return new CursorError("Cursor session is disposed.", {
    code: "CURSOR_SESSION_DISPOSED",
    retryable: false
  });
}
function toolError({ code, reason, path: path2, message }) {
  return {
    reasonCode: code,
    detail: message,
    reason,
    ...path2 == null ? {} : { path: path2 }
  };
}

// lib/worktree.ts
function inspectCursorWorktree(worktreePath, options = {}) {
  return ask2("inspectCursorWorktree", worktreePath, options, async (given) => {
    const { exclusion, pending, quarantine, ...found } = await import_native.default.inspectWorktree(scope, given);
    const report = {
      ...found,
      git: present(found.git),
      exclusion: exclusion == null ? null : present(exclusion),
      config: present(found.config),
      manifest: present(found.manifest),
      pending: pending ?? null,
      quarantine: quarantine ?? null,
      locks: found.locks.map(present),
      problems: found.problems.map(problem)
    };
    return report;
  });
}
function reconcileCursorWorktree(worktreePath, options = {}) {
  return ask2("reconcileCursorWorktree", worktreePath, options, async (given) => {
    const { problems, quarantine, ...done2 } = await import_native.default.reconcileWorktree(scope, given);
    const report = { ...done2, problems: problems.map(problem), quarantine: quarantine ?? null };
    return report;
  });
}
function ask2(name, path2, options, question) {
  const given = object(`the options of ${name}`, options);
  const lockTimeoutMs = optional(given.lockTimeoutMs, (value) => timeout("lockTimeoutMs", value));
  const signal2 = optional(given.signal, (value) => abortSignal("signal", value));
  const worktreePath = path("worktreePath", path2);
  const hostEnv = inherited(process.env);
  if (signal2?.aborted) return Promise.reject(aborted(signal2));
  const answer = settled(
    () => question({ worktreePath, hostEnv, ...lockTimeoutMs === void 0 ? {} : { lockTimeoutMs } }),
    worktreePath
  );
  return unlessAborted(answer, signal2, aborted);
}
function problem({ code: _, ...rest2 }) {
  return present(rest2);
}
function present(value) {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one != null));
}
// Annotate the CommonJS export names for ESM import in node:
0 && (module.exports = {
  CursorError,
  CursorSession,
  CursorStreamParser,
  classifyCursorConfigTracking,
  cursorMcpSchemaServerPath,
  discoverCursorModels,
  discoverCursorProviderModels,
  inspectCursorWorktree,
  launchCursorPrompt,
  nativeInfo,
  parseCursorAuthStatus,
  parseCursorModels,
  parseCursorStreamLine,
  probeCursorBinary,
  reconcileCursorWorktree,
  releaseHeldLeasesSync,
  setLogger,
  stageCursorMcpLease,
  startCursorToolBridge,
  validateCursorBinaryPath
});
