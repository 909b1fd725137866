/** The plugin. What each thing means is said in `index.d.ts`. */

import { nativeInfo } from "fusion-cursor-native";
import { CursorRuntimeAdapter } from "./adapter.js";
import type { CursorFusionPlugin } from "./index.js";
import { cursorCliProvider, cursorCliRoutes } from "./provider.js";
import { BINARY_SETTING, RUNTIME } from "./settings.js";

const { version, target } = nativeInfo();

const runtime = {
  runtimeId: RUNTIME,
  name: "Cursor CLI",
  description: "Runs agents with Cursor's CLI, one supervised process per prompt.",
  // Fusion takes three numbers and nothing behind them.
  version: version.replace(/[-+].*$/, ""),
} as const;

export const plugin: CursorFusionPlugin = {
  manifest: {
    id: "fusion-plugin-cursor-runtime",
    name: "Cursor Runtime",
    version: runtime.version,
    description: "Cursor CLI as an agent runtime and a model provider.",
    settingsSchema: {
      [BINARY_SETTING]: {
        type: "string",
        label: "Cursor CLI path",
        description:
          "The program to run, as one path without quotes. Blank: cursor-agent or cursor, where they are found.",
        group: "Cursor CLI",
      },
    },
    runtime,
  },
  state: "installed",
  hooks: {
    onLoad: ({ logger }) => logger?.debug(`fusion-cursor-native ${version} for ${target}`),
  },
  routes: cursorCliRoutes,
  runtime: { metadata: runtime, factory: (context) => new CursorRuntimeAdapter(context) },
  cliProviders: [cursorCliProvider],
};

export { CursorRuntimeAdapter, cursorCliProvider, cursorCliRoutes };
export default plugin;
