// The ES module face of index.js: the same objects, so that `instanceof CursorError` holds for both.
import native from "./index.js";

export const {
  CursorError,
  discoverCursorModels,
  discoverCursorProviderModels,
  launchCursorPrompt,
  nativeInfo,
  parseCursorAuthStatus,
  parseCursorModels,
  probeCursorBinary,
  setLogger,
  validateCursorBinaryPath,
} = native;
