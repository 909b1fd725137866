import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
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

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(join(modules, ".."), { recursive: true, force: true });
});

/** Puts an empty file where the package of this platform would have the executable. */
function install(platformPackage: string, ...files: string[]): string {
  const folder = join(modules, platformPackage);
  mkdirSync(folder, { recursive: true });
  for (const file of ["package.json", ...files]) {
    writeFileSync(join(folder, file), "{}");
  }
  return join(folder, FILE);
}

function missingPackage(): string {
  const message = errorOf(testing.standInAgentPath).message;
  return /the package "([^"]+)" is missing/.exec(message)?.[1] ?? message;
}

function errorOf(call: () => unknown): Error {
  try {
    call();
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing was thrown");
}

describe("standInAgentPath", () => {
  test("says what is missing and how to get it", () => {
    const { message } = errorOf(testing.standInAgentPath);
    expect(message).toContain(`"fusion-cursor-native-${process.platform}-${process.arch}`);
    expect(message).toContain("--omit=optional");
    expect(message).toContain("cargo build --bin fusion-cursor-stand-in");
  });

  test("finds the executable in the package of this platform", () => {
    const name = missingPackage();
    install(name);
    expect(errorOf(testing.standInAgentPath).message).toContain(`"${name}" has no ${FILE}`);
    expect(install(name, FILE)).toBe(testing.standInAgentPath());
  });

  test("takes the local build first", () => {
    install(missingPackage(), FILE);
    const local = join(modules, "fusion-cursor-native", FILE);
    writeFileSync(local, "");
    expect(testing.standInAgentPath()).toBe(local);
  });

  test.runIf(process.platform === "linux")("asks the report of Node for the C library", () => {
    const report = vi.spyOn(process.report, "getReport");
    for (const [header, ending] of [
      [{ glibcVersionRuntime: "2.36" }, "-gnu"],
      [{}, "-musl"],
    ] as const) {
      report.mockReturnValue({ header });
      expect(missingPackage()).toBe(`fusion-cursor-native-linux-${process.arch}${ending}`);
    }
  });
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
