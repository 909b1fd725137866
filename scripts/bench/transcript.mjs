// A session as the CLI writes it: about 58,000 lines in 20 MB. Most lines are thinking, most bytes are in the
// results of tools, and a part of it is not ASCII. The same for the same size.

import { closeSync, openSync, writeSync } from "node:fs";

const SESSION = "3f0c1d52-8a77-4c7b-9a34-0d6b1c2e9f10";
/** The thinking between two tool calls, in records. */
const THOUGHTS = 40;
const WORDS = ["the lamp ", "is not lit; ", "grün über ", "we look 灯台 ", "into it ", "and 😀 see. "];

/** @param {string} text */
const message = (text) => ({ role: "assistant", content: [{ type: "text", text }] });

/**
 * Some thinking, a message, and a tool call.
 * @param {number} number
 */
function round(number) {
  const more = { session_id: SESSION, timestamp_ms: 1_790_000_000_000 + number };
  const thoughts = Array.from({ length: THOUGHTS }, (_, at) => {
    const text = (WORDS[(number + at) % WORDS.length] ?? "").repeat(2);
    return { type: "thinking", subtype: "delta", text, ...more };
  });
  const call_id = `call-${number}-0\nfc_${number}_0`;
  const args = { path: `/srv/boat/src/lamp_${number}.rs`, offset: 1, limit: 200 };
  // Most source code is ASCII.
  const remark = number % 4 === 0 ? "größere 灯 für später" : "brighter than the one before";
  const rows = Array.from(
    { length: 112 },
    (_, row) => `${String(row).padStart(4)}\tlet flame_${row} = lamp.wick(${number}); // "${remark}"\n`,
  );
  const success = { content: rows.join(""), isEmpty: false, totalLines: 112, path: args.path };
  const text = `Round ${number}: I read the file now, and then I mend what is broken in it. `;
  const tool = { call_id, ...more };
  return [
    ...thoughts,
    { type: "thinking", subtype: "completed", ...more },
    { type: "assistant", message: message(text), model_call_id: `m-${number}`, ...more },
    { type: "tool_call", subtype: "started", tool_call: { readToolCall: { args } }, ...tool },
    {
      type: "tool_call",
      subtype: "completed",
      tool_call: { readToolCall: { args, result: { success } }, toolCallId: call_id },
      ...tool,
    },
  ];
}

/**
 * Write at least `size` bytes of a session to a file, and say what is in it.
 * @param {string} file
 * @param {number} size
 */
export function writeTranscript(file, size) {
  const descriptor = openSync(file, "w");
  const what = { bytes: 0, lines: 0 };
  /** @param {object[]} records */
  const write = (records) => {
    what.bytes += writeSync(descriptor, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
    what.lines += records.length;
  };
  write([
    {
      type: "system",
      subtype: "init",
      cwd: "/srv/boat",
      session_id: SESSION,
      model: "Auto",
      permissionMode: "default",
    },
    { type: "user", message: { ...message("Mend the lamp."), role: "user" }, session_id: SESSION },
  ]);
  for (let number = 0; what.bytes < size; number += 1) write(round(number));
  const usage = { inputTokens: 18_432, outputTokens: 902, cacheReadTokens: 9_120, cacheWriteTokens: 0 };
  write([
    {
      type: "result",
      subtype: "success",
      duration_ms: 61_234,
      is_error: false,
      result: "Done.",
      session_id: SESSION,
      usage,
    },
  ]);
  closeSync(descriptor);
  return what;
}
