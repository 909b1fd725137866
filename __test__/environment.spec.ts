// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a scenario
/** What of this environment the agent gets, in a turn and in a probe. */

import { discoverCursorModels, probeCursorBinary, setLogger } from "fusion-cursor-native";
import { standInAgentPath } from "fusion-cursor-native/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { VERSION } from "./support/machine.js";
import { eventually, init, result, Stage } from "./support/stage.js";

/** What Node, Electron and git give to their children, and what none of them may pass on. */
const host = {
  NODE_OPTIONS: "--no-warnings",
  NODE_CHANNEL_FD: "3",
  ELECTRON_RUN_AS_NODE: "1",
  GIT_DIR: "/x",
  GIT_WORK_TREE: "/x",
  GIT_INDEX_FILE: "/x",
  GIT_COMMON_DIR: "/x",
  GIT_PREFIX: "x/",
  CURSOR_API_KEY: "",
};
const kept = { FORCE_COLOR: "1", CLICOLOR_FORCE: "1", FC_OWN: "1", GIT_AUTHOR_NAME: "A", ELECTRON_EXEC: "1" };

/** This process's environment with these variables, until the test is over. */
function inherit(variables: Record<string, string>): void {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  onTestFinished(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
}

const echo = { echo: "echo.json" };

const ways: [string, (stage: Stage, env: Record<string, string>) => Promise<unknown>][] = [
  ["a turn", (stage, env) => stage.launch({ env })],
  [
    "a probe",
    (stage, env) =>
      probeCursorBinary({ binaryPath: standInAgentPath(), env: { ...stage.input().env, ...env } }),
  ],
  [
    "a list of models",
    (stage, env) =>
      discoverCursorModels(standInAgentPath(), undefined, { env: { ...stage.input().env, ...env } }),
  ],
];

describe.each(ways)("%s", (name, start) => {
  const stage = (): Stage =>
    new Stage({
      turn: [echo, init, result("x")],
      version: [echo, { text: `${VERSION}\n` }],
      models: [echo, { text: "auto - Auto\n" }],
    });

  test("leaves out what would make another program of the agent or its git", async () => {
    inherit({ ...host, ...kept });
    const one = stage();
    await start(one, {});
    const { env } = one.echo();
    for (const variable of Object.keys(host)) expect(env).not.toHaveProperty(variable);
    expect(env).toMatchObject({
      FC_OWN: "1",
      GIT_AUTHOR_NAME: "A",
      ELECTRON_EXEC: "1",
      PATH: process.env.PATH,
    });
    // A stream of JSON has no colours to lose; a list for people has.
    const colours =
      name === "a turn"
        ? { FORCE_COLOR: "1", CLICOLOR_FORCE: "1" }
        : { FORCE_COLOR: undefined, CLICOLOR_FORCE: undefined, NO_COLOR: "1", TERM: "dumb" };
    expect({ ...env, ...colours }).toEqual({ ...env });
  });

  test("takes from `env` whatever it says, an empty value too, but for an empty key", async () => {
    inherit({ ...host, FC_OWN: "1", CURSOR_API_KEY: "key_of_the_host" });
    const one = stage();
    await start(one, { FC_OWN: "", FC_ADDED: "ü", NODE_OPTIONS: "--trace-warnings", CURSOR_API_KEY: "" });
    const { env } = one.echo();
    expect(env).toMatchObject({ FC_OWN: "", FC_ADDED: "ü", NODE_OPTIONS: "--trace-warnings" });
    expect(env).not.toHaveProperty("CURSOR_API_KEY");
    expect(process.env).toMatchObject({ FC_OWN: "1", CURSOR_API_KEY: "key_of_the_host" });
  });

  test("has a pipe for standard input that comes to its end, not a device", async () => {
    const one = stage();
    await start(one, {});
    const { fds } = one.echo() as unknown as { fds: { fd: number; target: string }[] | null };
    const standardInput = fds?.find(({ fd }) => fd === 0)?.target;
    if (process.platform === "linux") expect(standardInput).toMatch(/^pipe:/);
  });
});

test("a key is in no command line, no error and no log", async () => {
  const key = "key_0123456789abcdef0123456789abcdef";
  const records: unknown[] = [];
  setLogger("trace", (record) => void records.push(record));
  onTestFinished(() => setLogger("off"));
  const stage = new Stage([echo, { text: "bad key ${env:CURSOR_API_KEY}\n", to: "stderr" }, { exit: 1 }]);
  const failure = await stage.launch({ env: { CURSOR_API_KEY: key } }).catch((error: unknown) => error);
  const { env, argv } = stage.echo();
  expect(env.CURSOR_API_KEY).toBe(key);
  await eventually("the log has the end of the turn", () => JSON.stringify(records).includes("turn failed"));
  const shown = JSON.stringify([argv, records, { ...(failure as Error) }, String(failure)]);
  expect(shown).toContain("bad key ***");
  expect(shown).not.toContain(key);
});
