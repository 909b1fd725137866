// A worker that has everything under way at once: turns, leases, a bridge, a session. It goes on until it is ended.

const { randomUUID } = require("node:crypto");
const { join } = require("node:path");
const { parentPort, workerData } = require("node:worker_threads");

const { folder, what } = workerData;

/** How many turns are under way at a time. */
const TURNS = 2;

const cursor = require("fusion-cursor-native");
const { scenarioEnv, standInAgentPath } = require("fusion-cursor-native/testing");

const binary = standInAgentPath();
const add = { name: "fn_add", execute: () => "x" };
const input = (scenario) => ({
  cwd: folder,
  prompt: "hi",
  binary,
  env: scenarioEnv(join(folder, scenario)),
  killGraceMs: 200,
});
const stage = () =>
  cursor.stageCursorMcpLease({
    worktreePath: folder,
    serverKey: `fusion-custom-tools-${randomUUID()}`,
    serverEntry: { command: "server", args: [] },
  });

async function forEver(act) {
  for (;;) await act();
}

const acts = {
  /** Loads the package, and ends. */
  async load() {},

  async turn() {
    const { text } = await cursor.launchCursorPrompt({ ...input("short.json"), onEvent() {} });
    parentPort.postMessage(text);
  },

  /** One that is not over when the worker is ended. */
  async live() {
    await cursor.launchCursorPrompt({ ...input("endless.json"), onEvent() {} });
  },

  async everything() {
    const short = () => cursor.launchCursorPrompt({ ...input("short.json"), onText() {}, onEvent() {} });
    const lease = async () => {
      const held = await stage();
      await held.heartbeat();
      await held.dispose();
    };
    const bridge = async () => (await cursor.startCursorToolBridge([add])).dispose();
    const session = async () => {
      const made = await cursor.CursorSession.create({ ...input("short.json"), fusionTools: [add] });
      for await (const _event of made.stream("hi"));
      await made.dispose();
    };
    const probe = () =>
      cursor.probeCursorBinary({ binaryPath: binary, env: { PATH: "/none", HOME: "/none" } });
    cursor.setLogger("trace", () => {});
    const running = [lease, bridge, session, probe, ...Array.from({ length: TURNS }, () => short)].map(
      forEver,
    );
    await Promise.all([...running, acts.live()]);
  },
};

acts[what]();
