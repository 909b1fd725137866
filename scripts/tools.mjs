// `npm run tools`: installs the check tools that are missing, in the versions of tools.txt, into .tools/.
// Nothing global changes. Needs Python 3 with pip.

import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { capture, Failure, isProgram, root, run, runMain, toolsDir } from "./common.mjs";

/**
 * The optional tools: how each is asked for its version, and how one gets it.
 * @typedef {keyof typeof tools} Tool
 */
const tools = {
  "cargo-nextest": { probe: ["cargo-nextest", "nextest", "--version"], get: "npm run tools" },
  "cargo-deny": { probe: ["cargo-deny", "--version"], get: "npm run tools" },
  typos: { probe: ["typos", "--version"], get: "npm run tools" },
  zizmor: { probe: ["zizmor", "--version"], get: "npm run tools" },
  // What links a build for other Linux machines than this one.
  "cargo-zigbuild": { probe: ["cargo-zigbuild", "--version"], get: "npm run tools" },
  zig: { probe: ["zig", "version"], get: "npm run tools" },
  "cargo-fuzz": {
    probe: ["cargo-fuzz", "--version"],
    get: "cargo install --locked --version 0.13.2 --root .tools cargo-fuzz",
  },
  rustfmt: { probe: ["cargo", "fmt", "--version"], get: "rustup component add rustfmt" },
  clippy: { probe: ["cargo", "clippy", "--version"], get: "rustup component add clippy" },
  wine: { probe: ["wine", "--version"], get: "apt-get install wine wine64 (on Debian)" },
  "qemu-aarch64": {
    probe: ["qemu-aarch64", "--version"],
    get: "apt-get install qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross libstdc++6-arm64-cross (on Debian)",
  },
  "musl-gcc": { probe: ["musl-gcc", "--version"], get: "apt-get install musl-tools (on Debian)" },
  mingw: {
    probe: ["x86_64-w64-mingw32-gcc", "--version"],
    get: "apt-get install gcc-mingw-w64-x86-64 (on Debian)",
  },
};

/** True where the tool is in `.tools` or in PATH. @param {Tool} name */
export function hasTool(name) {
  const [command = "", ...args] = tools[name].probe;
  return capture(command, ...args) !== undefined;
}

/** The command that brings the tool. @param {Tool} name */
export function howToGet(name) {
  return tools[name].get;
}

/** The tools that npm run tools installs here: the wheels that link for Linux are for a Linux with glibc. */
function installable() {
  const names = /** @type {Tool[]} */ (Object.keys(tools)).filter(
    (name) => howToGet(name) === "npm run tools",
  );
  const glibc = capture("ldd", "--version")?.includes("Free Software Foundation") ?? false;
  return names.filter((name) => glibc || (name !== "zig" && name !== "cargo-zigbuild"));
}

/** The lines of tools.txt that belong to `names`: what pip is asked for. @param {Tool[]} names */
function requirements(names) {
  const blocks =
    readFileSync(join(root, "scripts", "tools.txt"), "utf8").match(/^[a-z](?:.*\\\n)*.*$/gm) ?? [];
  const packages = names.map((name) => (name === "zig" ? "ziglang" : name));
  return blocks.filter((block) => packages.some((name) => block.replace(/==[\s\S]*/, "").endsWith(name)));
}

/** Install what is missing. */
export async function installTools() {
  const names = installable();
  const missing = names.filter((name) => !hasTool(name));
  if (missing.length === 0) {
    console.log("The check tools are there.");
    return;
  }
  if (capture("python3", "-m", "pip", "--version") === undefined) {
    throw new Failure(
      `Python 3 with pip is missing; it brings ${missing.join(", ")}. On Debian: apt-get install python3-pip`,
    );
  }
  mkdirSync(toolsDir, { recursive: true });
  const list = join(toolsDir, "requirements.txt");
  // pip replaces the folder of programs as a whole, and with it those that it installed before.
  const again = names.filter((name) => existsSync(join(toolsDir, "bin", name)));
  writeFileSync(list, `${requirements([...missing, ...again]).join("\n")}\n`);
  const options = ["--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes", "--upgrade"];
  // pip says on standard error that root should not install; into a folder of its own that is no matter.
  const env = { PIP_ROOT_USER_ACTION: "ignore", PIP_DISABLE_PIP_VERSION_CHECK: "1" };
  await run("python3", ["-m", "pip", "install", ...options, "--target", toolsDir, "-r", list], env);
  linkZig();
  const still = missing.filter((name) => !hasTool(name));
  if (still.length > 0) throw new Failure(`These were installed but do not run: ${still.join(", ")}`);
  console.log(`Installed into .tools: ${missing.join(", ")}`);
}

/** Put zig, which its wheel has beside its library, where the other programs are. */
function linkZig() {
  const link = join(toolsDir, "bin", "zig");
  if (!existsSync(join(toolsDir, "ziglang", "zig"))) return;
  rmSync(link, { force: true });
  symlinkSync(join("..", "ziglang", "zig"), link);
}

if (isProgram(import.meta.url)) await runMain(installTools);
