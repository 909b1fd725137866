import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./support/markdown.js";
import { Project } from "./support/project.js";

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** What each of them prints where Cursor's CLI is not installed. */
const prints: Record<string, string> = {
  fusion: `fusion-plugin-cursor-runtime: GET /providers/cursor-cli/status, POST /auth/cursor-cli
enabled: 200, models: listed
cursor-cli/auto
> fn_task_show
< fn_task_show succeeded
The task is to mend the lamp.
An hour, with a new wick.
4 messages, 1 tool call, 17 tokens out
`,
  minimal: `[read]
It keeps the lighthouses of this coast in order.
Everyone at sea, and their families.
2 turns, 19 tokens
`,
  tools: `> fn_tasks {}
< fn_tasks succeeded
> fn_task_done {"id":"T-9"}
< fn_task_done failed
> fn_task_done {"id":"T-2"}
< fn_task_done succeeded
The clock is wound and marked as done; the lamp still waits.
[ ] T-1 Mend the lamp.
[x] T-2 Wind the clock.
`,
};

test.concurrent.each(Object.entries(prints))("%s.mjs runs without Cursor", async (name, expected) => {
  const project = new Project(manifest);
  try {
    const before = readdirSync(project.folder);
    const file = project.path("node_modules", manifest.name, "examples", `${name}.mjs`);
    const { stdout, stderr } = await project.run(process.execPath, file);
    expect(stdout).toBe(expected);
    expect(stderr).toBe("Cursor's CLI is not installed here; the stand-in agent plays its part.\n");
    expect(readdirSync(project.folder)).toEqual(before);
  } finally {
    project.remove();
  }
});

test("the minimal host has about twenty lines", () => {
  const text = readFileSync(join(root, "examples", "minimal.mjs"), "utf8");
  const code = text.split("\n").filter((line) => line !== "" && !line.startsWith("//"));
  expect(code.length).toBeLessThanOrEqual(22);
});

test("every example is run here", () => {
  const files = readdirSync(join(root, "examples")).filter((name) => name.endsWith(".mjs"));
  const helper = "agent.mjs";
  expect(files.filter((name) => name !== helper)).toEqual(Object.keys(prints).map((name) => `${name}.mjs`));
});
