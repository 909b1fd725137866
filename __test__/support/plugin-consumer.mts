import plugin, { type CursorRuntimeAdapter, plugin as named } from "fusion-cursor-native/plugin";

export const id: "fusion-plugin-cursor-runtime" = plugin.manifest.id;
export const same: boolean = plugin === named;
export const adapter: CursorRuntimeAdapter = plugin.runtime.factory({ settings: {} });
