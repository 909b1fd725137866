/** Bundles of a program that uses the package: with it left outside they work, and with it inside they say what to do. */

import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { build } from "esbuild";
import { build as vite } from "vite";
import { Host, nothingLeft, repository, room } from "./support/hosts.mjs";
import { project } from "./support/project.mjs";

/** Runs the same parts in a bundle. @param {string} folder @param {string} bundle @param {string} part */
async function played(folder, bundle, part) {
  if (!existsSync(join(folder, "work"))) repository(join(folder, "work"));
  return new Host(process.execPath, [join(folder, bundle), part], folder).end();
}

/** @param {string} folder @param {string} bundle */
async function works(folder, bundle) {
  for (const part of ["load", "turn", "lease", "session"]) {
    const { code, out, error } = await played(folder, bundle, part);
    assert.deepEqual({ code, error, last: out.at(-1) }, { code: 0, error: "", last: '"done"' }, part);
  }
  await nothingLeft(folder);
}

/** @param {string} folder @param {string} name */
function text(folder, name) {
  return readFileSync(join(folder, name), "utf8");
}

describe("esbuild", { concurrency: 1 }, () => {
  /** @param {string} folder @param {import("esbuild").BuildOptions} options */
  const bundle = (folder, options) =>
    build({
      absWorkingDir: folder,
      entryPoints: ["import.mjs"],
      bundle: true,
      platform: "node",
      logLevel: "silent",
      ...options,
    });

  /** @type {[string, import("esbuild").BuildOptions][]} */
  const outside = [
    ["--packages=external", { packages: "external" }],
    ["--external:fusion-cursor-native", { external: ["fusion-cursor-native"] }],
  ];
  for (const [name, options] of outside) {
    for (const format of /** @type {const} */ (["esm", "cjs"])) {
      test(`${name}, as ${format}`, async () => {
        const { folder } = project();
        const outfile = `out/app.${format === "esm" ? "mjs" : "cjs"}`;
        await bundle(folder, { ...options, format, outfile });
        await works(folder, outfile);
      });
    }
  }

  test("the plugin, by its name, as esm and as cjs", async () => {
    const { folder } = project();
    const contents = `import { plugin } from "fusion-cursor-native/plugin"; console.log(plugin.manifest.id)`;
    for (const format of /** @type {const} */ (["esm", "cjs"])) {
      const outfile = `out/plugin.${format === "esm" ? "mjs" : "cjs"}`;
      const stdin = { contents, resolveDir: folder, sourcefile: "plugin.mjs" };
      await bundle(folder, { entryPoints: [], stdin, external: ["fusion-cursor-native"], format, outfile });
      const { code, out, error } = await played(folder, outfile, "");
      assert.deepEqual(
        { code, out, error },
        { code: 0, out: ["fusion-plugin-cursor-runtime"], error: "" },
        format,
      );
    }
  });

  test("the package inside, with --loader:.node=copy, and beside it what cannot be inside", async () => {
    const { folder, main, platform, withoutModules } = project();
    const outfile = "out/app.cjs";
    await bundle(folder, { format: "cjs", outfile, loader: { ".node": "copy" } });
    const loaded = await played(folder, outfile, "load");
    assert.deepEqual({ ...loaded, out: loaded.out.length }, { code: 0, signal: null, error: "", out: 2 });
    // The modules are found from the bundle. The file that Cursor starts lies in none of them.
    const told = await played(folder, outfile, "held-bridge");
    assert.match(told.error, /mcp-schema-server\.cjs is not there; copy/);
    cpSync(join(main, "mcp-schema-server.cjs"), join(folder, "out", "mcp-schema-server.cjs"));
    const session = await played(folder, outfile, "session");
    assert.deepEqual(
      { code: session.code, last: session.out.at(-1) },
      { code: 0, last: '"done"' },
      session.error,
    );
    // Nothing but the bundle is deployed.
    const own = join(folder, "own");
    mkdirSync(own);
    cpSync(platform, own, { recursive: true });
    withoutModules();
    const lost = await played(folder, outfile, "load");
    assert.equal(lost.code, 1);
    assert.match(
      lost.error,
      /fusion-cursor-native cannot be loaded: fusion-cursor-native-[a-z0-9-]+, its package for/,
    );
    assert.match(lost.error, /a bundler that did not leave the package external/);
    cpSync(own, join(folder, "out"), { recursive: true });
    const again = await played(folder, outfile, "load");
    assert.deepEqual({ code: again.code, last: again.out.at(-1) }, { code: 0, last: '"done"' }, again.error);
  });

  test("the package inside an ES module does not load, and esbuild says why", async () => {
    const { folder } = project();
    await bundle(folder, { format: "esm", outfile: "out/app.mjs" });
    const { code, error } = await played(folder, "out/app.mjs", "load");
    assert.equal(code, 1);
    assert.match(error, /Dynamic require of "[a-z:]+" is not supported/);
  });
});

describe("vite", { concurrency: 1 }, () => {
  /** @param {string} folder @param {import("vite").InlineConfig} options */
  const bundle = (folder, options = {}) =>
    vite({
      root: folder,
      configFile: false,
      logLevel: "silent",
      build: { ssr: "import.mjs", outDir: "out" },
      ...options,
    });

  test("a build for the server leaves the package outside by itself", async () => {
    const { folder } = project();
    await bundle(folder);
    assert.match(text(folder, "out/import.mjs"), /from ["']fusion-cursor-native["']/);
    await works(folder, "out/import.mjs");
  });

  test("a linked package it leaves outside where ssr.external names it", async () => {
    const folder = room();
    await bundle(folder, { ssr: { external: ["fusion-cursor-native"] } });
    assert.match(text(folder, "out/import.mjs"), /from ["']fusion-cursor-native["']/);
    await works(folder, "out/import.mjs");
  });
});
