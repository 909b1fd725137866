// Makes the JavaScript that is published: native.js from lib/loader/, index.js from the rest of lib/, plugin/index.js
// from the TypeScript beside it, and dist/fusion-cursor.mjs from cli/.

import { existsSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

/** @type {import("esbuild").BuildOptions} */
const common = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20",
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
};

await build({
  ...common,
  entryPoints: ["lib/loader/main.ts"],
  outfile: "native.js",
  format: "cjs",
  banner: { js: "// Generated from lib/loader/ by scripts/bundle.mjs; changes belong there." },
  // What is required is the addon itself, which no `export` can say.
  logOverride: { "commonjs-variable-in-esm": "silent" },
});

/**
 * The loader stays a file of its own beside the bundle, wherever it is imported from.
 * @type {import("esbuild").Plugin}
 */
const nativeLoader = {
  name: "native-loader",
  setup({ onResolve }) {
    onResolve({ filter: /(^|\/)native\.js$/ }, () => ({ path: "./native.js", external: true }));
  },
};

if (existsSync(new URL("../lib/index.ts", import.meta.url))) {
  await build({
    ...common,
    entryPoints: ["lib/index.ts"],
    outfile: "index.js",
    format: "cjs",
    banner: { js: "// Generated from lib/ by scripts/bundle.mjs; changes belong there." },
    plugins: [nativeLoader],
  });
}

await build({
  ...common,
  entryPoints: ["plugin/main.ts"],
  outfile: "plugin/index.js",
  format: "cjs",
  banner: { js: "// Generated from the TypeScript beside it by scripts/bundle.mjs; changes belong there." },
  external: ["fusion-cursor-native"],
});

const command = "dist/fusion-cursor.mjs";
await build({
  ...common,
  entryPoints: ["cli/main.ts"],
  outfile: command,
  format: "esm",
  banner: { js: "#!/usr/bin/env node\n// Generated from cli/ by scripts/bundle.mjs; changes belong there." },
  external: ["fusion-cursor-native", "fusion-cursor-native/testing"],
});
await chmod(new URL(`../${command}`, import.meta.url), 0o755);
