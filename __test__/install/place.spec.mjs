/** The places that the install tests work in: what is there, what is not, and that nothing outlives them. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { after, test } from "node:test";
import { Place, succeeded } from "./support/place.mjs";

const place = new Place("http://127.0.0.1:1");
after(() => {
  place.remove();
  assert.equal(existsSync(dirname(place.project)), false);
});

test("git and Node are there, and nothing of this process's environment", async () => {
  await succeeded(place.shell("git --version && node --version"));
  const script = "console.log(JSON.stringify(process.env))";
  const env = JSON.parse(await succeeded(place.run(process.execPath, "-e", script)));
  for (const [name, value] of Object.entries(env)) assert.equal(value, place.env[name], name);
});

test("a command that hangs is ended, and with it what it has started, in whatever group", {
  skip: process.platform !== "linux" && "processes are found by what Linux tells of them",
}, async () => {
  const hang = "setInterval(() => {}, 1000)";
  const script = `require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(hang)}], { detached: true }); ${hang}`;
  place.patience = 2000;
  await assert.rejects(place.run(process.execPath, "-e", script), /not within 2000 ms/);
  assert.deepEqual(await place.left(), []);
});

test("what is left is told", {
  skip: process.platform !== "linux" && "processes are found by what Linux tells of them",
}, async () => {
  place.patience = 60_000;
  const running = place.run(process.execPath, "-e", 'while (!fs.existsSync("go"));');
  place.patience = 0;
  /** @type {string[]} */
  let left = [];
  // It has that environment as soon as it is another program than this one.
  while (left.length === 0) left = await place.left();
  assert.match(String(left), /existsSync/);
  place.write("go", "");
  assert.equal((await running).code, 0);
  place.patience = 60_000;
  assert.deepEqual(await place.left(), []);
});
