/** Sessions without tools: what the agent is told, the line, the conversation, and the end. */

import { existsSync, readdirSync } from "node:fs";
import { inspect } from "node:util";
import { CursorError, CursorSession } from "fusion-cursor-native";
import { describe, expect, test } from "vitest";
import {
  begins,
  errorOf,
  fails,
  onStage,
  parrot,
  play,
  repeats,
  sessionOf,
  staged,
} from "./support/session.js";
import { eventually, runs, Stage, type Step, started, text } from "./support/stage.js";

const CODE = {
  aborted: { code: "CURSOR_ABORTED", name: "AbortError" },
  disposed: {
    code: "CURSOR_SESSION_DISPOSED",
    name: "CursorError",
    message: "Cursor session is disposed.",
    retryable: false,
  },
};

/** How many turns were started on a stage. */
const turnsOf = (stage: Stage): number =>
  readdirSync(stage.folder).filter((name) => name.startsWith("turn-")).length;

/** A turn that stays until the gate is opened. */
const waits = (gate: string): Step[] => [
  { touch: "turn-${pid}" },
  begins,
  { touch: "began" },
  { waitFile: gate },
  repeats,
];

/** One that does not end by itself, and cannot be asked to. */
const stuck: Step[] = [{ ignore: ["SIGTERM"] }, begins, { touch: "stuck" }, { linger: true }];

describe("the first prompt", () => {
  test("carries the context, and later ones go alone", async () => {
    const { stage, session } = await staged(parrot, {
      systemPrompt: "  You mend tide tables.\nBe brief.\n",
      skills: ["review", " ", "plan"],
      tools: "coding",
      defaultModelId: " cursor-cli/gpt-5 ",
    });
    expect(session).toMatchObject({ cwd: stage.folder, model: "gpt-5", turns: 0, disposed: false });
    expect(session.sessionId).toBeUndefined();
    const first = await session.prompt("Fix ünïcode 漢字\n");
    const lines = first.text.split("\n");
    expect(lines.slice(0, 3)).toEqual(["You mend tide tables.", "Be brief.", ""]);
    expect(lines.slice(-3)).toEqual(["User request:", "Fix ünïcode 漢字", ""]);
    expect(first.text).toContain("coding");
    expect(first.text).toContain("review, plan\n");
    expect(stage.echo().argv.slice(1)).toEqual(
      "--print --output-format stream-json --model gpt-5 --trust --force".split(" "),
    );
    expect(session.sessionId).toBe(first.sessionId);

    const second = await session.prompt("again");
    expect(second.text).toBe("again");
    expect(second.sessionId).toBe(first.sessionId);
    expect(stage.echo().argv.slice(-2)).toEqual(["--resume", first.sessionId]);
    expect(session.turns).toBe(2);
  });

  test("of a session that was told nothing tells what the model may do", async () => {
    const { session } = await staged(parrot, { systemPrompt: " \n" });
    expect(session.model).toBe("auto");
    expect((await session.prompt("hi")).text).toMatch(/^[^\n]*read-only[^\n]*\n\nUser request:\nhi$/);
  });

  test("of one that goes on with an earlier one goes alone", async () => {
    const { stage, session } = await staged(parrot, { resumeId: "earlier", systemPrompt: "You" });
    expect(session.sessionId).toBe("earlier");
    expect((await session.prompt("on")).text).toBe("on");
    expect(stage.echo().argv.slice(-2)).toEqual(["--resume", "earlier"]);
  });

  test("is sent again where it failed", async () => {
    const { stage, session } = await staged(fails, { systemPrompt: "You" });
    await expect(session.prompt("one")).rejects.toMatchObject({ code: "CURSOR_EXITED", exitCode: 3 });
    expect([session.sessionId, session.turns]).toEqual([undefined, 0]);
    play(stage, parrot);
    expect((await session.prompt("two")).text).toMatch(/^You\n[\s\S]*\nUser request:\ntwo$/);
  });
});

describe("the conversation", () => {
  test("is known as soon as the CLI has told it, and put back where the turn fails", async () => {
    const { stage, session } = await staged();
    const { sessionId } = await session.prompt("one");
    const another: Step = { line: { type: "system", subtype: "init", session_id: "another" } };
    play(stage, [another, { waitFile: "go" }, ...fails.slice(1)]);
    const failed = errorOf(session.prompt("two"));
    await eventually("the id is known", () => session.sessionId === "another");
    stage.release("go");
    expect((await failed).code).toBe("CURSOR_EXITED");
    expect(session.sessionId).toBe(sessionId);
    // An aborted turn is one that failed.
    play(stage, [another, { linger: true }]);
    const controller = new AbortController();
    const aborted = errorOf(session.prompt("three", { signal: controller.signal }));
    await eventually("the id is known", () => session.sessionId === "another");
    controller.abort();
    expect(session.sessionId).toBe(sessionId);
    expect(await aborted).toMatchObject(CODE.aborted);
    play(stage, parrot);
    expect((await session.prompt("four")).text).toBe("four");
    expect(session.sessionId).toBe(sessionId);
  });

  test("that the CLI has given another id goes on with that", async () => {
    const { stage, session } = await staged();
    await session.prompt("one");
    const id = { session_id: "moved" };
    play(stage, [
      { line: { type: "system", subtype: "init", ...id } },
      { line: { type: "result", subtype: "success", is_error: false, result: "x", ...id } },
    ]);
    await session.prompt("two");
    expect(session.sessionId).toBe("moved");
  });

  test.each(["--force", "-f", "a\nb", ""])("never has %j for an id", async (id) => {
    const line = { type: "result", subtype: "success", is_error: false, result: "x", session_id: id };
    const { session } = await staged([{ line }]);
    await session.prompt("one");
    expect(session.sessionId).toBeUndefined();
    expect(session.turns).toBe(1);
  });
});

describe("turns wait in line", () => {
  test("one at a time, in the order of the calls", async () => {
    const seen: string[] = [];
    const { session } = await staged([begins, text("."), repeats], {
      resumeId: "r",
      onEvent: (event) => void seen.push(event.type),
    });
    const texts = ["a", "b", "c", "d", "e"];
    const done: string[] = [];
    const all = texts.map((text) => session.prompt(text).then(() => done.push(text)));
    await Promise.all(all);
    expect(done).toEqual(texts);
    expect(seen).toEqual(texts.flatMap(() => ["system-init", "assistant-text", "result"]));
  });

  test("one that fails does not fail those behind it", async () => {
    const { stage, session } = await staged(waits("gate"));
    const one = session.prompt("one");
    await stage.touched("began");
    play(stage, [{ touch: "second" }, { waitFile: "go" }, ...fails]);
    const two = errorOf(session.prompt("two"));
    const three = session.prompt("three");
    stage.release("gate");
    await one;
    await stage.touched("second");
    play(stage, parrot);
    stage.release("go");
    expect((await two).code).toBe("CURSOR_EXITED");
    expect((await three).text).toBe("three");
  });

  test("one that is aborted leaves it at once, and nothing is started", async () => {
    const { stage, session } = await staged(waits("gate"));
    const one = session.prompt("one");
    await stage.touched("began");
    const controller = new AbortController();
    const two = errorOf(session.prompt("two", { signal: controller.signal }));
    const three = session.prompt("three");
    controller.abort(new Error("changed my mind"));
    const error = await two;
    expect(error).toMatchObject(CODE.aborted);
    expect(error.cause).toMatchObject({ message: "changed my mind" });
    expect(turnsOf(stage)).toBe(1);
    stage.release("gate");
    await Promise.all([one, three]);
    expect(turnsOf(stage)).toBe(2);
  });

  test("one that is aborted before the call takes no place", async () => {
    const { stage, session } = await staged();
    const error = await errorOf(session.prompt("one", { signal: AbortSignal.abort() }));
    expect(error).toMatchObject(CODE.aborted);
    expect(turnsOf(stage)).toBe(0);
    expect(session.turns).toBe(0);
  });

  test("the next begins when the processes of an aborted one are gone", async () => {
    const { stage, session } = await staged(stuck, { killGraceMs: 200 });
    const controller = new AbortController();
    const one = errorOf(session.prompt("one", { signal: controller.signal }));
    const pid = await stage.pid("stuck");
    play(stage, [{ echo: "echo.json" }, begins, { touch: "second" }, repeats]);
    const two = session.prompt("two");
    controller.abort();
    expect(await one).toMatchObject(CODE.aborted);
    await stage.touched("second");
    expect(runs(pid)).toBe(false);
    await two;
  });

  test("a callback that throws ends its turn with that error, and only it", async () => {
    const failure = new Error("mine");
    let fail = true;
    const { session } = await staged(parrot, {
      onEvent: () => {
        if (fail) throw failure;
      },
    });
    expect(await errorOf(session.prompt("one"))).toBe(failure);
    expect([session.turns, session.sessionId]).toEqual([0, undefined]);
    fail = false;
    await session.prompt("two");
    expect(session.turns).toBe(1);
  });
});

describe("an abort and the end of a turn", () => {
  /** Says that it is done, and is then slow to leave. */
  const slow: Step[] = [{ trap: ["SIGTERM"], report: "asked" }, begins, repeats, { linger: true }];

  test.each(["signal", "dispose"])(
    "by %s while its processes are being ended, it is no good turn to anybody",
    async (how) => {
      const { stage, session } = await staged(slow, { exitGraceMs: 20, killGraceMs: 500 });
      const controller = new AbortController();
      const one = errorOf(session.prompt("one", { signal: controller.signal }));
      await stage.touched("asked");
      if (how === "signal") controller.abort();
      else await session.dispose();
      expect(await one).toMatchObject(CODE.aborted);
      play(stage, parrot);
      if (how === "signal") expect((await session.prompt("two")).text).toMatch(/User request:\ntwo$/);
      expect(session.turns).toBe(how === "signal" ? 1 : 0);
      if (how === "dispose") expect(session.sessionId).toBeUndefined();
    },
  );

  test("too late, it stays a good one, as the next has gone on with it", async () => {
    const second: Step[] = [begins, { touch: "second" }, repeats];
    const { stage, session } = await staged({ turn: parrot, resumed: second });
    const controller = new AbortController();
    const one = session.prompt("one", { signal: controller.signal });
    const two = session.prompt("two");
    // Nothing that the first has come to is heard of meanwhile.
    const deadline = performance.now() + 20_000;
    while (!existsSync(stage.path("second")) && performance.now() < deadline);
    controller.abort();
    const [first, next] = await Promise.all([one, two]);
    expect(next.sessionId).toBe(first.sessionId);
    expect(session.turns).toBe(2);
  });
});

describe("the sums", () => {
  test("are those of all turns, failed ones included", async () => {
    const call = [started("c", "shell", {}), started("d", "shell", {})];
    const { stage, session } = await staged([begins, ...call, repeats]);
    expect(session.usage).toEqual({
      inputTokens: 0,
      outputTokens: 0,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    });
    await session.prompt("one");
    await session.prompt("two");
    play(stage, [
      begins,
      {
        line: {
          type: "result",
          is_error: true,
          result: "no",
          usage: { inputTokens: 1000, outputTokens: "many", cacheReadTokens: -5 },
        },
      },
    ]);
    await expect(session.prompt("three")).rejects.toMatchObject({ code: "CURSOR_REPORTED_ERROR" });
    expect(session.usage).toEqual({
      inputTokens: 1020,
      outputTokens: 4,
      cacheReadTokens: 6,
      cacheWriteTokens: 8,
    });
    expect(session.toolCalls).toEqual({ started: 4, completed: 0, failed: 0, rejected: 0, abandoned: 4 });
    expect(session.turns).toBe(2);
    expect(() => Object.assign(session.usage, { inputTokens: 0 })).toThrow(TypeError);
  });

  test("stay numbers, whatever a turn says it took", async () => {
    const usage = { inputTokens: 1e308, outputTokens: 1 };
    const line = { type: "result", subtype: "success", is_error: false, result: "x", usage };
    const { session } = await staged([{ line }]);
    for (let turn = 0; turn < 2; turn += 1) await session.prompt("again");
    expect(session.usage).toMatchObject({ inputTokens: 1e308, outputTokens: 2 });
  });

  test("of a usage that is none are those before it", async () => {
    for (const usage of [null, 5, "much", [1], { inputTokens: "1" }]) {
      const line = { type: "result", subtype: "success", is_error: false, result: "x", usage };
      const { session } = await staged([{ line }]);
      await session.prompt("one");
      expect(Object.values(session.usage)).toEqual([0, 0, 0, 0]);
    }
  });
});

describe("dispose", () => {
  test("aborts the turn that runs, rejects those that wait, and all later calls", async () => {
    const { stage, session } = await staged(stuck, { killGraceMs: 200 });
    const one = errorOf(session.prompt("one"));
    const two = errorOf(session.prompt("two"));
    const streamed = session.stream("three");
    const three = errorOf(streamed.result);
    const pid = await stage.pid("stuck");
    const disposing = session.dispose();
    expect(session.disposed).toBe(true);
    const four = errorOf(session.prompt("four"));
    await Promise.all([disposing, session.dispose()]);
    expect(runs(pid)).toBe(false);
    expect(await one).toMatchObject(CODE.aborted);
    for (const waited of [two, three, four]) {
      const error = await waited;
      expect(error).toBeInstanceOf(CursorError);
      expect(error).toMatchObject(CODE.disposed);
    }
    await session.dispose();
    expect(await errorOf(session.prompt("five"))).toMatchObject(CODE.disposed);
    expect(session.turns).toBe(0);
  });

  test("of a turn without an end is waited for in a callback, and nothing hangs", async () => {
    let inside: Promise<void> | undefined;
    const after: string[] = [];
    // In one piece, so that the second is here already when the first is handed over.
    const both = [text("a"), text("b")].map(({ line }) => `${JSON.stringify(line)}\n`).join("");
    const { session } = await staged([begins, { text: both }, { linger: true }], {
      onText: async (said) => {
        after.push(said);
        inside = session.dispose();
        await inside;
      },
    });
    expect(await errorOf(session.prompt("one"))).toMatchObject(CODE.aborted);
    await inside;
    expect(after).toEqual(["a"]);
  });

  test("is what leaving a block with `await using` does", async () => {
    const stage = new Stage(parrot);
    let outside: CursorSession;
    {
      await using session = await CursorSession.create(onStage(stage));
      outside = session;
      await session.prompt("one");
    }
    expect(outside.disposed).toBe(true);
    expect(await errorOf(outside.prompt("two"))).toMatchObject(CODE.disposed);
  });

  test("can be called at any moment of a turn", { timeout: 120_000 }, async () => {
    const stage = new Stage(parrot);
    for (let ms = 0; ms < 60; ms += 4) {
      const session = await CursorSession.create(onStage(stage, { systemPrompt: "You" }));
      const turns = ["one", "two"].map((text) => session.prompt(text).then(() => "well", errorCode));
      await new Promise((resolve) => setTimeout(resolve, ms));
      await session.dispose();
      const ends = await Promise.all(turns);
      for (const end of ends) expect(["well", "CURSOR_ABORTED", "CURSOR_SESSION_DISPOSED"]).toContain(end);
      // Whatever the moment, the first was there before the second.
      if (ends[1] === "well") expect(ends[0]).toBe("well");
    }
    const pids = readdirSync(stage.folder).flatMap((name) => /^turn-(\d+)$/.exec(name)?.[1] ?? []);
    expect(pids.map(Number).filter(runs)).toEqual([]);
  });
});

test("what is printed of a session tells what it is, and no prompt", async () => {
  const { session } = await staged(parrot, { systemPrompt: "s3cret" });
  await session.prompt("s3cret too");
  const printed = inspect(session);
  expect(printed).toMatch(/^CursorSession \{/);
  for (const told of [session.cwd, session.sessionId, "turns: 1", "disposed: false"]) {
    expect(printed).toContain(told);
  }
  expect(printed).not.toContain("s3cret");
});

test("a program that is not there fails the turns, not the session", async () => {
  const stage = new Stage(parrot);
  const session = await sessionOf({ cwd: stage.folder, binary: stage.path("none") });
  expect(await errorOf(session.prompt("one"))).toMatchObject({ code: "CURSOR_NOT_FOUND" });
  expect(existsSync(stage.path(".cursor"))).toBe(false);
});

function errorCode(error: unknown): string {
  return String((error as CursorError).code);
}
