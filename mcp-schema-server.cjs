// The stdio child that Cursor starts for Fusion's tools: it speaks MCP to Cursor, and hands every call to the bridge
// in Fusion's process. It is copied into other packages as it is: one file, nothing but Node's own modules.
//
//   node mcp-schema-server.cjs <schema file>
//
// The file holds { serverInfo, tools }. FUSION_CURSOR_TOOL_BRIDGE_URL and FUSION_CURSOR_TOOL_BRIDGE_TOKEN say where
// the calls go. It ends with its stdin, and with the bridge.
"use strict";

const crypto = require("node:crypto");
const fs = require("node:fs");
const net = require("node:net");
const path = require("node:path");

/** The versions of MCP that are spoken, the newest last. */
const VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;

/** The longest message that is read, in bytes. */
const MOST_LINE = 32 * 1024 * 1024;
/**
 * What the bridge takes of a call. It would refuse a longer one too, but where it does so before all is written, the
 * refusal can be lost.
 */
const MOST_CALL = 4 * 1024 * 1024;
/** More than the bridge ever answers. */
const MOST_ANSWER = 64 * 1024 * 1024;
/** Fewer than the bridge has connections, so that calls wait here, in order, and are never turned away there. */
const MOST_CALLS = 32;
/** What is given to the pipe at a time: what a reader has taken shows in steps of this size. */
const PIECE = 64 * 1024;
const MOST_FREE = 32;
/** At the end, a reader that takes nothing for so long is not waited for any more. */
const PATIENCE_MS = 5000;
/** A connection that is refused this often in a row: nobody listens. A full backlog refuses too on some systems. */
const REFUSALS = 3;
const RETRY_MS = 150;
/** As the bridge's process calls it. */
const SYSTEM = { darwin: "macos", win32: "windows" }[String(process.platform)] ?? process.platform;

const LOST = "Fusion has ended, or has closed its tools, before the tool answered.";
const NO_ANSWER = "Fusion gave an answer that is no result.";

/**
 * An id of a request, as JSON-RPC has it.
 * @typedef {string | number} Id
 * @typedef {{ id?: unknown, method?: unknown, params?: unknown, jsonrpc?: unknown }} Message
 * @typedef {{ url: URL, token: string, hasEnded: () => boolean }} Bridge
 * @typedef {{ name: string }} Tool
 * @typedef {{ serverInfo: object, tools: Tool[] }} Schema
 */

/** What keeps it from starting: said on stderr. */
class StartError extends Error {}

/** @returns {Pick<Bridge, "url" | "token">} */
function bridgeOf(/** @type {NodeJS.ProcessEnv} */ env) {
  const address = env.FUSION_CURSOR_TOOL_BRIDGE_URL;
  const token = env.FUSION_CURSOR_TOOL_BRIDGE_TOKEN;
  for (const [name, value] of Object.entries({
    FUSION_CURSOR_TOOL_BRIDGE_URL: address,
    FUSION_CURSOR_TOOL_BRIDGE_TOKEN: token,
  })) {
    if (!value)
      throw new StartError(
        `${name} is not set; this program is started by Cursor, from an entry of mcp.json`,
      );
  }
  const url = URL.canParse(String(address)) ? new URL(String(address)) : undefined;
  // The token goes to this machine and nowhere else.
  if (url?.protocol !== "http:" || url.hostname !== "127.0.0.1" || url.port === "") {
    throw new StartError("FUSION_CURSOR_TOOL_BRIDGE_URL must be http://127.0.0.1:<port>/…");
  }
  if (!/^[\x21-\x7e]+$/.test(String(token))) {
    throw new StartError("FUSION_CURSOR_TOOL_BRIDGE_TOKEN is no token");
  }
  return { url, token: String(token) };
}

/** @returns {Schema} */
function schemaOf(/** @type {string | undefined} */ file) {
  if (!file) throw new StartError("the schema file is missing: mcp-schema-server.cjs <schema file>");
  let schema;
  try {
    schema = JSON.parse(fs.readFileSync(file, "utf8"));
  } catch (error) {
    const why = /** @type {Error} */ (error).message;
    throw new StartError(
      `the schema file ${file} cannot be read: ${why}; it lives as long as its session in Fusion`,
    );
  }
  const { serverInfo, tools } = isObject(schema) ? schema : {};
  const isTool = (/** @type {unknown} */ tool) => isObject(tool) && typeof tool.name === "string";
  if (!isObject(serverInfo) || !Array.isArray(tools) || !tools.every(isTool)) {
    throw new StartError(`the schema file ${file} must hold serverInfo and tools, each tool with a name`);
  }
  return { serverInfo, tools };
}

/**
 * Tells whether the bridge has ended for sure, by what its process left beside the list of tools. Its port alone does
 * not tell: whoever is given that port next would get the token and the arguments of calls.
 * @returns {() => boolean}
 */
function endOf(/** @type {string} */ file) {
  const { pid, processStart } = ownerOf(path.join(path.dirname(file), "owner.json"));
  const [system, boot, room, time] = typeof processStart === "string" ? processStart.split(":") : [];
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0 || system !== SYSTEM) {
    return () => !fs.existsSync(file);
  }
  if (system !== "linux") return () => !fs.existsSync(file) || !exists(pid);
  const here = { boot: "", room: "" };
  try {
    here.boot = fs.readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    here.room = /\d+/.exec(fs.readlinkSync("/proc/self/ns/pid"))?.[0] ?? "";
  } catch {
    // Without them the number may be that of another room.
  }
  // It listens on this machine, and that has started again since.
  if (here.boot !== "" && boot !== here.boot) return () => true;
  if (here.room === "" || room !== here.room) return () => !fs.existsSync(file);
  return () => !fs.existsSync(file) || !exists(pid) || !isOf(pid, time);
}

/** @returns {Record<string, unknown>} */
function ownerOf(/** @type {string} */ file) {
  try {
    const owner = JSON.parse(fs.readFileSync(file, "utf8"));
    return isObject(owner) ? owner : {};
  } catch {
    return {};
  }
}

/** Whether a process has this number, be it one that nobody has buried yet. */
function exists(/** @type {number} */ pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code !== "ESRCH";
  }
}

/** Whether the process of this number started then, and has not ended. One that may not be looked at may be it. */
function isOf(/** @type {number} */ pid, /** @type {string | undefined} */ time) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name before it may hold anything.
    const [state, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state !== "Z" && state !== "X" && rest[18] === time;
  } catch {
    return true;
  }
}

/** @returns {value is Record<string, unknown>} */
function isObject(/** @type {unknown} */ value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @returns {value is Id} */
function isId(/** @type {unknown} */ value) {
  return typeof value === "string" || (typeof value === "number" && Number.isFinite(value));
}

/**
 * Memory for the pieces of answers, used again and again: what is left to the garbage collector for every large answer
 * stays with the process for long.
 */
const pool = {
  /** @type {Buffer[]} */
  free: [],
  /** @type {WeakSet<ArrayBufferLike>} */
  owned: new WeakSet(),

  /** One piece, whatever is in it. */
  take() {
    const piece = this.free.pop() ?? Buffer.allocUnsafeSlow(PIECE);
    this.owned.add(piece.buffer);
    return piece;
  },

  /** Takes back what nobody uses any more; anything but a piece or a part of one is left alone. */
  give(/** @type {Buffer} */ part) {
    if (this.owned.delete(part.buffer) && this.free.length < MOST_FREE)
      this.free.push(Buffer.from(part.buffer));
  },
};

/** Stdout, piece by piece: what waits stays in this process, and the end can wait for it. */
class Output {
  /** @type {Buffer[]} */
  #waiting = [];
  #writing = false;
  /** @type {(() => void) | undefined} */
  #drained;
  /** @type {NodeJS.Timeout | undefined} */
  #patience;

  /** @param {() => void} gone called when nobody reads any more */
  constructor(gone) {
    process.stdout.on("error", () => {
      this.#waiting = [];
      gone();
    });
  }

  /** One message, which is one line. */
  send(/** @type {Buffer[]} */ parts) {
    /** @type {Buffer[]} */
    let short = [];
    let length = 0;
    const put = () => {
      const [first] = short;
      // What is short is one write: a reader that is woken for each part of it is slow.
      if (first !== undefined && short.length === 1) this.#waiting.push(first);
      else if (first !== undefined) {
        this.#waiting.push(Buffer.concat(short));
        for (const part of short) pool.give(part);
      }
      short = [];
      length = 0;
    };
    for (const part of [...parts, Buffer.from("\n")]) {
      if (length + part.length > PIECE) put();
      short.push(part);
      length += part.length;
    }
    put();
    if (!this.#writing) this.#next();
  }

  /** Calls back when all is written, or when the reader has taken nothing for too long. */
  drain(/** @type {() => void} */ done) {
    if (!this.#writing) return done();
    this.#drained = done;
    this.#wait();
  }

  #next() {
    const first = this.#waiting.shift();
    this.#writing = first !== undefined;
    if (first === undefined) return this.#drained?.();
    if (first.length > PIECE) this.#waiting.unshift(first.subarray(PIECE));
    process.stdout.write(first.subarray(0, PIECE), (error) => {
      if (error) return;
      pool.give(first);
      if (this.#drained) this.#wait();
      this.#next();
    });
  }

  #wait() {
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => this.#drained?.(), PATIENCE_MS);
  }
}

/** Stdin, cut into lines of bytes, so that a character that came in two parts is whole again. */
class Lines {
  /** @type {Buffer[]} */
  #parts = [];
  #length = 0;
  #skipping = false;

  /** @param {(line: string | undefined) => void} take gets each line, and `undefined` for one that is too long */
  constructor(take) {
    this.take = take;
  }

  push(/** @type {Buffer} */ chunk) {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#keep(chunk.subarray(start, end));
      this.finish();
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
  }

  /** The end of a line, or of all. */
  finish() {
    const line = this.#skipping ? undefined : Buffer.concat(this.#parts).toString("utf8").trim();
    this.#parts = [];
    this.#length = 0;
    this.#skipping = false;
    if (line !== "") this.take(line);
  }

  #keep(/** @type {Buffer} */ part) {
    if (part.length === 0) return;
    this.#length += part.length;
    this.#skipping ||= this.#length > MOST_LINE;
    if (this.#skipping) this.#parts = [];
    else this.#parts.push(part);
  }
}

/**
 * The calls under way. Each has a connection of its own, and nothing else is sent on it: that it ends tells the
 * bridge that the call is not wanted any more.
 */
class Calls {
  /** @type {Set<() => void>} */
  #waiting = new Set();
  #running = 0;

  /** @param {Bridge} bridge */
  constructor(bridge) {
    this.bridge = bridge;
  }

  /**
   * Make a call.
   * @param {Buffer} call
   * @param {(status: number, body: Buffer[]) => void} answered
   * @param {(why: string) => void} failed
   * @returns {() => void} what gives it up; neither function is called after that
   */
  start(call, answered, failed) {
    let over = false;
    /** @type {net.Socket | undefined} */
    let request;
    const end = (/** @type {() => void} */ how) => {
      if (over) return;
      over = true;
      if (!this.#waiting.delete(run)) {
        this.#running -= 1;
        this.#fill();
      }
      how();
    };
    const run = () => {
      request = this.#post(
        call,
        (status, body) => end(() => answered(status, body)),
        (why) => end(() => failed(why)),
      );
    };
    this.#waiting.add(run);
    this.#fill();
    return () => end(() => request?.destroy());
  }

  #fill() {
    for (const run of this.#waiting) {
      if (this.#running >= MOST_CALLS) return;
      this.#waiting.delete(run);
      this.#running += 1;
      run();
    }
  }

  /**
   * @param {Buffer} call
   * @param {(status: number, body: Buffer[]) => void} answered
   * @param {(why: string) => void} failed
   */
  #post(call, answered, failed) {
    const { url, token } = this.bridge;
    const reply = new Reply();
    const buffer = pool.take();
    const socket = net.connect({
      port: Number(url.port),
      host: url.hostname,
      noDelay: true,
      onread: {
        buffer,
        callback: (length) => {
          reply.push(buffer.subarray(0, length));
          if (reply.wrong || reply.body) socket.destroy();
          return true;
        },
      },
    });
    socket.on("error", () => {});
    socket.on("connect", () => {
      // Asked once the port has answered: what answered was the bridge, if it has not ended by now.
      if (this.bridge.hasEnded() || isItself(socket)) {
        socket.destroy();
        return;
      }
      socket.cork();
      socket.write(
        `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${token}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${call.length}\r\nConnection: close\r\n\r\n`,
      );
      socket.write(call);
      socket.uncork();
    });
    socket.on("close", () => {
      pool.give(buffer);
      if (reply.wrong) failed(reply.wrong);
      else if (reply.body) answered(reply.status, reply.body);
      else failed(LOST);
    });
    return socket;
  }
}

/** The one answer of a connection: as much of HTTP as the bridge speaks. */
class Reply {
  status = 0;
  /** Set when all is there. @type {Buffer[] | undefined} */
  body;
  /** Set when this is no answer of the bridge. @type {string | undefined} */
  wrong;
  #head = Buffer.alloc(0);
  /** @type {Buffer[]} */
  #pieces = [];
  /** How much of the last piece is filled. */
  #filled = 0;
  #missing = -1;

  push(/** @type {Buffer} */ bytes) {
    if (this.wrong) return;
    if (this.#missing >= 0) return this.#fill(bytes);
    const all = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes]);
    const end = all.indexOf("\r\n\r\n");
    if (end === -1) {
      if (all.length > PIECE) this.wrong = NO_ANSWER;
      this.#head = Buffer.from(all);
      return;
    }
    const head = all.toString("latin1", 0, end);
    const length = Number(/\r\ncontent-length: *(\d+) *(?:\r\n|$)/i.exec(head)?.[1] ?? Number.NaN);
    this.status = Number(/^HTTP\/1\.1 (\d{3})(?: |\r\n|$)/.exec(head)?.[1] ?? Number.NaN);
    if (Number.isNaN(length + this.status)) {
      this.wrong = NO_ANSWER;
    } else if (length > MOST_ANSWER) {
      this.wrong = "The tool's answer is too large.";
    } else {
      this.#missing = length;
      this.#fill(all.subarray(end + 4));
    }
  }

  #fill(/** @type {Buffer} */ bytes) {
    for (let rest = bytes.subarray(0, this.#missing); rest.length > 0; ) {
      if (this.#pieces.length === 0 || this.#filled === PIECE) {
        this.#pieces.push(pool.take());
        this.#filled = 0;
      }
      const count = rest.copy(/** @type {Buffer} */ (this.#pieces.at(-1)), this.#filled);
      this.#filled += count;
      this.#missing -= count;
      rest = rest.subarray(count);
    }
    if (this.#missing > 0) return;
    const last = this.#pieces.pop();
    this.body = last === undefined ? [] : [...this.#pieces, last.subarray(0, this.#filled)];
  }
}

/** Whether a connection is to itself, which the system makes of one to a free port, when it gives it that very port. */
function isItself(/** @type {net.Socket} */ socket) {
  return socket.localPort === socket.remotePort;
}

/** Holds a connection to the bridge, by which its end shows at once. */
function watch(/** @type {Bridge} */ bridge, /** @type {() => void} */ gone) {
  let refusals = 0;
  const connect = () => {
    const socket = net.connect(Number(bridge.url.port), bridge.url.hostname);
    socket.on("connect", () => {
      refusals = isItself(socket) ? refusals + 1 : 0;
      if (refusals > 0 || bridge.hasEnded()) socket.destroy();
    });
    socket.on("error", (/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code === "ECONNREFUSED") refusals += 1;
    });
    socket.on("close", () => {
      if (refusals >= REFUSALS || bridge.hasEnded()) gone();
      else setTimeout(connect, RETRY_MS);
    });
    // What is not read keeps the end of the stream from being seen.
    socket.resume();
  };
  connect();
}

/** A call as the bridge takes it, or why it cannot be made. */
function bodyOf(/** @type {string} */ name, /** @type {object} */ given) {
  let body;
  try {
    body = Buffer.from(JSON.stringify({ name, arguments: given, callId: crypto.randomUUID() }));
  } catch {
    // What JSON.parse reads may be too deep for JSON.stringify.
    return "The arguments of the call are nested too deeply.";
  }
  if (body.length <= MOST_CALL) return body;
  return `The arguments of the call are too large: ${body.length} bytes with the tool's name, of at most ${MOST_CALL}.`;
}

/** An answer that the model reads as a failed call. */
function toolError(/** @type {string} */ text) {
  return Buffer.from(JSON.stringify({ content: [{ type: "text", text }], isError: true }));
}

/** The bridge's answer as the result of a call; `undefined` where it knows no such tool. */
function resultOf(/** @type {number} */ status, /** @type {Buffer[]} */ body) {
  const said = small(body);
  if (status !== 200) {
    const why = typeof said?.error === "string" ? said.error : "no reason given";
    return [toolError(`Fusion did not take the call (${status}): ${why}`)];
  }
  if (said?.unknownTool === true) return undefined;
  // A result is handed on as the bytes that came: a large one is never a string here. Only its form is made sure of.
  if (body[0]?.[0] !== 0x7b || body.at(-1)?.at(-1) !== 0x7d) return [toolError(NO_ANSWER)];
  for (const piece of body) {
    for (let at = piece.indexOf(10); at !== -1; at = piece.indexOf(10, at)) piece[at] = 0x20;
  }
  return body;
}

/** The object in a body of one piece, which all refusals are. @returns {Record<string, unknown> | undefined} */
function small(/** @type {Buffer[]} */ body) {
  if (body.length !== 1) return undefined;
  try {
    const value = JSON.parse(String(body[0]));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Answers messages. */
class Server {
  /** What ends a running call, by the id of its request: with an answer or without. @type {Map<Id, (why?: string) => void>} */
  #running = new Map();

  /**
   * @param {Schema} schema
   * @param {Calls} calls
   */
  constructor(schema, calls) {
    this.schema = schema;
    this.calls = calls;
    this.names = new Set(schema.tools.map((tool) => tool.name));
    this.list = Buffer.from(JSON.stringify({ tools: schema.tools }));
  }

  /** Ends all calls: with this as their error, or, where nobody waits for an answer, without. */
  end(/** @type {string | undefined} */ why) {
    for (const stop of this.#running.values()) stop(why);
  }

  /**
   * Answer one line, now or later; or never, where it holds nothing that wants an answer.
   * @param {string} line
   * @param {(parts: Buffer[]) => void} send
   */
  line(line, send) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return send(failure(null, PARSE_ERROR, "Parse error: the line is no JSON"));
    }
    if (!Array.isArray(message)) return this.#message(message, (parts) => parts && send(parts));
    if (message.length === 0)
      return send(failure(null, INVALID_REQUEST, "Invalid request: the batch is empty"));
    this.#batch(message, send);
  }

  /**
   * @param {unknown[]} messages
   * @param {(parts: Buffer[]) => void} send
   */
  #batch(messages, send) {
    /** @type {Buffer[][]} */
    const answers = [];
    let open = messages.length;
    for (const message of messages) {
      this.#message(message, (parts) => {
        open -= 1;
        if (parts) answers.push(parts);
        if (open > 0 || answers.length === 0) return;
        const joined = answers.flatMap((answer, index) => [Buffer.from(index === 0 ? "[" : ","), ...answer]);
        send([...joined, Buffer.from("]")]);
      });
    }
  }

  /**
   * @param {unknown} message
   * @param {(parts?: Buffer[]) => void} done called once: with the answer, or without where there is none
   */
  #message(message, done) {
    if (!isObject(message)) return done(failure(null, INVALID_REQUEST, "Invalid request: not an object"));
    const { id, method, params, jsonrpc } = /** @type {Message} */ (message);
    if (jsonrpc !== "2.0" || ("id" in message && method !== undefined && !isId(id))) {
      const what = jsonrpc === "2.0" ? "the id must be a string or a number" : 'jsonrpc must be "2.0"';
      return done(failure(isId(id) ? id : null, INVALID_REQUEST, `Invalid request: ${what}`));
    }
    if (typeof method !== "string") {
      // The answer to a request, of which this server makes none.
      if (method === undefined && ("result" in message || "error" in message)) return done();
      return done(failure(isId(id) ? id : null, INVALID_REQUEST, "Invalid request: no method"));
    }
    if (!isId(id)) {
      this.#notified(method, params);
      return done();
    }
    this.#request(id, method, params, done);
  }

  #notified(/** @type {string} */ method, /** @type {unknown} */ params) {
    if (method !== "notifications/cancelled" || !isObject(params) || !isId(params.requestId)) return;
    this.#running.get(params.requestId)?.();
  }

  /**
   * @param {Id} id
   * @param {string} method
   * @param {unknown} params
   * @param {(parts?: Buffer[]) => void} done
   */
  #request(id, method, params, done) {
    switch (method) {
      case "initialize":
        return done(success(id, Buffer.from(JSON.stringify(this.#hello(params)))));
      case "ping":
        return done(success(id, Buffer.from("{}")));
      case "tools/list":
        if (isObject(params) && params.cursor != null) {
          return done(
            failure(id, INVALID_PARAMS, "Invalid params: there is one page of tools, and no cursor"),
          );
        }
        return done(success(id, this.list));
      case "tools/call":
        return this.#call(id, params, done);
      default:
        return done(failure(id, METHOD_NOT_FOUND, `Method not found: ${method.slice(0, 200)}`));
    }
  }

  #hello(/** @type {unknown} */ params) {
    const wanted = isObject(params) ? String(params.protocolVersion) : "";
    return {
      protocolVersion: VERSIONS.includes(wanted) ? wanted : VERSIONS.at(-1),
      capabilities: { tools: {} },
      serverInfo: this.schema.serverInfo,
    };
  }

  /**
   * @param {Id} id
   * @param {unknown} params
   * @param {(parts?: Buffer[]) => void} done
   */
  #call(id, params, done) {
    const { name, arguments: said } = isObject(params) ? params : {};
    const given = said ?? {};
    if (typeof name !== "string")
      return done(failure(id, INVALID_PARAMS, "Invalid params: a tool's name is missing"));
    if (!isObject(given))
      return done(failure(id, INVALID_PARAMS, "Invalid params: arguments must be an object"));
    const unknown = () => failure(id, INVALID_PARAMS, `Unknown tool: ${name.slice(0, 200)}`);
    if (!this.names.has(name)) return done(unknown());
    if (this.#running.has(id)) {
      return done(failure(id, INVALID_REQUEST, "Invalid request: a call with this id is under way"));
    }
    const answer = (/** @type {Buffer[] | undefined} */ parts) => {
      this.#running.delete(id);
      done(parts);
    };
    const call = bodyOf(name, given);
    if (typeof call === "string") return done(success(id, toolError(call)));
    const stop = this.calls.start(
      call,
      (status, body) => {
        const result = resultOf(status, body);
        answer(result === undefined ? unknown() : success(id, ...result));
      },
      (why) => answer(success(id, toolError(why))),
    );
    this.#running.set(id, (why) => {
      stop();
      answer(why === undefined ? undefined : success(id, toolError(why)));
    });
  }
}

/** @returns {Buffer[]} */
function success(/** @type {Id} */ id, /** @type {Buffer[]} */ ...result) {
  return [Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`), ...result, Buffer.from("}")];
}

/** @returns {Buffer[]} */
function failure(/** @type {Id | null} */ id, /** @type {number} */ code, /** @type {string} */ message) {
  return [Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }))];
}

function main() {
  const where = bridgeOf(process.env);
  const schema = schemaOf(process.argv[2]);
  const bridge = { ...where, hasEnded: endOf(String(process.argv[2])) };
  const server = new Server(schema, new Calls(bridge));
  let ending = false;
  const output = new Output(() => process.exit(0));
  const end = (/** @type {string | undefined} */ why) => {
    if (ending) return;
    ending = true;
    server.end(why);
    output.drain(() => process.exit(0));
  };
  const lines = new Lines((line) => {
    if (ending) return;
    if (line !== undefined) return server.line(line, (parts) => output.send(parts));
    output.send(
      failure(null, PARSE_ERROR, `Parse error: a message may have ${MOST_LINE} bytes, and this one has more`),
    );
  });
  process.stdin.on("data", (/** @type {Buffer} */ chunk) => lines.push(chunk));
  process.stdin.on("end", () => {
    lines.finish();
    end(undefined);
  });
  process.stdin.on("error", () => end(undefined));
  watch(bridge, () => end(LOST));
}

try {
  main();
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  process.stderr.write(`mcp-schema-server: ${error.message}\n`);
  process.exitCode = 1;
}
