export { discoverCursorProviderModels } from "fusion-cursor-native";
export { cursorCliProvider } from "fusion-cursor-native/plugin";
