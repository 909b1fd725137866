import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type * as Testing from "../testing/index.js";

const FILE = process.platform === "win32" ? "fusion-cursor-stand-in.exe" : "fusion-cursor-stand-in";
const NAMES = ["demo", "answer", "usage-limit"] as const;

/** A project with nothing but `testing/` of the package installed. */
let modules: string;
let testing: typeof Testing;

beforeEach(() => {
  modules = join(realpathSync(mkdtempSync(join(tmpdir(), "fusion-cursor-test-"))), "node_modules");
  const installed = join(modules, "fusion-cursor-native");
  cpSync(join(__dirname, "..", "testing"), join(installed, "testing"), { recursive: true });
  testing = createRequire(join(installed, "x.js"))("./testing/index.js");
});

afterEach(() => rmSync(join(modules, ".."), { recursive: true, force: true }));

// Where it is not there, see loader.spec.ts: it comes with the addon.
test("standInAgentPath takes the local build first", () => {
  const local = join(modules, "fusion-cursor-native", FILE);
  writeFileSync(local, "");
  expect(testing.standInAgentPath()).toBe(local);
});

describe("scenarios", () => {
  test.each(NAMES)("%s is there", (name) => {
    const file = testing.scenarioPath(name);
    expect(JSON.parse(readFileSync(file, "utf8")).turn.length).toBeGreaterThan(2);
    expect(testing.scenarioEnv(name)).toEqual({ FUSION_CURSOR_SCENARIO: file });
  });

  test("any other name is the path of a file", () => {
    expect(testing.scenarioEnv("own/slow.json")).toEqual({
      FUSION_CURSOR_SCENARIO: resolve("own/slow.json"),
    });
  });

  test("wrong arguments are type errors", () => {
    // @ts-expect-error: not one of the ready scenarios
    expect(() => testing.scenarioPath("../package")).toThrow(TypeError);
    expect(() => testing.scenarioEnv("")).toThrow(TypeError);
    // @ts-expect-error: not a string
    expect(() => testing.scenarioEnv(undefined)).toThrow(TypeError);
  });

  test("the module can be imported too", async () => {
    const imported = await import("../testing/index.mjs");
    expect(Object.keys(imported).sort()).toEqual(["scenarioEnv", "scenarioPath", "standInAgentPath"]);
  });
});
