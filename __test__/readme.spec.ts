import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, join } from "node:path";
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

function runInProject(command: string, ...args: string[]) {
  const done = spawnSync(command, args, { cwd: project, env, encoding: "utf8", timeout: 60_000 });
  expect(done.stderr).not.toMatch(/Error:/);
  expect(done.status, done.stderr).toBe(0);
  return done;
}

describe("the commands", () => {
  const commands = blocks("sh").flatMap((block) => block.trim().split("\n"));

  test.each(commands)(
    "%s",
    (command) => {
      const script = command.match(/^npm (?:run )?(demo|test|tools|build)$/);
      if (script !== null) {
        // CI runs these themselves; here it is enough that they are what the README calls them.
        const text: string = manifest.scripts[script[1] as string];
        for (const [file] of text.matchAll(/scripts\/[\w-]+\.mjs/g))
          expect(existsSync(join(root, file))).toBe(true);
      } else if (command.startsWith("npx fusion-cursor ")) {
        expect(runInProject("sh", "-c", command).stdout).not.toBe("");
      } else {
        expect(command).toBe(`npm install ../${manifest.name}`);
      }
    },
    70_000,
  );

  test("the demo needs no set-up, and the tests are the program that CI runs", () => {
    expect(manifest.scripts.demo).toBe("node scripts/setup.mjs && node dist/fusion-cursor.mjs demo");
    const ci = readFileSync(join(root, ".ci", "run"), "utf8");
    expect(ci.trim().split("\n").at(-1)).toBe(manifest.scripts.test);
  });
});

describe("the examples", () => {
  test.each(blocks("js", "ts").map((code, index) => [index + 1, code] as const))(
    "number %i runs",
    (index, code) => {
      const file = join(project, `example-${index}.mjs`);
      writeFileSync(file, code);
      const { stdout, stderr } = runInProject(process.execPath, file);
      expect(stdout + stderr).not.toBe("");
    },
    70_000,
  );
});

describe("the tables", () => {
  const types = readFileSync(join(root, "index.d.ts"), "utf8");

  test("the error codes are those of the types", () => {
    const [, union = ""] = types.match(/export type CursorErrorCode =([^;]+);/) ?? [];
    expect(rows("Code")).toEqual([...union.matchAll(/"(\w+)"/g)].map((match) => match[1]));
  });

  test("the options of the command are those of its help", () => {
    const { stdout } = runInProject(process.execPath, join(root, manifest.bin["fusion-cursor"]), "--help");
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

test("links to files lead somewhere", () => {
  const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map((match) => match[1] as string);
  expect(links.filter((link) => !existsSync(join(root, link)))).toEqual([]);
  expect(links.map((link) => basename(link))).toContain("LICENSE");
});
