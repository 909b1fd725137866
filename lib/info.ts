import { native } from "./scope.js";

export function nativeInfo(): { version: string; target: string; file: string } {
  return { version: native.coreVersion(), target: native.coreTarget(), file: native.addonFile };
}
