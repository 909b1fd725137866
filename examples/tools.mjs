// A host whose agent calls functions of this very program: a small board of tasks.
//
//   node examples/tools.mjs

import { CursorSession } from "fusion-cursor-native";
import { agent } from "./agent.mjs";

const board = new Map([
  ["T-1", { text: "Mend the lamp.", done: false }],
  ["T-2", { text: "Wind the clock.", done: false }],
]);

const fusionTools = [
  {
    name: "fn_tasks",
    description: "All tasks of the board, with their state.",
    parameters: { type: "object", properties: {} },
    execute: () => [...board].map(([id, { text, done }]) => ({ id, text, done })),
  },
  {
    name: "fn_task_done",
    description: "Mark a task as done.",
    parameters: {
      type: "object",
      properties: { id: { type: "string", description: "As in T-1." } },
      required: ["id"],
    },
    /**
     * Arguments are as the model gave them, so they are looked at. What is returned or thrown is what the model reads.
     * @param {string} _callId
     * @param {Record<string, unknown>} args
     */
    execute: (_callId, { id }) => {
      const task = board.get(String(id));
      if (task === undefined) throw new Error(`There is no task ${id}; fn_tasks lists them.`);
      task.done = true;
      return `${id} is done.`;
    },
  },
];

const session = await CursorSession.create({
  cwd: process.cwd(),
  systemPrompt: "You keep a board of tasks. Use your tools.",
  fusionTools,
  ...(await agent("tools")),
  onText: (text) => console.log(text),
  // `args` is Cursor's record of the call; what the tool gets is in it.
  onToolStart: (name, args) => console.log(`> ${name} ${JSON.stringify(args?.args)}`),
  onToolEnd: (name, isError) => console.log(`< ${name} ${isError ? "failed" : "succeeded"}`),
});
try {
  // The session works without its tools too; `detail` says what is in their way.
  if (session.fusionToolBridgeError) console.error(session.fusionToolBridgeError.detail);
  await session.prompt("The clock is wound. Bring the board up to date.");
} finally {
  await session.dispose();
}
for (const [id, { text, done }] of board) console.log(`${done ? "[x]" : "[ ]"} ${id} ${text}`);
