/** What is said where the addon cannot be loaded, without the system that it would be said on. */

import { join } from "node:path";
import type { CursorError } from "fusion-cursor-native";
import { describe, expect, test } from "vitest";
import { type Host, loadAddon } from "../lib/loader/load.js";
import type { Platform } from "../lib/loader/platforms.js";

const linux: Platform = { os: "linux", cpu: "x64", libc: "glibc" };
const packages = "/app/node_modules";
const folder = join(packages, "fusion-cursor-native");
const gnu = "fusion-cursor-native-linux-x64-gnu";
const musl = "fusion-cursor-native-linux-x64-musl";

/** A package with the addon in it, and where it is. */
const fileIn = (name: string): string =>
  join(packages, name, `fusion-cursor-native.${name.replace("fusion-cursor-native-", "")}.node`);

function notFound(what: string): Error {
  return Object.assign(new Error(`Cannot find module '${what}'`), { code: "MODULE_NOT_FOUND" });
}

/** A system with these files; each is an addon of this version, or is refused in these words. */
function host(files: Record<string, string | Error>, more: Partial<Host> = {}): Host {
  const installed = Object.keys(files).map((file) => join(file, ".."));
  return {
    platform: linux,
    version: "1.2.3",
    folder,
    variable: undefined,
    exists: (file) => file in files,
    load: (file) => {
      const found = files[file] ?? notFound(file);
      if (found instanceof Error) throw found;
      return found === "" ? {} : { coreVersion: () => found };
    },
    open: (file) => {
      throw notFound(file);
    },
    find: (name) => {
      if (installed.includes(join(packages, name, ".."))) return join(packages, name);
      throw notFound(name);
    },
    ...more,
  };
}

function refusal(files: Record<string, string | Error>, more: Partial<Host> = {}): CursorError {
  try {
    loadAddon(host(files, more));
  } catch (error) {
    return error as CursorError;
  }
  throw new Error("it was loaded");
}

const local = join(folder, "fusion-cursor-native.linux-x64-gnu.node");
const START = "fusion-cursor-native cannot be loaded: ";

describe("it is looked for", () => {
  test("beside the loader, then in the package", () => {
    const both = { [local]: "1.2.3", [fileIn(gnu)]: "1.2.3" };
    expect(loadAddon(host(both)).file).toBe(local);
    expect(loadAddon(host({ [fileIn(gnu)]: "1.2.3" })).file).toBe(fileIn(gnu));
  });

  test("in the package too where the file beside the loader is no good", () => {
    expect(loadAddon(host({ [local]: new Error("no"), [fileIn(gnu)]: "1.2.3" })).file).toBe(fileIn(gnu));
    expect(loadAddon(host({ [local]: "1.2.2", [fileIn(gnu)]: "1.2.3" })).file).toBe(fileIn(gnu));
  });

  test("nowhere but in the variable, where it is set", () => {
    const set = { variable: "/own/x.node" };
    const files = { "/own/x.node": "1.2.3", [local]: "1.2.3", [fileIn(gnu)]: "1.2.3" };
    expect(loadAddon(host(files, set)).file).toBe("/own/x.node");
    expect(refusal({ ...files, "/own/x.node": new Error("no") }, set).message).toBe(
      `${START}NAPI_RS_NATIVE_LIBRARY_PATH names /own/x.node, which does not load: no\nCorrect that variable, or unset it.`,
    );
    expect(refusal({ ...files, "/own/x.node": "1.2.2" }, set).message).toContain(
      "names /own/x.node, which is version 1.2.2 and not 1.2.3.\n",
    );
    expect(refusal({ ...files, "/own/x.node": "" }, set).message).toContain(
      "it is not the addon of fusion-cursor-native\n",
    );
    expect(refusal(files, { variable: "/own/y.node" }).message).toContain(
      "names /own/y.node, which is not there.\n",
    );
    expect(loadAddon(host(files, { variable: "" })).file).toBe(local);
  });
});

describe("a package that is missing", () => {
  test("is named, with what likely left it out and what brings it", () => {
    const error = refusal({});
    expect(error).toMatchObject({ name: "CursorError", code: "CURSOR_ADDON_UNAVAILABLE", retryable: false });
    expect(error.cause).toMatchObject({ code: "MODULE_NOT_FOUND" });
    expect(error.message.split("\n")).toEqual([
      `${START}${gnu}, its package for Linux on x64 with glibc, is not installed.`,
      expect.stringMatching(
        /npm before 11\.3 .* --omit=optional or --no-optional, .* another machine, .* bundler/,
      ),
      "To mend it: npm install fusion-cursor-native@1.2.3 --include=optional",
    ]);
  });

  test.each<[Platform, string]>([
    [
      { os: "linux", cpu: "arm64", libc: "musl" },
      "linux-arm64-musl, its package for Linux on arm64 with musl,",
    ],
    [{ os: "darwin", cpu: "arm64" }, "darwin-arm64, its package for macOS on arm64,"],
    [{ os: "win32", cpu: "x64" }, "win32-x64-msvc, its package for Windows on x64,"],
  ])("is named on %o", (platform, said) => {
    expect(refusal({}, { platform }).message).toContain(
      `${START}fusion-cursor-native-${said} is not installed.\n`,
    );
  });

  test("is told with the one that is there instead", () => {
    const [, why] = refusal({ [fileIn(musl)]: "1.2.3" }).message.split("\n");
    expect(why).toBe(
      `There is ${musl} instead, as node_modules or the lock file was made on another system.`,
    );
  });
});

test("where there is no package for a platform, those are named that have one", () => {
  const error = refusal({}, { platform: { os: "freebsd", cpu: "x64" } });
  expect(error.code).toBe("CURSOR_ADDON_UNAVAILABLE");
  expect(error).not.toHaveProperty("cause");
  const [what, which, how, ...more] = error.message.split("\n");
  expect(what).toBe(`${START}it has no package for freebsd on x64.`);
  expect(which).toMatch(/^There is one for Linux on x64 with glibc, .*, Windows on arm64\.$/);
  expect(how).toMatch(/ built from its source: npm run build$/);
  expect(more).toEqual([]);
  const built = join(folder, "fusion-cursor-native.freebsd-x64.node");
  expect(loadAddon(host({ [built]: "1.2.3" }, { platform: { os: "freebsd", cpu: "x64" } })).file).toBe(built);
});

test("a package without its file is told apart from one that is missing", () => {
  const gone = { ...host({ [fileIn(gnu)]: "1.2.3" }), exists: () => false, load: host({}).load };
  expect(refusal({}, gone).message.split("\n")).toEqual([
    `${START}${gnu} is installed, but its file ${fileIn(gnu)} is gone.`,
    "Likely causes: an installation that broke off, or a program against viruses.",
    "To mend it: npm ci --include=optional",
  ]);
});

describe("another version is refused", () => {
  test("in the package", () => {
    expect(refusal({ [fileIn(gnu)]: "1.2.2" }).message).toBe(
      `${START}it is version 1.2.3, and ${gnu} is version 1.2.2.\n` +
        "To mend it: npm install fusion-cursor-native@1.2.3 --include=optional",
    );
  });

  test("beside the loader", () => {
    expect(refusal({ [local]: "1.2.2" }).message).toBe(
      `${START}it is version 1.2.3, and ${local} is version 1.2.2.\nTo mend it: npm run build`,
    );
  });
});

describe("a file that does not load is told with the system's words", () => {
  const again = "\nTo mend it: npm ci --include=optional";
  test.each<[string, string]>([
    [
      "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by /x.node)",
      "\nThe glibc of this system is older than the one that it was built for.",
    ],
    [
      "/x.node: invalid ELF header",
      `\nIt is for another system or processor than this Node, or damaged.${again}`,
    ],
    [
      "/x.node: wrong ELF class: ELFCLASS32",
      `\nIt is for another system or processor than this Node, or damaged.${again}`,
    ],
    [
      "dlopen(/x.node, 0x0001): tried: '/x.node' (mach-o file, but is an incompatible architecture (have 'x86_64', need 'arm64'))",
      `\nIt is for another system or processor than this Node, or damaged.${again}`,
    ],
    [
      "\\\\?\\C:\\x.node is not a valid Win32 application.",
      `\nIt is for another system or processor than this Node, or damaged.${again}`,
    ],
    ["/x.node: file too short", `\nThe file is damaged.${again}`],
    [
      "libc.musl-x86_64.so.1: cannot open shared object file: No such file or directory",
      `\nIt is for another C library than that of this Node.${again}`,
    ],
    [
      "Error loading shared library ld-linux-x86-64.so.2: No such file or directory (needed by /x.node)",
      `\nIt is for another C library than that of this Node.${again}`,
    ],
    [
      "/x.node: failed to map segment from shared object",
      "\nFrom its file system nothing may be executed (noexec).",
    ],
    [
      "code signature in <X> '/x.node' not valid for use in process",
      "\nmacOS does not accept its signature.",
    ],
    ["The specified module could not be found.", "\nA library of Windows that it needs is missing."],
    ["something else", ""],
  ])("%s", (words, meant) => {
    const error = refusal({ [fileIn(gnu)]: new Error(`${words}\nRequire stack:\n- /x.js`) });
    expect(error.message).toBe(`${START}${fileIn(gnu)} is there, but does not load: ${words}${meant}`);
    expect(error.cause).toMatchObject({ message: expect.stringContaining(words) });
  });

  test("of one that a clone has built, which goes before the package that is missing there", () => {
    const error = refusal({ [local]: new Error("/x.node: file too short") });
    expect(error.message.split("\n")).toEqual([
      `${START}${local} is there, but does not load: /x.node: file too short`,
      "The file is damaged.",
      "To mend it: npm run build",
    ]);
    expect((error.cause as AggregateError).errors).toHaveLength(2);
  });

  test("of which a long one is cut", () => {
    const { message } = refusal({ [fileIn(gnu)]: new Error("x".repeat(5000)) });
    expect(message.length).toBeLessThan(600);
    expect(message.endsWith("…")).toBe(true);
  });
});
