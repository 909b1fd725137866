// The ES module face of index.js: the same objects, so that `instanceof CursorRuntimeAdapter` holds for both.
import bundled from "./index.js";

export const { CursorRuntimeAdapter, cursorCliProvider, cursorCliRoutes, plugin } = bundled;
export default plugin;
