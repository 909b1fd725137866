"use strict";

const fs = require("node:fs");
const path = require("node:path");

const PACKAGE = "fusion-cursor-native";
const SCENARIOS = ["demo", "answer", "usage-limit"];

/** The part of a platform package's name behind the platform and architecture. */
function abi() {
  if (process.platform === "win32") return "-msvc";
  if (process.platform !== "linux") return "";
  const report = process.report.getReport();
  // The whole report may be a string in old versions of Node.
  const { header } = typeof report === "string" ? JSON.parse(report) : report;
  return header.glibcVersionRuntime ? "-gnu" : "-musl";
}

function standInAgentPath() {
  const file = process.platform === "win32" ? "fusion-cursor-stand-in.exe" : "fusion-cursor-stand-in";
  const local = path.join(__dirname, "..", file);
  if (fs.existsSync(local)) return local;

  const platformPackage = `${PACKAGE}-${process.platform}-${process.arch}${abi()}`;
  let found;
  try {
    found = path.join(path.dirname(require.resolve(`${platformPackage}/package.json`)), file);
  } catch {
    throw new Error(
      `The stand-in agent is not installed: the package "${platformPackage}" is missing. ` +
        `Install ${PACKAGE} again with its optional dependencies (without --omit=optional), ` +
        `or build it in a checkout: cargo build --bin fusion-cursor-stand-in, and copy the result to ${local}.`,
    );
  }
  if (fs.existsSync(found)) return found;
  throw new Error(
    `The stand-in agent is not installed: "${platformPackage}" has no ${file}. Install it in the version of ${PACKAGE}.`,
  );
}

function scenarioPath(name) {
  if (!SCENARIOS.includes(name)) {
    throw new TypeError(`Unknown scenario ${JSON.stringify(name)}. Ready ones: ${SCENARIOS.join(", ")}.`);
  }
  return path.join(__dirname, "scenarios", `${name}.json`);
}

function scenarioEnv(nameOrPath) {
  if (typeof nameOrPath !== "string" || nameOrPath === "") {
    throw new TypeError("A scenario is the name of a ready one or the path of a file.");
  }
  return {
    FUSION_CURSOR_SCENARIO: SCENARIOS.includes(nameOrPath)
      ? scenarioPath(nameOrPath)
      : path.resolve(nameOrPath),
  };
}

module.exports = { standInAgentPath, scenarioPath, scenarioEnv };
