/** A project that has the package installed, as copies: bundlers look through links, and see no module then. */

import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { room, root } from "./hosts.mjs";

const require = createRequire(import.meta.url);

/** What is in the package of the platform. */
const OF_PLATFORM = /\.node$|^fusion-cursor-(guard|stand-in)/;

/** What is in the package, as package.json says it, without what no test of a bundle reads. */
const OF_PACKAGE = [
  "package.json",
  "plugin",
  "testing",
  ...require(join(root, "package.json")).files.filter(
    (/** @type {string} */ file) => !/[/*]|\.md$/.test(file),
  ),
];

export function project() {
  const folder = room();
  const modules = join(folder, "node_modules");
  const main = join(modules, "fusion-cursor-native");
  rmSync(main);
  mkdirSync(main);
  const { version } = require(join(root, "package.json"));
  const names = readdirSync(root);
  for (const name of OF_PACKAGE) cpSync(join(root, name), join(main, name), { recursive: true });
  const [addon = ""] = names.filter((name) => name.endsWith(".node"));
  const ofPlatform = addon.replace(".node", "").replace("fusion-cursor-native.", "fusion-cursor-native-");
  const platform = join(modules, ofPlatform);
  mkdirSync(platform);
  writeFileSync(join(platform, "package.json"), JSON.stringify({ name: ofPlatform, version, main: addon }));
  for (const name of names.filter((name) => OF_PLATFORM.test(name)))
    cpSync(join(root, name), join(platform, name));
  return {
    folder,
    main,
    platform,
    /** As where only the bundle is deployed. */
    withoutModules() {
      rmSync(modules, { recursive: true });
      if (existsSync(modules)) throw new Error(`${modules} is still there`);
    },
  };
}
