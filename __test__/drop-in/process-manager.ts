export { discoverCursorModels, parseCursorModels } from "fusion-cursor-native";
