/** How the build asks for what runs on other machines, and what it says where it cannot. Building itself is CI's. */

import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { replace } from "../scripts/build/place.mjs";
import { linking, rustFlags } from "../scripts/build/portable.mjs";
import { platformOf } from "../scripts/platforms.mjs";

const chain = { cargo: "cargo", flags: [], env: { PATH: "/bin" }, version: "" };
const [GNU, ARM64, MUSL] = [
  "x86_64-unknown-linux-gnu",
  "aarch64-unknown-linux-gnu",
  "x86_64-unknown-linux-musl",
] as const;

afterEach(() => {
  vi.restoreAllMocks();
});

describe.runIf(process.platform === "linux")("with zig", () => {
  test("glibc is the oldest that is promised, for this machine as for others", () => {
    for (const target of [GNU, ARM64]) {
      const { command, as, env } = linking(chain, target, GNU, true);
      expect([command, as]).toEqual(["cargo-zigbuild", `${target}.2.17`]);
      expect(env).toMatchObject({ CARGO: "cargo", PATH: expect.stringMatching(/\.tools\/bin:\/bin$/) });
    }
    expect(linking(chain, MUSL, GNU, true).as).toBe(MUSL);
  });

  test("what is not Linux is left to its own linker", () => {
    expect(linking(chain, "aarch64-apple-darwin", GNU, true)).toEqual({
      command: "cargo",
      as: "aarch64-apple-darwin",
      env: {},
    });
  });
});

describe.runIf(process.platform === "linux")("without zig", () => {
  test("the build is for this machine, and says so once", () => {
    const said = vi.spyOn(console, "log").mockImplementation(() => {});
    const plain = { command: "cargo", as: GNU, env: {} };
    expect(linking(chain, GNU, GNU, false)).toEqual(plain);
    expect(linking(chain, GNU, GNU, false)).toEqual(plain);
    expect(said.mock.calls).toEqual([
      [
        "This build runs on this machine, and perhaps on no older one: cargo-zigbuild and zig are missing. To get them: npm run tools",
      ],
    ]);
  });

  test("another target is refused with what to do", () => {
    expect(() => linking(chain, ARM64, GNU, false)).toThrow(
      `Nothing here links for ${ARM64}: cargo-zigbuild and zig are missing. To get them: npm run tools`,
    );
  });
});

describe("the flags of rustc", () => {
  const flags = (target: string, shared: boolean, env = {}) =>
    rustFlags({ ...chain, env: { CARGO_TARGET_DIR: "/t", CARGO_HOME: "/c", ...env } }, target, shared).split(
      "\x1f",
    );

  test("keep those of the user, before all others", () => {
    expect(flags(GNU, true, { RUSTFLAGS: " -Ctarget-cpu=native  -Cdebuginfo=1 " }).slice(0, 2)).toEqual([
      "-Ctarget-cpu=native",
      "-Cdebuginfo=1",
    ]);
    const encoded = { CARGO_ENCODED_RUSTFLAGS: "--cfg\x1fa b", RUSTFLAGS: "-Cdebuginfo=1" };
    expect(flags(GNU, true, encoded).slice(0, 2)).toEqual(["--cfg", "a b"]);
    expect(flags(GNU, true)[0]).toMatch(/^-Cllvm-args=/);
  });

  test("give every folder of this machine another name, the more special one later", () => {
    const folders = flags(GNU, true).flatMap((flag) => flag.match(/^--remap-path-prefix=(.*)=/)?.[1] ?? []);
    expect(folders.slice(0, 4)).toEqual([
      homedir(),
      join(__dirname, ".."),
      "/t",
      join("/c", "registry", "src"),
    ]);
  });

  test("take the C library in where a system lacks it, and not where a host brings it", () => {
    const crt = (target: string, shared: boolean) =>
      flags(target, shared).filter((flag) => flag.includes("crt-static") || flag.includes("install_name"));
    expect(crt("x86_64-pc-windows-msvc", true)).toEqual(["-Ctarget-feature=+crt-static"]);
    expect(crt(MUSL, true)).toEqual(["-Ctarget-feature=-crt-static"]);
    expect(crt(MUSL, false)).toEqual(["-Ctarget-feature=+crt-static"]);
    expect(crt(GNU, true)).toEqual([]);
    expect(crt("aarch64-apple-darwin", true)).toEqual([
      "-Clink-arg=-Wl,-install_name,@rpath/fusion-cursor-native.node",
    ]);
    expect(crt("aarch64-apple-darwin", false)).toEqual([]);
  });
});

test("a target is known by whom it is for and not by who built that Rust", () => {
  expect(platformOf(MUSL).name).toBe("linux-x64-musl");
  expect(platformOf("x86_64-alpine-linux-musl").name).toBe("linux-x64-musl");
  expect(platformOf("aarch64-pc-windows-msvc").programs).toEqual(["fusion-cursor-stand-in.exe"]);
  expect(() => platformOf("riscv64gc-unknown-linux-gnu")).toThrow(
    /^There is no package for the target riscv64gc/,
  );
});

test("a file takes the place of one that is in use, and leaves that as it is", () => {
  const folder = mkdtempSync(join(tmpdir(), "fusion-cursor-place-"));
  try {
    const [from, to] = [join(folder, "from"), join(folder, "deep", "to")];
    writeFileSync(from, "one");
    replace(from, to);
    const first = statSync(to);
    writeFileSync(from, "two");
    replace(from, to);
    expect(readFileSync(to, "utf8")).toBe("two");
    if (process.platform !== "win32") {
      expect(statSync(to).ino).not.toBe(first.ino);
      expect(statSync(to).mode & 0o777).toBe(0o755);
    }
    expect(existsSync(`${to}.next`)).toBe(false);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
