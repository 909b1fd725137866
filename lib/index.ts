/** The public surface. What each thing means is said in `index.d.ts`. */

export { cursorMcpSchemaServerPath, startCursorToolBridge } from "./bridge.js";
export { CursorError } from "./errors.js";
export { nativeInfo } from "./info.js";
export { classifyCursorConfigTracking, releaseHeldLeasesSync, stageCursorMcpLease } from "./lease.js";
export { setLogger } from "./log.js";
export { CursorStreamParser, parseCursorStreamLine } from "./parser.js";
export {
  discoverCursorModels,
  discoverCursorProviderModels,
  parseCursorAuthStatus,
  parseCursorModels,
  probeCursorBinary,
  validateCursorBinaryPath,
} from "./probe.js";
export { CursorSession } from "./session.js";
export { launchCursorPrompt } from "./turn.js";
export { inspectCursorWorktree, reconcileCursorWorktree } from "./worktree.js";
