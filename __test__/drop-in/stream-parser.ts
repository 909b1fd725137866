export { CursorStreamParser, parseCursorStreamLine } from "fusion-cursor-native";
