import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Block, docs, Page, root } from "./support/markdown.js";
import { CALLS, LOOKS, Project } from "./support/project.js";
import type { Step } from "./support/stage.js";

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const pages = [new Page("README.md"), new Page("testing/README.md"), ...docs()];

/** What the agent plays: an example with a tool of its own has it called. */
function scenario(code: string): Record<string, Step[]> {
  return code.includes("fn_task") ? CALLS : LOOKS;
}

/** Do something in a project of its own. */
async function inProject<T>(
  scenario: Record<string, Step[]>,
  act: (project: Project) => Promise<T>,
): Promise<T> {
  const project = new Project(manifest, scenario);
  try {
    return await act(project);
  } finally {
    project.remove();
  }
}

/** Those that say the same on several pages run once. */
function commands(): string[] {
  const lines = pages
    .filter(({ path }) => path !== "testing/README.md")
    .flatMap((page) => page.blocks("sh").flatMap(({ code }) => code.trim().split("\n")));
  return [...new Set(lines)];
}

describe("the command", () => {
  test.concurrent.each(commands())("%s", { timeout: 70_000 }, async (command) => {
    const script = command.match(/^npm (?:run )?(demo|test|tools|build|bench)$/);
    if (script !== null) {
      // CI runs what these name; here it is enough that they name it.
      const text: string = manifest.scripts[script[1] as string];
      for (const [file] of text.matchAll(/scripts\/[\w-]+\.mjs/g))
        expect(existsSync(join(root, file))).toBe(true);
    } else if (command.startsWith("node scripts/")) {
      // A stage of CI runs it.
      const [, file = ""] = command.split(" ");
      expect(existsSync(join(root, file))).toBe(true);
      const stages = readFileSync(join(root, "scripts", "test.mjs"), "utf8");
      expect(stages).toContain(`from "./${file.replace("scripts/", "")}"`);
    } else if (/^(npx )?fusion-cursor /.test(command)) {
      const here = command.replace(/^(npx )?/, "npx ").replace("DIR", ".");
      const { stdout } = await inProject(LOOKS, (project) => project.run("sh", "-c", here));
      expect(stdout).not.toBe("");
    } else {
      // The install tests run the first, on the packages as they are published.
      expect([`npm install ${manifest.name}`, `npm install ../${manifest.name}`]).toContain(command);
    }
  });

  test("of the README that plays the demo needs no set-up, and the one that tests is what CI runs", () => {
    expect(manifest.scripts.demo).toBe("node scripts/setup.mjs && node dist/fusion-cursor.mjs demo");
    const ci = readFileSync(join(root, ".ci", "run"), "utf8");
    expect(ci.trim().split("\n").at(-1)).toBe(manifest.scripts.test);
  });
});

const examples = pages.flatMap((page) =>
  page.blocks("js").map((block, index) => [`${page.path} number ${index + 1}`, block] as const),
);

describe("the example", () => {
  test.concurrent.each(examples)("of %s runs", { timeout: 70_000 }, async (_, { code, prints }: Block) => {
    const { stdout, stderr } = await inProject(scenario(code), (project) => {
      writeFileSync(project.path("example.mjs"), code);
      return project.run(process.execPath, project.path("example.mjs"));
    });
    // Where the page does not say what comes out, it is at least no failure that was caught.
    if (prints === undefined) {
      expect(stdout + stderr).not.toContain("CURSOR_");
      expect(stdout).not.toBe("");
    } else {
      expect(stdout).toBe(prints);
    }
  });

  test("of every page fits the types", { timeout: 70_000 }, async () => {
    const options = { module: "nodenext", target: "es2023", types: ["node"], strict: true, checkJs: true };
    await inProject(LOOKS, async (project) => {
      symlinkSync(join(root, "node_modules", "@types"), project.path("node_modules", "@types"));
      for (const [name, { code }] of examples)
        writeFileSync(project.path(`${name.replace(/\W+/g, "-")}.mjs`), code);
      const config = { compilerOptions: { ...options, noEmit: true }, include: ["*.mjs"] };
      writeFileSync(project.path("tsconfig.json"), JSON.stringify(config));
      const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
      const running = project.run(process.execPath, tsc, "-p", ".");
      const said = await running.then(
        ({ stdout }) => stdout,
        (error) => error.stdout || error.message,
      );
      expect(said).toBe("");
    });
  });

  const exempt = ["docs/command.md", "docs/crash-matrix.md", "docs/performance.md", "docs/releasing.md"];

  test.each(
    docs()
      .filter(({ path }) => !exempt.includes(path))
      .map((page) => [page.path, page] as const),
  )("is there in %s", (_, page) => expect(page.blocks("js")).not.toEqual([]));
});
