// The life of sessions in one host. By itself, `node forty-host.mjs LIVES` lives those of a JSON file and prints what
// became of each.

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

/**
 * @typedef {object} Life
 * @property {string} name of the session, which no other has.
 * @property {string} secret what its tool answers.
 * @property {string} cwd
 * @property {string} binary
 * @property {string} scenario the file that its agent plays.
 * @property {object[][]} plays what it plays in each turn.
 */

/**
 * Create a session, run its turns, dispose it, and tell all that it saw.
 * @param {typeof import("fusion-cursor-native")} cursor
 * @param {Life} life
 * @param {<T>(turn: () => Promise<T>) => Promise<T>} inTurn
 */
export async function live(cursor, { name, secret, cwd, binary, scenario, plays }, inTurn) {
  /** @type {Record<"texts" | "callers" | "tools" | "ids" | "ends", unknown[]>} */
  const saw = { texts: [], callers: [], tools: [], ids: [], ends: [] };
  const session = await cursor.CursorSession.create({
    cwd,
    binary,
    tools: "coding",
    systemPrompt: `You are ${name}.`,
    env: { FUSION_CURSOR_SCENARIO: scenario },
    lockTimeoutMs: 60_000,
    fusionTools: [
      {
        name: "fn_secret",
        execute(_id, { from }) {
          saw.callers.push(from);
          return secret;
        },
      },
    ],
    onText: (text) => void saw.texts.push(text),
    onToolEnd: (tool, isError, result) => void saw.tools.push([tool, isError, JSON.stringify(result)]),
    onEvent: (event) => {
      if (event.type === "system-init") saw.ids.push(event.sessionId);
    },
  });
  const tools = [...session.toolNames];
  for (const [number, play] of plays.entries()) {
    writeFileSync(scenario, JSON.stringify({ turn: play }));
    const turn = () => session.prompt(`${name} asks ${number}`);
    saw.ends.push(
      await inTurn(turn).then(
        ({ text, sessionId }) => [text, sessionId],
        ({ code }) => code,
      ),
    );
  }
  const { turns, toolCalls, fusionToolBridgeError: trouble } = session;
  await session.dispose();
  return { name, server: tools, trouble, turns, toolCalls, ...saw };
}

/** So many at once, and the others when one of them is done. @param {number} most */
export function atMost(most) {
  let running = 0;
  /** @type {(() => void)[]} */
  const waiting = [];
  return async (/** @type {() => Promise<any>} */ turn) => {
    if (running >= most) await new Promise((resolve) => waiting.push(() => resolve(undefined)));
    else running += 1;
    try {
      return await turn();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

const [, program, lives] = process.argv;
if (program?.endsWith("forty-host.mjs") && lives !== undefined) {
  const cursor = createRequire(import.meta.url)("../..");
  const inTurn = atMost(Number.POSITIVE_INFINITY);
  /** @type {Life[]} */
  const all = JSON.parse(readFileSync(lives, "utf8"));
  for (const said of await Promise.all(all.map((life) => live(cursor, life, inTurn)))) {
    console.log(JSON.stringify(said));
  }
}
