/** The inner binding, and the scope that this environment (the main thread or a worker) has in it. */

import { isMainThread } from "node:worker_threads";
import native from "../native.js";

export { native };

/** Processes are started under this number, and end with this environment. */
export const scope: number = native.openScope();

// N-API tears an environment down at the end of a worker and after a natural end, but not on
// `process.exit`, an uncaught error or a signal that somebody turned into an exit. With the main thread
// the workers end too, and theirs is no exit that they hear of.
process.once("exit", () => {
  native.endScope(scope, isMainThread);
});
