/** Programs that were compiled of a script. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { runtime } from "../../scripts/runtimes.mjs";
import { HERE, Host, host, nothingLeft, repository, room } from "./support/hosts.mjs";

for (const name of HERE.filter((name) => name !== "bun")) {
  test(`one of ${name} lends no tools, and says why`, async () => {
    const folder = room();
    repository(join(folder, "work"));
    const { code, out, error } = await (await host(name, folder, ["compiled.cjs"])).end();
    assert.equal(code, 0, error);
    const { message, ...said } = JSON.parse(out[0] ?? "{}");
    const missing = "mcp-schema-server-missing";
    assert.deepEqual(said, { code: missing, reasonCode: missing, same: true });
    assert.match(message, /is compiled from a script, and cannot run .*mcp-schema-server\.cjs/);
    await nothingLeft(folder);
  });
}

test("one of Bun does all, with the package outside", { skip: !HERE.includes("bun") }, async () => {
  const folder = room();
  repository(join(folder, "work"));
  const outside = ["fusion-cursor-native", "fusion-cursor-native/*"].flatMap((name) => ["--external", name]);
  const compile = ["build", "--compile", ...outside, "import.mjs", "--outfile", "app"];
  const made = await new Host(await runtime("bun"), compile, folder).end();
  assert.equal(made.code, 0, made.error);
  for (const part of ["load", "turn", "session"]) {
    const { code, out, error } = await new Host(join(folder, "app"), [part], folder).end();
    assert.deepEqual({ code, error, last: out.at(-1) }, { code: 0, error: "", last: '"done"' }, part);
  }
  await nothingLeft(folder);
});
