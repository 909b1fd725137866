/** What the front page says of tests and platforms, held against what there is. */

import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { platforms } from "../scripts/platforms.mjs";
import { TARGETS } from "../scripts/targets.mjs";
import { Page, root } from "./support/markdown.js";

const run = promisify(execFile);
const { text } = new Page("README.md");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The rows of the table whose head starts with `head`, cell by cell. */
function table(head: string): string[][] {
  const [, rest = ""] = text.split(`\n| ${head} |`);
  const [body = ""] = rest.split("\n\n");
  const rows = body.split("\n").slice(2);
  return rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

test("every test that it names is there", () => {
  const named = [...text.matchAll(/`((?:__test__|tests)\/[^`]+)`/g)].map((match) => match[1] as string);
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("every platform that has a package has a row about what is proven", () => {
  const rows = table("Platform | What is run");
  expect(rows.map(([platform]) => platform)).toEqual(platforms.map(({ title }) => title));
  for (const [platform, run, when, not] of rows) {
    expect([platform, run === "Nothing"]).toEqual([platform, when === ""]);
    expect(platform === "Linux on x64 with glibc" || not !== "").toBe(true);
  }
});

test("what it calls type-checked is, and where it says nothing is, nothing is", () => {
  const target = (title: string) => platforms.find((platform) => platform.title === title)?.target ?? "";
  for (const [platform = "", run = ""] of table("Platform | What is run")) {
    if (run === "The type check") expect(TARGETS).toContain(target(platform));
    if (run === "Nothing") expect(TARGETS).not.toContain(target(platform));
  }
});

test("it asks for the Node that the manifest asks for, and no script runs at an install", () => {
  expect(text).toContain(`Node ${manifest.engines.node.replace(">=", "")} or later is all`);
  const atInstall = Object.keys(manifest.scripts).filter((name) =>
    /^(pre|post)?(install|prepare)$/.test(name),
  );
  expect(atInstall).toEqual([]);
});

test("`npm test` and `npm run demo` begin where nothing is installed yet", async () => {
  const clone = mkdtempSync(join(tmpdir(), "fusion-cursor-test-"));
  onTestFinished(() => rmSync(clone, { recursive: true, force: true }));
  for (const name of ["scripts", "package.json", "Cargo.toml"])
    cpSync(join(root, name), join(clone, name), { recursive: true });
  const list = await run(process.execPath, [join(clone, "scripts", "test.mjs"), "--list"]);
  expect(list.stdout).toContain("vitest");
  const setup = 'import("./scripts/setup.mjs").then(({ setup }) => console.log(typeof setup))';
  expect((await run(process.execPath, ["-e", setup], { cwd: clone })).stdout).toBe("function\n");
});

test("`npm run build` installs what is missing before it compiles", async () => {
  const clone = mkdtempSync(join(tmpdir(), "fusion-cursor-test-"));
  onTestFinished(() => rmSync(clone, { recursive: true, force: true }));
  for (const name of ["scripts", "Cargo.toml"])
    cpSync(join(root, name), join(clone, name), { recursive: true });
  const { name, version, engines } = manifest;
  const own = { name, version, engines };
  writeFileSync(join(clone, "package.json"), JSON.stringify(own));
  writeFileSync(
    join(clone, "package-lock.json"),
    JSON.stringify({ name, version, lockfileVersion: 3, packages: { "": own } }),
  );
  const first = "node scripts/setup.mjs --no-build";
  for (const script of ["build", "build:debug"]) expect(manifest.scripts[script]).toMatch(`${first} && `);
  const [, ...args] = first.split(" ");
  const { stdout } = await run(process.execPath, args, { cwd: clone });
  expect(stdout).toContain("Installing the development packages (npm ci)…");
});

test("it says in one place that the package is on no registry yet", () => {
  const pages = [new Page("README.md"), new Page("docs/quick-start.md")];
  const said = pages.flatMap((page) => [...page.text.matchAll(/not on the npm registry/g)]);
  expect(said).toHaveLength(1);
});
