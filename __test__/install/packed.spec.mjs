/** What scripts/packed.mjs lets through, and that each of its checks can fail. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { Failure, root } from "../../scripts/common.mjs";
import { builtPlatform, packAll } from "../../scripts/pack.mjs";
import {
  checkExecutable,
  checkList,
  checkPaths,
  checkPlatform,
  checkSize,
  MAIN_LIMIT,
  machineFolders,
  mainFiles,
  platformFiles,
} from "../../scripts/packed.mjs";
import { platforms } from "../../scripts/platforms.mjs";
import { readTarball } from "../../scripts/tarball.mjs";
import { openShop } from "./support/shop.mjs";

/** @typedef {import("../../scripts/tarball.mjs").Entry} Entry */

/** @param {string} path @param {string | Buffer} data @returns {Entry} */
function entry(path, data = "", mode = 0o644) {
  return { path, mode, data: Buffer.from(data) };
}

/** @param {() => void} check @param {RegExp} message */
function fails(check, message) {
  assert.throws(check, (error) => error instanceof Failure && message.test(error.message));
}

describe("what was packed", () => {
  /** @type {Awaited<ReturnType<typeof openShop>>} */
  let shop;
  /** @type {Entry[]} */
  let main;
  before(async () => {
    shop = await openShop();
    main = readTarball(String(shop.packages.tarballs[0]));
  });
  after(() => shop.close());

  test("is as listed; a file more or less is told by name", () => {
    checkList("It", main, mainFiles);
    fails(
      () => checkList("It", [...main, entry("lib/index.ts")], mainFiles),
      /does not list: lib\/index\.ts$/,
    );
    fails(() => checkList("It", [...main, entry("docs/notes.txt")], mainFiles), /notes\.txt/);
    for (const path of ["index.js", "mcp-schema-server.cjs", "dist/fusion-cursor.mjs", "LICENSE"]) {
      const rest = main.filter((entry) => entry.path !== path);
      fails(() => checkList("It", rest, mainFiles), /would lack/);
    }
  });

  test("of a platform, lacks none of its binaries", () => {
    for (const platform of platforms) {
      const list = platformFiles(platform);
      const files = ["README.md", "package.json", "LICENSE", "THIRD-PARTY.md", platform.addon];
      const whole = [...files, ...platform.programs].map((path) => entry(path));
      checkList("It", whole, list);
      fails(() => checkList("It", [...whole, entry("main.rs")], list), /main\.rs/);
      for (const lost of whole)
        fails(
          () =>
            checkList(
              "It",
              whole.filter((entry) => entry !== lost),
              list,
            ),
          /would lack/,
        );
    }
  });

  test("is the same to the byte where the checkout may be read by its owner alone", (context) => {
    const clone = mkdtempSync(join(tmpdir(), "fusion-cursor-packed-"));
    context.after(() => rmSync(clone, { recursive: true, force: true }));
    const platform = platforms.find(({ name }) => name === shop.packages.platform);
    assert.ok(platform !== undefined);
    const files = ["scripts", "npm", platform.addon, ...platform.programs, ...main.map(({ path }) => path)];
    for (const file of files) cpSync(join(root, file), join(clone, file), { recursive: true });
    for (const entry of readdirSync(clone, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      chmodSync(path, statSync(path).mode & 0o700);
    }
    const packed = spawnSync(process.execPath, [join(clone, "scripts", "pack.mjs"), join(clone, "packed")], {
      encoding: "utf8",
    });
    assert.equal(packed.status, 0, packed.stderr);
    const [ours, , own] = shop.packages.tarballs;
    for (const tarball of [String(ours), String(own)])
      assert.ok(
        readFileSync(join(clone, "packed", basename(tarball))).equals(readFileSync(tarball)),
        tarball,
      );
    for (const { path, mode } of [...main, ...readTarball(String(own))])
      assert.ok(mode === 0o644 || mode === 0o755, `${path} has the mode ${mode.toString(8)}`);
  });

  test("has a manifest that is installed without scripts, and names every platform in one version", () => {
    const text = main.find(({ path }) => path === "package.json")?.data.toString() ?? "";
    const manifest = JSON.parse(text);
    for (const own of ["scripts", "devDependencies", "dependencies", "napi"])
      assert.equal(manifest[own], undefined, own);
    assert.deepEqual(
      manifest.optionalDependencies,
      Object.fromEntries(platforms.map((platform) => [platform.package, manifest.version])),
    );
  });
});

test("a program has to be one for all users", () => {
  checkExecutable("It", [entry("guard", "", 0o755)], ["guard"]);
  for (const mode of [0o644, 0o744, 0o700, 0o666])
    fails(
      () => checkExecutable("It", [entry("guard", "", mode)], ["guard"]),
      /may not be executed by all: guard/,
    );
  fails(() => checkExecutable("It", [], ["guard"]), /guard/);
});

test("no file names a folder of the machine that packed it, be it text or a binary", () => {
  const folders = machineFolders();
  for (const folder of [root, homedir()]) assert.ok(folders.includes(folder), folder);
  checkPaths("It", [entry("a.js", `// ${homedir()}, ${homedir()}-other/x, /src/x.rs`)], folders);
  for (const folder of folders) {
    const binary = Buffer.concat([Buffer.from([0, 255]), Buffer.from(`${folder}/src/x.rs\0more`)]);
    fails(
      () => checkPaths("It", [entry("a.node", binary)], folders),
      /a\.node names a folder.*\/src\/x\.rs$/,
    );
    fails(() => checkPaths("It", [entry("a.js", `// ${folder}\\x`)], folders), /a\.js/);
  }
});

test("a binary has to be one that may be shipped", () => {
  for (const platform of platforms) {
    const texts = ["README.md", "package.json", "LICENSE", "THIRD-PARTY.md"].map((path) => entry(path));
    const binaries = [platform.addon, ...platform.programs].map((path) => entry(path, "#!/bin/sh", 0o755));
    fails(
      () => checkPlatform(platform, [...texts, ...binaries]),
      new RegExp(`${platform.addon} is not to be shipped for ${platform.name}`),
    );
  }
});

test("a package may not grow over its limit", (context) => {
  context.mock.method(console, "log", () => {});
  checkSize("It", MAIN_LIMIT, [entry("a", "four")], MAIN_LIMIT);
  checkSize("It", MAIN_LIMIT + 1, []);
  fails(() => checkSize("It", MAIN_LIMIT + 1, [], MAIN_LIMIT), /300001 bytes, and may be 300000/);
});

describe("a tarball", () => {
  const folder = mkdtempSync(join(tmpdir(), "fusion-cursor-tarball-"));
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** A header of tar. @param {string} path @param {string} type */
  function tarball(path, type) {
    const header = Buffer.alloc(1024);
    header.write(path, 0);
    header.write("000644 \0", 100);
    header.write("00000000000\0", 124);
    header.write(type, 156);
    const file = join(folder, "x.tgz");
    writeFileSync(file, gzipSync(header));
    return file;
  }

  test("holds files, in one folder", () => {
    assert.deepEqual(readTarball(tarball("package/a", "0")), [entry("a")]);
    assert.throws(() => readTarball(tarball("package/a", "2")), /holds package\/a, which is no file/);
    assert.throws(() => readTarball(tarball("../a", "0")), /not in package\//);
    assert.throws(() => readTarball(tarball("package/../../a", "0")), /not in package\//);
  });
});

test("what is not built is not packed", () => {
  const folder = mkdtempSync(join(tmpdir(), "fusion-cursor-packed-"));
  const other = platforms.find(({ os }) => os !== process.platform);
  try {
    fails(() => packAll(folder, [String(other?.name)]), /would lack .*node scripts\/build\.mjs --target/s);
    fails(() => packAll(folder, ["plan9-x64"]), /There is no platform plan9-x64. There are: .*linux-x64-gnu/);
    assert.ok(platforms.some(({ name }) => name === builtPlatform()));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
