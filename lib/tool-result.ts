/** From what a tool gives to the JSON text that the caller gets. */

/** How much of an error's message is told, in characters. */
const MESSAGE_LIMIT = 4096;

/** What a tool returned. Throws for what has no JSON. */
export function outcome(value: unknown): string {
  if (value instanceof Error) return failed(value);
  const { content, text, isError, structuredContent } = (
    typeof value === "object" && value !== null ? value : {}
  ) as Record<string, unknown>;
  const answer = {
    content: contentOf(value, content, text),
    isError: isError === true,
    ...(isRecord(structuredContent) && isItsOwnJson(structuredContent) ? { structuredContent } : {}),
  };
  return wellFormed(json(answer) ?? "");
}

/** The JSON text of anything; `undefined` where it has none. */
function json(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError) || !/string length/i.test(error.message)) throw error;
    throw new RangeError("The result of the tool is longer than any text can be. Return less of it.");
  }
}

/** Whether it is in JSON what it is here: clients refuse the whole result over an entry that turns into a string. */
function isItsOwnJson(value: Record<string, unknown>): boolean {
  return typeof value.toJSON !== "function";
}

/** What a tool threw: its message, and nothing of where it was thrown. */
export function failed(error: unknown): string {
  let text = messageOf(error);
  if (text.length > MESSAGE_LIMIT) text = `${text.slice(0, MESSAGE_LIMIT)}…`;
  return wellFormed(JSON.stringify({ content: [{ type: "text", text }], isError: true }));
}

function messageOf(error: unknown): string {
  // Whatever was thrown, a getter of it may throw again.
  try {
    const { message } = Object(error) as { message?: unknown };
    const text = typeof message === "string" && message !== "" ? message : String(error);
    return text === "" ? "The tool failed, and did not say why." : text;
  } catch {
    return "The tool failed, and what it threw cannot be read.";
  }
}

function contentOf(value: unknown, content: unknown, text: unknown): object[] {
  if (Array.isArray(content)) return Array.from(content, entry);
  if (typeof text === "string") return [{ type: "text", text }];
  return [{ type: "text", text: asText(value) }];
}

/** One entry of a `content`: as it is where MCP knows its shape, else as text. */
function entry(value: unknown): object {
  return isKnown(value) ? value : { type: "text", text: asText(value) };
}

function isKnown(value: unknown): value is object {
  if (!isRecord(value) || !isItsOwnJson(value)) return false;
  const { type, text, data, mimeType, resource, uri, name } = value;
  switch (type) {
    case "text":
      return typeof text === "string";
    case "image":
    case "audio":
      return typeof data === "string" && typeof mimeType === "string";
    case "resource":
      return (
        isRecord(resource) &&
        typeof resource.uri === "string" &&
        (typeof resource.text === "string" || typeof resource.blob === "string")
      );
    case "resource_link":
      return typeof uri === "string" && typeof name === "string";
    default:
      return false;
  }
}

function asText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined) return "";
  const text = json(value);
  if (text === undefined) throw new TypeError(`The tool returned a ${typeof value}, which has no JSON.`);
  return wellFormed(text);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** JSON without lone surrogates, which no UTF-8 has: many readers refuse the escape that JSON has for them. */
export function wellFormed(json: string): string {
  if (!json.includes("\\ud")) return json;
  // The first part is an escaped backslash, behind which `ud800` is text.
  return json.replace(/\\\\|\\ud[89a-f][0-9a-f]{2}/g, (found) => (found === "\\\\" ? found : "\ufffd"));
}
