// The ES module face of index.js: the same objects, so that `instanceof CursorError` holds for both.
import native from "./index.js";

export const {
  CursorError,
  CursorSession,
  CursorStreamParser,
  classifyCursorConfigTracking,
  cursorMcpSchemaServerPath,
  discoverCursorModels,
  discoverCursorProviderModels,
  inspectCursorWorktree,
  launchCursorPrompt,
  nativeInfo,
  parseCursorAuthStatus,
  parseCursorModels,
  parseCursorStreamLine,
  probeCursorBinary,
  reconcileCursorWorktree,
  releaseHeldLeasesSync,
  setLogger,
  stageCursorMcpLease,
  startCursorToolBridge,
  validateCursorBinaryPath,
} = native;
