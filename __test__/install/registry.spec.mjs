/** The registry of the install tests: what it serves, and that it tells of what it does not. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { request } from "node:http";
import { after, before, test } from "node:test";
import { openShop } from "./support/shop.mjs";

/** @type {Awaited<ReturnType<typeof openShop>>} */
let shop;
before(async () => {
  shop = await openShop();
});
after(() => shop.close());

/** @param {string} path @param {string} [method] @returns {Promise<{ status: number | undefined, body: Buffer }>} */
function ask(path, method = "GET") {
  return new Promise((resolve, reject) => {
    const asked = request(`${shop.registry.url}${path}`, { method, agent: false }, async (response) => {
      resolve({ status: response.statusCode, body: Buffer.concat(await response.toArray()) });
    });
    asked.once("error", reject).end();
  });
}

test("a package is served with its manifest, and its tarball is the one that it tells of", async () => {
  const { version, platformPackage, astray } = shop.packages;
  const { body } = await ask(`/${platformPackage}`);
  const packument = JSON.parse(String(body));
  assert.deepEqual(Object.keys(packument.versions), [astray, version]);
  assert.equal(packument["dist-tags"].latest, version);
  const { os, cpu, dist } = packument.versions[version];
  assert.deepEqual([os, cpu], [[process.platform], [process.arch]]);
  const tarball = await ask(new URL(dist.tarball).pathname);
  const digest = createHash("sha512").update(tarball.body).digest("base64");
  assert.equal(dist.integrity, `sha512-${digest}`);
  assert.deepEqual(shop.registry.fetched, [`${platformPackage}-${version}.tgz`]);
});

test("what else is asked for is refused and kept", async () => {
  const paths = ["/left-pad", "/fusion-cursor-native/-/x.tgz", "/-/npm/v1/security/advisories/bulk"];
  for (const path of paths) assert.equal((await ask(path)).status, 404);
  assert.equal((await ask("/fusion-cursor-native", "PUT")).status, 404);
  assert.deepEqual(shop.registry.unknown, [
    ...paths.map((path) => `GET ${path}`),
    "PUT /fusion-cursor-native",
  ]);
});

test("it is on this machine alone", () => {
  assert.equal(new URL(shop.registry.url).hostname, "127.0.0.1");
});
