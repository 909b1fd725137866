import { type CursorPromptResult, launchCursorPrompt } from "fusion-cursor-native";
import plugin from "fusion-cursor-native/plugin";
export const id: string = plugin.manifest.id;
export const turn: Promise<CursorPromptResult> = launchCursorPrompt({ cwd: ".", prompt: "hi" });
// @ts-expect-error without its types, anything would do
export const wrong = launchCursorPrompt({ cwd: 1, prompt: "hi" });
