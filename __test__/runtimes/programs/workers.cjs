// Hosts of workers, one kind by its name. What one says is JSON, a line for each thing.

const { existsSync, readFileSync, readdirSync, writeSync } = require("node:fs");
const { join } = require("node:path");
const process = require("node:process");
const { Worker } = require("node:worker_threads");

const [, , kind, ...args] = process.argv;

function say(value) {
  writeSync(1, `${JSON.stringify(value)}\n`);
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function until(so) {
  while (!so()) await sleep(5);
}

/** Whether a process runs; one that nobody has buried yet does not. */
function runs(pid) {
  try {
    process.kill(pid, 0);
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}

/** Whether nothing of a worker is left, while this host lives on. */
function isClean(folder) {
  const noted = ["leader", "child"].map((name) => join(folder, name)).filter((file) => existsSync(file));
  return (
    !existsSync(join(folder, ".cursor")) && !noted.some((file) => runs(Number(readFileSync(file, "utf8"))))
  );
}

function worker(number, what) {
  const folder = join(process.cwd(), `work-${number}`);
  const made = new Worker(join(__dirname, "worker.cjs"), { workerData: { folder, what } });
  // One that is ended in the middle of its start may tell of that as an error.
  const ended = new Promise((resolve) => made.once("exit", resolve));
  const failed = new Promise((_, reject) => made.once("error", reject));
  failed.catch((error) => say({ error: String(error?.stack ?? error) }));
  const message = new Promise((resolve) => made.once("message", resolve));
  return { made, folder, ended, message: Promise.race([message, failed]) };
}

/** Numbers from 0 to 1, the same for the same seed. */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const kinds = {
  /** All at once, each terminated at a moment of its own. */
  async twenty(seed, longest, then) {
    const next = random(Number(seed));
    const workers = Array.from({ length: 20 }, (_, number) => worker(number, "everything"));
    await Promise.all(
      workers.map(async ({ made, ended }) => {
        await sleep(next() * Number(longest));
        await made.terminate();
        await ended;
      }),
    );
    if (then !== "stay") return;
    await until(() => workers.every(({ folder }) => isClean(folder)));
    await until(() => readdirSync(join(process.cwd(), "tmp")).length === 0);
    say("clean");
  },

  /** One after the other, and the package nowhere else. */
  async rounds(count) {
    let texts = "";
    for (let round = 0; round < Number(count); round++) {
      const { made, message, ended } = worker(0, "turn");
      texts += await message;
      await made.terminate();
      await ended;
    }
    say({ texts: texts.length / "ok".length });
  },

  /** Each ends the moment that it has loaded the package. */
  async loads(count, main) {
    if (main === "before") require("fusion-cursor-native");
    for (let round = 0; round < Number(count); round++) {
      await Promise.all([worker(0, "load").ended, worker(0, "load").ended]);
    }
    if (main === "after") require("fusion-cursor-native");
  },

  /** Terminated in the middle of a turn, after which the host still works. */
  async live(main) {
    const cursor = main === "main" ? require("fusion-cursor-native") : undefined;
    const { made, folder, ended } = worker(0, "live");
    await until(() => existsSync(join(folder, "leader")));
    await made.terminate();
    await ended;
    await until(() => isClean(folder));
    if (cursor !== undefined) say((await cursor.probeCursorBinary({ binaryPath: "/none", env: {} })).state);
  },

  /** The host itself ends, with workers in the middle of everything. */
  async exit(way, main) {
    if (main === "main") require("fusion-cursor-native");
    const workers = Array.from({ length: 4 }, (_, number) => worker(number, "everything"));
    await until(() => workers.every(({ folder }) => existsSync(join(folder, "leader"))));
    if (way === "exit") process.exit(0);
    setTimeout(() => {
      throw new Error("as it is meant");
    });
  },

  /** What the next host does: it takes away what one that could not do so left behind. */
  async next(count) {
    const cursor = require("fusion-cursor-native");
    for (let number = 0; number < Number(count); number++) {
      const cwd = join(process.cwd(), `work-${number}`);
      const session = await cursor.CursorSession.create({
        cwd,
        fusionTools: [{ name: "fn_x", execute() {} }],
      });
      await session.dispose();
    }
  },
};

kinds[kind](...args).then(() => say("done"));
