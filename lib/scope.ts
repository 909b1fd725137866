/** The inner binding, and the scope that this environment (the main thread or a worker) has in it. */

import native from "../native.js";
import { endsUnheard, isHost } from "./runtime.js";

export { native };

/** Processes are started under this number, and end with this environment. */
export const scope: number = native.openScope(isHost, !isHost || endsUnheard);

// N-API tears an environment down at the end of a worker and after a natural end, but not on
// `process.exit`, an uncaught error or a signal that somebody turned into an exit. With the main thread
// the workers end too, and theirs is no exit that they hear of.
process.once("exit", end);

// And `Deno.exit` is no exit that its `process` hears of.
if (endsUnheard) (globalThis as unknown as EventTarget).addEventListener("unload", end, { once: true });

function end(): void {
  native.endScope(scope, isHost);
}
