import type { CursorPluginContext } from "./index.js";

export const PROVIDER = "cursor-cli";
export const RUNTIME = "cursor";

/** The name of the setting with the program's path. */
export const BINARY_SETTING = "cursorCliBinaryPath";

/** The configured program; settings are what somebody stored, so that anything may be in them. */
export function configuredBinary({ settings }: CursorPluginContext): string | undefined {
  return filled(settings?.[BINARY_SETTING]);
}

/** A string that says something, without the blanks around it. */
export function filled(value: unknown): string | undefined {
  return (typeof value === "string" && value.trim()) || undefined;
}
