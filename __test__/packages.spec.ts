import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(__dirname, "..");
const main = manifest(".");
const targets: string[] = main.napi.targets;

const systems: Record<string, string> = { linux: "linux", apple: "darwin", pc: "win32", unknown: "linux" };
const processors: Record<string, string> = { x86_64: "x64", aarch64: "arm64" };
const libraries: Record<string, string[]> = { gnu: ["glibc"], musl: ["musl"] };

// biome-ignore lint/suspicious/noExplicitAny: a manifest is what the assertions below find it to be
function manifest(folder: string): any {
  return JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
}

/** `x86_64-unknown-linux-gnu` as the loader names it: `linux-x64-gnu`. */
function parts(target: string) {
  const [processor = "", vendor = "", , abi] = target.split("-");
  const os = systems[vendor] as string;
  const cpu = processors[processor] as string;
  return { os, cpu, abi, name: [os, cpu, abi].filter(Boolean).join("-") };
}

test("there is one package per target of the addon, and no other", () => {
  expect(readdirSync(join(root, "npm")).sort()).toEqual(targets.map((target) => parts(target).name).sort());
});

describe.each(targets)("%s", (target) => {
  const { os, cpu, abi, name } = parts(target);
  const found = manifest(join("npm", name));

  test("is for its platform alone", () => {
    expect(found.os).toEqual([os]);
    expect(found.cpu).toEqual([cpu]);
    expect(found.libc).toEqual(libraries[abi ?? ""]);
  });

  test("has the name that the loader asks for, and the version, licence and Node of the package", () => {
    expect(found.name).toBe(`${main.name}-${name}`);
    expect(found.version).toBe(main.version);
    expect(found.license).toBe(main.license);
    expect(found.engines).toEqual(main.engines);
    expect(readFileSync(join(root, "native.js"), "utf8")).toContain(`require('${found.name}')`);
  });

  test("holds the addon, its guard and the stand-in agent, as files on the disk", () => {
    const programs =
      os === "win32" ? ["fusion-cursor-stand-in.exe"] : ["fusion-cursor-guard", "fusion-cursor-stand-in"];
    expect(found.main).toBe(`${main.napi.binaryName}.${name}.node`);
    expect(found.files).toEqual([found.main, ...programs]);
    expect(found.preferUnplugged).toBe(true);
  });
});

test("Cargo.toml has the version of package.json", () => {
  const [, version] = readFileSync(join(root, "Cargo.toml"), "utf8").match(/^version = "(.+)"$/m) ?? [];
  expect(version).toBe(main.version);
});
