/** The tool bridge: a host's own tools, called by the child that Cursor starts. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { CursorToolBridge, CursorToolBridgeOptions, ToolLike } from "../index.js";
import type { BridgeAnswer, BridgeChild, BridgeEvent, BridgeHandle, BridgeOptions } from "../native.js";
import { CursorError, internal, noRoom, notStaged } from "./errors.js";
import { runner } from "./runtime.js";
import { native, scope } from "./scope.js";
import { failed, outcome } from "./tool-result.js";
import { bridgeOptions, checked, type Toolbox } from "./tools.js";

/** What Cursor starts. It lies beside this file, in a package that was built from this one too. */
const SERVER = "mcp-schema-server.cjs";

export function cursorMcpSchemaServerPath(): string {
  const path = join(__dirname, SERVER);
  if (existsSync(path)) return path;
  throw new CursorError(
    `${path} is not there; copy ${SERVER} from the package fusion-cursor-native to that place, as it is`,
    { code: "mcp-schema-server-missing", retryable: false, path },
  );
}

export function startCursorToolBridge(
  tools: readonly ToolLike[],
  options: CursorToolBridgeOptions = {},
): Promise<CursorToolBridge | null> {
  const toolbox = checked(tools, options);
  return toolbox.tools.size === 0 ? Promise.resolve(null) : open(toolbox);
}

async function open(toolbox: Toolbox): Promise<CursorToolBridge> {
  const child = serverChild();
  const host = new Host(toolbox);
  const { bridge, problem } = await asked(bridgeOptions(toolbox), host);
  if (problem != null) throw notStaged(problem);
  if (bridge == null) throw internal(new Error("the tool bridge is neither open nor refused"));
  host.serve(bridge);
  return new Bridge(host, bridge, child, toolbox.tools.size);
}

async function asked(options: BridgeOptions, host: Host): Promise<BridgeAnswer> {
  try {
    return await native.openBridge(scope, options, (event) => host.hear(event));
  } catch (error) {
    if (noRoom(error) === undefined) throw internal(error as Error);
    throw notStaged({
      code: "bridge-start-failed",
      reason: "io",
      message: `a tool bridge was not opened: ${(error as Error).message}; try again when the system has room`,
      retryable: true,
    });
  }
}

/** What runs the server. Throws where it is not there, or nothing can run it. */
export function serverChild(): BridgeChild {
  const script = cursorMcpSchemaServerPath();
  return { ...runner(script), script };
}

/** Runs the tools. */
export class Host {
  #handle: BridgeHandle | undefined;
  /** What came before the handle: a bridge is staged, and called, before anybody here has it. */
  #early: BridgeEvent[] | undefined = [];
  readonly #toolbox: Toolbox;
  readonly #running = new Map<number, AbortController>();

  constructor(toolbox: Toolbox) {
    this.#toolbox = toolbox;
  }

  serve(handle: BridgeHandle): void {
    this.#handle = handle;
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const event of early) this.hear(event);
  }

  hear(event: BridgeEvent): void {
    if (this.#early !== undefined) return void this.#early.push(event);
    const { number, cancelled } = event;
    if (cancelled == null) return void this.#run(number);
    const controller = this.#running.get(number);
    // Not when the tool is done: one that never is would be remembered for ever.
    this.#running.delete(number);
    controller?.abort(this.#reason(cancelled));
  }

  /** Call off all that runs, and answer nothing any more: what a tool says to its abort is no result. */
  end(): void {
    this.#handle = undefined;
    this.#early = undefined;
    for (const controller of this.#running.values()) controller.abort(this.#reason("disposed"));
  }

  async #run(number: number): Promise<void> {
    const call = this.#handle?.take(number);
    // The caller has gone before the event loop came to its call.
    if (call == null) return;
    const controller = new AbortController();
    this.#running.set(number, controller);
    const { tools, context } = this.#toolbox;
    let answer: string;
    try {
      const args: unknown = JSON.parse(call.arguments);
      answer = outcome(await tools.get(call.name)?.(call.callId, args, controller.signal, update, context));
    } catch (error) {
      answer = failed(error);
    }
    this.#running.delete(number);
    this.#handle?.answer(number, answer);
  }

  #reason(why: string): DOMException {
    if (why === "timeout") {
      const limit = `the tool call took longer than ${this.#toolbox.callTimeoutMs} ms`;
      return new DOMException(limit, "TimeoutError");
    }
    const said = why === "disposed" ? "the tool bridge was disposed" : "the caller of the tool has gone";
    return new DOMException(said, "AbortError");
  }
}

/** What a tool says of its progress. Cursor shows none of it. */
function update(): void {}

/** Nothing of it is enumerable: to print a bridge is not to print its token. */
class Bridge implements CursorToolBridge {
  readonly #host: Host;
  readonly #handle: BridgeHandle;
  readonly #child: BridgeChild;
  readonly #toolCount: number;
  readonly #token: string;

  constructor(host: Host, handle: BridgeHandle, child: BridgeChild, toolCount: number) {
    this.#host = host;
    this.#handle = handle;
    this.#child = child;
    this.#toolCount = toolCount;
    this.#token = handle.token();
  }

  get serverEntry(): CursorToolBridge["serverEntry"] {
    const { command, args, env } = this.#handle.entry(this.#child);
    const names = env.filter((_, index) => index % 2 === 0);
    return {
      command,
      args,
      env: Object.fromEntries(names.map((name, index) => [name, env[2 * index + 1] ?? ""])),
    };
  }

  get token(): string {
    return this.#token;
  }

  get toolCount(): number {
    return this.#toolCount;
  }

  async dispose(): Promise<void> {
    this.#host.end();
    await this.#handle.dispose().catch((error) => {
      throw noRoom(error) ?? internal(error as Error);
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }
}
