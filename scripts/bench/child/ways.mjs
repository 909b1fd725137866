// The ways to read one stream. Each runs the same program, does the same small work for every event, and says
// what it has seen, so that none is fast because it left something out.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { launchCursorPrompt } from "../../../index.mjs";

/** What a reader has seen. */
class Seen {
  events = 0;
  /** Characters of the answer and of the thinking. */
  text = 0;
  /** Characters that were read out of payloads. */
  payload = 0;

  /** @param {string} text */
  said(text) {
    this.events += 1;
    this.text += text.length;
  }

  /** @param {unknown} args */
  started(args) {
    this.events += 1;
    this.payload += /** @type {{ path: string }} */ (args).path.length;
  }

  /** @param {unknown} result */
  ended(result) {
    this.events += 1;
    this.payload += /** @type {{ success: { content: string } }} */ (result).success.content.length;
  }
}

/** @param {string} program */
function start(program) {
  return spawn(program, [], { stdio: ["ignore", "pipe", "inherit"] });
}

/** Reads and does nothing: the floor. @param {string} program */
async function plainRead(program) {
  let bytes = 0;
  const { stdout } = start(program);
  stdout.on("data", (chunk) => {
    bytes += chunk.length;
  });
  await new Promise((resolve) => stdout.on("close", resolve));
  return { bytes };
}

/** What one writes by hand. @param {string} program */
async function readline(program) {
  const seen = new Seen();
  const lines = createInterface({ input: start(program).stdout, crlfDelay: Number.POSITIVE_INFINITY });
  lines.on("line", (line) => {
    const record = JSON.parse(line);
    if (record.type === "thinking") {
      if (record.subtype === "delta") seen.said(record.text);
    } else if (record.type === "assistant") {
      for (const item of record.message.content) seen.said(item.text);
    } else if (record.type === "tool_call") {
      const key = Object.keys(record.tool_call).find((name) => name.endsWith("ToolCall"));
      const tool = record.tool_call[key ?? ""];
      if (record.subtype === "started") seen.started(tool.args);
      else seen.ended(tool.result);
    }
  });
  await new Promise((resolve) => lines.on("close", resolve));
  return seen;
}

/** @param {string} program */
const turn = (program) => ({ cwd: "/", prompt: "Mend the lamp.", binary: program });

/** Every payload is read. @param {string} program */
async function fourCallbacks(program) {
  const seen = new Seen();
  await launchCursorPrompt({
    ...turn(program),
    onText: (text) => seen.said(text),
    onThinking: (text) => seen.said(text),
    onToolStart: (_name, args) => seen.started(args),
    onToolEnd: (_name, _isError, result) => seen.ended(result),
  });
  return seen;
}

/** No payload is read, so none is parsed here. @param {string} program */
async function onEventAlone(program) {
  const seen = new Seen();
  await launchCursorPrompt({
    ...turn(program),
    onEvent(event) {
      if (event.type === "thinking-delta" || event.type === "assistant-text") seen.said(event.text);
      else if (event.type === "tool-call-started" || event.type === "tool-call-completed") seen.events += 1;
    },
  });
  return seen;
}

/** Each by its name. */
export const ways = { plain: plainRead, readline, four: fourCallbacks, event: onEventAlone };

/** @typedef {keyof typeof ways} Way */
