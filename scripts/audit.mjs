// `npm run audit`: whether anything that this package depends on has a known weakness. It asks the database of RustSec for
// the crates, and the npm registry for the packages. Their answers change without a change here, so `npm test` does not
// ask them; a release does.
//
// Exit code 0: both were asked, and know of nothing. 1: one of them knows of something. 2: one of them could not be
// asked, so that nobody can say.

import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { isProgram, root, runMain, toolsDir } from "./common.mjs";
import { hasTool, howToGet } from "./tools.mjs";

/**
 * What one of them said.
 * @typedef {object} Answer
 * @property {"clean" | "found" | "unreachable"} verdict
 * @property {string[]} lines one for each weakness, or why nobody answered
 */

/**
 * What `cargo deny --format json check advisories` said on standard error, one JSON record in a line, and its exit code.
 * @param {number | null} status
 * @param {string} output
 * @returns {Answer}
 */
export function readCrates(status, output) {
  const records = output.split("\n").flatMap((line) => parsed(line) ?? []);
  // Only where it came to an end: a wrong configuration is an error of the same kind.
  const ended = records.some(({ type, fields }) => type === "summary" && fields?.advisories !== undefined);
  if (!ended) return { verdict: "unreachable", lines: [reason(records, output)] };
  const found = records.filter(({ type, fields }) => type === "diagnostic" && fields?.severity === "error");
  const lines = found.map(({ fields }) => {
    const { id, package: crate } = fields.advisory ?? {};
    return `${id === undefined ? fields.code : `${crate}, ${id}`}: ${fields.message}`;
  });
  if (status === 0 && lines.length === 0) return { verdict: "clean", lines };
  return { verdict: "found", lines: lines.length > 0 ? lines : [`cargo-deny ended with code ${status}`] };
}

/**
 * What `npm audit --json` printed.
 * @param {string} output
 * @returns {Answer}
 */
export function readPackages(output) {
  const report = parsed(output);
  const vulnerabilities = report?.vulnerabilities;
  if (typeof vulnerabilities !== "object" || report?.metadata?.vulnerabilities === undefined) {
    const said = report?.message ?? report?.error?.summary ?? output.trim().split("\n")[0];
    return { verdict: "unreachable", lines: [said || "no answer"] };
  }
  const lines = Object.values(vulnerabilities).map(({ name, severity, range, via }) => {
    const titles = via.flatMap((/** @type {{ title?: string }} */ { title }) => title ?? []);
    return `${name} ${range} (${severity})${titles.length > 0 ? `: ${titles.join("; ")}` : ""}`;
  });
  return { verdict: lines.length > 0 ? "found" : "clean", lines };
}

/** @param {string} text */
function parsed(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** @param {{ type?: string, fields?: { level?: string, message?: string } }[]} records @param {string} output */
function reason(records, output) {
  const said = records.find(({ type, fields }) => type === "log" && fields?.level === "ERROR")?.fields
    ?.message;
  const fatal = /^fatal: .*$/m.exec((said ?? output).replaceAll("\\n", "\n"));
  return fatal?.[0] ?? said?.split("\n")[0] ?? (output.trim().split("\n")[0] || "no answer");
}

/** @param {string} command @param {string[]} args */
function output(command, ...args) {
  const env = { ...process.env, PATH: [join(toolsDir, "bin"), process.env.PATH].join(delimiter) };
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    env,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    timeout: 300_000,
  });
  return { status, stdout: stdout ?? "", stderr: stderr || String(error ?? "") };
}

/** @returns {Answer} */
function askCrates() {
  if (!hasTool("cargo-deny"))
    return { verdict: "unreachable", lines: [`cargo-deny is missing. To get it: ${howToGet("cargo-deny")}`] };
  const { status, stderr } = output(
    "cargo-deny",
    "--all-features",
    "--format",
    "json",
    "check",
    "advisories",
  );
  return readCrates(status, stderr);
}

/** @returns {Answer} */
function askPackages() {
  // The one that called this script: Windows runs no `npm` by its name.
  const called = process.env.npm_execpath;
  const [command, ...first] = called?.endsWith(".js") ? [process.execPath, called] : ["npm"];
  const { stdout, stderr } = output(command ?? "npm", ...first, "audit", "--json");
  return readPackages(stdout.trim() || stderr);
}

/**
 * What is told of all who were asked, and the exit code.
 * @param {{ what: string, answer: Answer }[]} asked
 */
export function conclude(asked) {
  const said = { clean: "no known weakness", found: "known weaknesses", unreachable: "could not be asked" };
  const lines = asked.flatMap(({ what, answer: { verdict, lines } }) => [
    `${verdict === "clean" ? "✓" : "✗"} ${what}: ${said[verdict]}`,
    ...lines.map((line) => `  ${line}`),
  ]);
  const verdicts = asked.map(({ answer }) => answer.verdict);
  if (verdicts.includes("found"))
    return { code: 1, lines: [...lines, "There are known weaknesses in what this package depends on."] };
  if (verdicts.includes("unreachable"))
    return {
      code: 2,
      lines: [...lines, "Not everybody could be asked, so nobody can say whether there are weaknesses."],
    };
  return { code: 0, lines };
}

function audit() {
  const { code, lines } = conclude([
    { what: "crates (RustSec)", answer: askCrates() },
    { what: "packages (npm)", answer: askPackages() },
  ]);
  console.log(lines.join("\n"));
  process.exitCode = code;
}

if (isProgram(import.meta.url)) await runMain(audit);
