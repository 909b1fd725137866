// The ES module face of index.js: the same objects, so that `instanceof CursorError` holds for both.
import native from "./index.js";

export const {
  CursorError,
  CursorStreamParser,
  discoverCursorModels,
  discoverCursorProviderModels,
  launchCursorPrompt,
  nativeInfo,
  parseCursorAuthStatus,
  parseCursorModels,
  parseCursorStreamLine,
  probeCursorBinary,
  setLogger,
  validateCursorBinaryPath,
} = native;
