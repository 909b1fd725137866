/** The events of generated and hostile streams, against a reader that is nothing but `JSON.parse`. */

import { type CursorStreamEvent, CursorStreamParser, parseCursorStreamLine } from "fusion-cursor-native";
import { describe, expect, test } from "vitest";
import { Hostile } from "./support/hostile.js";
import { type Plain, parse, Reference } from "./support/reference.js";

/** To look into a failure, set FUSION_CURSOR_SEED to the seed in its message. */
const given = process.env.FUSION_CURSOR_SEED;
const SEED = given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given);
const seeds = (count: number): number[] => Array.from({ length: count }, (_, at) => (SEED + at) >>> 0);

const PAYLOADS = ["args", "result", "payload", "usage"];

/** The fields that are there, payloads made, in the order of their names. */
function fields(event: CursorStreamEvent | Plain): [string, unknown][] {
  const all = event as unknown as Record<string, unknown>;
  const names = [...new Set([...Object.keys(all), ...PAYLOADS])].sort();
  return names.map((name): [string, unknown] => [name, all[name]]).filter(([, value]) => value !== undefined);
}

/** A value in a message; only the kind of an object, for it may be too deep to be written. */
function show(value: unknown): string {
  return typeof value === "object" && value !== null ? "an object" : JSON.stringify(value)?.slice(0, 2000);
}

/**
 * Where two values differ. Not by recursion, for they may be deep; `-0` is not `0`, and keys have an order.
 */
function difference(left: unknown, right: unknown): string | undefined {
  const pairs: [unknown, unknown, string][] = [[left, right, ""]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [a, b, path] = pair;
    if (typeof a !== "object" || a === null || typeof b !== "object" || b === null) {
      if (!Object.is(a, b)) return `${path}: ${show(a)} is not ${show(b)}`;
      continue;
    }
    const keys = Object.keys(a);
    const same = Array.isArray(a) === Array.isArray(b) && keys.join("\n") === Object.keys(b).join("\n");
    if (!same) return `${path}: the keys ${keys} are not ${Object.keys(b)}`;
    // Read as properties of their own: `__proto__` is one here.
    const own = (of: object, key: string): unknown => Object.getOwnPropertyDescriptor(of, key)?.value;
    for (const key of keys)
      pairs.push([own(a, key), own(b, key), path.length < 200 ? `${path}/${key}` : path]);
  }
  return undefined;
}

function expectSame(events: CursorStreamEvent[], expected: Plain[], about: string): void {
  const differs = difference(events.map(fields), expected.map(fields));
  if (differs !== undefined) expect.fail(`${about}: ${differs}`);
}

/** The events of chunks. */
function read(chunks: Uint8Array[]): CursorStreamEvent[] {
  const parser = new CursorStreamParser();
  return [...chunks.flatMap((chunk) => parser.push(chunk)), ...parser.finish()];
}

test("the reference and the comparison are no mirrors of everything", () => {
  expect(difference([1, { a: [0] }], [1, { a: [-0] }])).toBe("/1/a/0: 0 is not 0");
  expect(difference(JSON.parse('{"__proto__":1}'), {})).toBeDefined();
  expect(difference([undefined], [])).toBeDefined();
  expect(difference({ a: 1, b: 2 }, { b: 2, a: 1 })).toBeDefined();
  expect(parse('{"a":"\u0001\\\\\u0002\\n"}')).toEqual({ a: "\u0001\\\u0002\n" });
  const [event] = Reference.read(Buffer.from('{"type":"result","subtype":"odd"}'));
  expect(event).toMatchObject({ type: "result", isError: true });
});

test("streams of hostile lines", () => {
  const kinds = new Set<string>();
  for (const seed of seeds(150)) {
    const stream = new Hostile(seed).stream(50);
    const events = read([stream]);
    expectSame(events, Reference.read(stream), `FUSION_CURSOR_SEED=${seed}`);
    for (const { type } of events) kinds.add(type);
  }
  expect([...kinds]).toHaveLength(12);
});

test("single lines, from bytes and from the string they are", () => {
  for (const seed of seeds(300)) {
    const hostile = new Hostile(seed);
    for (let count = 0; count < 5; count += 1) {
      const line = hostile.line();
      const [first, ...more] = Reference.read(line);
      // Half a pair at the end of a text waits in a stream, and does not here.
      if (first === undefined || more.length > 0 || "text" in first) continue;
      const about = `FUSION_CURSOR_SEED=${seed}, line ${count}`;
      expectSame([parseCursorStreamLine(line)], [first], about);
      const string = new TextDecoder("utf-8", { ignoreBOM: true }).decode(line);
      expectSame([parseCursorStreamLine(string)], [first], about);
    }
  }
});

test("damaged lines: what JSON.parse still takes is the same, and the next line is as good as ever", () => {
  const good = Buffer.from('{"type":"thinking","subtype":"completed"}\n');
  for (const seed of seeds(1500)) {
    const hostile = new Hostile(seed);
    const line = Uint8Array.from(hostile.line());
    for (let times = hostile.below(3) + 1; times > 0 && line.length > 1; times -= 1) {
      const at = hostile.below(line.length - 1);
      if (hostile.chance(0.5)) line[at] = hostile.below(256);
      else line.copyWithin(at, at + hostile.below(4) + 1);
    }
    const stream = Buffer.concat([line, good]);
    const events = read([stream]);
    const about = `FUSION_CURSOR_SEED=${seed}`;
    expect(events.at(-1)?.type, about).toBe("thinking-completed");
    const expected = Reference.read(stream);
    const taken = expected.every(({ type, reason }) => type !== "unknown" || reason !== "not-json");
    // The JSON in the string of a function's arguments may be damaged too, though the line is not.
    if (taken && !stream.includes('"function"')) expectSame(events, expected, about);
  }
});

describe("however it is cut", () => {
  test("at every byte, into two", () => {
    const stream = new Hostile(SEED).stream(12);
    const whole = Reference.read(stream);
    for (let at = 0; at <= stream.length; at += stream.length > 6000 ? 17 : 1) {
      const about = `FUSION_CURSOR_SEED=${SEED}, cut at ${at}`;
      expectSame(read([stream.subarray(0, at), stream.subarray(at)]), whole, about);
    }
  });

  test("at many places, also at every byte at once", () => {
    for (const seed of seeds(40)) {
      const hostile = new Hostile(seed);
      const stream = hostile.stream(20);
      const longest = hostile.pick([1, 2, 3, 16, 1000]);
      const chunks: Uint8Array[] = [];
      for (let at = 0; at < stream.length; ) {
        const end = at + 1 + hostile.below(longest);
        chunks.push(stream.subarray(at, end));
        at = end;
      }
      expectSame(read(chunks), Reference.read(stream), `FUSION_CURSOR_SEED=${seed}`);
    }
  });
});

test("texts that are cut between any two units arrive whole", () => {
  const units = [
    "a",
    "é",
    "中",
    "\ud83d",
    "\ude00",
    "😀",
    "\u{10ffff}",
    "\u2028",
    '"',
    "\\",
    "\n",
    "\u0000",
    "\ufeff",
  ];
  const said = (type: string, text: string): object =>
    type === "thinking"
      ? { type, subtype: "delta", text, timestamp_ms: 1 }
      : { type, message: { role: "assistant", content: [{ type: "text", text }] }, timestamp_ms: 1 };
  for (const seed of seeds(400)) {
    const hostile = new Hostile(seed);
    const texts = Array.from({ length: 1 + hostile.below(4) }, () =>
      Array.from({ length: hostile.below(12) }, () => hostile.pick(units)).join(""),
    );
    const type = hostile.pick(["thinking", "assistant"]);
    const lines = texts.flatMap((text) => {
      const cuts = Array.from({ length: hostile.below(5) }, () => hostile.below(text.length + 1));
      const places = [0, ...cuts.sort((a, b) => a - b), text.length];
      return places.slice(1).map((end, at) => JSON.stringify(said(type, text.slice(places[at], end))));
    });
    const events = read([Buffer.from(`${lines.join("\n")}\n`)]);
    const pieces = events.map((event) => ("text" in event ? (event.text ?? "") : expect.fail(event.type)));
    const about = `FUSION_CURSOR_SEED=${seed}`;
    expect(pieces.join(""), about).toBe(texts.join("").toWellFormed());
    for (const piece of pieces) expect(piece.isWellFormed(), about).toBe(true);
  }
});
