// The plugin in a stub of Fusion: what its engine and its dashboard ask of a plugin, in a page.
//
//   node examples/fusion.mjs

import plugin from "fusion-cursor-native/plugin";
import { agent } from "./agent.mjs";

const { binary, env } = await agent("fusion");

// Fusion loads a plugin, gives it a context with its settings, and keeps what it contributes.
const context = {
  settings: { cursorCliBinaryPath: binary },
  logger: { warn: console.warn, debug: () => {} },
};
plugin.hooks.onLoad(context);
plugin.state = "started";
const runtimes = new Map([[plugin.runtime.metadata.runtimeId, plugin.runtime.factory(context)]]);
const providers = new Map(plugin.cliProviders.map((provider) => [provider.providerId, provider]));
const routes = new Map(plugin.routes.map((route) => [`${route.method} ${route.path}`, route]));
console.log(`${plugin.manifest.id}: ${[...routes.keys()].join(", ")}`);

// The dashboard enables the provider, and lists its models.
const provider = providers.get("cursor-cli");
const runtime = runtimes.get("cursor");
if (provider === undefined || runtime === undefined) throw new Error("the plugin contributes nothing");
const enabled = await routes
  .get(`POST ${provider.authRoute}`)
  ?.handler({ body: { enabled: true, binaryPath: binary } }, context);
const { models } = await provider.discoverModels(context);
console.log(`enabled: ${enabled?.status}, models: ${models.length > 0 ? "listed" : "none"}`);

// The engine runs an agent on a task.
const { session } = await runtime.createSession({
  cwd: process.cwd(),
  systemPrompt: "You work on one task. Ask for its text.",
  tools: "coding",
  defaultModelId: "cursor-cli/auto",
  skills: ["tidy"],
  fusionTools: [
    {
      name: "fn_task_show",
      description: "The text of the task.",
      parameters: { type: "object", properties: {} },
      execute: () => "Mend the lamp before Sunday.",
    },
  ],
  ...(env === undefined ? {} : { taskEnv: env }),
  onText: (text) => console.log(text),
  onToolStart: (name) => console.log(`> ${name}`),
  onToolEnd: (name, isError) => console.log(`< ${name} ${isError ? "failed" : "succeeded"}`),
});
try {
  console.log(runtime.describeModel(session));
  await runtime.promptWithFallback(session, "Begin.");
  await runtime.promptWithFallback(session, "How long will it take?");
  const { totalMessages, toolCalls, tokens } = session.getSessionStats();
  console.log(`${totalMessages} messages, ${toolCalls} tool call, ${tokens.output} tokens out`);
} finally {
  await session.dispose();
}
