/** Which runtime this is: Node, or one that takes its place. */

import { isMainThread } from "node:worker_threads";
import { CursorError } from "./errors.js";

/** What is asked of Deno's own namespace. */
interface Deno {
  build: { standalone?: boolean };
}

const { Deno: deno } = globalThis as { Deno?: Deno };

/** Whether the process ends with this environment. Deno takes a web worker for a main thread. */
export const isHost = isMainThread && !("WorkerGlobalScope" in globalThis);

/** Whether an environment may be torn down in which no `exit` was heard before. */
export const endsUnheard = deno !== undefined;

/** How this runtime is made to run a script. */
export interface Runner {
  command: string;
  /** What comes before the name of the script. */
  flags: string[];
  /** Names and values of what its environment needs, one after the other. */
  env: string[];
}

/** The runtime of this host, as the runner of a script of Node's kind. */
export function runner(script: string): Runner {
  const command = process.execPath;
  if (isCompiled()) {
    throw new CursorError(
      `${command} is compiled from a script, and cannot run ${script}, which Cursor starts to call tools of this ` +
        "host; run the host with node, bun or deno, or do without tools",
      { code: "mcp-schema-server-missing", retryable: false, path: command },
    );
  }
  if (deno !== undefined) {
    // Its code is this package's, and nothing in the folder that it is started in is part of it.
    const flags = ["run", "--allow-all", "--no-config", "--no-lock", "--quiet"];
    return { command, flags, env: ["DENO_NO_PACKAGE_JSON", "1", "DENO_NO_UPDATE_CHECK", "1"] };
  }
  // Else a program that was compiled with Bun would start itself again.
  if ("bun" in process.versions) return { command, flags: [], env: ["BUN_BE_BUN", "1"] };
  // Else the program of an Electron host would open a window.
  if ("electron" in process.versions) return { command, flags: [], env: ["ELECTRON_RUN_AS_NODE", "1"] };
  return { command, flags: [], env: [] };
}

/** Whether the program of this host runs one script alone, so that to start it is to start the host again. */
function isCompiled(): boolean {
  if (deno !== undefined) return deno.build.standalone === true;
  // The program of an Electron host runs other scripts, whatever its Node was built with.
  if ("bun" in process.versions || "electron" in process.versions) return false;
  // Loaded late, as it is not in every runtime that takes the place of Node.
  const { isSea } = require("node:sea") as typeof import("node:sea");
  return isSea();
}
