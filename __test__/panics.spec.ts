/** A panic in Rust is an error in JavaScript, wherever it happens. On a build made for this, see src/binding/panics.rs. */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { init, result, Stage, text } from "./support/stage.js";

const root = join(__dirname, "..");
const addon =
  process.env.FUSION_CURSOR_PANICS_ADDON ?? join(root, "__test__/native-panics/fusion-cursor-native.node");

/** Runs code in a Node of its own on that build; what it prints. */
function run(stage: Stage, code: string): string {
  const program = `const native = require(${JSON.stringify(join(root, "native.js"))});
    const { launchCursorPrompt } = require(${JSON.stringify(root)});
    const turn = { ...${JSON.stringify(stage.input())}, onEvent() {} };
    const show = (e) => console.log(e instanceof Error, e.code ?? "-", e.message);
    ${code}`;
  return execFileSync(process.execPath, ["--eval", program], {
    encoding: "utf8",
    env: { ...process.env, NAPI_RS_NATIVE_LIBRARY_PATH: addon },
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
}

test("the build for this test is there", () => {
  expect(existsSync(addon), `${addon} is made by \`node scripts/build.mjs --panics\``).toBe(true);
});

test("in a synchronous export", () => {
  expect(run(new Stage([]), "try { native.panicInSync(); } catch (e) { show(e); }")).toMatch(
    /^true .*a panic in a synchronous export$/,
  );
});

test("in an asynchronous export", () => {
  expect(run(new Stage([]), "native.panicInAsync().catch(show);")).toMatch(
    /^true .*a panic in an asynchronous export/,
  );
});

const good = [init, text("x"), result("x")];

test("on the way into a callback", () => {
  const code = 'native.armPanic("callback"); launchCursorPrompt(turn).catch(show);';
  expect(run(new Stage(good), code)).toMatch(/^true .*a panic in callback$/);
});

test("in the task of a turn", () => {
  const code = 'native.armPanic("task"); launchCursorPrompt(turn).catch(show);';
  expect(run(new Stage(good), code)).toBe(
    "true CURSOR_INTERNAL fusion-cursor-native failed inside: a panic in task",
  );
});

test("in the task of a probe", () => {
  const code = `native.armPanic("inquiry");
    require(${JSON.stringify(root)}).probeCursorBinary().catch(show);`;
  expect(run(new Stage([]), code)).toBe(
    "true CURSOR_INTERNAL fusion-cursor-native failed inside: a panic in inquiry",
  );
});

test("in the task of a staging", () => {
  const options = { serverKey: "fusion-custom-tools-1", serverEntry: { command: "x", args: [] } };
  const code = `native.armPanic("staging");
    require(${JSON.stringify(root)}).stageCursorMcpLease({ worktreePath: turn.cwd, ...${JSON.stringify(options)} }).catch(show);`;
  expect(run(new Stage([]), code)).toBe(
    "true CURSOR_INTERNAL fusion-cursor-native failed inside: a panic in staging",
  );
});

test("in the task of a session, and the next one is as good as ever", () => {
  const code = `native.armPanic("session");
    const { CursorSession } = require(${JSON.stringify(root)});
    CursorSession.create(turn).catch(show).then(() => CursorSession.create(turn))
      .then((session) => session.prompt("hi")).then((r) => console.log(r.text));`;
  expect(run(new Stage(good), code)).toBe(
    "true CURSOR_INTERNAL fusion-cursor-native failed inside: a panic in session\nx",
  );
});

test("and the next turn is as good as ever", () => {
  const code = `native.armPanic("task");
    launchCursorPrompt(turn).catch(show).then(() => launchCursorPrompt(turn)).then((r) => console.log(r.text));`;
  expect(run(new Stage(good), code)).toMatch(/\nx$/);
});
