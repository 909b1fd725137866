export { CursorRuntimeAdapter } from "fusion-cursor-native/plugin";
