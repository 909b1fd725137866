/** The public surface. What each thing means is said in `index.d.ts`. */

export { CursorError } from "./errors.js";
export { nativeInfo } from "./info.js";
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
export { launchCursorPrompt } from "./turn.js";
