import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { docs, Page, root } from "./support/markdown.js";

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const types = readFileSync(join(root, "index.d.ts"), "utf8");

/** The strings of a union in `index.d.ts`, sorted. */
function union(name: string): string[] {
  const [, text = ""] = types.match(new RegExp(`export type ${name} =([\\s\\S]+?);\\n\\n`)) ?? [];
  return [...text.matchAll(/\| "([\w-]+)"/g)].map((match) => match[1] as string).sort();
}

/** The names in the first column of a table, sorted; each of its cells says something. */
function named(page: string, head: string): string[] {
  const rows = new Page(page).rows(head);
  for (const { name, cells } of rows) expect([name, ...cells]).not.toContain("");
  return rows.map(({ name }) => name).sort();
}

describe("errors.md", () => {
  test("has every code of the types, and no other", () => {
    expect(union("CursorErrorCode")).not.toEqual([]);
    expect(named("docs/errors.md", "Code")).toEqual(union("CursorErrorCode"));
  });

  test("has every code that the core gives", () => {
    const rust = readFileSync(join(root, "src", "binding", "codes.rs"), "utf8");
    const given = [...rust.matchAll(/"(CURSOR_\w+|bridge-[\w-]+)"/g)].map((match) => match[1] as string);
    expect(given.length).toBeGreaterThan(20);
    expect(given.filter((code) => !named("docs/errors.md", "Code").includes(code))).toEqual([]);
  });

  test("names codes that are there", () => {
    const pages = [...docs(), new Page("README.md")];
    const said = pages.flatMap(({ text }) => [...text.matchAll(/`(CURSOR_[A-Z_]+)`/g)]);
    const variables = ["CURSOR_API_KEY", "CURSOR_AUTH_TOKEN"];
    const unknown = said
      .map((match) => match[1] as string)
      .filter((code) => !union("CursorErrorCode").includes(code) && !variables.includes(code));
    expect(unknown).toEqual([]);
  });

  test("has the messages as the core writes them", () => {
    const folders = ["src/session", "lib"].flatMap((folder) =>
      readdirSync(join(root, folder)).map((name) => join(folder, name)),
    );
    const sources = ["src/turn/outcome.rs", ...folders].filter((path) => /\.(rs|ts)$/.test(path));
    const text = sources.map((path) => readFileSync(join(root, path), "utf8")).join("\n");
    for (const message of named("docs/errors.md", "Message"))
      expect(text).toContain(message.replace(/ <.*$/, ""));
  });
});

test("staging.md has every reason for which nothing is staged, with what to do", () => {
  expect(union("CursorStagingReason")).not.toEqual([]);
  expect(named("docs/staging.md", "Reason")).toEqual(union("CursorStagingReason"));
});

test("events.md has every type of event", () => {
  const [, text = ""] = types.match(/export type CursorStreamEvent =([\s\S]+?);/) ?? [];
  const interfaces = [...text.matchAll(/\| (\w+)/g)].map((match) => match[1] as string);
  const known = interfaces.map((name) => {
    const [, type] =
      types.match(new RegExp(`export interface ${name} {\\s+readonly type: "([\\w-]+)"`)) ?? [];
    return type;
  });
  expect(known).not.toEqual([]);
  expect(named("docs/events.md", "`type`")).toEqual(known.sort());
});

test("events.md has every outcome of a tool call", () => {
  const [, text = ""] = types.match(/export type ToolOutcome =([^;]+);/) ?? [];
  const outcomes = [...text.matchAll(/"(\w+)"/g)].map((match) => match[1]);
  const rows = new Page("docs/events.md").text.split("\n| `outcome` |")[1]?.split("\n\n")[0] ?? "";
  const said = [...rows.matchAll(/^\| (`.+?`) \| [A-Z]/gm)].flatMap((match) =>
    [...(match[1] as string).matchAll(/`(\w+)`/g)].map((name) => name[1]),
  );
  expect(said.sort()).toEqual(outcomes.sort());
});

test("command.md has the options that the command tells of", async () => {
  const command = join(root, manifest.bin["fusion-cursor"]);
  const { stdout } = await promisify(execFile)(process.execPath, [command, "--help"]);
  const helped = [...stdout.matchAll(/^ +(--[\w-]+)/gm)].map((match) => match[1]);
  expect(helped).not.toEqual([]);
  expect(new Page("docs/command.md").rows("Option of `run`").map(({ name }) => name.split(" ")[0])).toEqual(
    helped,
  );
});

test("cli.md has the states of a probe", () => {
  const [, text = ""] = types.match(/\n {2}state:\n((?: {4}\| "[\w-]+"[;\n]+)+)/) ?? [];
  const states = [...text.matchAll(/"([\w-]+)"/g)].map((match) => match[1] as string);
  expect(states).not.toEqual([]);
  expect(named("docs/cli.md", "State")).toEqual(states.sort());
});

test("environment.md has the variables that are read", () => {
  const limits = readFileSync(join(root, "src", "turn", "limits.rs"), "utf8");
  const said = [...limits.matchAll(/: &str = "(PI_\w+)"/g)].map((match) => match[1] as string);
  expect(named("docs/environment.md", "Variable")).toEqual(
    [...said, "FUSION_CURSOR_LOG", "HOME", "NAPI_RS_NATIVE_LIBRARY_PATH", "PATH", "TMPDIR"].sort(),
  );
});

test("README.md has the versions of the manifests", () => {
  const cargo = readFileSync(join(root, "Cargo.toml"), "utf8");
  const [, rust] = cargo.match(/^rust-version = "(.+)"$/m) ?? [];
  const node = manifest.engines.node.replace(">=", "");
  expect(new Page("README.md").text).toContain(`Node ${node} or later and Rust ${rust} or later`);
});

test("migration.md has the modules that the drop-in check has, with the same names from the same places", () => {
  const folder = join(root, "__test__", "drop-in");
  const checked = readdirSync(folder).map((file) => {
    const text = readFileSync(join(folder, file), "utf8");
    const exports = [...text.matchAll(/export \{([^}]+)\} from "([^"]+)"/g)];
    const names = exports.flatMap((match) => (match[1] as string).split(",")).map((name) => name.trim());
    return [
      file.replace(".ts", ""),
      names.filter((name) => name !== "").sort(),
      exports.map((match) => match[2]),
    ];
  });
  const code = (cell = ""): string[] => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] as string);
  const said = new Page("docs/migration.md")
    .rows("Module")
    .map(({ name, cells }) => [name, code(cells[0]).sort(), code(cells[1])]);
  expect(said.sort()).toEqual(checked.sort());
});
