import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PLATFORMS } from "../lib/loader/platforms.js";
import { publishedManifest } from "../scripts/manifest.mjs";
import { checkPlatforms, GLIBC_FLOOR, platforms, withTable } from "../scripts/platforms.mjs";

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

  test("has the name that the loader looks for, and the version, licence and Node of the package", () => {
    expect(found.name).toBe(`${main.name}-${name}`);
    expect(found.version).toBe(main.version);
    expect(found.license).toBe(main.license);
    expect(found.engines).toEqual(main.engines);
  });

  test("holds the addon, its guard and the stand-in agent, as files on the disk", () => {
    const programs =
      os === "win32" ? ["fusion-cursor-stand-in.exe"] : ["fusion-cursor-guard", "fusion-cursor-stand-in"];
    expect(found.main).toBe(`${main.napi.binaryName}.${name}.node`);
    expect(found.files).toEqual([found.main, ...programs, "THIRD-PARTY.md"]);
    expect(found.preferUnplugged).toBe(true);
  });

  test("says what it is, for whom, and where it comes from", () => {
    const readme = readFileSync(join(root, "npm", name, "README.md"), "utf8");
    expect(readme).toContain(`for ${PLATFORMS.get(name)} (\`${target}\`)`);
    expect(readme).toContain(`https://www.npmjs.com/package/${main.name}`);
    if (libraries[abi ?? ""]?.includes("glibc"))
      expect(readme).toContain(`needs glibc ${GLIBC_FLOOR} or later`);
  });
});

test("the loader looks for these packages, and for no other", () => {
  expect([...PLATFORMS].sort()).toEqual(platforms.map(({ name, title }) => [name, title]).sort());
});

test("what is published names each of them in this very version, and nothing that only a clone has a use for", () => {
  const published = publishedManifest();
  const named = targets.map((target) => [`${main.name}-${parts(target).name}`, main.version]);
  expect(published.optionalDependencies).toEqual(Object.fromEntries(named));
  for (const name of ["scripts", "devDependencies", "napi", "dependencies"])
    expect(published).not.toHaveProperty(name);
  const kept = ["name", "version", "license", "main", "types", "bin", "exports", "files", "engines"];
  for (const name of kept) expect(published[name], name).toEqual(main[name]);
  // Other programs start its mcp-schema-server.cjs.
  expect(published.preferUnplugged).toBe(true);
  expect(published).not.toHaveProperty("os");
});

test("nobody has changed by hand what the script writes, and the table has its place on a page", () => {
  expect(checkPlatforms).not.toThrow();
  const page = readFileSync(join(root, "docs", "install.md"), "utf8");
  expect(withTable(page)).toBe(page);
  for (const target of targets) expect(page).toContain(`| \`${target}\` |`);
  expect(withTable("a <!-- targets --> b <!-- /targets --> c")).toMatch(
    /^a <!-- targets -->\n\n\|[\s\S]+\|\n\n<!-- \/targets --> c$/,
  );
  expect(withTable("a <!-- targets --> b")).toBeUndefined();
});

describe("THIRD-PARTY.md", () => {
  const page = readFileSync(join(root, "THIRD-PARTY.md"), "utf8");
  const listed = [...page.matchAll(/^- (\S+) (\d\S+)/gm)].map(([, name, version]) => `${name} ${version}`);

  test("names crates that are linked, in their versions, and none that only build or test", () => {
    const lock = readFileSync(join(root, "Cargo.lock"), "utf8");
    const locked = [...lock.matchAll(/^name = "(.+)"\nversion = "(.+)"$/gm)].map(
      ([, name, version]) => `${name} ${version}`,
    );
    expect(listed.filter((crate) => !locked.includes(crate))).toEqual([]);
    const names = listed.map((crate) => crate.split(" ")[0]);
    expect(names).toEqual(
      expect.arrayContaining(["napi", "tokio", "hyper", "rustix", "windows-sys", "subtle"]),
    );
    for (const other of ["napi-derive", "syn", "serde_derive", "proptest", "criterion", main.name])
      expect(names).not.toContain(other);
  });

  test("has a text for every licence, and the C libraries", () => {
    for (const section of page.split(/^### /m).slice(1, -1))
      expect(section).toMatch(/Permission (is hereby granted|to use, copy)|Redistributions in binary form/);
    for (const other of [
      "Rust's standard library",
      "UNICODE LICENSE V3",
      "Rich Felker",
      "GNU LESSER GENERAL",
    ])
      expect(page).toContain(other);
  });

  test("has none for JavaScript, since there is no code of others in it", () => {
    for (const file of [
      "index.js",
      "native.js",
      "plugin/index.js",
      "dist/fusion-cursor.mjs",
      "mcp-schema-server.cjs",
    ])
      expect(readFileSync(join(root, file), "utf8")).not.toMatch(/^\/\/ node_modules\//m);
  });
});

test("Cargo.toml has the version of package.json", () => {
  const [, version] = readFileSync(join(root, "Cargo.toml"), "utf8").match(/^version = "(.+)"$/m) ?? [];
  expect(version).toBe(main.version);
});
