"use strict";

const fs = require("node:fs");
const path = require("node:path");

const SCENARIOS = ["demo", "answer", "usage-limit"];

function standInAgentPath() {
  const file = process.platform === "win32" ? "fusion-cursor-stand-in.exe" : "fusion-cursor-stand-in";
  const local = path.join(__dirname, "..", file);
  if (fs.existsSync(local)) return local;

  // It comes in the package that has the addon, which the loader finds.
  const found = path.join(path.dirname(require("../native.js").addonFile), file);
  if (fs.existsSync(found)) return found;
  throw new Error(
    `The stand-in agent is not installed: ${found} is not there. To mend it: npm ci --include=optional. ` +
      "In a clone: npm run build",
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
