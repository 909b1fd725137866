// Generated from lib/loader/ by scripts/bundle.mjs; changes belong there.
"use strict";
var __create = Object.create;
var __defProp = Object.defineProperty;
var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __getProtoOf = Object.getPrototypeOf;
var __hasOwnProp = Object.prototype.hasOwnProperty;
var __copyProps = (to, from, except, desc) => {
  if (from && typeof from === "object" || typeof from === "function") {
    for (let key of __getOwnPropNames(from))
      if (!__hasOwnProp.call(to, key) && key !== except)
        __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
  }
  return to;
};
var __toESM = (mod, isNodeMode, target) => (target = mod != null ? __create(__getProtoOf(mod)) : {}, __copyProps(
  // If the importer is in node compatibility mode or this is not an ESM
  // file that has been converted to a CommonJS file using a Babel-
  // compatible transform (i.e. "__esModule" has not been set), then set
  // "default" to the CommonJS "module.exports" for node compatibility.
  isNodeMode || !mod || !mod.__esModule ? __defProp(target, "default", { value: mod, enumerable: true }) : target,
  mod
));

// lib/loader/main.ts
var import_node_fs = require("node:fs");
var import_node_process = __toESM(require("node:process"));

// package.json
var version = "0.1.0";

// lib/loader/elf.ts
var PT_LOAD = 1;
var PT_INTERP = 3;
var MOST = 4096;
function interpreterOf(read) {
  for (const { type, from, length } of segmentsOf(read)) {
    if (type !== PT_INTERP) continue;
    const path = read(from, Math.min(MOST, length));
    return Buffer.from(path).toString("latin1").replace(/\0.*$/s, "");
  }
  return void 0;
}
function isCutOff(read) {
  const end = segmentsOf(read).reduce(
    (end2, { type, from, length }) => type === PT_LOAD ? Math.max(end2, from + length) : end2,
    0
  );
  return end > 0 && read(end - 1, 1).length === 0;
}
function segmentsOf(read) {
  const head = view(read(0, 64));
  if (head.byteLength < 64 || head.getUint32(0) !== 2135247942 || head.getUint16(4) !== 513) return [];
  const size = head.getUint16(54, true);
  const headers = view(
    read(Number(head.getBigUint64(32, true)), Math.min(MOST, size * head.getUint16(56, true)))
  );
  const segments = [];
  for (let at = 0; size >= 56 && at + size <= headers.byteLength; at += size)
    segments.push({
      type: headers.getUint32(at, true),
      from: Number(headers.getBigUint64(at + 8, true)),
      length: Number(headers.getBigUint64(at + 32, true))
    });
  return segments;
}
function view({ buffer, byteOffset, byteLength }) {
  return new DataView(buffer, byteOffset, byteLength);
}

// lib/loader/libc.ts
function detectLibc({ maps, program, report: report2, ldd }) {
  return (
    // What an addon is going to be linked to, even where musl runs a program that was made for glibc (gcompat).
    told(() => byFiles(maps())) ?? told(() => byFiles(program(interpreterOf) ?? "")) ?? // Not earlier: for it Node waits for every worker, and for seconds where one of them runs a command.
    told(() => byReport(report2())) ?? told(() => ldd().includes("musl") ? "musl" : "glibc") ?? "glibc"
  );
}
function told(ask) {
  try {
    return ask();
  } catch {
    return void 0;
  }
}
var MUSL = /(?:^|\/)(?:ld-musl-[^/]+|libc\.musl-[^/]+|libc\.so)(?: \(deleted\))?$/m;
var GLIBC = /(?:^|\/)(?:ld-linux[^/]*|ld-2\.[^/]+|libc\.so\.6|libc-2\.[^/]+)(?: \(deleted\))?$/m;
function byFiles(text) {
  if (MUSL.test(text)) return "musl";
  return GLIBC.test(text) ? "glibc" : void 0;
}
function byReport(report2) {
  const { header, sharedObjects } = report2;
  const loaded = byFiles(sharedObjects?.join("\n") ?? "");
  return loaded ?? (header?.glibcVersionRuntime ? "glibc" : void 0);
}

// lib/loader/load.ts
var import_node_path = require("node:path");

// lib/errors.ts
var CursorError = class extends Error {
  constructor(message, { cause, ...fields }) {
    super(message, cause === void 0 ? void 0 : { cause });
    Object.assign(this, fields);
    hide(this, "name", fields.code === "CURSOR_ABORTED" ? "AbortError" : "CursorError");
  }
};
function hide(error, key, value) {
  Object.defineProperty(error, key, { value, configurable: true, writable: true });
}

// lib/loader/platforms.ts
var PLATFORMS = /* @__PURE__ */ new Map([
  ["linux-x64-gnu", "Linux on x64 with glibc"],
  ["linux-arm64-gnu", "Linux on arm64 with glibc"],
  ["linux-x64-musl", "Linux on x64 with musl"],
  ["linux-arm64-musl", "Linux on arm64 with musl"],
  ["darwin-x64", "macOS on x64"],
  ["darwin-arm64", "macOS on arm64"],
  ["win32-x64-msvc", "Windows on x64"],
  ["win32-arm64-msvc", "Windows on arm64"]
]);
function nameOf({ os: os2, cpu: cpu2, libc: libc2 }) {
  if (os2 === "win32") return `${os2}-${cpu2}-msvc`;
  if (libc2 === void 0) return `${os2}-${cpu2}`;
  const abi = libc2 === "glibc" ? "gnu" : "musl";
  return `${os2}-${cpu2}-${abi}${cpu2 === "arm" ? "eabihf" : ""}`;
}
function titleOf(platform) {
  const { os: os2, cpu: cpu2, libc: libc2 } = platform;
  return PLATFORMS.get(nameOf(platform)) ?? `${os2} on ${cpu2}${libc2 === void 0 ? "" : ` with ${libc2}`}`;
}

// lib/loader/failure.ts
var VARIABLE = "NAPI_RS_NATIVE_LIBRARY_PATH";
function unavailable(wanted, problems) {
  const inFile = problems.find((problem2) => problem2.kind !== "missing");
  const problem = inFile ?? problems[0];
  const causes = problems.flatMap((problem2) => "cause" in problem2 ? [problem2.cause] : []);
  const lines = problem === void 0 ? unsupported(wanted) : wanted.variable && inFile !== void 0 ? [`${VARIABLE} names ${named(wanted, inFile)}`, "Correct that variable, or unset it."] : described(wanted, problem);
  throw new CursorError(`fusion-cursor-native cannot be loaded: ${lines.join("\n")}`, {
    code: "CURSOR_ADDON_UNAVAILABLE",
    retryable: false,
    cause: causes.length > 1 ? new AggregateError(causes) : causes[0]
  });
}
function unsupported({ platform }) {
  return [
    `it has no package for ${titleOf(platform)}.`,
    `There is one for ${[...PLATFORMS.values()].join(", ")}.`,
    "Where Rust runs, it can be built from its source: npm run build"
  ];
}
function named({ version: version2 }, problem) {
  switch (problem.kind) {
    case "absent":
      return `${problem.file}, which is not there.`;
    case "refused":
      return `${problem.file}, which does not load: ${wordsOf(problem.cause)}`;
    case "version":
      return `${problem.file}, which is version ${problem.found} and not ${version2}.`;
  }
}
var LIKELY = "Likely causes: a lock file that npm before 11.3 made on another system, an installation with --omit=optional or --no-optional, a node_modules folder from another machine, or a bundler that did not leave the package external.";
function described({ platform, version: version2 }, problem) {
  const { from } = problem;
  const add = `To mend it: npm install fusion-cursor-native@${version2} --include=optional`;
  const anew = "To mend it: npm ci --include=optional";
  const build = "To mend it: npm run build";
  switch (problem.kind) {
    case "missing": {
      const { instead } = problem;
      const why = instead === void 0 ? LIKELY : `There is ${instead} instead, as node_modules or the lock file was made on another system.`;
      return [`${from}, its package for ${titleOf(platform)}, is not installed.`, why, add];
    }
    case "absent": {
      const why = "Likely causes: an installation that broke off, or a program against viruses.";
      return [`${from} is installed, but its file ${problem.file} is gone.`, why, anew];
    }
    case "version": {
      const { found, file: file2 } = problem;
      return [
        `it is version ${version2}, and ${from ?? file2} is version ${found}.`,
        from === void 0 ? build : add
      ];
    }
    case "refused": {
      const { file: file2, cause } = problem;
      const words = wordsOf(cause);
      const hint = HINTS.find(({ words: pattern }) => pattern.test(words));
      return [
        `${file2} is there, but does not load: ${words}`,
        ...hint === void 0 ? [] : [hint.means],
        ...from === void 0 ? [build] : hint?.anew ? [anew] : []
      ];
    }
  }
}
var HINTS = [
  {
    words: /GLIBC_[\d.]+\W* not found/,
    means: "The glibc of this system is older than the one that it was built for.",
    anew: false
  },
  {
    words: /wrong ELF class|invalid ELF header|Exec format error|incompatible architecture|not a mach-o|not a valid Win32/i,
    means: "It is for another system or processor than this Node, or damaged.",
    anew: true
  },
  { words: /file too short|truncated|cannot read file data/i, means: "The file is damaged.", anew: true },
  {
    words: /(?:ld-linux|libc\.so\.6|libc\.musl).*: (?:cannot open|No such file)|symbol not found/,
    means: "It is for another C library than that of this Node.",
    anew: true
  },
  {
    words: /failed to map segment|operation not permitted/i,
    means: "From its file system nothing may be executed (noexec).",
    anew: false
  },
  {
    words: /code signature|library load disallowed/i,
    means: "macOS does not accept its signature.",
    anew: false
  },
  {
    words: /module could not be found/i,
    means: "A library of Windows that it needs is missing.",
    anew: false
  }
];
function wordsOf(cause) {
  const message = cause instanceof Error ? cause.message : String(cause);
  const [line = ""] = message.trim().split(/\r?\n/);
  return line.length > 400 ? `${line.slice(0, 400)}…` : line;
}

// lib/loader/load.ts
var PACKAGE = "fusion-cursor-native";
function loadAddon(host) {
  if (host.variable) {
    const found = attempt(host, (0, import_node_path.resolve)(host.variable));
    return "kind" in found ? unavailable(host, [found]) : found;
  }
  const problems = [];
  for (const look of [beside, installed]) {
    const found = look(host);
    if (found === void 0) continue;
    if (!("kind" in found)) return found;
    problems.push(found);
  }
  return unavailable(host, problems);
}
function beside(host) {
  const file2 = (0, import_node_path.join)(host.folder, `${PACKAGE}.${nameOf(host.platform)}.node`);
  return host.exists(file2) ? attempt(host, file2) : void 0;
}
function installed(host) {
  const name = nameOf(host.platform);
  if (!PLATFORMS.has(name)) return void 0;
  const from = `${PACKAGE}-${name}`;
  try {
    return attempt(host, (0, import_node_path.join)(placeOf(host, from), `${PACKAGE}.${name}.node`), from);
  } catch (cause) {
    const others = [...PLATFORMS.keys()].map((other) => `${PACKAGE}-${other}`);
    return { kind: "missing", from, instead: others.find((other) => canFind(host, other)), cause };
  }
}
function placeOf(host, name) {
  try {
    return (0, import_node_path.join)(host.find(`${name}/package.json`), "..");
  } catch (cause) {
    const folder = (0, import_node_path.join)(host.folder, "..", name);
    if (host.exists((0, import_node_path.join)(folder, "package.json"))) return folder;
    throw cause;
  }
}
function canFind(host, name) {
  try {
    placeOf(host, name);
    return true;
  } catch {
    return false;
  }
}
function attempt(host, file2, from) {
  try {
    if (isCut(host, file2)) throw new Error("file too short");
    const addon2 = host.load(file2);
    const found = addon2.coreVersion?.();
    if (found === host.version) return { addon: addon2, file: file2 };
    if (found !== void 0) return { kind: "version", file: file2, from, found };
    return { kind: "refused", file: file2, from, cause: new Error(`it is not the addon of ${PACKAGE}`) };
  } catch (cause) {
    const { code } = cause;
    const absent = /MODULE_NOT_FOUND$/.test(String(code)) && !host.exists(file2);
    return { kind: absent ? "absent" : "refused", file: file2, from, cause };
  }
}
function isCut(host, file2) {
  try {
    return host.open(file2, isCutOff);
  } catch {
    return false;
  }
}

// lib/loader/main.ts
function libc() {
  return detectLibc({
    maps: () => (0, import_node_fs.readFileSync)("/proc/self/maps", "latin1"),
    program: (look) => open(import_node_process.default.execPath, look),
    report,
    ldd: () => (0, import_node_fs.readFileSync)("/usr/bin/ldd", "latin1")
  });
}
function open(path, look) {
  const file2 = (0, import_node_fs.openSync)(path, "r");
  try {
    return look((at, length) => {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, (0, import_node_fs.readSync)(file2, bytes, 0, length, at));
    });
  } finally {
    (0, import_node_fs.closeSync)(file2);
  }
}
function report() {
  const { report: report2 } = import_node_process.default;
  if (report2 === void 0) return {};
  const before = report2.excludeNetwork;
  report2.excludeNetwork = true;
  try {
    return report2.getReport();
  } finally {
    if (before !== void 0) report2.excludeNetwork = before;
    else delete report2.excludeNetwork;
  }
}
function exists(file2) {
  try {
    return (0, import_node_fs.existsSync)(file2);
  } catch {
    return false;
  }
}
var { platform: os, arch: cpu, env } = import_node_process.default;
var { addon, file } = loadAddon({
  platform: { os, cpu, libc: os === "linux" ? libc() : void 0 },
  version,
  folder: __dirname,
  variable: env.NAPI_RS_NATIVE_LIBRARY_PATH,
  exists,
  load: (file2) => require(file2),
  open,
  find: (name) => require.resolve(name)
});
module.exports = Object.defineProperty(addon, "addonFile", { value: file, configurable: true });
