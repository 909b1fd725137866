import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(__dirname, "..");

// In a Node of its own and by the package's own name, so that it is package.json's `exports` that answers.
const program = `
  import { createRequire } from "node:module";
  const name = process.argv[1];
  const whole = createRequire(process.cwd() + "/x.js")(name);
  const { default: wanted = whole, ...required } = whole;
  const { default: found, ...imported } = await import(name);
  const different = Object.keys(imported).filter((key) => imported[key] !== required[key]);
  // A package without a default export has all of itself for one, where it has any.
  if (found !== undefined && found !== wanted) different.push("default");
  console.log(JSON.stringify({ required: Object.keys(required), imported: Object.keys(imported), different }));
`;

function load(name: string): { required: string[]; imported: string[]; different: string[] } {
  const args = ["--input-type=module", "--eval", program, name];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: "utf8" }));
}

/** The values that a hand-written declaration file exports. */
function declared(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/^export (?:declare )?(?:function|class|const) (\w+)/gm)].map(
    (match) => match[1] as string,
  );
}

test.each([
  ["fusion-cursor-native", "index.d.ts"],
  ["fusion-cursor-native/plugin", "plugin/index.d.ts"],
  ["fusion-cursor-native/testing", "testing/index.d.ts"],
])("%s: import, require and the types name the same, and it is the same", (name, types) => {
  const { required, imported, different } = load(name);
  expect(imported.sort()).toEqual(required.sort());
  expect(different).toEqual([]);
  expect(required.sort()).toEqual(declared(types).sort());
});
