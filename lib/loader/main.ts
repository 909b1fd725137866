/** What native.js is made of: the addon of this platform, with the path of its file. */

import { closeSync, existsSync, openSync, readFileSync, readSync } from "node:fs";
import process from "node:process";
import { version } from "../../package.json";
import type { Read } from "./elf.js";
import { detectLibc, type Libc } from "./libc.js";
import { loadAddon } from "./load.js";

/** The C library of this process. */
function libc(): Libc {
  return detectLibc({
    maps: () => readFileSync("/proc/self/maps", "latin1"),
    program: (look) => open(process.execPath, look),
    report,
    ldd: () => readFileSync("/usr/bin/ldd", "latin1"),
  });
}

function open<T>(path: string, look: (read: Read) => T): T {
  const file = openSync(path, "r");
  try {
    return look((at, length) => {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(file, bytes, 0, length, at));
    });
  } finally {
    closeSync(file);
  }
}

/** Without the network: there Node asks for the names of all hosts that it is connected to. */
function report(): unknown {
  const { report } = process as { report?: { excludeNetwork?: boolean; getReport: () => unknown } };
  if (report === undefined) return {};
  const before = report.excludeNetwork;
  report.excludeNetwork = true;
  try {
    return report.getReport();
  } finally {
    if (before !== undefined) report.excludeNetwork = before;
    else delete report.excludeNetwork;
  }
}

function exists(file: string): boolean {
  try {
    return existsSync(file);
  } catch {
    // Deno, where it may not be read. To load it is another right, and what is missing is then said.
    return false;
  }
}

const { platform: os, arch: cpu, env } = process;
const { addon, file } = loadAddon({
  platform: { os, cpu, libc: os === "linux" ? libc() : undefined },
  version,
  folder: __dirname,
  variable: env.NAPI_RS_NATIVE_LIBRARY_PATH,
  exists,
  load: (file) => require(file),
  open,
  find: (name) => require.resolve(name),
});

// Not enumerable: it is none of the addon's own exports.
module.exports = Object.defineProperty(addon, "addonFile", { value: file, configurable: true });
