// The ES module face of index.js: the same objects, so that `instanceof CursorRuntimeAdapter` holds for both.
// The package comes first: where it cannot be loaded, its ES module face says so, and the one below is not begun.
import "fusion-cursor-native";
import bundled from "./index.js";

export const { CursorRuntimeAdapter, cursorCliProvider, cursorCliRoutes, plugin } = bundled;
export default plugin;
