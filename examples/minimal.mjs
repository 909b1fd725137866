// A host in twenty lines: two prompts of one conversation, streamed to the terminal.
//
//   node examples/minimal.mjs "What does this project do?"

import { CursorSession } from "fusion-cursor-native";
import { agent } from "./agent.mjs";

const session = await CursorSession.create({
  cwd: process.cwd(),
  systemPrompt: "Answer in one sentence.",
  ...(await agent("minimal")),
  onText: (text) => process.stdout.write(text),
  onToolStart: (name) => console.log(`[${name}]`),
});
try {
  await session.prompt(process.argv[2] ?? "What does this project do?");
  console.log();
  await session.prompt("Whom does it help?");
  console.log(`\n${session.turns} turns, ${session.usage.outputTokens} tokens`);
} finally {
  await session.dispose();
}
