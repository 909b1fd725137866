import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = join(__dirname, "..");
const readme = readFileSync(join(root, "README.md"), "utf8");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The fenced blocks of these languages, in order. */
function blocks(...languages: string[]): string[] {
  const found = readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm);
  return [...found]
    .filter((match) => languages.includes(match[1] as string))
    .map((match) => match[2] as string);
}

/** The rows of the table whose head starts with `head`, as the code in their first cell. */
function rows(head: string): string[] {
  const [, table = ""] = readme.split(`\n| ${head} |`);
  const [body = ""] = table.split("\n\n");
  return [...body.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1] as string);
}

// A user's project: the package in its node_modules, and in PATH a `cursor-agent` that is the stand-in.
let project = "";
let env: NodeJS.ProcessEnv = {};

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "fusion-cursor-readme-"));
  const path = join(project, "bin");
  mkdirSync(path);
  mkdirSync(join(project, "packages", "app"), { recursive: true });
  mkdirSync(join(project, "node_modules", ".bin"), { recursive: true });
  symlinkSync(join(root, "fusion-cursor-stand-in"), join(path, "cursor-agent"));
  symlinkSync(root, join(project, "node_modules", manifest.name));
  const command = join(root, manifest.bin["fusion-cursor"]);
  chmodSync(command, 0o755);
  symlinkSync(command, join(project, "node_modules", ".bin", "fusion-cursor"));
  writeFileSync(join(project, "package.json"), "{}");
  env = { ...process.env, PATH: [path, process.env.PATH].join(delimiter), npm_config_offline: "true" };
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

/** The output of a command that has to succeed. */
async function runInProject(command: string, ...args: string[]): Promise<string> {
  const running = promisify(execFile)(command, args, { cwd: project, env, timeout: 60_000 });
  // What waits for input gets its end, as in a script.
  running.child.stdin?.end();
  const { stdout, stderr } = await running;
  return stdout + stderr;
}

describe("the commands", () => {
  const commands = blocks("sh").flatMap((block) => block.trim().split("\n"));

  test.concurrent.each(commands)("%s", { timeout: 70_000 }, async (command) => {
    const script = command.match(/^npm (?:run )?(demo|test|tools|build)$/);
    if (script !== null) {
      // CI runs what these name; here it is enough that they name it.
      const text: string = manifest.scripts[script[1] as string];
      for (const [file] of text.matchAll(/scripts\/[\w-]+\.mjs/g))
        expect(existsSync(join(root, file))).toBe(true);
    } else if (command.startsWith("npx fusion-cursor ")) {
      expect(await runInProject("sh", "-c", command)).not.toBe("");
    } else {
      expect(command).toBe(`npm install ../${manifest.name}`);
    }
  });

  test("the demo needs no set-up, and the tests are the program that CI runs", () => {
    expect(manifest.scripts.demo).toBe("node scripts/setup.mjs && node dist/fusion-cursor.mjs demo");
    const ci = readFileSync(join(root, ".ci", "run"), "utf8");
    expect(ci.trim().split("\n").at(-1)).toBe(manifest.scripts.test);
  });
});

describe("the examples", () => {
  const examples = blocks("js", "ts").map((code, index) => [index + 1, code] as const);

  test.concurrent.each(examples)("number %i runs", { timeout: 70_000 }, async (index, code) => {
    const file = join(project, `example-${index}.mjs`);
    writeFileSync(file, code);
    const output = await runInProject(process.execPath, file);
    // One that catches prints nothing where the turn succeeds, and a code where it does not.
    expect(output).not.toContain("CURSOR_");
    expect(output !== "" || code.includes("catch")).toBe(true);
  });
});

describe("the tables", () => {
  const types = readFileSync(join(root, "index.d.ts"), "utf8");

  test("the error codes are those of the types", () => {
    const [, union = ""] = types.match(/export type CursorErrorCode =([^;]+);/) ?? [];
    expect(rows("Code")).toEqual([...union.matchAll(/"([\w-]+)"/g)].map((match) => match[1]));
  });

  test("the reasons for which nothing is staged are those of the types", () => {
    const [, union = ""] = types.match(/export type CursorStagingReason =([\s\S]+?);\n\n/) ?? [];
    expect(rows("Reason")).toEqual([...union.matchAll(/\| "([\w-]+)"/g)].map((match) => match[1]));
  });

  test("the options of the command are those of its help", async () => {
    const stdout = await runInProject(process.execPath, join(root, manifest.bin["fusion-cursor"]), "--help");
    const helped = [...stdout.matchAll(/^ +(--[\w-]+)/gm)].map((match) => match[1]);
    expect(helped).not.toEqual([]);
    expect(rows("Option of `run`").map((option) => option.split(" ")[0])).toEqual(helped);
  });

  test("the needed versions are those of the manifests", () => {
    const cargo = readFileSync(join(root, "Cargo.toml"), "utf8");
    const [, rust] = cargo.match(/^rust-version = "(.+)"$/m) ?? [];
    const node = manifest.engines.node.replace(">=", "");
    expect(readme).toContain(`Node ${node} or later and Rust ${rust} or later`);
  });
});

/** The files that a text links to. */
function linked(text: string): string[] {
  return [...text.matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].map((match) => match[1] as string);
}

test("links to files lead somewhere", () => {
  const links = linked(readme);
  expect(links.filter((link) => !existsSync(join(root, link)))).toEqual([]);
  expect(links.map((link) => basename(link))).toContain("LICENSE");
});

describe.each(readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md")))("docs/%s", (name) => {
  const text = readFileSync(join(root, "docs", name), "utf8");

  test("has links that lead somewhere", () => {
    expect(linked(text).filter((link) => !existsSync(join(root, "docs", link)))).toEqual([]);
    const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replace(/[^\w -]/g, "")
        .replaceAll(" ", "-"),
    );
    const places = [...text.matchAll(/\]\(#([^)]+)\)/g)].map((match) => match[1]);
    expect(places.filter((place) => !headings.includes(place ?? ""))).toEqual([]);
  });

  test("is reached from the README", () => {
    expect(linked(readme)).toContain(`docs/${name}`);
  });
});

test("every reason has a cure in docs/worktrees.md", () => {
  const [, table = ""] = readFileSync(join(root, "docs", "worktrees.md"), "utf8").split("\n| Reason |");
  for (const reason of rows("Reason")) expect(table.split("\n\n")[0]).toContain(`\`${reason}\``);
});
