// What is shipped as a binary, looked at as the system will: `node scripts/binary.mjs [FOLDER PLATFORM]`, without
// arguments for what `npm run build` has left in the root.
//
// Each file is for the processor that its platform names, stays under its size, and holds no path of the machine that
// built it. On Linux it has its symbols stripped, its stack is not executable, and it asks for no library that a bare
// system lacks and for no glibc newer than the floor.

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join, sep } from "node:path";
import { readElf } from "./binary/elf.mjs";
import { machineOf } from "./binary/machine.mjs";
import { hostTarget } from "./build/cargo.mjs";
import { portable } from "./build/portable.mjs";
import { Failure, isProgram, root, runMain } from "./common.mjs";
import { GLIBC_FLOOR, platformOf, platforms } from "./platforms.mjs";

/** The largest that a file may be, in bytes. */
const LARGEST = 3_500_000;

/** What every Linux with that C library and Node has. Node asks for GCC's library itself. */
const LIBRARIES = {
  glibc:
    /^(lib[cm]\.so\.6|libpthread\.so\.0|libdl\.so\.2|librt\.so\.1|ld-linux[\w-]*\.so\.\d|libgcc_s\.so\.1)$/,
  musl: /^(libc\.so|libc\.musl-\w+\.so\.1|libgcc_s\.so\.1)$/,
};

/** Folders that people and build services work in. */
const FOLDERS =
  /(?:\/home\/[\w.-]+|\/Users\/[\w.-]+|\/root|[A-Z]:[\\/]Users[\\/][\w.-]+|[A-Z]:[\\/]a)[\\/][\w.-]+/;

/**
 * @typedef {object} Rules
 * @property {string} floor the newest glibc that may be asked for
 * @property {string[]} folders of the machine that built it
 * @property {number} largest bytes
 */

/** The folders of this machine that a build has to do with. @returns {string[]} */
function ownFolders() {
  const folders = [
    root,
    homedir(),
    process.env.CARGO_HOME,
    process.env.RUSTUP_HOME,
    process.env.CARGO_TARGET_DIR,
  ];
  // A home of `/` is in every path.
  return folders.flatMap((folder) => (folder === undefined || folder.length < 4 ? [] : [join(folder, sep)]));
}

/** @param {string} version */
const parts = (version) => version.split(".").map(Number);

/** Below 0 where `a` is the older version. @param {string} a @param {string} b */
function compare(a, b) {
  const [left, right] = [parts(a), parts(b)];
  const at = [0, 1, 2].find((index) => (left[index] ?? 0) !== (right[index] ?? 0)) ?? 0;
  return (left[at] ?? 0) - (right[at] ?? 0);
}

/**
 * What is wrong with a file, as sentences; and what is worth saying of it.
 * @param {Buffer} bytes
 * @param {import("./platforms.mjs").Platform} platform
 * @param {Rules} rules
 */
function inspect(bytes, platform, { floor, folders, largest }) {
  const wrong = [];
  const machine = machineOf(bytes);
  if (machine !== `${platform.os} ${platform.cpu}`) wrong.push(`It is for ${machine}.`);
  if (bytes.length > largest)
    wrong.push(`It has ${bytes.length} bytes, and may have ${largest}. Is it a release build?`);
  const text = bytes.toString("latin1");
  const own = folders.find((folder) => text.includes(folder));
  const path = own ?? text.match(FOLDERS)?.[0];
  if (path !== undefined) wrong.push(`It holds a path of the machine that built it: ${path}`);
  if (platform.os !== "linux" || !machine.startsWith("linux")) return { wrong, glibc: undefined };

  const elf = readElf(bytes);
  if (elf === undefined)
    return { wrong: [...wrong, "It is cut off, or no file that a linker has made."], glibc: undefined };
  const { executableStack, needed, versions, stripped } = elf;
  if (executableStack) wrong.push("Its stack is executable.");
  if (!stripped) wrong.push("Its symbols are not stripped.");
  const known = LIBRARIES[platform.libc === "musl" ? "musl" : "glibc"];
  const strange = needed.filter((library) => !known.test(library));
  if (strange.length > 0) wrong.push(`It asks for libraries that a system may lack: ${strange.join(", ")}`);
  const glibc = versions
    .flatMap((version) => version.match(/^GLIBC_([\d.]+)$/)?.[1] ?? [])
    .toSorted(compare)
    .at(-1);
  if (glibc !== undefined && compare(glibc, floor) > 0)
    wrong.push(`It asks for glibc ${glibc}, where ${floor} has to do.`);
  return { wrong, glibc };
}

/** What holds for a file of this machine: without zig, a build is not for older systems, and is not to be. @returns {Rules} */
function ownRules() {
  const strict = process.env.CI === "true" || portable();
  return { floor: strict ? GLIBC_FLOOR : "999", folders: ownFolders(), largest: LARGEST };
}

/**
 * Look at a file that is shipped, and print its size. Fails with all that is wrong with it.
 * @param {string} file
 * @param {string} name of the platform: `linux-x64-gnu`
 * @param {Partial<Rules>} rules others than those of this machine
 */
export function checkBinary(file, name, rules = {}) {
  const platform = platforms.find((platform) => platform.name === name);
  if (platform === undefined) throw new Failure(`There is no platform ${name}.`);
  const bytes = readFileSync(file);
  const { wrong, glibc } = inspect(bytes, platform, { ...ownRules(), ...rules });
  if (wrong.length > 0) throw new Failure(`${file} is not to be shipped for ${name}. ${wrong.join(" ")}`);
  const needs = glibc === undefined ? "" : `, needs glibc ${glibc}`;
  console.log(`${name} ${basename(file)}: ${(bytes.length / 1e6).toFixed(2)} MB${needs}`);
  return { size: bytes.length, glibc };
}

/**
 * Look at everything that is shipped for a platform.
 * @param {string} folder
 * @param {string} name of the platform
 */
export function checkBinaries(folder, name) {
  const { addon, programs } = platforms.find((platform) => platform.name === name) ?? platformOf(name);
  for (const file of [addon, ...programs]) checkBinary(join(folder, file), name);
}

if (isProgram(import.meta.url)) {
  await runMain(() => {
    const [folder, name] = process.argv.slice(2);
    if (folder !== undefined && name === undefined)
      throw new Failure("Name the platform too: linux-x64-gnu, for one.");
    checkBinaries(folder ?? root, name ?? platformOf(hostTarget()).name);
  });
}
