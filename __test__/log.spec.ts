import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type LogRecord, setLogger } from "fusion-cursor-native";
import { afterEach, describe, expect, test } from "vitest";
import { eventually, init, result, Stage, text } from "./support/stage.js";

const root = join(__dirname, "..");
const secret = "the prompt nobody may log";
const steps = [init, text("the answer nobody may log"), result("x")];

afterEach(() => setLogger("off"));

function collect(level: Parameters<typeof setLogger>[0]): LogRecord[] {
  const records: LogRecord[] = [];
  setLogger(level, (record) => void records.push(record));
  return records;
}

describe("setLogger", () => {
  test("gives records with the fields of their turn and process", async () => {
    const records = collect("debug");
    await new Stage(steps).launch();
    await eventually("the last record is there", () =>
      records.some(({ message }) => message === "turn done"),
    );
    const started = records.find(({ message }) => message === "process started");
    expect(started).toMatchObject({
      level: "debug",
      target: "fusion_cursor_native::turn::prepare",
      fields: { turn: expect.any(Number), pid: expect.any(Number) },
    });
    expect(Math.abs((started?.time ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  test("shows no prompt, answer or value of the environment, at any level", async () => {
    const records = collect("trace");
    const env = { CURSOR_API_KEY: "key_0123456789abcdef" };
    await new Stage(steps).launch({ prompt: secret, env, onText() {} });
    const stage = new Stage([init, { text: `${secret}\n`, to: "stderr" }, { exit: 1 }]);
    await expect(stage.launch({ prompt: secret, env })).rejects.toThrow();
    await eventually("the last record is there", () =>
      records.some(({ message }) => message === "turn failed"),
    );
    const all = JSON.stringify(records);
    expect(all).not.toContain("nobody may log");
    expect(all).not.toContain("key_0123");
  });

  test("keeps to its level, and `off` is silence", async () => {
    const records = collect("warn");
    await new Stage(steps).launch();
    await expect(new Stage([init, { exit: 1 }]).launch()).rejects.toThrow();
    await eventually("the warning is there", () => records.length > 0);
    expect(records.map(({ level }) => level)).toEqual(["warn"]);
    setLogger("off");
    await expect(new Stage([init, { exit: 1 }]).launch()).rejects.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(records).toHaveLength(1);
  });

  test("a sink that rejects is a warning, and does not end the host", async () => {
    const warned = once(process, "warning");
    setLogger("info", () => Promise.reject(new Error("mine")) as unknown as undefined);
    await new Stage(steps).launch();
    const [warning] = await warned;
    expect(String(warning)).toContain("a log sink of fusion-cursor-native failed: Error: mine");
  });

  test("refuses a level that there is not", () => {
    expect(() => setLogger("loud" as "off")).toThrow(TypeError);
    expect(() => setLogger("warn", 5 as never)).toThrow(/^sink must be a function/);
  });

  test("drops what a blocked event loop has no room for, and says how much", async () => {
    const records = collect("trace");
    const block = new Int32Array(new SharedArrayBuffer(4));
    const stage = new Stage([]);
    const turns = Array.from({ length: 3000 }, () => stage.launch({ binary: "/none" }));
    const settled = Promise.allSettled(turns);
    Atomics.wait(block, 0, 0, 1500);
    await settled;
    const dropped = (): number => records.reduce((sum, { fields }) => sum + Number(fields.dropped ?? 0), 0);
    await eventually("the queue is empty again", () => records.length >= 1000);
    // What was dropped is told with the next record that gets through.
    await expect(stage.launch({ binary: "/none" })).rejects.toThrow();
    await eventually("the drops are told", () => dropped() > 0);
    expect(records.length + dropped()).toBe(3001);
  });
});

describe("FUSION_CURSOR_LOG", () => {
  const run = (level: string): { out: string } => {
    const stage = new Stage(steps);
    const program = `const { launchCursorPrompt } = require(${JSON.stringify(root)});
      launchCursorPrompt(${JSON.stringify(stage.input())});`;
    const out = execFileSync("sh", ["-c", '"$0" --eval "$1" 2>&1', process.execPath, program], {
      encoding: "utf8",
      env: { ...process.env, FUSION_CURSOR_LOG: level },
    });
    return { out };
  };

  test("writes lines to standard error", () => {
    expect(run("info").out).toMatch(/^info {2}fusion_cursor_native::turn: turn done .*duration_ms=\d+/m);
    expect(run("warn,fusion_cursor_native::turn::prepare=debug").out).toContain("process started");
    expect(run("off").out).toBe("");
  });

  test("is told when it makes no sense, and changes nothing", () => {
    expect(run("loud").out).toContain("FUSION_CURSOR_LOG is ignored");
  });
});
