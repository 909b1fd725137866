// One turn with the package of this checkout, for a Node under emulation: fails where it is not the turn that was asked
// for.

"use strict";

const assert = require("node:assert");
const path = require("node:path");

const { launchCursorPrompt, nativeInfo } = require("../../index.js");
const { scenarioEnv, standInAgentPath } = require("../../testing/index.js");

console.log(process.version, process.arch, nativeInfo());
assert.match(nativeInfo().target, process.arch === "arm64" ? /^aarch64-/ : /^x86_64-/);
assert.strictEqual(path.resolve(nativeInfo().file), process.env.NAPI_RS_NATIVE_LIBRARY_PATH);

let text = "";
launchCursorPrompt({
  cwd: __dirname,
  prompt: "hi",
  binary: standInAgentPath(),
  env: scenarioEnv("answer"),
  onText: (more) => {
    text += more;
  },
}).then((result) => {
  assert.strictEqual(text, result.text);
  assert.match(text, /lighthouse/);
  assert.deepStrictEqual([result.exitCode, result.leftovers], [0, []]);
  console.log("A turn was played:", text);
});
