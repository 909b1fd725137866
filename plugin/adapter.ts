/** The runtime: what Fusion's engine asks for, as a session of this package. */

import { CursorSession, type CursorSessionOptions, type CursorSessionToolError } from "fusion-cursor-native";
import type { CursorPluginContext, CursorRuntimeOptions, CursorRuntimeAdapter as Declared } from "./index.js";
import { Listeners } from "./listeners.js";
import { RuntimeSession } from "./session.js";
import { configuredBinary, filled, PROVIDER, RUNTIME } from "./settings.js";

export class CursorRuntimeAdapter implements Declared {
  readonly id = RUNTIME;
  readonly name = "Cursor CLI";
  readonly #context: CursorPluginContext;

  constructor(context: CursorPluginContext = {}) {
    this.#context = context;
  }

  async createSession(
    options: CursorRuntimeOptions,
  ): Promise<{ session: RuntimeSession; sessionFile: undefined }> {
    if (options === null || typeof options !== "object") {
      throw new TypeError("the options of createSession must be an object");
    }
    const { logger } = this.#context;
    const listeners = new Listeners(options, logger);
    const { inner, wrongTool } = await opened({ ...this.#asked(options), ...listeners.callbacks });
    const session = new RuntimeSession(inner, listeners, logger, wrongTool);
    try {
      const { fusionToolBridgeError: problem } = session;
      if (problem !== undefined) logger?.warn(`Cursor runs without the tools of Fusion: ${problem.detail}`);
      await options.beforeSpawnSession?.();
    } catch (error) {
      // What went wrong there is what the caller waits to hear; what goes wrong here is logged.
      await session.dispose().catch(() => {});
      throw error;
    }
    return { session, sessionFile: undefined };
  }

  async promptWithFallback(session: object, prompt: string, options?: unknown): Promise<void> {
    if (!(session instanceof RuntimeSession)) {
      throw new TypeError("session must be one that createSession of the Cursor runtime gave");
    }
    const { images, signal } = (options ?? {}) as { images?: unknown; signal?: unknown };
    if (Array.isArray(images) && images.length > 0) {
      this.#context.logger?.warn(`Cursor's CLI takes no images: ${images.length} left out`);
    }
    await session.prompt(prompt, { signal: signal as AbortSignal | undefined });
  }

  describeModel(session: object): string {
    return session instanceof RuntimeSession ? `${PROVIDER}/${session.model.id}` : "unknown model";
  }

  /** The options of the engine in the words of this package. */
  #asked(options: CursorRuntimeOptions): CursorSessionOptions {
    const { cwd, systemPrompt, tools, fusionTools } = options;
    const binary = configuredBinary(this.#context);
    const skills = options.skills ?? options.runtimeContext?.requestedSkillNames;
    const model = this.#model(options);
    return {
      cwd,
      env: differing(options.taskEnv ?? {}),
      ...(systemPrompt === undefined ? {} : { systemPrompt }),
      ...(tools === undefined ? {} : { tools }),
      ...(fusionTools === undefined ? {} : { fusionTools }),
      ...(binary === undefined ? {} : { binary }),
      ...(skills === undefined ? {} : { skills }),
      ...(model === undefined ? {} : { defaultModelId: model }),
    };
  }

  /** An agent that was given this runtime keeps the project's default model, which may be another provider's. */
  #model({ defaultProvider, defaultModelId }: CursorRuntimeOptions): string | undefined {
    const model = filled(defaultModelId);
    const provider = filled(defaultProvider) ?? PROVIDER;
    const own = provider === PROVIDER || provider === RUNTIME || model?.startsWith(`${PROVIDER}/`);
    if (model === undefined || own) return model;
    this.#context.logger?.warn(`${provider}/${model} is no model of Cursor's CLI: auto runs in its place`);
    return undefined;
  }
}

/** A wrong tool costs the session its tools and nothing else; any other wrong option is its caller's to hear of. */
async function opened(
  options: CursorSessionOptions,
): Promise<{ inner: CursorSession; wrongTool?: CursorSessionToolError }> {
  try {
    return { inner: await CursorSession.create(options) };
  } catch (error) {
    const { fusionTools, ...rest } = options;
    if (!(error instanceof TypeError) || fusionTools === undefined) throw error;
    const inner = await CursorSession.create(rest);
    return { inner, wrongTool: { reasonCode: "bridge-start-failed", detail: error.message } };
  }
}

/**
 * What is not as in the environment of this process. A host may pass all of its own on, and to name a variable is to
 * pass it to the CLI, those included that are kept from it otherwise.
 */
function differing(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const own = process.env;
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || value === own[name] ? [] : [[name, value]],
    ),
  );
}
