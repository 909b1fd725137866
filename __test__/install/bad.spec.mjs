/**
 * Installations that lack the package of this platform, or have a wrong one: loading says which one it is, why that may
 * be and what mends it; and what it says mends it.
 */

import assert from "node:assert/strict";
import { copyFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { program } from "../../scripts/install/managers.mjs";
import { platforms } from "../../scripts/platforms.mjs";
import { Place, succeeded } from "./support/place.mjs";
import { openShop } from "./support/shop.mjs";

/** @typedef {import("../../scripts/install/managers.mjs").Manager} Manager */

const script = fileURLToPath(new URL("project/load.mjs", import.meta.url));

/** A system that this one is not. */
const other = process.platform === "darwin" ? { os: "win32", cpu: "x64" } : { os: "darwin", cpu: "arm64" };
const elsewhere = [`--os=${other.os}`, `--cpu=${other.cpu}`];

/** @type {Awaited<ReturnType<typeof openShop>>} */
let shop;
before(async () => {
  shop = await openShop();
});
after(async () => {
  await shop.close();
  assert.deepEqual(shop.registry.unknown, []);
});

/** A place for one test. @param {import("node:test").TestContext} context @param {Record<string, string>} [env] */
function placeFor(context, env) {
  const place = new Place(shop.registry.url, env);
  copyFileSync(script, join(place.project, "load.mjs"));
  context.after(() => place.remove());
  return place;
}

/** What `require` and `import` come to, of the package and of its plugin: four times the same. @param {Promise<string>} running */
async function outcome(running) {
  const [one, ...others] = JSON.parse(await running);
  assert.deepEqual(others, Array(3).fill(one));
  return one;
}

/** @param {Place} place */
function loaded(place) {
  return outcome(succeeded(place.node("load.mjs")));
}

/** The message of the error that loading ends with. @param {Promise<any>} loading */
async function refusal(loading) {
  const { message, ...fields } = await loading;
  assert.deepEqual(fields, { name: "CursorError", code: "CURSOR_ADDON_UNAVAILABLE", retryable: false });
  return message;
}

/** What tells which package is missing, and for what. */
function naming() {
  const { platform, platformPackage } = shop.packages;
  const title = platforms.find(({ name }) => name === platform)?.title;
  return new RegExp(`${platformPackage}, its package for ${title}, is not installed\\.`);
}

/**
 * Do to the letter what the message says, with that npm; and then it works.
 * @param {Place} place
 * @param {string} message
 * @param {Manager} [manager]
 */
async function mend(place, message, manager = "npm") {
  const [, cure = ""] = message.match(/To mend it: (.+)$/) ?? [];
  const [npm, ...args] = cure.split(" ");
  assert.equal(npm, "npm", message);
  await succeeded(place.manager(manager, ...args));
  assert.deepEqual(await loaded(place), { version: shop.packages.version });
}

test("npm --ignore-scripts: nothing is missing, as there are none", async (context) => {
  const place = placeFor(context);
  await succeeded(place.manager("npm", "install", "--ignore-scripts", "fusion-cursor-native"));
  assert.deepEqual(await loaded(place), { version: shop.packages.version });
});

test("npm --omit=optional", async (context) => {
  const place = placeFor(context);
  await succeeded(place.manager("npm", "install", "--omit=optional", "fusion-cursor-native"));
  const message = await refusal(loaded(place));
  assert.match(message, naming());
  assert.match(message, /--omit=optional/);

  const npx = join(dirname(program("npm")), "npx-cli.js");
  const doctor = await place.node(npx, "fusion-cursor", "doctor");
  assert.match(doctor.stdout, naming());
  const demo = await place.node(npx, "fusion-cursor", "demo");
  assert.match(demo.stderr, naming());
  for (const { code, stdout, stderr } of [doctor, demo]) {
    assert.equal(code, 1);
    assert.doesNotMatch(stdout + stderr, /^ +at /m);
  }
  await mend(place, message);
});

test("npm that is set to leave out what is optional: the cure overrules it", async (context) => {
  const place = placeFor(context);
  place.write(".npmrc", "omit=optional\n");
  await succeeded(place.manager("npm", "install", "fusion-cursor-native"));
  const message = await refusal(loaded(place));
  assert.match(message, naming());
  await mend(place, message);
});

test("a lock file that npm 10 wrote on another system, and that has its platform alone", async (context) => {
  const place = placeFor(context);
  const lock = () => Object.keys(JSON.parse(place.read("package-lock.json")).packages);
  const key = `node_modules/${shop.packages.platformPackage}`;
  // There, the lock file was made anew from what was installed.
  await succeeded(place.manager("npm-10", "install", ...elsewhere, "fusion-cursor-native"));
  assert.ok(lock().includes(key));
  rmSync(join(place.project, "package-lock.json"));
  await succeeded(place.manager("npm-10", "install", ...elsewhere));
  assert.ok(!lock().includes(key), "npm 10 still has its fault");

  // And here it is installed from, as in a CI.
  rmSync(join(place.project, "node_modules"), { recursive: true });
  await succeeded(place.manager("npm-10", "ci"));
  const message = await refusal(loaded(place));
  assert.match(message, naming());
  assert.match(message, /lock file that npm before 11\.3 made on another system/);
  await mend(place, message, "npm-10");
});

test("node_modules from another system", async (context) => {
  const place = placeFor(context);
  await succeeded(place.manager("npm", "install", ...elsewhere, "fusion-cursor-native"));
  const message = await refusal(loaded(place));
  assert.match(message, naming());
  assert.match(message, new RegExp(`There is fusion-cursor-native-${other.os}-${other.cpu}\\S* instead`));
  await mend(place, message);
});

test("node_modules in which the addon is damaged, or gone, or all of its package", async (context) => {
  const place = placeFor(context);
  const { platform, platformPackage } = shop.packages;
  const folder = join(place.project, "node_modules", platformPackage);
  const addon = join(folder, `fusion-cursor-native.${platform}.node`);
  /** @type {[done: () => void, told: string | RegExp][]} */
  const damages = [
    [() => writeFileSync(addon, "not an addon"), `${addon} is there, but does not load: `],
    [() => rmSync(addon), addon],
    [() => rmSync(folder, { recursive: true }), naming()],
  ];
  await succeeded(place.manager("npm", "install", "fusion-cursor-native"));
  for (const [damage, told] of damages) {
    damage();
    const message = await refusal(loaded(place));
    assert.ok(message.includes(platformPackage), message);
    if (typeof told === "string") assert.ok(message.includes(told), message);
    else assert.match(message, told);
    await mend(place, message);
  }
});

test("the package of this platform in another version", {
  skip: process.platform === "darwin" && "macOS loads no addon whose bytes were changed after it was signed",
}, async (context) => {
  const place = placeFor(context);
  const { version, platformPackage, astray } = shop.packages;
  const manifest = JSON.parse(place.read("package.json"));
  const dependencies = { "fusion-cursor-native": version };
  place.write(
    "package.json",
    JSON.stringify({ ...manifest, dependencies, overrides: { [platformPackage]: astray } }),
  );
  await succeeded(place.manager("npm", "install"));
  place.write("package.json", JSON.stringify({ ...manifest, dependencies }));
  const message = await refusal(loaded(place));
  assert.ok(
    message.includes(`it is version ${version}, and ${platformPackage} is version ${astray}.`),
    message,
  );
  await mend(place, message);
});

/** As docs/install.md says: the setting goes, and pnpm installs by force. */
describe("pnpm", () => {
  /** @type {Record<string, string>} */
  const settings = {
    "told to ignore it": 'ignoredOptionalDependencies:\n  - "fusion-cursor-native-*"\n',
    "told to install for another system": `supportedArchitectures:\n  os: [${other.os}]\n  cpu: [${other.cpu}]\n`,
  };
  for (const [how, text] of Object.entries(settings)) {
    test(how, async (context) => {
      const place = placeFor(context);
      place.write("pnpm-workspace.yaml", text);
      await succeeded(place.manager("pnpm", "add", "fusion-cursor-native"));
      const message = await refusal(loaded(place));
      assert.match(message, naming());

      rmSync(join(place.project, "pnpm-workspace.yaml"));
      await succeeded(place.manager("pnpm", "install", "--force"));
      assert.deepEqual(await loaded(place), { version: shop.packages.version });
    });
  }
});

test("yarn, Plug'n'Play, told to install for another system", async (context) => {
  const place = placeFor(context, { YARN_PNP_ENABLE_ESM_LOADER: "true" });
  place.write(".yarnrc.yml", `supportedArchitectures:\n  os: [${other.os}]\n  cpu: [${other.cpu}]\n`);
  await succeeded(place.manager("yarn", "add", "fusion-cursor-native"));
  const run = () => outcome(succeeded(place.manager("yarn", "node", "load.mjs")));
  assert.match(await refusal(run()), naming());

  rmSync(join(place.project, ".yarnrc.yml"));
  await succeeded(place.manager("yarn", "install"));
  assert.deepEqual(await run(), { version: shop.packages.version });
});
