/** The inner binding and the file it comes in. */

import { statSync } from "node:fs";
import { join } from "node:path";
import { nativeInfo } from "fusion-cursor-native";
import { expect, test } from "vitest";
import { KINDS } from "../lib/batch.js";
import native from "../native.js";
import manifest from "../package.json" with { type: "json" };

test("both sides of the crossing number the kinds of events alike", () => {
  expect(native.batchKinds()).toEqual([...KINDS]);
});

test("nativeInfo names what was loaded", () => {
  const { version, target, file } = nativeInfo();
  expect(version).toBe(manifest.version);
  expect(manifest.napi.targets).toContain(target);
  expect(statSync(file).isFile()).toBe(true);
  expect(file).toMatch(/fusion-cursor-native\..*\.node$/);
});

test("the optimized addon stays under 3.5 MB", () => {
  const { file } = nativeInfo();
  const { size } = statSync(file);
  // A debug build is ten times that, and is not what is published.
  if (size > 10_000_000) return;
  expect(size).toBeLessThan(3_500_000);
});

test("the addon is loaded once, however it is imported", async () => {
  const imported = await import("fusion-cursor-native");
  expect(imported.nativeInfo).toBe(nativeInfo);
  expect(join(nativeInfo().file)).toBe(imported.nativeInfo().file);
});
