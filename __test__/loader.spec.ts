/** The package in a real folder, with the addon in its place, in another one, or in none. */

import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { nativeInfo } from "fusion-cursor-native";
import { standInAgentPath } from "fusion-cursor-native/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { PLATFORMS } from "../lib/loader/platforms.js";
import manifest from "../package.json" with { type: "json" };

const root = join(__dirname, "..");
const { name, version } = manifest;
const addon = nativeInfo().file;
/** As in the file's name, which the build has given it: `linux-x64-gnu`. */
const platform = basename(addon).slice(`${name}.`.length, -".node".length);
const own = `${name}-${platform}`;
const other = `${name}-${[...PLATFORMS.keys()].find((one) => one !== platform)}`;

const FILES = [
  "index.js",
  "index.mjs",
  "native.js",
  "outcome.js",
  "package.json",
  "dist",
  "docs",
  "mcp-schema-server.cjs",
];

/** A program's folder, with the package installed but for the addon. */
class Program {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "fusion-cursor-loader-")));

  constructor() {
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }));
    for (const file of FILES) cpSync(join(root, file), this.path(name, file), { recursive: true });
    for (const file of ["index.js", "index.mjs"])
      cpSync(join(root, "testing", file), this.path(name, "testing", file));
  }

  path(...names: string[]): string {
    return join(this.folder, "node_modules", ...names);
  }

  /** Installs a platform's package with these files, and returns the place of its addon. */
  install(platformPackage: string, ...files: string[]): string {
    const main = `${name}.${platformPackage.slice(name.length + 1)}.node`;
    mkdirSync(this.path(platformPackage), { recursive: true });
    writeFileSync(
      this.path(platformPackage, "package.json"),
      JSON.stringify({ name: platformPackage, version, main }),
    );
    for (const file of files)
      cpSync(file, this.path(platformPackage, file === addon ? main : basename(file)));
    return this.path(platformPackage, main);
  }

  /** The package in another version than its addon. */
  update(): void {
    const text = readFileSync(join(root, "native.js"), "utf8");
    expect(text).toContain(JSON.stringify(version));
    writeFileSync(this.path(name, "native.js"), text.replaceAll(JSON.stringify(version), '"99.0.0"'));
  }

  /** Runs Node in it. */
  run(
    args: string[],
    env: Record<string, string> = {},
  ): { status: number | null; stdout: string; stderr: string } {
    return spawnSync(process.execPath, args, {
      cwd: this.folder,
      encoding: "utf8",
      env: { ...process.env, NAPI_RS_NATIVE_LIBRARY_PATH: "", ...env },
      timeout: 60_000,
    });
  }

  /** What of the error arrives where the package is taken in. */
  refusal(env: Record<string, string> = {}): Refusal {
    const code = `try { require("${name}") } catch (error) { console.log(JSON.stringify({
      ...error, name: error.name, message: error.message, isError: error instanceof Error,
      causes: [error.cause ?? []].flat().flatMap((cause) => cause.errors ?? cause).map((cause) => cause.message),
    })) }`;
    const { stdout, stderr } = this.run(["--eval", code], env);
    expect(stderr).toBe("");
    return JSON.parse(stdout);
  }
}

interface Refusal {
  code?: string;
  name?: string;
  message?: string;
  retryable?: boolean;
  isError?: boolean;
  causes?: string[];
}

const LOADED = `const { nativeInfo } = require("${name}"); console.log(nativeInfo().file)`;
const START = `${name} cannot be loaded: `;

describe("it loads", () => {
  test("from the package of this platform", () => {
    const program = new Program();
    const file = program.install(own, addon);
    expect(program.run(["--eval", LOADED])).toMatchObject({ status: 0, stdout: `${file}\n`, stderr: "" });
    const imported = `import { nativeInfo } from "${name}"; console.log(nativeInfo().file)`;
    expect(program.run(["--input-type=module", "--eval", imported]).stdout).toBe(`${file}\n`);
  });

  test("from a package that lies within the main one, as some package managers put it", () => {
    const program = new Program();
    const inner = join(name, "node_modules", own);
    program.install(own, addon);
    cpSync(program.path(own), program.path(inner), { recursive: true });
    rmSync(program.path(own), { recursive: true });
    expect(program.run(["--eval", LOADED]).stdout).toBe(`${program.path(inner, basename(addon))}\n`);
  });

  test("from beside the main package, where node_modules leads to a folder of another name", () => {
    const program = new Program();
    const file = basename(program.install(own, addon));
    const elsewhere = join(program.folder, "elsewhere");
    renameSync(program.path(), elsewhere);
    symlinkSync(elsewhere, program.path(), "junction");
    expect(program.run(["--eval", LOADED])).toMatchObject({
      status: 0,
      stdout: `${join(elsewhere, own, file)}\n`,
      stderr: "",
    });
    renameSync(join(elsewhere, own), join(elsewhere, other));
    expect(program.refusal().message).toContain(`\nThere is ${other} instead, as `);
  });

  test("from beside the loader, and from where the variable says", () => {
    const program = new Program();
    cpSync(addon, program.path(name, basename(addon)));
    expect(program.run(["--eval", LOADED]).stdout).toBe(`${program.path(name, basename(addon))}\n`);
    const elsewhere = join(program.folder, "own.node");
    cpSync(addon, elsewhere);
    for (const said of [elsewhere, "own.node"])
      expect(program.run(["--eval", LOADED], { NAPI_RS_NATIVE_LIBRARY_PATH: said }).stdout).toBe(
        `${elsewhere}\n`,
      );
  });

  test("in a worker", () => {
    const program = new Program();
    const file = program.install(own, addon);
    const code = `const { Worker } = require("node:worker_threads"); new Worker(${JSON.stringify(LOADED)}, { eval: true })`;
    expect(program.run(["--eval", code])).toMatchObject({ status: 0, stdout: `${file}\n`, stderr: "" });
  });

  test("with the stand-in agent beside it", () => {
    const program = new Program();
    const path = `console.log(require("${name}/testing").standInAgentPath())`;
    program.install(own, addon);
    expect(program.run(["--eval", path]).stderr).toContain(
      `The stand-in agent is not installed: ${program.path(own, basename(standInAgentPath()))} is not there.`,
    );
    program.install(own, standInAgentPath());
    expect(program.run(["--eval", path]).stdout).toBe(`${program.path(own, basename(standInAgentPath()))}\n`);
  });
});

describe("without the package of this platform", () => {
  test("one error says what is missing, why, and what brings it", () => {
    const program = new Program();
    const { message = "", causes, ...error } = program.refusal();
    expect(error).toEqual({
      name: "CursorError",
      code: "CURSOR_ADDON_UNAVAILABLE",
      retryable: false,
      isError: true,
    });
    const [what, why, cure, ...more] = message.split("\n");
    expect(what).toBe(`${START}${own}, its package for ${PLATFORMS.get(platform)}, is not installed.`);
    expect(why).toMatch(/^Likely causes: .*--omit=optional.*\.$/);
    expect(cure).toBe(`To mend it: npm install ${name}@${version} --include=optional`);
    expect(more).toEqual([]);
    expect(causes).toEqual([expect.stringContaining(`Cannot find module '${own}/package.json'`)]);
  });

  test("a package for another platform that is there is named", () => {
    const program = new Program();
    program.install(other, addon);
    expect(program.refusal().message).toContain(`\nThere is ${other} instead, as `);
  });

  test("`import`, a worker and the stand-in agent say the same", () => {
    const program = new Program();
    const { message } = program.refusal();
    const imported = program.run(["--input-type=module", "--eval", `import "${name}"`]);
    expect(imported.status).toBe(1);
    expect(imported.stderr).toContain(`\nCursorError: ${message}\n    at `);
    const caught = `await import("${name}").catch((error) => console.log(error.message))`;
    expect(program.run(["--input-type=module", "--eval", caught])).toMatchObject({
      status: 0,
      stdout: `${message}\n`,
    });
    const worker = `const { Worker } = require("node:worker_threads");
      new Worker('require("${name}")', { eval: true }).on("error", (error) => console.log(error.message))`;
    expect(program.run(["--eval", worker]).stdout).toBe(`${message}\n`);
    const agent = `try { require("${name}/testing").standInAgentPath() } catch (error) { console.log(error.message) }`;
    expect(program.run(["--eval", agent]).stdout).toBe(`${message}\n`);
  });

  test("the command prints that and nothing else, and `doctor` its cure", () => {
    const program = new Program();
    const { message } = program.refusal();
    const command = program.path(name, "dist", "fusion-cursor.mjs");
    for (const args of [["models"], ["run", "hi"], ["demo"], ["worktree", "inspect", "."]])
      expect(program.run([command, ...args])).toMatchObject({
        status: 1,
        stdout: "",
        stderr: `error: ${message}\n`,
      });
    expect(program.run([command, "--version"])).toMatchObject({ status: 0, stdout: `${version}\n` });
    const { status, stdout } = program.run([command, "doctor"]);
    expect(status).toBe(1);
    expect(stdout).toContain(`cure: npm install ${name}@${version} --include=optional\n`);
    expect(stdout).toContain(`${own}, its package for`);
  });
});

describe("with an addon that is no good", () => {
  test("one without its file", () => {
    const program = new Program();
    const file = program.install(own);
    const { code, message } = program.refusal();
    expect(code).toBe("CURSOR_ADDON_UNAVAILABLE");
    expect(message).toContain(`${START}${own} is installed, but its file ${file} is gone.\n`);
    expect(message).toMatch(/\nTo mend it: npm ci --include=optional$/);
  });

  test("one that is cut off, or no program at all, with the system's words", () => {
    const program = new Program();
    const file = program.install(own, addon);
    const { size } = statSync(file);
    // All but the shortest are mapped by the system as if they were whole.
    for (const length of [Math.ceil(size * 0.9), Math.ceil(size / 2), 1000, 100]) {
      truncateSync(file, length);
      const cut = program.refusal();
      expect(cut.message).toContain(`${START}${file} is there, but does not load: `);
      expect(cut.causes?.[0]).toContain(cut.message?.split("does not load: ")[1]?.split("\n")[0]);
      if (process.platform === "linux") expect(cut.message).toContain("\nThe file is damaged.\n");
    }
    writeFileSync(file, "no program".repeat(1000));
    const { message } = program.refusal();
    expect(message).toContain(`${START}${file} is there, but does not load: `);
    if (process.platform === "linux") expect(message).toContain("\nIt is for another system or processor ");
  });

  test("one of another version", () => {
    const program = new Program();
    program.install(own, addon);
    program.update();
    expect(program.refusal().message).toBe(
      `${START}it is version 99.0.0, and ${own} is version ${version}.\n` +
        `To mend it: npm install ${name}@99.0.0 --include=optional`,
    );
    cpSync(addon, program.path(name, basename(addon)));
    expect(program.refusal().message).toMatch(/ and .*\.node is version .*\.\nTo mend it: npm run build$/);
  });

  test("one that the variable names, though there is a good one", () => {
    const program = new Program();
    program.install(own, addon);
    const variable = join(program.folder, "none.node");
    expect(program.refusal({ NAPI_RS_NATIVE_LIBRARY_PATH: variable }).message).toBe(
      `${START}NAPI_RS_NATIVE_LIBRARY_PATH names ${variable}, which is not there.\nCorrect that variable, or unset it.`,
    );
  });
});
