// The ES module face of index.js: the same objects, so that `instanceof CursorError` holds for both.
import outcome from "./outcome.js";

if ("error" in outcome) throw outcome.error;

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
} = outcome.loaded;
