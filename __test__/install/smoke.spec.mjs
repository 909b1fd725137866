/** What the release does with its packages on every platform, here on this one; and that it can fail. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { root } from "../../scripts/common.mjs";
import { openShop } from "./support/shop.mjs";

/** @type {Awaited<ReturnType<typeof openShop>>} */
let shop;
before(async () => {
  shop = await openShop();
});
after(() => shop.close());

/**
 * Run the script on a folder with these tarballs.
 * @param {(string | undefined)[]} tarballs
 */
async function smoke(...tarballs) {
  const folder = mkdtempSync(join(tmpdir(), "fusion-cursor-test-"));
  const temporary = mkdtempSync(join(tmpdir(), "fusion-cursor-test-"));
  try {
    for (const path of tarballs) copyFileSync(String(path), join(folder, basename(String(path))));
    const env = { ...process.env, npm_config_registry: shop.registry.url, TMPDIR: temporary };
    const script = join(root, "scripts", "smoke.mjs");
    const said = await new Promise((resolve) => {
      execFile(process.execPath, [script, folder], { env, timeout: 120_000 }, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, stdout, stderr }),
      );
    });
    return {
      .../** @type {{ code: number, stdout: string, stderr: string }} */ (said),
      left: readdirSync(temporary),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(temporary, { recursive: true, force: true });
  }
}

test("the packages of a release work where nothing but them is installed", async () => {
  const [main, , own] = shop.packages.tarballs;
  const { code, stdout, stderr, left } = await smoke(main, own);
  assert.equal(code, 0, stdout + stderr);
  for (const step of ["loaded", "probed", "turned", "leased", "asked"])
    assert.match(stdout, new RegExp(`^${step} `, "m"));
  assert.deepEqual(left, []);
});

test("a release without this platform is told", async () => {
  const { code, stderr } = await smoke(shop.packages.tarballs[0]);
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(`There is no package ${shop.packages.platformPackage} in `));
});

// npm then takes one that fits from the registry: what would be tried is not what would be published.
test("a release with another version of the addon is told", async () => {
  const [main, astray] = shop.packages.tarballs;
  const { code, stderr, left } = await smoke(main, astray);
  assert.equal(code, 1);
  assert.match(stderr, /fusion-cursor-native\.[\w-]+\.node is not in node_modules|another version/);
  assert.deepEqual(left, []);
});
