/**
 * The stream once more, read by the plainest means there are: whole lines, `TextDecoder` and `JSON.parse`. It
 * knows what the events are and nothing of how the package makes them. What it does not do is to tell repeats
 * of text from new text, so a stream that is compared with it must hold none.
 */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Fields = { [key: string]: Json };
/** An event with its payloads made; absent fields are `undefined`. */
export type Plain = { type: string } & Record<string, unknown>;

interface Call {
  name: string;
  kind: string;
  args: Json | undefined;
}

const OUTCOMES: Record<string, string> = {
  success: "success",
  failure: "failure",
  rejected: "rejected",
  permissionDenied: "permissionDenied",
  error: "error",
  fileNotFound: "error",
  invalidFile: "error",
  spawnError: "error",
  timeout: "error",
};
const GOOD = ["success", "succeeded", "finished", "completed", "ok", "done"];

/** `JSON.parse`, for text whose strings may hold raw control characters. */
export function parse(text: string): Json | undefined {
  const escaped = text.replace(/"(?:[^"\\]|\\[\s\S])*"/g, (string) =>
    string.replace(/\\?[\u0000-\u001f]|\\[\s\S]/g, (unit) => {
      const code = unit.charCodeAt(unit.length - 1);
      return code < 0x20 ? `\\u${code.toString(16).padStart(4, "0")}` : unit;
    }),
  );
  try {
    return JSON.parse(escaped);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const text = (value: unknown): string | undefined =>
  typeof value === "string" ? value.toWellFormed() : undefined;
const present = <T>(value: T | null | undefined): T | undefined => value ?? undefined;

/** The first 4096 bytes, without half a character at the end. */
function start(line: string): string {
  const bytes = new TextEncoder().encode(line);
  let end = Math.min(bytes.length, 4096);
  while (end < bytes.length && ((bytes[end] as number) & 0xc0) === 0x80) end -= 1;
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, end));
}

export class Reference {
  #events: Plain[] = [];
  #half: { type: string; unit: string } | undefined;
  readonly #calls = new Map<string, Call[]>();

  /** The events of a whole stream. */
  static read(stream: Uint8Array): Plain[] {
    const reference = new Reference();
    let from = 0;
    while (from < stream.length) {
      const end = stream.indexOf(10, from);
      reference.line(stream.subarray(from, end === -1 ? stream.length : end));
      from = end === -1 ? stream.length : end + 1;
    }
    reference.#settle();
    return reference.#events;
  }

  line(bytes: Uint8Array): void {
    const decoded = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    const line = decoded.replace(/\r$/, "").replace(/^\uFEFF/, "");
    const inner = line.replace(/^[ \t\r]+|[ \t\r]+$/g, "");
    const record = parse(inner);
    if (inner === "") this.#unknown("blank", line);
    else if (!isObject(record)) this.#unknown("not-json", line);
    else this.#record(record, inner);
  }

  #record(record: Fields, raw: string): void {
    const { type, subtype } = record;
    const message = isObject(record.message) ? this.#content(record.message.content) : undefined;
    if (type === "thinking" && subtype === "delta") {
      if (typeof record.text === "string") this.#text("thinking-delta", record.text);
    } else if (type === "thinking" && subtype === "completed") this.#event({ type: "thinking-completed" });
    else if (type === "assistant" && message !== undefined) this.#text("assistant-text", message);
    else if (type === "tool_call" && subtype === "started") this.#started(record);
    else if (type === "tool_call" && subtype === "completed") this.#completed(record);
    else if (type === "user") this.#event({ type: "user", text: (message ?? "").toWellFormed() });
    else if (type === "system" && subtype === "init") {
      const { session_id, cwd, model, apiKeySource, permissionMode } = record;
      this.#event({
        type: "system-init",
        sessionId: text(session_id),
        cwd: text(cwd),
        model: text(model),
        apiKeySource: text(apiKeySource),
        permissionMode: text(permissionMode),
      });
    } else if (type === "interaction_query" && typeof subtype === "string") {
      const { query, response } = record;
      const payload = subtype === "response" ? (response ?? query) : (query ?? response);
      const [phase, queryType] = [subtype.toWellFormed(), text(record.query_type)];
      this.#event({ type: "interaction-query", phase, queryType, payload: present(payload) });
    } else if ((type === "connection" || type === "retry") && typeof subtype === "string") {
      const attempt = Number.isInteger(record.attempt) ? (record.attempt as number) : -1;
      const fits = attempt >= 0 && attempt < 2 ** 32 - 1;
      this.#event({ type, state: subtype.toWellFormed(), attempt: fits ? attempt + 0 : undefined });
    } else if (type === "result") this.#result(record);
    else this.#unknown("new-type", raw, record);
  }

  #content(content: Json | undefined): string | undefined {
    const items = Array.isArray(content) ? content : content === undefined ? [null] : [content];
    const texts = items.map((item) => {
      if (!isObject(item)) return Array.isArray(content) || typeof item === "string" ? item : null;
      return item.type === undefined || item.type === "text" ? item.text : null;
    });
    const strings = texts.filter((item) => typeof item === "string");
    return strings.length > 0 || items.length === 0 ? strings.join("") : undefined;
  }

  #result(record: Fields): void {
    const [subtype, status] = [text(record.subtype), text(record.status)];
    const bad = status !== undefined && !GOOD.includes(status.toLowerCase());
    this.#event({
      type: "result",
      sessionId: text(record.session_id),
      subtype,
      text: text(record.result),
      requestId: text(record.request_id),
      isError: record.is_error === true || (subtype !== undefined && subtype !== "success") || bad,
      durationMs: typeof record.duration_ms === "number" ? record.duration_ms : undefined,
      usage: present(record.usage),
    });
  }

  #tool(record: Fields): { callId: string | undefined; kind: string | undefined; body: Fields } {
    const all = isObject(record.tool_call) ? record.tool_call : {};
    const named = (key: string): boolean => /^.+ToolCall$/s.test(key) || key === "function";
    const key = Object.keys(all).find((name) => named(name) && isObject(all[name]));
    const id = typeof record.call_id === "string" ? record.call_id : all.toolCallId;
    return {
      callId: text(id),
      kind: key?.replace(/ToolCall$/, "").toWellFormed(),
      body: key === undefined ? {} : (all[key] as Fields),
    };
  }

  #args(kind: string | undefined, body: Fields): Json | undefined {
    const given = present(body.arguments);
    if (kind !== "function" || given === undefined || present(body.args) !== undefined)
      return present(body.args);
    const inner = typeof given === "string" ? parse(given.trim()) : undefined;
    return isObject(inner) ? inner : given;
  }

  #name(kind: string | undefined, body: Fields): string | undefined {
    const said = (value: unknown): string | undefined => text(value) || undefined;
    if (kind === "function") return said(body.name);
    if (kind !== "mcp" || !isObject(body.args)) return undefined;
    const [provider, tool] = [said(body.args.providerIdentifier), said(body.args.toolName)];
    const joined = provider === undefined ? tool : tool && `${provider}-${tool}`;
    return said(body.args.name) ?? joined;
  }

  #started(record: Fields): void {
    const { callId, kind = "unknown", body } = this.#tool(record);
    const call = { name: this.#name(kind, body) ?? kind, kind, args: this.#args(kind, body) };
    this.#event({ type: "tool-call-started", callId, ...call });
    if (callId !== undefined) this.#calls.set(callId, [call]);
    else this.#calls.set(`\n${kind}`, [...(this.#calls.get(`\n${kind}`) ?? []), call]);
  }

  #completed(record: Fields): void {
    const { callId, kind: own, body } = this.#tool(record);
    const started = this.#calls.get(callId ?? `\n${own}`)?.shift();
    const kind = own ?? started?.kind ?? "unknown";
    const remembered = started?.kind === kind ? started.name : undefined;
    const outcome = this.#outcome(body.result);
    this.#event({
      type: "tool-call-completed",
      callId,
      name: this.#name(own, body) ?? remembered ?? kind,
      kind,
      args: this.#args(own, body) ?? started?.args,
      result: present(body.result),
      outcome,
      isError: outcome !== "success",
    });
  }

  #outcome(result: Json | undefined): string {
    if (typeof result === "string") {
      const inner = parse(result);
      return Object.hasOwn(OUTCOMES, result)
        ? (OUTCOMES[result] as string)
        : isObject(inner)
          ? this.#outcome(inner)
          : "unknown";
    }
    if (!isObject(result)) return "unknown";
    const key = Object.keys(result).find((name) => Object.hasOwn(OUTCOMES, name) && result[name] !== null);
    const { success } = result;
    if (key === "success" && isObject(success) && success.isError === true) return "error";
    return key === undefined ? "unknown" : (OUTCOMES[key] as string);
  }

  /** Text waits where it ends in half a pair, for the other half may be in the next record. */
  #text(type: string, piece: string): void {
    if (piece === "") return;
    if (this.#half !== undefined && this.#half.type !== type) this.#settle();
    const all = (this.#half?.unit ?? "") + piece;
    const cut = /[\ud800-\udbff]$/.test(all) ? all.length - 1 : all.length;
    this.#half = cut < all.length ? { type, unit: all.slice(cut) } : undefined;
    if (cut > 0) this.#events.push({ type, text: all.slice(0, cut).toWellFormed() });
  }

  #settle(): void {
    if (this.#half !== undefined) this.#events.push({ type: this.#half.type, text: "\ufffd" });
    this.#half = undefined;
  }

  #event(event: Plain): void {
    this.#settle();
    this.#events.push(event);
  }

  #unknown(reason: string, raw: string, record: Fields = {}): void {
    const [recordType, recordSubtype] = [text(record.type), text(record.subtype)];
    this.#events.push({ type: "unknown", reason, recordType, recordSubtype, raw: start(raw) });
  }
}
