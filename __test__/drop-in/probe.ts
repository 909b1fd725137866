export { parseCursorAuthStatus, probeCursorBinary, validateCursorBinaryPath } from "fusion-cursor-native";
