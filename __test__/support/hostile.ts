/** Lines as no program would write them, and as some will, from a seed. */

/** Numbers from 0 to below 1, the same for the same seed. */
export function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Stands for bytes that are no UTF-8, until the line is encoded. */
const BAD = "\ue000";
const BAD_BYTES = [
  [0xff],
  [0xc3],
  [0xe4, 0xb8],
  [0xed, 0xa0, 0x80],
  [0xf5, 0x80],
  [0x80],
  [0xf0, 0x9f, 0x98],
];

const PIECES = [
  "plain",
  "",
  " ",
  "é",
  "ÿ",
  "Ā",
  "中文",
  "😀",
  "\u{10ffff}",
  "\uffff",
  "\u2028",
  "\u2029",
  "\u0085",
  "\ufeff",
  "\u0000",
  "\u001b[0m",
  "\t",
  "\r",
  "\u007f",
  "\\n",
  "\\t",
  "\\r",
  "\\b",
  "\\f",
  "\\/",
  '\\"',
  "\\\\",
  "\\u0000",
  "\\u2028",
  "\\ud83d",
  "\\ude00",
  "\\ud83d\\ude00",
  "\\uD83D",
  "\\u00e9",
  "\\\\u0041",
  "{",
  "}]",
  ",",
  ":",
  '\\"type\\":',
  BAD,
];
const KEYS = [
  "a",
  "b",
  "",
  "__proto__",
  "constructor",
  "toJSON",
  "then",
  "type",
  "success",
  "isError",
  "length",
  "0",
  "10",
];
const NUMBERS = [
  "0",
  "-0",
  "1",
  "-1.5",
  "1e400",
  "-1e400",
  "1E-400",
  "5e-324",
  "18446744073709551616",
  "9007199254740993",
  "0.1",
  "1.7976931348623157e308",
  "123456789012345678901234567890",
  "2.0",
  "1e0",
];
const DEPTHS = [127, 128, 129, 200, 1000, 5000];

export class Hostile {
  readonly #next: () => number;
  /** Texts come as deltas, or else as whole messages: a stream of both may repeat itself. */
  readonly #deltas: boolean;

  constructor(seed: number) {
    this.#next = numbers(seed);
    this.#deltas = this.chance(0.5);
  }

  chance(of: number): boolean {
    return this.#next() < of;
  }

  below(limit: number): number {
    return Math.floor(this.#next() * limit);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  string(): string {
    return `"${Array.from({ length: this.below(6) }, () => this.pick(PIECES)).join("")}"`;
  }

  key(): string {
    return this.chance(0.7) ? JSON.stringify(this.pick(KEYS)) : this.string();
  }

  value(depth = 3): string {
    if (depth === 3 && this.chance(0.02)) return this.deep(this.pick(DEPTHS));
    const kind = this.below(depth > 0 ? 8 : 5);
    if (kind < 2) return this.string();
    if (kind < 4) return this.pick(NUMBERS);
    if (kind === 4) return this.pick(["true", "false", "null", "{}", "[]"]);
    if (kind < 7) return this.object(depth - 1);
    return `[${this.#several(() => this.value(depth - 1))}]`;
  }

  /** Keys may be there twice. */
  object(depth = 2): string {
    return `{${this.#several(() => `${this.key()}${this.#space()}:${this.#space()}${this.value(depth)}`)}}`;
  }

  deep(depth: number): string {
    const open = this.pick(["[", '{"a":', '[1,{"__proto__":']);
    return `${open.repeat(depth)}null${(open === "[" ? "]" : open.startsWith("[") ? "}]" : "}").repeat(depth)}`;
  }

  /** A whole stream. */
  stream(lines: number): Uint8Array {
    return Buffer.concat(Array.from({ length: lines }, () => this.line()));
  }

  /** One line with its end. */
  line(): Uint8Array {
    const bom = this.chance(0.05) ? "\ufeff" : "";
    const line = `${bom}${this.#space()}${this.chance(0.06) ? this.#noise() : this.record()}${this.#space()}`;
    return Buffer.concat([
      ...line.split(BAD).flatMap((part, at) => [...(at > 0 ? [this.#bad()] : []), Buffer.from(part)]),
      Buffer.from(this.chance(0.2) ? "\r\n" : "\n"),
    ]);
  }

  record(): string {
    const members = [...this.#members(), ["session_id", '"s"'], ["timestamp_ms", "1"]].filter(
      ([key]) => key !== "timestamp_ms" || this.#deltas,
    );
    const more = Array.from({ length: this.below(3) }, () => [
      this.pick(["x", "hookAdditionalContexts", "__proto__"]),
      this.value(),
    ]);
    const all = this.#shuffled([...members, ...more]);
    // Of a member that is there twice the last counts.
    const twice = this.chance(0.1) ? [[this.pick(members)[0], this.value(1)], ...all] : all;
    return `{${twice.map(([key, value]) => `${this.#spelt(key as string)}:${this.#space()}${value}`).join(`${this.#space()},`)}}`;
  }

  #members(): string[][] {
    const content = `[{"type":"text","text":${this.string()}}]`;
    const id = this.pick(['"c-1"', '"c\\n2"', this.string()]);
    const call = [
      ["type", '"tool_call"'],
      ["call_id", id],
    ];
    switch (this.below(13)) {
      case 0:
        return [
          ["type", '"system"'],
          ["subtype", '"init"'],
          ["cwd", this.string()],
          ["model", this.value(1)],
          ["apiKeySource", '"env"'],
        ];
      case 1:
        return [
          ["type", '"user"'],
          ["message", `{"content":${this.pick([content, this.string(), "[]", "5"])}}`],
        ];
      case 2:
      case 3:
        return [
          ["type", '"thinking"'],
          ["subtype", '"delta"'],
          ["text", this.string()],
        ];
      case 4:
        return [
          ["type", '"thinking"'],
          ["subtype", '"completed"'],
        ];
      case 5:
      case 6:
        return [
          ["type", '"assistant"'],
          [
            "message",
            `{"role":"assistant","content":${this.chance(0.9) ? content : `[${this.string()},{"type":"image"},{"text":${this.string()}}]`}}`,
          ],
        ];
      case 7:
      case 8:
        return [...call, ["subtype", '"started"'], ["tool_call", this.#tool(false)]];
      case 9:
        return [...call, ["subtype", '"completed"'], ["tool_call", this.#tool(true)]];
      case 10:
        return [
          ["type", this.pick(['"connection"', '"retry"'])],
          ["subtype", this.string()],
          ["attempt", this.pick(NUMBERS)],
        ];
      case 11:
        return [
          ["type", '"interaction_query"'],
          ["subtype", this.pick(['"request"', '"response"'])],
          ["query", this.value()],
          ["response", this.value()],
        ];
      default:
        return [
          ["type", '"result"'],
          ["subtype", this.pick(['"success"', '"error"'])],
          ["result", this.string()],
          ["usage", this.value()],
          ["duration_ms", this.pick(NUMBERS)],
          ["is_error", this.pick(["true", "false", "1"])],
        ];
    }
  }

  #tool(ended: boolean): string {
    const key = this.pick(["shell", "read", "mcp", "edit", "中"]);
    const result = this.pick([
      this.value(),
      `{"success":${this.value()}}`,
      `{"success":{"isError":true}}`,
      '{"rejected":{"reason":""}}',
      '"error"',
      `{"isBackground":false,"failure":${this.object()}}`,
    ]);
    const end = ended ? [`"result":${result}`] : [];
    const args = this.pick([
      this.object(),
      this.value(),
      `{"name":${this.string()}}`,
      `{"toolName":${this.string()},"providerIdentifier":${this.string()}}`,
    ]);
    const body = this.#shuffled([
      ...(this.chance(0.8) ? [`"args":${args}`] : []),
      ...end,
      `"description":${this.string()}`,
    ]);
    const calls = this.chance(0.15)
      ? `"function":{"name":${this.string()},"arguments":${this.pick([JSON.stringify(this.object().replaceAll(BAD, "")), this.value(), this.string()])}}`
      : `"${key}ToolCall":{${body.join(",")}}`;
    const siblings = [
      '"toolCallId":"c-1"',
      '"hookAdditionalContexts":[]',
      '"startedAtMs":"1"',
      '"xToolCall":null',
    ];
    return `{${this.#shuffled([calls, ...siblings.filter(() => this.chance(0.3))]).join(",")}}`;
  }

  /** A line that is no record. */
  #noise(): string {
    return this.pick([
      "",
      "  ",
      "Loading…",
      "[DEBUG] 202",
      `[${this.value()}]`,
      '{"type":"result"',
      "null",
      this.string(),
      "{}",
      '{"type":5}',
    ]);
  }

  #spelt(key: string): string {
    const escaped = this.chance(0.05)
      ? `\\u${key.charCodeAt(0).toString(16).padStart(4, "0")}${key.slice(1)}`
      : key;
    return `"${escaped}"`;
  }

  #space(): string {
    return this.chance(0.1) ? this.pick([" ", "\t", "  "]) : "";
  }

  #bad(): Uint8Array {
    return Uint8Array.from(this.pick(BAD_BYTES));
  }

  #several(make: () => string): string {
    return Array.from({ length: this.below(4) }, make).join(",");
  }

  #shuffled<T>(list: T[]): T[] {
    return list
      .map((item) => [this.#next(), item] as const)
      .sort(([a], [b]) => a - b)
      .map(([, item]) => item);
  }
}
