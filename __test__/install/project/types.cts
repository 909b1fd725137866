import cursor = require("fusion-cursor-native");
export const turn: Promise<cursor.CursorPromptResult> = cursor.launchCursorPrompt({ cwd: ".", prompt: "hi" });
// @ts-expect-error without its types, anything would do
export const wrong = cursor.launchCursorPrompt({ cwd: 1, prompt: "hi" });
