/** The gate between builds and packages: that it lets whole builds through, and nothing else. */

import { createHash } from "node:crypto";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { collect, complaints, describe as describeBuild } from "../scripts/artifacts.mjs";
import { type Platform, platforms } from "../scripts/platforms.mjs";
import { kindOf } from "../scripts/release/kind.mjs";

const expected = { version: "1.2.3", commit: "c".repeat(40) };
const root = join(__dirname, "..");

/** A file that begins as a binary of the platform does, and is like no other. */
function binary({ os, cpu, libc }: Platform, file: string): Buffer {
  const bytes = Buffer.alloc(60_000);
  const isLibrary = file.endsWith(".node");
  if (os === "linux") {
    bytes.writeUInt32BE(0x7f454c46);
    bytes.writeUInt16BE(0x0201, 4);
    bytes.writeUInt16LE(isLibrary ? 3 : 2, 16);
    bytes.writeUInt16LE(cpu === "x64" ? 62 : 183, 18);
    bytes.writeUInt8(64, 32);
    bytes.writeUInt16LE(56, 54);
    const segments = [
      { type: 1, at: 0, size: bytes.length },
      { type: 2, at: 1024, size: 48 },
      { type: 0x6474e551, at: 0, size: 0 },
    ];
    bytes.writeUInt16LE(segments.length, 56);
    for (const [index, { type, at, size }] of segments.entries()) {
      bytes.writeUInt32LE(type, 64 + index * 56);
      for (const offset of [8, 16]) bytes.writeUInt32LE(at, 64 + index * 56 + offset);
      bytes.writeUInt32LE(size, 64 + index * 56 + 32);
    }
    // The table of names is at 2048, and the library that is needed stands in it at 1.
    for (const [index, word] of [5, 2048, 1, 1].entries()) bytes.writeUInt32LE(word, 1024 + index * 8);
    bytes.write(libc === "glibc" ? "libc.so.6" : "libc.so", 2049);
  } else if (os === "darwin") {
    bytes.writeUInt32LE(0xfeedfacf);
    bytes.writeUInt32LE(cpu === "x64" ? 0x01000007 : 0x0100000c, 4);
    bytes.writeUInt32LE(isLibrary ? 6 : 2, 12);
  } else {
    bytes.write("MZ");
    bytes.writeUInt32LE(0x80, 0x3c);
    bytes.write("PE\0\0", 0x80);
    bytes.writeUInt16LE(cpu === "x64" ? 0x8664 : 0xaa64, 0x84);
    bytes.writeUInt16LE(isLibrary ? 0x2022 : 0x0022, 0x96);
  }
  bytes.write(`${os} ${cpu} ${libc} ${file}`, 3000);
  return bytes;
}

/** A whole set of builds, as they are downloaded. */
const whole = mkdtempSync(join(tmpdir(), "fusion-cursor-test-"));
let folder = whole;
const at = (name: string, ...file: string[]) => join(folder, `binaries-${name}`, ...file);

beforeAll(() => {
  for (const platform of platforms) build(platform);
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fusion-cursor-test-"));
  cpSync(whole, folder, { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
afterAll(() => rmSync(whole, { recursive: true, force: true }));

function build(platform: Platform): void {
  const made = join(whole, "made");
  mkdirSync(made);
  for (const file of [platform.addon, ...platform.programs])
    writeFileSync(join(made, file), binary(platform, file));
  describeBuild(platform.name, at(platform.name), made);
  rmSync(made, { recursive: true });
  edit(platform.name, (description) => Object.assign(description, expected));
}

// biome-ignore lint/suspicious/noExplicitAny: a description, which the tests below spoil
function edit(name: string, change: (description: any) => void): void {
  const description = JSON.parse(readFileSync(at(name, "build.json"), "utf8"));
  change(description);
  writeFileSync(at(name, "build.json"), JSON.stringify(description));
}

/** Put other bytes in place of a file, and describe them as what was built. */
function replaceFile(name: string, file: string, bytes: Buffer): void {
  writeFileSync(at(name, file), bytes);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  edit(name, ({ files }) => Object.assign(files[file], { sha256 }));
}

const found = () => complaints(folder, expected);
const platformOf = (name: string) => platforms.find((platform) => platform.name === name) as Platform;

test("a whole set is put into the packages, the programs executable", () => {
  expect(found()).toEqual([]);
  const into = mkdtempSync(join(tmpdir(), "fusion-cursor-test-"));
  onTestFinished(() => rmSync(into, { recursive: true, force: true }));
  collect(folder, into, expected);
  for (const { name, addon, programs } of platforms) {
    for (const file of [addon, ...programs]) {
      expect(readFileSync(join(into, name, file))).toEqual(readFileSync(at(name, file)));
      if (process.platform !== "win32") expect(statSync(join(into, name, file)).mode & 0o777).toBe(0o755);
    }
  }
});

test("nothing is put anywhere where one file is wrong", () => {
  rmSync(at("win32-x64-msvc", "fusion-cursor-stand-in.exe"));
  const into = join(folder, "into");
  expect(() => collect(folder, into, expected)).toThrow("win32-x64-msvc lacks fusion-cursor-stand-in.exe");
  expect(statSync(into, { throwIfNoEntry: false })).toBeUndefined();
});

describe("what is told:", () => {
  test("a platform that was not built", () => {
    rmSync(at("linux-arm64-musl"), { recursive: true });
    expect(found()).toEqual(["linux-arm64-musl was not built"]);
  });

  test("a folder for no platform, and a file that nobody asked for", () => {
    mkdirSync(at("linux-riscv64-gnu"));
    writeFileSync(at("darwin-x64", "notes.txt"), "");
    expect(found()).toEqual([
      "binaries-linux-riscv64-gnu is for no platform of package.json",
      "darwin-x64 has notes.txt, which nobody asked for",
    ]);
  });

  test.each([
    ["linux-x64-gnu", "linux-arm64-gnu", "It is for linux arm64."],
    ["linux-x64-gnu", "linux-x64-musl", "It asks for libraries that a system may lack: libc.so"],
    ["linux-arm64-musl", "linux-arm64-gnu", "It asks for libraries that a system may lack: libc.so.6"],
    ["linux-x64-musl", "darwin-x64", "It is for darwin x64."],
    ["darwin-arm64", "darwin-x64", "It is for darwin x64."],
    ["win32-arm64-msvc", "win32-x64-msvc", "It is for win32 x64."],
    ["win32-x64-msvc", "linux-x64-gnu", "It is for linux x64."],
  ])("in %s an addon of %s", (name, other, what) => {
    replaceFile(name, platformOf(name).addon, binary(platformOf(other), platformOf(name).addon));
    expect(found()).toEqual([expect.stringContaining(what)]);
    expect(found().join()).toMatch(
      new RegExp(`^${name} holds a wrong file: .*${platformOf(name).addon} is not`),
    );
  });

  test.each(["linux-x64-gnu", "darwin-arm64", "win32-x64-msvc"])(
    "in %s a program in place of the addon, and the other way round",
    (name) => {
      const { addon, programs } = platformOf(name);
      const program = String(programs[0]);
      const [made, loaded] = [program, addon].map((file) => binary(platformOf(name), file)) as [
        Buffer,
        Buffer,
      ];
      replaceFile(name, addon, Buffer.concat([made, Buffer.from("x")]));
      replaceFile(name, program, Buffer.concat([loaded, Buffer.from("x")]));
      expect(found()).toEqual([
        `${name} holds ${addon}, which is a program and no library`,
        `${name} holds ${program}, which is a library and no program`,
      ]);
    },
  );

  test("the same bytes twice", () => {
    const [guard = "", standIn = ""] = platformOf("darwin-x64").programs;
    replaceFile("darwin-x64", standIn, readFileSync(at("darwin-x64", guard)));
    expect(found()).toEqual([`darwin-x64 holds as ${standIn} the very bytes of darwin-x64/${guard}`]);
  });

  test("a file that is too large, one that is no binary, and one that is cut off", () => {
    const platform = platformOf("linux-x64-gnu");
    const [guard = "", standIn = ""] = platform.programs;
    const large = Buffer.alloc(5_000_000);
    binary(platform, platform.addon).copy(large);
    replaceFile(platform.name, platform.addon, large);
    replaceFile(platform.name, guard, Buffer.alloc(60_000, "text "));
    replaceFile(platform.name, standIn, binary(platform, standIn).subarray(0, 200));
    const windows = platformOf("win32-x64-msvc");
    replaceFile(windows.name, windows.addon, binary(windows, windows.addon).subarray(0, 0x88));
    expect(found()).toEqual([
      expect.stringContaining("It has 5000000 bytes, and may have 3500000."),
      expect.stringContaining("It is for nothing that is known."),
      expect.stringContaining(`${standIn} is not to be shipped for linux-x64-gnu. It is cut off`),
      `win32-x64-msvc holds ${windows.addon}, which is no whole binary`,
    ]);
  });

  test("bytes that changed on the way", () => {
    const { addon } = platformOf("linux-x64-gnu");
    const bytes = readFileSync(at("linux-x64-gnu", addon));
    bytes.write("other", 50_000);
    writeFileSync(at("linux-x64-gnu", addon), bytes);
    expect(found()).toEqual([`linux-x64-gnu holds another ${addon} than was built`]);
  });

  test("a build of another version, another commit, another platform", () => {
    edit("linux-x64-gnu", (description) => Object.assign(description, { version: "1.2.2" }));
    edit("darwin-x64", (description) => Object.assign(description, { commit: "d" }));
    edit("win32-x64-msvc", (description) => Object.assign(description, { platform: "win32-arm64-msvc" }));
    expect(found()).toEqual([
      "linux-x64-gnu was built from version 1.2.2, and not from 1.2.3",
      "darwin-x64 was built from commit d, and not from cccccccccccccccccccccccccccccccccccccccc",
      "win32-x64-msvc describes itself as win32-arm64-msvc",
    ]);
  });

  test.skipIf(process.platform === "win32")("a link in place of a file, and of a folder", () => {
    const { addon } = platformOf("linux-x64-gnu");
    renameSync(at("linux-x64-gnu", addon), join(whole, "elsewhere"));
    onTestFinished(() => rmSync(join(whole, "elsewhere")));
    symlinkSync(join(whole, "elsewhere"), at("linux-x64-gnu", addon));
    rmSync(at("darwin-x64"), { recursive: true });
    symlinkSync(join(whole, "binaries-darwin-x64"), at("darwin-x64"));
    expect(found()).toEqual([`linux-x64-gnu has ${addon}, which is no file`, "darwin-x64 was not built"]);
  });

  test("a folder in place of a file, and a description that is none", () => {
    const { addon } = platformOf("linux-x64-gnu");
    rmSync(at("linux-x64-gnu", addon));
    mkdirSync(at("linux-x64-gnu", addon));
    for (const [name, text] of [
      ["darwin-x64", "{"],
      ["darwin-arm64", "null"],
      ["win32-x64-msvc", "{}"],
    ])
      writeFileSync(at(String(name), "build.json"), String(text));
    const nothing = "has a build.json that describes nothing";
    expect(found()).toEqual([
      `linux-x64-gnu has ${addon}, which is no file`,
      `darwin-x64 ${nothing}`,
      `darwin-arm64 ${nothing}`,
      `win32-x64-msvc ${nothing}`,
    ]);
  });

  test("folders that were swapped", () => {
    renameSync(at("darwin-x64"), join(folder, "aside"));
    renameSync(at("darwin-arm64"), at("darwin-x64"));
    renameSync(join(folder, "aside"), at("darwin-arm64"));
    expect(found().join()).toContain("darwin-x64 lacks fusion-cursor-native.darwin-x64.node");
  });
});

test("what was not built is not described", () => {
  const [platform] = platforms;
  expect(() => describeBuild(String(platform?.name), join(folder, "x"), folder)).toThrow(
    `Build it: node scripts/build.mjs --target ${platform?.target}`,
  );
  expect(() => describeBuild("linux-x65", join(folder, "x"), folder)).toThrow(
    "There is no platform linux-x65",
  );
});

test("real binaries are seen as what they are", () => {
  const native = platforms.find(({ os, cpu }) => os === process.platform && cpu === process.arch);
  expect(kindOf(readFileSync(process.execPath))).toBe("program");
  for (const program of native?.programs ?? [])
    expect(kindOf(readFileSync(join(root, program)))).toBe("program");
  expect(kindOf(readFileSync(join(root, String(native?.addon))))).toBe("library");
});
