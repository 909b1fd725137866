// package.json as it is published: `node scripts/manifest.mjs` prints it.
//
// The packages for the platforms are named there and not in the repository's own package.json: they are published
// together with this version, so that before that `npm ci` in a clone could not find them. Nor can they be workspaces:
// npm refuses a workspace for another system.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isProgram, root, runMain } from "./common.mjs";
import { platforms } from "./platforms.mjs";

/** What only a clone has a use for. */
const OWN = ["scripts", "devDependencies", "napi"];

/**
 * The manifest to publish. Each platform's package is an optional dependency in the very version of this one: npm
 * installs the one that fits the machine.
 * @returns {Record<string, unknown> & { name: string, version: string, files: string[] }}
 */
export function publishedManifest() {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  for (const name of OWN) delete manifest[name];
  const names = platforms.map((platform) => platform.package).sort();
  return {
    ...manifest,
    optionalDependencies: Object.fromEntries(names.map((name) => [name, manifest.version])),
  };
}

if (isProgram(import.meta.url))
  await runMain(() => console.log(JSON.stringify(publishedManifest(), null, 2)));
