/** Which C library a process runs on, by all that may tell of it. */

import { execFileSync } from "node:child_process";
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { interpreterOf, isCutOff, type Read } from "../lib/loader/elf.js";
import { detectLibc, type Libc, type Sources } from "../lib/loader/libc.js";
import { nameOf, PLATFORMS, titleOf } from "../lib/loader/platforms.js";

const missing = (): never => {
  throw new Error("ENOENT");
};

/** Where only these can be had; the others may not even be asked for, once it is told. */
function found(sources: Partial<Sources>): Libc {
  return detectLibc({ maps: missing, program: missing, report: missing, ldd: missing, ...sources });
}

const mapped = (...files: string[]): string =>
  [
    "00400000-004a1000 r--p 00000000 08:01 1 /usr/bin/node",
    ...files.map((file) => `7f00-7f10 r-xp 0 08:01 2   ${file}`),
    "7ffd-7ffe rw-p 0 00:00 0 [stack]",
    "",
  ].join("\n");

const GLIBC_LDD = "#! /bin/bash\n# GNU C Library\nRTLDLIST=/lib64/ld-linux-x86-64.so.2\n";
const MUSL_LDD = '#!/bin/sh\nexec /lib/ld-musl-x86_64.so.1 --list -- "$@"\n';

/** A program with this interpreter, in 64 bits; the text lies at `at`, as one that was put there afterwards. */
function program(interpreter: string | undefined, at = 200): Sources["program"] {
  const bytes = Buffer.alloc(at + 64);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
  bytes.writeBigUInt64LE(64n, 32);
  bytes.writeUInt16LE(56, 54);
  bytes.writeUInt16LE(2, 56);
  bytes.writeUInt32LE(6, 64);
  bytes.writeUInt32LE(interpreter === undefined ? 1 : 3, 64 + 56);
  bytes.writeBigUInt64LE(BigInt(at), 64 + 56 + 8);
  bytes.writeBigUInt64LE(BigInt((interpreter ?? "").length + 1), 64 + 56 + 32);
  bytes.write(`${interpreter ?? ""}\0`, at);
  return (look) => look((from, length) => bytes.subarray(from, from + length));
}

describe("the files that are mapped into the process", () => {
  test.each<[string, string[], Libc]>([
    [
      "Debian",
      ["/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"],
      "glibc",
    ],
    ["CentOS 7", ["/usr/lib64/libc-2.17.so", "/usr/lib64/ld-2.17.so"], "glibc"],
    ["NixOS", ["/nix/store/q29b-glibc-2.40-66/lib/libc.so.6"], "glibc"],
    ["an AppImage", ["/tmp/.mount_nodeX1/usr/lib/libc.so.6"], "glibc"],
    ["Alpine", ["/lib/ld-musl-x86_64.so.1"], "musl"],
    ["Void with musl", ["/usr/lib/libc.so"], "musl"],
    ["a system that was updated meanwhile", ["/lib/ld-musl-aarch64.so.1 (deleted)"], "musl"],
    ["musl under a program for glibc", ["/lib/libgcompat.so.0", "/lib/ld-musl-x86_64.so.1"], "musl"],
    ["a project with a name", ["/home/me/ld-musl-x/libc.musl-y/a.node", "/usr/lib/libc.so.6"], "glibc"],
  ])("%s", (_, files, libc) => {
    const others = { program: vi.fn(), report: vi.fn(), ldd: vi.fn() };
    expect(found({ maps: () => mapped(...files), ...others })).toBe(libc);
    for (const ask of Object.values(others)) expect(ask).not.toHaveBeenCalled();
  });
});

describe("where they cannot be read, or hold none", () => {
  test("a Node for glibc on Alpine is one for glibc, whatever ldd says", () => {
    const nix = "/nix/store/q29b-glibc-2.40-66/lib/ld-linux-x86-64.so.2";
    expect(found({ program: program(nix), ldd: () => MUSL_LDD })).toBe("glibc");
    expect(found({ maps: () => mapped("/usr/bin/a.node"), program: program(nix), ldd: () => MUSL_LDD })).toBe(
      "glibc",
    );
  });

  test("the interpreter is found wherever in the file it stands", () => {
    expect(found({ program: program("/lib/ld-musl-aarch64.so.1", 90_000) })).toBe("musl");
  });

  test("NixOS has no ldd, and needs none", () => {
    expect(found({ report: () => ({ header: { glibcVersionRuntime: "2.40" }, sharedObjects: [] }) })).toBe(
      "glibc",
    );
  });

  test("an AppImage that its own loader starts has no interpreter; the report tells", () => {
    const report = { header: {}, sharedObjects: ["/tmp/.mount_x/lib/ld-musl-x86_64.so.1"] };
    expect(found({ program: program(undefined), report: () => report, ldd: () => GLIBC_LDD })).toBe("musl");
  });

  test("the report's files go before its header, which gcompat fills too", () => {
    const report = { header: { glibcVersionRuntime: "2.8" }, sharedObjects: ["/lib/ld-musl-x86_64.so.1"] };
    expect(found({ report: () => report })).toBe("musl");
  });

  test("ldd is asked last, and glibc is what there is where nothing tells", () => {
    const asked: string[] = [];
    const told = (name: string) => () => {
      asked.push(name);
      return missing();
    };
    const sources = {
      maps: told("maps"),
      program: told("program"),
      report: told("report"),
      ldd: told("ldd"),
    };
    expect(detectLibc(sources)).toBe("glibc");
    expect(asked).toEqual(["maps", "program", "report", "ldd"]);
    expect(found({ ldd: () => MUSL_LDD })).toBe("musl");
    expect(found({ ldd: () => GLIBC_LDD })).toBe("glibc");
    expect(found({ report: () => undefined })).toBe("glibc");
  });
});

describe("the interpreter of a file", () => {
  const file = (path: string, read: (read: Read) => void): void => {
    const opened = openSync(path, "r");
    read((at, length) => {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(opened, bytes, 0, length, at));
    });
    closeSync(opened);
  };

  test.runIf(process.platform === "linux")("is that of this Node, and an addon has none", () => {
    file(process.execPath, (read) => expect(interpreterOf(read)).toMatch(/^\/.*\/ld-(linux|musl)[^/]*$/));
    file("/proc/self/exe", (read) => expect(interpreterOf(read)).toMatch(/^\//));
    const addon = process.report.getReport() as unknown as { sharedObjects: string[] };
    const library = addon.sharedObjects.find((path) => /libstdc\+\+|libgcc/.test(path));
    if (library !== undefined) file(library, (read) => expect(interpreterOf(read)).toBeUndefined());
  });

  test("is not looked for in what is no such file", () => {
    const of = (bytes: Uint8Array) => interpreterOf((at, length) => bytes.subarray(at, at + length));
    expect(of(Buffer.alloc(0))).toBeUndefined();
    expect(of(readFileSync(__filename))).toBeUndefined();
    // Cut off, of 32 bits, with headers of no size, and with some far behind its end.
    let whole = Buffer.alloc(0);
    program("/lib/ld-linux.so.2")((read) => {
      whole = Buffer.from(read(0, 1000));
    });
    for (const length of [10, 63, 64, 100]) expect(of(whole.subarray(0, length))).toBeUndefined();
    for (const [value, at] of [
      [1, 4],
      [0, 54],
      [255, 39],
    ] as const) {
      const changed = Buffer.from(whole);
      changed[at] = value;
      expect(of(changed)).toBeUndefined();
    }
  });
});

describe("a file is cut off", () => {
  const cut = (bytes: Uint8Array) => isCutOff((at, length) => bytes.subarray(at, at + length));

  test("where it ends before what is mapped of it", () => {
    let whole = Buffer.alloc(0);
    program(undefined)((read) => {
      whole = Buffer.from(read(0, 1000));
    });
    whole.writeBigUInt64LE(20n, 64 + 56 + 32);
    for (const length of [177, 200, 219]) expect(cut(whole.subarray(0, length)), String(length)).toBe(true);
    for (const length of [220, 221]) expect(cut(whole.subarray(0, length)), String(length)).toBe(false);
  });

  test("and not where nothing of it is mapped", () => {
    for (const bytes of [Buffer.alloc(0), readFileSync(__filename)]) expect(cut(bytes)).toBe(false);
    program("/lib/ld-linux.so.2")((read) => expect(isCutOff(read)).toBe(false));
  });
});

test("every platform has the name that its package has, and one without a package has one too", () => {
  for (const [name, title] of PLATFORMS) {
    const [os = "", cpu = "", abi] = name.split("-");
    const libc = abi === "gnu" ? "glibc" : abi === "musl" ? "musl" : undefined;
    expect(nameOf({ os, cpu, libc })).toBe(name);
    expect(titleOf({ os, cpu, libc })).toBe(title);
  }
  expect(nameOf({ os: "linux", cpu: "arm", libc: "glibc" })).toBe("linux-arm-gnueabihf");
  expect(titleOf({ os: "linux", cpu: "riscv64", libc: "musl" })).toBe("linux on riscv64 with musl");
  expect(titleOf({ os: "freebsd", cpu: "x64" })).toBe("freebsd on x64");
});

test.runIf(process.platform === "linux")("loading neither runs a program nor asks for the report", () => {
  const native = join(__dirname, "..", "native.js");
  const code = `
    const refuse = (what) => () => { console.log(what); process.exit(1); };
    process.report.getReport = refuse("the report was asked for");
    const child = require("node:child_process");
    for (const name of Object.keys(child)) if (typeof child[name] === "function") child[name] = refuse(name);
    console.log(typeof require(${JSON.stringify(native)}).coreVersion());`;
  expect(execFileSync(process.execPath, ["--eval", code], { encoding: "utf8" })).toBe("string\n");
});
