/** What may cross the boundary of cmd.exe arrives as it is; what may not is refused before anything is started. */

import { describe, expect, test } from "vitest";
import { init, result } from "../support/stage.js";
import { Desk, numbers } from "./support.js";

const REJECTED = [...'"%!^&|<>()'];
const CONTROLS = [...Array(31).keys()].map((code) => String.fromCharCode(code + 1)).concat("\x7f");

const LETTERS = [..."abcXYZ019 ", ..."[],=;'`~@#$*?+-_.:/\\{}", ..."äßΩ中文한😀\u00a0\u200b\u{10ffff}"];

/** Words of all that is allowed, the dangerous ones often. */
function words(count: number, seed: number): string[] {
  const next = numbers(seed);
  const pick = <T>(list: T[]): T => list[Math.floor(next() * list.length)] as T;
  return Array.from({ length: count }, () => {
    const length = 1 + Math.floor(next() ** 3 * 60);
    const middle = Array.from({ length }, () => pick(LETTERS)).join("");
    // A model is trimmed, and neither may look like an option.
    return `x${middle}${pick(["", "\\", "\\\\", " \\", "'", "]", "="])}`.replace(/[ \u00a0\u200b]+$/, "");
  });
}

describe.each(["cmd", "exe"] as const)("through a .%s", (kind) => {
  // Each turn carries two.
  test("words of all kinds, a thousand of them for a batch file, arrive as they are", {
    timeout: 300_000,
  }, async () => {
    const desk = new Desk([{ echo: "${env:ECHO_AS}" }, init, result("done")]);
    const binary = desk.agent(kind);
    const tokens = words(kind === "cmd" ? 1000 : 100, 7);
    const arrived: string[] = [];
    const turn = async (at: number): Promise<void> => {
      const [model = "", resumeId = ""] = tokens.slice(at, at + 2);
      await desk.launch({ binary, model, resumeId, env: { ECHO_AS: `${at}.json` } });
      const { argv } = desk.echo(`${at}.json`);
      arrived[at] = argv[argv.indexOf("--model") + 1] ?? "";
      arrived[at + 1] = argv[argv.indexOf("--resume") + 1] ?? "";
    };
    // Two at once, and no more: where many start a batch file, Wine lets one of them fail now and then.
    for (let at = 0; at < tokens.length; at += 4) {
      const starts = [at, at + 2];
      const ended = await Promise.allSettled(starts.filter((start) => start < tokens.length).map(turn));
      for (const one of ended) if (one.status === "rejected") throw one.reason;
    }
    expect(arrived).toEqual(tokens);
  });
});

describe("through a batch file", () => {
  const places: [string, (token: string) => object][] = [
    ["a model", (token) => ({ model: `m${token}x` })],
    ["a session", (token) => ({ resumeId: `s${token}x` })],
  ];
  test.each(places)(
    "each rejected character in %s is refused by its name, and nothing runs",
    async (_, input) => {
      const desk = new Desk();
      const binary = desk.agent("cmd");
      for (const character of [...REJECTED, ...CONTROLS]) {
        const failure = await desk.launch({ binary, ...input(character) }).catch((error) => error);
        const name = JSON.stringify(character);
        expect(failure, name).toMatchObject({ code: "CURSOR_UNSAFE_TOKEN", retryable: false });
        expect(failure, name).not.toHaveProperty("exitCode");
        if (REJECTED.includes(character)) expect(failure.message).toContain(character);
      }
      expect(desk.started).toBe(false);
    },
  );

  test("a folder that would be refused is no part of the line unless it is asked for", async () => {
    const desk = new Desk();
    const binary = desk.agent("cmd");
    desk.write("100% a & b/x", "");
    const cwd = desk.at("100% a & b");
    await expect(desk.launch({ binary, cwd, workspaceFlagRequired: true })).rejects.toMatchObject({
      code: "CURSOR_UNSAFE_TOKEN",
    });
    expect(desk.started).toBe(false);
    await expect(desk.launch({ binary, cwd })).resolves.toMatchObject({ text: "done" });
  });

  test("a line over 8,000 characters is refused, and a program itself takes it", async () => {
    const desk = new Desk();
    const model = "m".repeat(8000);
    const failure = desk.launch({ binary: desk.agent("cmd"), model });
    await expect(failure).rejects.toMatchObject({ code: "CURSOR_COMMAND_TOO_LONG", retryable: false });
    expect(desk.started).toBe(false);
    await expect(desk.launch({ binary: desk.agent("exe"), model })).resolves.toMatchObject({ text: "done" });
    // A little below the limit cmd itself still takes it.
    const near = "m".repeat(7000);
    await expect(desk.launch({ binary: desk.agent("cmd"), model: near })).resolves.toMatchObject({
      text: "done",
    });
  });
});

test("a program itself takes every character that a batch file may not", async () => {
  const desk = new Desk([{ echo: "echo.json" }, init, result("done")]);
  const resumeId = `s ${REJECTED.join(" ")}\\" \\\\" \\`;
  await desk.launch({ binary: desk.agent("exe"), resumeId });
  expect(desk.echo().argv.at(-1)).toBe(resumeId);
});
