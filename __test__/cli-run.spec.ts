import { PassThrough } from "node:stream";
import type { CursorPromptInput, CursorPromptResult } from "fusion-cursor-native";
import { describe, expect, test } from "vitest";
import { Output, type TerminalLike } from "../cli/output.ts";
import { type Host, runTurn } from "../cli/run.ts";
import { ended, SESSION_ID, started, text, turnResult } from "./support/events.ts";
import { Screen } from "./support/screen.ts";

type Launch = (input: CursorPromptInput) => Promise<CursorPromptResult>;

/** A world without processes: what was printed is kept, signals are sent by hand. */
function world(launch: Launch, options: { tty?: boolean; env?: NodeJS.ProcessEnv } = {}) {
  const stdout = recorder(options.tty === true);
  const stderr = recorder(false);
  const exits: number[] = [];
  const exitListeners: (() => void)[] = [];
  const interrupts = new Set<(exitCode: number) => void>();
  const host: Host = {
    launch,
    stdout: new Output(stdout.stream, options.env ?? {}),
    stderr: new Output(stderr.stream, {}),
    now: () => performance.now(),
    platform: "linux",
    onInterrupt: (listener) => {
      interrupts.add(listener);
      return () => interrupts.delete(listener);
    },
    exit: (code) => {
      exits.push(code);
    },
    onExit: (listener) => {
      exitListeners.push(listener);
    },
  };
  return {
    host,
    stdout,
    stderr,
    exits,
    interrupts,
    exitListeners,
    run: (json = false) => runTurn({ input: { cwd: "/w", prompt: "p" }, json }, host),
    interrupt: (exitCode = 130) => {
      for (const listener of interrupts) {
        listener(exitCode);
      }
    },
  };
}

function recorder(isTTY: boolean) {
  const stream: TerminalLike & PassThrough = new PassThrough();
  let written = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    written += chunk;
  });
  if (isTTY) {
    Object.assign(stream, { isTTY, columns: 120, rows: 24 });
  }
  return { stream, text: () => written };
}

const smallTurn: Launch = async ({ onEvent }) => {
  await onEvent?.({ type: "system-init", sessionId: SESSION_ID });
  await onEvent?.(text("Hello."));
  await onEvent?.(started("a", "shell", { command: "ls" }));
  await onEvent?.(ended("a", "shell"));
  return turnResult();
};

test("what a turn leaves behind is told on stderr", async () => {
  const leftovers = [
    { pid: 7, command: "node\n worker-server \u001b[31m" },
    { pid: 8, command: "" },
  ];
  const { run, stderr } = world(async () => turnResult({ leftovers }));
  expect(await run()).toBe(0);
  expect(stderr.text()).toContain("note: the turn left 2 processes behind\n  7 node worker-server");
  expect(stderr.text()).not.toContain("\u001b[31m");
  const none = world(smallTurn);
  await none.run();
  expect(none.stderr.text()).toBe("");
});

/** Rejects as the addon does when its signal fires. */
const endless: Launch = async ({ signal, onEvent }) => {
  await onEvent?.(started("a", "shell", { command: "sleep 99" }));
  return new Promise((_, reject) => {
    const abort = () =>
      reject(cursorError("CURSOR_ABORTED", "Cursor CLI aborted", { partial: turnResult() }));
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) {
      abort();
    }
  });
};

function cursorError(code: string, message: string, more: object = {}): Error {
  return Object.assign(new Error(message), { code, retryable: false, ...more });
}

describe("a turn that works", () => {
  test("is text and a summary, and exit code 0", async () => {
    const { run, stdout, stderr, interrupts } = world(smallTurn);
    expect(await run()).toBe(0);
    expect(stdout.text()).toMatch(/^Hello\.\n\n✓ shell {2}ls {2}0\.0s\n\nsession .* 12\.3s\n$/);
    expect(stderr.text()).toBe("");
    expect(interrupts.size).toBe(0);
  });

  test("looks the same on a terminal, with the cursor back at the end", async () => {
    const { run, stdout } = world(smallTurn, { tty: true });
    expect(await run()).toBe(0);
    expect(stdout.text()).toContain("\u001b[32m✓");
    const screen = new Screen(120, 24).write(stdout.text());
    expect(screen.lines.slice(0, 3)).toEqual(["Hello.", "", "✓ shell  ls  0.0s"]);
    expect(screen.cursorVisible).toBe(true);
  });

  test.each([{ NO_COLOR: "1" }, { TERM: "dumb" }])("has no control sequences with %j", async (env) => {
    const { run, stdout } = world(smallTurn, { tty: true, env });
    await run();
    expect(stdout.text()).not.toContain("\u001b");
  });

  test("is one JSON object per line with --json", async () => {
    const { run, stdout } = world(smallTurn);
    expect(await run(true)).toBe(0);
    const lines = stdout
      .text()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => line.type)).toEqual([
      "system-init",
      "assistant-text",
      "tool-call-started",
      "tool-call-completed",
      "turn-result",
    ]);
    expect(lines.at(-1)).toMatchObject({ sessionId: SESSION_ID, exitCode: 0 });
  });

  test("waits for a reader that is slow", async () => {
    let waited = 0;
    const { host, stdout } = world(async ({ onEvent }) => {
      for (let index = 0; index < 40; index += 1) {
        const room = onEvent?.(text("x".repeat(10_000)));
        waited += room === undefined ? 0 : 1;
        await room;
      }
      return turnResult();
    });
    stdout.stream.pause();
    setTimeout(() => stdout.stream.resume(), 20);
    expect(await runTurn({ input: { cwd: "/w", prompt: "p" }, json: true }, host)).toBe(0);
    await host.stdout.flush();
    expect(waited).toBeGreaterThan(0);
    expect(stdout.text().length).toBeGreaterThan(400_000);
  });
});

describe("a turn that fails", () => {
  const usageLimit: Launch = async ({ onEvent }) => {
    await onEvent?.(text("I start"));
    throw cursorError("CURSOR_USAGE_LIMIT", "You've hit your usage limit", {
      stderrTail: "one\n\u001b[31mtwo\u001b[0m\n",
      partial: turnResult(),
    });
  };

  test("says what happened, what to do, and how to go on", async () => {
    const { run, stdout, stderr } = world(usageLimit);
    expect(await run()).toBe(1);
    expect(stdout.text()).toBe("I start\n");
    expect(stderr.text()).toMatch(
      /^error: You've hit your usage limit \(CURSOR_USAGE_LIMIT\)\n {2}one\n {2}two\nhint: .*\n/,
    );
    expect(stderr.text()).toContain(`--resume ${SESSION_ID}\n`);
  });

  test("ends the JSON with its error", async () => {
    const { run, stdout } = world(usageLimit);
    expect(await run(true)).toBe(1);
    const last = JSON.parse(stdout.text().trimEnd().split("\n").at(-1) ?? "");
    expect(last).toMatchObject({
      type: "turn-error",
      code: "CURSOR_USAGE_LIMIT",
      partial: { sessionId: SESSION_ID },
    });
  });

  test.each([
    ["CURSOR_AUTH_REQUIRED", "cursor-agent login"],
    ["CURSOR_NOT_FOUND", "curl https://cursor.com/install -fsS | bash"],
    ["CURSOR_KEYCHAIN_LOCKED", "security unlock-keychain"],
  ])("%s has a hint", async (code, hint) => {
    const { run, stderr } = world(() => Promise.reject(cursorError(code, "no")));
    expect(await run()).toBe(1);
    expect(stderr.text()).toContain(hint);
  });

  test("does not say the same twice, nor everything", async () => {
    const same = world(() =>
      Promise.reject(
        cursorError("CURSOR_EXITED", "Cursor CLI exited 1: some words", { stderrTail: "some words\n" }),
      ),
    );
    await same.run();
    expect(same.stderr.text()).toBe("error: Cursor CLI exited 1: some words (CURSOR_EXITED)\n");
    const long = world(() =>
      Promise.reject(
        cursorError("CURSOR_EXITED", "no", {
          stderrTail: Array.from({ length: 500 }, (_, n) => `line ${n}`).join("\n"),
        }),
      ),
    );
    await long.run();
    expect(long.stderr.text().split("\n").slice(1, 3)).toEqual(["  … 488 lines before", "  line 488"]);
  });

  test("a refused option is wrong usage", async () => {
    const { run, stderr } = world(() => {
      throw new TypeError("prompt must not be empty");
    });
    expect(await run()).toBe(2);
    expect(stderr.text()).toBe("error: prompt must not be empty\n");
  });
});

describe("a turn that is ended from outside", () => {
  test("Ctrl-C aborts it, tells how to go on, and gives 130", async () => {
    const { run, interrupt, stdout, stderr, exits } = world(endless, { tty: true });
    const code = run();
    await new Promise((resolve) => setTimeout(resolve, 120));
    interrupt();
    expect(await code).toBe(130);
    const screen = new Screen(120, 24).write(stdout.text());
    expect(screen.text).toMatch(/^– shell {2}sleep 99 {2}not finished {2}0\.\ds$/);
    expect(screen.cursorVisible).toBe(true);
    expect(stderr.text()).toBe(`aborted\nsession ${SESSION_ID} · go on with --resume ${SESSION_ID}\n`);
    expect(exits).toEqual([]);
  });

  test("a second Ctrl-C exits at once, and the cursor is back all the same", async () => {
    const stuck = world(
      async ({ onEvent }) => {
        await onEvent?.(started("a", "shell"));
        return new Promise<never>(() => {});
      },
      { tty: true },
    );
    void stuck.run();
    await new Promise((resolve) => setTimeout(resolve, 20));
    stuck.interrupt();
    expect(stuck.exits).toEqual([]);
    stuck.interrupt();
    expect(stuck.exits).toEqual([130]);
    for (const listener of stuck.exitListeners) {
      listener();
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(new Screen(120, 24).write(stuck.stdout.text()).cursorVisible).toBe(true);
  });

  test("SIGTERM gives its own code", async () => {
    const { run, interrupt } = world(endless);
    const code = run();
    interrupt(143);
    expect(await code).toBe(143);
  });

  test("a reader that has left ends it without a word", async () => {
    const { run, stdout, stderr } = world(endless);
    const code = run();
    stdout.stream.destroy(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
    expect(await code).toBe(1);
    expect(stderr.text()).toBe("");
  });
});
