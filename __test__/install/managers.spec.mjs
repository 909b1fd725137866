/** The package, installed by each package manager into an empty folder, and used there. */

import assert from "node:assert/strict";
import { cpSync, rmSync, truncateSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { root } from "../../scripts/common.mjs";
import { program } from "../../scripts/install/managers.mjs";
import { Place, succeeded } from "./support/place.mjs";
import { openShop } from "./support/shop.mjs";

const project = fileURLToPath(new URL("project", import.meta.url));
const tsc = join(root, "node_modules", "typescript", "bin", "tsc");

/** @typedef {import("../../scripts/install/managers.mjs").Manager} Manager */

/**
 * @typedef {object} Way
 * @property {Manager} manager
 * @property {string[]} add installs a package that is named behind it
 * @property {(place: Place, ...words: string[]) => ReturnType<Place["node"]>} command runs a package's command
 * @property {(place: Place, script: string) => ReturnType<Place["node"]>} [script] runs a script of the project
 * @property {Record<string, string>} [env]
 * @property {RegExp} addon where the addon lies, from the project
 * @property {boolean} [demo] play the demo too, which takes five seconds
 * @property {boolean} [types] look for the types too; by itself, TypeScript finds no packages in Yarn's archives
 */

/** @param {Manager} manager @returns {Way["command"]} */
const npx =
  (manager) =>
  (place, ...words) =>
    place.node(join(dirname(program(manager)), "npx-cli.js"), ...words);

const hoisted = /^node_modules.fusion-cursor-native-[\w-]+.fusion-cursor-native\.[\w-]+\.node$/;

/** @type {Record<string, Way>} */
const ways = {
  npm: { manager: "npm", add: ["install"], command: npx("npm"), addon: hoisted, demo: true, types: true },
  "npm 10": { manager: "npm-10", add: ["install"], command: npx("npm-10"), addon: hoisted },
  "pnpm, isolated": {
    manager: "pnpm",
    add: ["add"],
    command: (place, ...words) => place.manager("pnpm", "exec", ...words),
    addon: /^node_modules.\.pnpm.fusion-cursor-native-/,
    types: true,
  },
  "yarn, Plug'n'Play": {
    manager: "yarn",
    add: ["add"],
    command: (place, ...words) => place.manager("yarn", ...words),
    script: (place, script) => place.manager("yarn", "node", script),
    // Without the second one, Yarn lets a project require packages and not import them.
    env: { YARN_NODE_LINKER: "pnp", YARN_PNP_ENABLE_ESM_LOADER: "true" },
    addon: /^\.yarn.unplugged.fusion-cursor-native-/,
    demo: true,
  },
  "yarn, node_modules": {
    manager: "yarn",
    add: ["add"],
    command: (place, ...words) => place.manager("yarn", ...words),
    env: { YARN_NODE_LINKER: "node-modules" },
    addon: hoisted,
  },
};

/** @type {Awaited<ReturnType<typeof openShop>>} */
let shop;
before(async () => {
  shop = await openShop();
});
after(async () => {
  await shop.close();
  assert.deepEqual(shop.registry.unknown, []);
});

for (const [name, way] of Object.entries(ways)) {
  describe(name, () => {
    /** @type {Place} */
    let place;
    before(() => {
      place = new Place(shop.registry.url, way.env);
      shop.registry.fetched.length = 0;
    });
    after(() => place.remove());

    test("is installed where nothing could be built, and asks for nothing but the two packages", async () => {
      const { version, platformPackage } = shop.packages;
      for (const tool of ["cargo", "rustc", "cc", "gcc", "clang", "make", "python3"])
        assert.notEqual((await place.shell(`command -v ${tool}`)).code, 0, `${tool} is in PATH`);
      await succeeded(place.manager(way.manager, ...way.add, "fusion-cursor-native"));
      assert.deepEqual(
        shop.registry.fetched.sort(),
        [`fusion-cursor-native-${version}.tgz`, `${platformPackage}-${version}.tgz`].sort(),
      );
      assert.deepEqual(shop.registry.unknown, []);
    });

    test("runs a probe, a turn, a lease and a session with a tool", async () => {
      cpSync(project, place.project, { recursive: true });
      const script = way.script ?? ((place, file) => place.node(file));
      const report = JSON.parse(await succeeded(script(place, "use.mjs")));
      assert.equal(report.isSame, true);
      assert.equal(report.plugin, "fusion-plugin-cursor-runtime");
      assert.equal(report.info.version, shop.packages.version);
      assert.equal(report.info.file.startsWith(place.project + sep), true, report.info.file);
      assert.match(report.info.file.slice(place.project.length + 1), way.addon);
      assert.equal(dirname(report.binary), dirname(report.info.file));
      assert.equal(report.probe.state, "ready");
      assert.equal(report.text, "Done: the lighthouse is on.");
      assert.deepEqual(report.lease, { servers: ["fusion-custom-tools-1", "own"], isRestored: true });
      assert.deepEqual(report.session.calls, [[40, 2]]);
      assert.equal(report.session.error, null);
      assert.deepEqual(await place.left(), []);
    });

    test("has a command", async () => {
      const { stdout, stderr, code } = await way.command(place, "fusion-cursor", "doctor");
      // There is no Cursor here; that the addon was loaded is what counts.
      assert.match(stdout, new RegExp(`^✓ fusion-cursor-native ${shop.packages.version} `, "m"), stderr);
      assert.match(stdout, /^✗ cursor-agent: not found/m);
      assert.equal(code, 1);
    });

    if (way.demo)
      test("plays the demo", async () => {
        assert.match(await succeeded(way.command(place, "fusion-cursor", "demo")), /^Sunday is back/m);
        assert.deepEqual(await place.left(), []);
      });

    if (way.types)
      test("has types, for import and require, as bundlers and as Node resolve them", async () => {
        const strict = ["--noEmit", "--strict", "--types", ""];
        const asNode = ["--module", "node16", "types.mts", "types.cts"];
        const asBundler = ["--module", "esnext", "--moduleResolution", "bundler", "types.mts"];
        assert.equal(await succeeded(place.node(tsc, ...strict, ...asNode)), "");
        assert.equal(await succeeded(place.node(tsc, ...strict, ...asBundler)), "");
      });
  });
}

test("npx runs the command where nothing is installed, by the name of the package", async () => {
  const place = new Place(shop.registry.url);
  try {
    const { stdout, stderr } = await npx("npm")(place, "--yes", "fusion-cursor-native", "doctor");
    assert.match(stdout, /^✓ fusion-cursor-native /m, stderr);
    assert.equal(place.has("node_modules"), false);
  } finally {
    place.remove();
  }
});

test("npx -p names the package, and what its command is called", async () => {
  const place = new Place(shop.registry.url);
  try {
    const words = ["--yes", "-p", "fusion-cursor-native", "fusion-cursor", "--version"];
    assert.equal(await succeeded(npx("npm")(place, ...words)), `${shop.packages.version}\n`);
  } finally {
    place.remove();
  }
});

test("npm --global installs the command, and mends it", async () => {
  const place = new Place(shop.registry.url);
  const prefix = join(place.home, "global");
  place.env.npm_config_prefix = prefix;
  const isWindows = process.platform === "win32";
  const command = isWindows
    ? `"${join(prefix, "fusion-cursor.cmd")}"`
    : `'${join(prefix, "bin", "fusion-cursor")}'`;
  const loaded = new RegExp(`^✓ fusion-cursor-native ${shop.packages.version} `, "m");
  try {
    await succeeded(place.manager("npm", "install", "--global", "fusion-cursor-native"));
    const { stdout } = await place.shell(`${command} doctor`);
    assert.match(stdout, loaded);
    const [, addon = ""] = stdout.match(/ (\S+\.node)$/m) ?? [];
    assert.ok(addon.startsWith(prefix), stdout);
    const cure = ["--global", `fusion-cursor-native@${shop.packages.version}`, "--include=optional"];
    for (const damage of [
      () => truncateSync(addon, 1000),
      () => rmSync(dirname(addon), { recursive: true }),
    ]) {
      damage();
      assert.match((await place.shell(`${command} doctor`)).stdout, /^✗ the addon is not loaded/m);
      await succeeded(place.manager("npm", "install", ...cure));
      assert.match((await place.shell(`${command} doctor`)).stdout, loaded);
    }
  } finally {
    place.remove();
  }
});

test("yarn, Plug'n'Play, as it comes: the package is required, and its command runs", async () => {
  const place = new Place(shop.registry.url);
  try {
    await succeeded(place.manager("yarn", "add", "fusion-cursor-native"));
    assert.deepEqual([place.has(".pnp.cjs"), place.has(".pnp.loader.mjs")], [true, false]);
    place.write("use.cjs", 'console.log(require("fusion-cursor-native").nativeInfo().version);\n');
    assert.equal(await succeeded(place.manager("yarn", "node", "use.cjs")), `${shop.packages.version}\n`);
    const { stdout } = await place.manager("yarn", "fusion-cursor", "doctor");
    assert.match(stdout, /^✓ fusion-cursor-native /m);
  } finally {
    place.remove();
  }
});
