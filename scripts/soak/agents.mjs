// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a scenario
// The agents of a soak: what each does, what its turn is told, and what may become of it.

import { writeFileSync } from "node:fs";
import { join } from "node:path";

const init = { line: { type: "system", subtype: "init", session_id: "s-1", model: "Auto", cwd: "${cwd}" } };
const result = {
  line: { type: "result", subtype: "success", is_error: false, result: "done", session_id: "s-1" },
};
const thinking = { line: { type: "thinking", subtype: "delta", text: "${n} ${fill:200}" }, repeat: 50 };
/** @param {Record<string, unknown>} more */
const call = (more) => ({
  line: { type: "tool_call", call_id: "c-1", ...more },
});
const begun = call({
  subtype: "started",
  tool_call: { shellToolCall: { args: { command: "make", timeout: 1000 } } },
});
const tool = [
  begun,
  call({
    subtype: "completed",
    tool_call: { shellToolCall: { result: { success: { exitCode: 0, stdout: "${fill:20000}" } } } },
  }),
];
/** A child that stays longer than a soak takes, and does not hold a machine for ever where it is left behind. */
const stays = { sleep: 300_000 };
const ignoring = { ignore: ["SIGTERM", "SIGINT", "SIGHUP"] };
/** @param {string} as @param {string} hold @param {object[]} steps */
const child = (as, hold, ...steps) => ({ start: [...steps, stays], as, hold, args: ["worker-server"] });

/**
 * @typedef {object} Agent
 * @property {object[]} turn the steps
 * @property {string[]} ends `done`, or a code
 * @property {Record<string, number>} [limits]
 * @property {boolean} [slow] takes two seconds by design
 */

/** @type {Record<string, Agent>} */
export const good = {
  plain: { turn: [init, thinking, result], ends: ["done"] },
  tools: { turn: [init, ...tool, thinking, ...tool, result], ends: ["done"] },
  slow: { turn: [init, { ...thinking, repeat: 10, delayMs: 5 }, result], ends: ["done"] },
  long: { turn: [init, { ...thinking, repeat: 2000 }, result], ends: ["done"] },
};

/** @type {Record<string, Agent>} */
export const bad = {
  silent: {
    turn: [{ linger: true }],
    limits: { firstLineTimeoutMs: 150 },
    ends: ["CURSOR_FIRST_LINE_TIMEOUT"],
  },
  stalled: {
    turn: [init, ...tool, { linger: true }],
    limits: { inactivityTimeoutMs: 150 },
    ends: ["CURSOR_INACTIVITY_TIMEOUT"],
  },
  "stuck in a tool": {
    turn: [init, begun, { linger: true }],
    limits: { toolTimeoutMs: 150 },
    ends: ["CURSOR_TOOL_TIMEOUT"],
  },
  garbage: {
    turn: [
      { bytes: { hex: "ff00fe7b7b22c3280a" }, repeat: 5000 },
      { text: "no json\n", repeat: 1000 },
    ],
    ends: ["CURSOR_NO_RESULT"],
  },
  "half of everything": {
    turn: [
      init,
      { bytes: { hex: "7b2274797065223a22617373697374616e74222c2274223a22e4b8" }, repeat: 300 },
      { text: '\n{"type":"result","subtype":5,"is_error":[]\n{"type":"result"\n[1,\n"' },
      { bytes: { hex: "f09f98" } },
    ],
    ends: ["CURSOR_NO_RESULT"],
  },
  "a line without an end": {
    turn: [init, { text: "${fill:65536}", repeat: 1_000_000, write: "lines", delayMs: 1 }],
    limits: { inactivityTimeoutMs: 150 },
    ends: ["CURSOR_INACTIVITY_TIMEOUT"],
  },
  "an output that is given up": {
    turn: [init, { close: "stdout" }, { linger: true }],
    limits: { inactivityTimeoutMs: 150 },
    ends: ["CURSOR_NO_RESULT", "CURSOR_EXITED"],
  },
  "an output of megabytes on stderr": {
    turn: [init, { text: "${fill:100000}\n", to: "stderr", repeat: 40 }, result],
    ends: ["done"],
  },
  refused: { turn: [{ text: "boom\n", to: "stderr" }, { exit: 7 }], ends: ["CURSOR_EXITED"] },
  crashed: {
    turn: [init, { text: '{"type":"assistant","message":{"role":"assis' }, { raise: "SIGABRT" }],
    ends: ["CURSOR_EXITED"],
  },
  "a huge line": { turn: [init, { text: "${fill:3000000}" }, { text: "\n" }, result], ends: ["done"] },
  stubborn: { turn: [ignoring, init, result, { linger: true }], ends: ["done"] },
  "stubborn and silent": {
    turn: [ignoring, child("member", "both", ignoring), init, { linger: true }],
    limits: { inactivityTimeoutMs: 150 },
    ends: ["CURSOR_INACTIVITY_TIMEOUT"],
  },
  "a child in its group": { turn: [init, child("member", "none"), result], ends: ["done"] },
  "a child in its own group": { turn: [init, child("group", "none"), result], ends: ["done"] },
  "a child in its own session": { turn: [init, child("session", "none"), result], ends: ["done"] },
  "an orphan": { turn: [init, child("daemon", "none", ignoring), result], ends: ["done"] },
  "a child that holds the output": {
    turn: [init, child("member", "both"), result],
    ends: ["done"],
    slow: true,
  },
  "an orphan that holds the output": {
    turn: [init, child("session", "both"), result],
    ends: ["done"],
    slow: true,
  },
  "a family": {
    turn: [
      init,
      {
        start: [
          ignoring,
          {
            start: [child("session", "none"), child("group", "stdout", ignoring), stays],
            as: "daemon",
            hold: "none",
          },
          child("member", "none", ignoring),
          stays,
        ],
        as: "group",
        hold: "none",
      },
      result,
    ],
    ends: ["done"],
  },
  killed: { turn: [init, ...tool, child("session", "none"), { raise: "SIGKILL" }], ends: ["CURSOR_EXITED"] },
  "one that never reads": {
    turn: [{ stdin: "never" }, { linger: true }],
    limits: { firstLineTimeoutMs: 150 },
    ends: ["CURSOR_FIRST_LINE_TIMEOUT"],
  },
};

/** One that calls the host's tools; it reads plain JSON alone, and the operator may write anything meanwhile. */
export const calling = {
  turn: [
    init,
    {
      callTools: [
        { tool: "fn_say", arguments: { text: "${fill:2000}" } },
        { tool: "fn_fail", arguments: {} },
        { tool: "fn_wait", arguments: {} },
        { tool: "fn_large", arguments: {} },
      ],
      parallel: true,
    },
    result,
  ],
  ends: ["done", "CURSOR_EXITED"],
};

/** Each in a file of its own, by its name. @param {string} folder */
export function writeScenarios(folder) {
  for (const [name, { turn }] of Object.entries({ ...good, ...bad, calling })) {
    const stdin = name === "one that never reads" ? { stdin: "never" } : {};
    writeFileSync(join(folder, `${name}.json`), JSON.stringify({ turn, ...stdin }));
  }
}
