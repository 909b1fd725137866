import required = require("fusion-cursor-native/plugin");

export const id: "fusion-plugin-cursor-runtime" = required.default.manifest.id;
export const same: boolean = required.default === required.plugin;
export const adapter: required.CursorRuntimeAdapter = new required.CursorRuntimeAdapter();
