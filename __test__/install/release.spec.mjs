/** The list of packages that a release publishes, made from what was built here. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { publishedManifest } from "../../scripts/manifest.mjs";
import { builtPlatform } from "../../scripts/pack.mjs";
import { LIST, pack } from "../../scripts/release.mjs";

test("lists each tarball with its hash, the main package last", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "fusion-cursor-test-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  pack(folder, [builtPlatform()]);
  /** @type {import("../../scripts/release.mjs").Listed[]} */
  const list = JSON.parse(readFileSync(join(folder, LIST), "utf8"));
  const { name, version } = publishedManifest();
  assert.deepEqual(
    list.map((listed) => [listed.name, listed.version]),
    [
      [`${name}-${builtPlatform()}`, version],
      [name, version],
    ],
  );
  for (const { file, integrity } of list) {
    const hash = createHash("sha512").update(readFileSync(join(folder, file)));
    assert.equal(integrity, `sha512-${hash.digest("base64")}`);
  }
  assert.deepEqual(readdirSync(folder).sort(), [...list.map(({ file }) => file), LIST].sort());
});
