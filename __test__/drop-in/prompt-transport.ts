export { launchCursorPrompt } from "fusion-cursor-native";
