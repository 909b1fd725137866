export {
  classifyCursorConfigTracking,
  inspectCursorWorktree,
  reconcileCursorWorktree,
} from "fusion-cursor-native";
