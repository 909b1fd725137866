/**
 * What becomes of `require` and of `import`, of the package and of its plugin: the version that was loaded, or the
 * error. That import() is caught has to suffice for the process to go on.
 */

import { createRequire } from "node:module";

/** @typedef {(name: string) => Promise<typeof import("fusion-cursor-native")>} Way */

/** @type {Way[]} */
const ways = [createRequire(import.meta.url), (name) => import(name)];
/** @type {object[]} */
const outcomes = [];
for (const name of ["fusion-cursor-native", "fusion-cursor-native/plugin"]) {
  for (const load of ways) {
    try {
      await load(name);
      outcomes.push({ version: (await load("fusion-cursor-native")).nativeInfo().version });
    } catch (error) {
      const { name, code, retryable, message } = /** @type {Record<string, unknown>} */ (error);
      outcomes.push({ name, code, retryable, message });
    }
  }
}
console.log(JSON.stringify(outcomes));
