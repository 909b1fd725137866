import { native } from "./scope.js";

/** The file that Node loaded, found by its export: the loader does not tell it. */
function loadedFile(): string {
  for (const [file, module] of Object.entries(require.cache)) {
    if (
      file.endsWith(".node") &&
      (module?.exports as typeof native | undefined)?.openScope === native.openScope
    ) {
      return file;
    }
  }
  return "";
}

export function nativeInfo(): { version: string; target: string; file: string } {
  return { version: native.coreVersion(), target: native.coreTarget(), file: loadedFile() };
}
