/** What `scripts/binary.mjs` refuses to ship: one bad file for each check, linked here. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { machineOf } from "../scripts/binary/machine.mjs";
import { checkBinary } from "../scripts/binary.mjs";

const folder = mkdtempSync(join(tmpdir(), "fusion-cursor-binary-"));
const here = `linux-${process.arch}-gnu`;
const rules = { floor: "2.17", folders: [join(homedir(), "/")] };

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Link a library of that text, and return its file. */
function link(name: string, text: string, ...options: string[]): string {
  const [source, file] = [join(folder, `${name}.c`), join(folder, `lib${name}.so`)];
  writeFileSync(source, text);
  execFileSync("cc", ["-shared", "-fPIC", "-o", file, source, ...options]);
  return file;
}

/** What is said of a file. */
function refusal(file: string, platform = here, more = {}): string {
  try {
    checkBinary(file, platform, { ...rules, ...more });
  } catch (error) {
    return String((error as Error).message).replace(`${file} is not to be shipped for ${platform}. `, "");
  }
  return "nothing";
}

describe.runIf(process.platform === "linux" && !existsSync("/etc/alpine-release"))("a file for Linux", () => {
  const plain = "#include <stdlib.h>\nvoid *one(void) { return malloc(1); }\n";
  let good = "";
  beforeAll(() => {
    good = link("good", plain, "-s");
  });

  test("is taken where nothing is wrong with it, and its size and needs are told", () => {
    const { size, glibc } = checkBinary(good, here, rules);
    expect(size).toBeGreaterThan(1000);
    expect(glibc).toMatch(/^2\.\d+(\.\d+)?$/);
  });

  test("must not have an executable stack", () => {
    expect(refusal(link("stack", plain, "-s", "-z", "execstack"))).toBe("Its stack is executable.");
  });

  test("must be stripped", () => {
    expect(refusal(link("symbols", plain))).toBe("Its symbols are not stripped.");
  });

  test("must not hold a path of this machine, nor one of another", () => {
    const said = (path: string) => `It holds a path of the machine that built it: ${path}`;
    const holding = (name: string, path: string) =>
      link(name, `const char *where(void) { return "at ${path}"; }\n`, "-s");
    expect(refusal(holding("own", join(homedir(), "x")))).toBe(said(join(homedir(), "/")));
    expect(refusal(holding("other", "/home/someone/x.rs"))).toBe(said("/home/someone/x.rs"));
    expect(refusal(holding("mac", "/Users/someone/x.rs"))).toBe(said("/Users/someone/x.rs"));
    expect(refusal(holding("service", "D:\\\\a\\\\repo"))).toBe(said("D:\\a\\repo"));
    expect(refusal(holding("none", "src/lib.rs"))).toBe("nothing");
  });

  test("must not ask for a glibc above the floor", () => {
    const file = link("new", "#include <stdlib.h>\nvoid *one(void) { return malloc(1); }\n", "-s");
    const { glibc } = checkBinary(file, here, rules);
    expect(refusal(file, here, { floor: "2.1" })).toBe(`It asks for glibc ${glibc}, where 2.1 has to do.`);
  });

  test("must not ask for libraries that a system may lack", () => {
    const own = `-l:${"libgood.so"}`;
    const file = link(
      "asks",
      "void *one(void);\nvoid *two(void) { return one(); }\n",
      "-s",
      `-L${folder}`,
      own,
    );
    const said = `It asks for libraries that a system may lack: ${join(folder, "libgood.so")}`;
    expect(refusal(file)).toBe(said.replace(`${folder}/`, ""));
  });

  test("must stay under its size", () => {
    const big = link("big", "char all[4000000] = { 1 };\n", "-s");
    expect(refusal(big)).toMatch(/^It has 40\d{5} bytes, and may have 3500000\./);
  });

  test("must be whole", () => {
    const half = join(folder, "half.so");
    writeFileSync(half, readFileSync(good).subarray(0, 600));
    expect(refusal(half)).toBe("It is cut off, or no file that a linker has made.");
  });

  test("must be for the processor and the C library of its package", () => {
    const other = process.arch === "arm64" ? "x64" : "arm64";
    expect(refusal(good, `linux-${other}-gnu`)).toBe(`It is for linux ${process.arch}.`);
    expect(refusal(good, `linux-${process.arch}-musl`)).toBe(
      "It asks for libraries that a system may lack: libc.so.6",
    );
    expect(refusal(good, "darwin-arm64")).toBe(`It is for linux ${process.arch}.`);
    expect(refusal(good, "plan9-x64")).toBe("There is no platform plan9-x64.");
  });
});

test("what a file is for is read from its head", () => {
  const head = (fill: (bytes: Buffer) => void) => {
    const bytes = Buffer.alloc(256);
    fill(bytes);
    return machineOf(bytes);
  };
  const apple = (cpu: number) =>
    head((bytes) => {
      bytes.writeUInt32LE(0xfeedfacf, 0);
      bytes.writeUInt32LE(cpu, 4);
    });
  const microsoft = (machine: number) =>
    head((bytes) => {
      bytes.write("MZ");
      bytes.writeUInt32LE(128, 0x3c);
      bytes.write("PE\0\0", 128, "latin1");
      bytes.writeUInt16LE(machine, 132);
    });
  expect(apple(0x01000007)).toBe("darwin x64");
  expect(apple(0x0100000c)).toBe("darwin arm64");
  expect(microsoft(0x8664)).toBe("win32 x64");
  expect(microsoft(0xaa64)).toBe("win32 arm64");
  expect(microsoft(0x14c)).toBe("win32 processor 332");
  const elf = (form: number, machine: number) =>
    head((bytes) => {
      bytes.write("\x7fELF");
      bytes.writeUInt16BE(form, 4);
      bytes.writeUInt16LE(machine, 18);
    });
  expect(elf(0x0201, 62)).toBe("linux x64");
  expect(elf(0x0201, 183)).toBe("linux arm64");
  // The x32 ABI names the same processor, and so may a file of the other byte order.
  for (const form of [0x0101, 0x0202]) expect(elf(form, 62)).toBe("nothing that is known");
  expect(head((bytes) => bytes.writeUInt32BE(0xcafebabe))).toBe("nothing that is known");
  expect(head(() => {})).toBe("nothing that is known");
  expect(machineOf(Buffer.alloc(3))).toBe("nothing that is known");
});
