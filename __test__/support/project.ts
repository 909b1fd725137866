/** A user's project: the package in its node_modules, and in PATH a `cursor-agent` that is the stand-in. */

import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { root } from "./markdown.js";
import type { Step } from "./stage.js";

export class Project {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "fusion-cursor-project-")));
  readonly #env: NodeJS.ProcessEnv;

  /** @param scenario what the agent plays; without it there is no agent in PATH, nor where installers put it. */
  constructor(manifest: { name: string; bin: Record<string, string> }, scenario?: Record<string, Step[]>) {
    const { PATH, ...env } = process.env;
    const bin = this.path("bin");
    mkdirSync(bin);
    mkdirSync(this.path("packages", "app"), { recursive: true });
    mkdirSync(this.path("node_modules", ".bin"), { recursive: true });
    symlinkSync(root, this.path("node_modules", manifest.name));
    for (const [name, file] of Object.entries(manifest.bin)) {
      chmodSync(join(root, file), 0o755);
      symlinkSync(join(root, file), this.path("node_modules", ".bin", name));
    }
    writeFileSync(this.path("package.json"), "{}");
    const path = (PATH ?? "").split(delimiter).filter((folder) => !hasAgent(folder));
    this.#env = {
      ...env,
      PATH: [bin, ...path].join(delimiter),
      HOME: this.folder,
      npm_config_offline: "true",
    };
    if (scenario === undefined) return;
    symlinkSync(join(root, "fusion-cursor-stand-in"), join(bin, "cursor-agent"));
    writeFileSync(this.path("scenario.json"), JSON.stringify(scenario));
    this.#env.FUSION_CURSOR_SCENARIO = this.path("scenario.json");
  }

  path(...names: string[]): string {
    return join(this.folder, ...names);
  }

  /** What a command prints, which has to succeed. What waits for input gets its end, as in a script. */
  async run(command: string, ...args: string[]): Promise<{ stdout: string; stderr: string }> {
    const running = promisify(execFile)(command, args, { cwd: this.folder, env: this.#env, timeout: 60_000 });
    running.child.stdin?.end();
    return running;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A developer's own agent is not asked. */
function hasAgent(folder: string): boolean {
  return ["cursor-agent", "cursor"].some((name) => existsSync(join(folder, name)));
}

const line = (record: Record<string, unknown>): Step => ({
  line: { ...record, session_id: "${session}" },
});
const answer = (text: string): Step =>
  line({ type: "assistant", message: { role: "assistant", content: [{ type: "text", text }] } });

const init = line({
  type: "system",
  subtype: "init",
  apiKeySource: "login",
  cwd: "${cwd}",
  model: "${model}",
  permissionMode: "default",
});

function result(text: string): Step {
  const usage = { inputTokens: 118, outputTokens: 9, cacheReadTokens: 0, cacheWriteTokens: 0 };
  return line({ type: "result", subtype: "success", duration_ms: 9, is_error: false, result: text, usage });
}

/** A turn of the agent that looks at a file and answers. */
export const LOOKS: Record<string, Step[]> = {
  turn: [
    init,
    line({ type: "thinking", subtype: "delta", text: "What is there?" }),
    line({ type: "thinking", subtype: "completed" }),
    line({
      type: "tool_call",
      subtype: "started",
      call_id: "c-1",
      tool_call: { readToolCall: { args: { path: "lamp" } } },
    }),
    line({
      type: "tool_call",
      subtype: "completed",
      call_id: "c-1",
      tool_call: { readToolCall: { args: { path: "lamp" }, result: { success: { content: "on" } } } },
    }),
    answer("There is a lamp in it."),
    result("There is a lamp in it."),
  ],
};

/** A conversation whose first turn calls the host's own tool `fn_task`. */
export const CALLS: Record<string, Step[]> = {
  turn: [
    init,
    { callTools: [{ tool: "fn_task", arguments: { id: "T-1" } }] },
    answer("The lamp is to be mended."),
    result("The lamp is to be mended."),
  ],
  resumed: [init, answer("An hour."), result("An hour.")],
};
