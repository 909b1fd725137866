export { cursorMcpSchemaServerPath, startCursorToolBridge } from "fusion-cursor-native";
