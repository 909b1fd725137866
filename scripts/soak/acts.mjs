// What a host does in a soak. The same acts run in the soak's own process, in its workers, and in hosts that are killed.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isMainThread } from "node:worker_threads";
import { bad, calling, good } from "./agents.mjs";

/** What any single promise may take, on a machine that has ten times as much to do. */
const LIMIT_MS = 60_000;
const LOCK_MS = 40_000;
/** An operator who is in the middle of something, or git that is asked to add it. */
const NOT_NOW = ["unparsable", "quarantined", "tracked"].map((reason) => `bridge-start-failed/${reason}`);
/** Where the machine takes longer than the grace to bury it, a crash counts as ended here: that is no exit of its own. */
const LATE = ["CURSOR_EXITED", "CURSOR_NO_RESULT"];
const SHORT = { exitGraceMs: 50, killGraceMs: 50, maxLineBytes: 1 << 20 };

/**
 * What a host needs to know; it can be sent to another one.
 * @typedef {object} World
 * @property {import("./ground.mjs").Place[]} places
 * @property {string} scenarios
 * @property {string} agent the program
 * @property {string} programs for probes
 */

/** @typedef {import("./random.mjs").Random} Random */

export class Acts {
  #cursor;
  #world;
  #log;

  /**
   * @param {typeof import("fusion-cursor-native")} cursor
   * @param {World} world
   * @param {import("./log.mjs").Log} log
   */
  constructor(cursor, world, log) {
    this.#cursor = cursor;
    this.#world = world;
    this.#log = log;
  }

  /** Any of them. @param {Random} random */
  any(random) {
    const kind = random.below(20);
    if (kind < 7) return this.session(random);
    if (kind < 13) return this.turn(random);
    if (kind < 16) return this.lease(random);
    if (kind < 18) return this.bridge(random);
    return kind === 18 ? this.probe(random) : this.look(random);
  }

  /** A turn by itself. @param {Random} random */
  async turn(random) {
    const [name, agent] = anAgent(random);
    const aborts = random.chance(0.33);
    const signal = aborts ? aborting(random, 120) : undefined;
    const running = this.#cursor.launchCursorPrompt({
      cwd: random.pick(this.#world.places).cwd,
      prompt: promptOf(name),
      binary: this.#world.agent,
      env: this.#scenario(name),
      ...(signal === undefined ? {} : { signal }),
      ...SHORT,
      ...callbacks(random),
      ...agent.limits,
    });
    await this.#settles("turn", running, [...agent.ends, ...(aborts ? ["CURSOR_ABORTED"] : [])], name);
  }

  /** A session with or without tools: some turns, and its end at any moment. @param {Random} random */
  async session(random) {
    const calls = random.chance(0.5);
    const [name, agent] = calls ? /** @type {const} */ (["calling", calling]) : anAgent(random);
    const aborts = random.chance(0.15);
    const session = await this.#settles(
      "create",
      this.#cursor.CursorSession.create({
        cwd: random.pick(this.#world.places).cwd,
        binary: this.#world.agent,
        env: this.#scenario(name),
        lockTimeoutMs: LOCK_MS,
        systemPrompt: "Be brief.",
        ...(calls || random.chance(0.3)
          ? { fusionTools: tools(), toolBridge: { callTimeoutMs: 20_000 } }
          : {}),
        ...(aborts ? { signal: aborting(random, 200) } : {}),
        ...SHORT,
        ...callbacks(random),
        ...("limits" in agent ? agent.limits : {}),
      }),
      aborts ? ["CURSOR_ABORTED"] : [],
    );
    if (session === undefined) return;
    const codes = [...agent.ends, ...(calls ? LATE : []), "CURSOR_ABORTED", "CURSOR_SESSION_DISPOSED"];
    const turns = Array.from({ length: random.below(4) }, (_, number) =>
      random.chance(0.3)
        ? this.#settles("stream", this.#stream(session, name, random.fork(`stream-${number}`)), codes, name)
        : this.#settles(
            "prompt",
            session.prompt(promptOf(name), random.chance(0.2) ? { signal: aborting(random, 400) } : {}),
            codes,
            name,
          ),
    );
    if (random.chance(0.5)) await sleep(random.between(0, 500));
    else await Promise.all(turns);
    this.#log.count(
      "session",
      session.fusionToolBridgeError === undefined ? "with what it asked for" : "without tools",
    );
    await this.#away("dispose session", () => session.dispose(), random.chance(0.2));
    await Promise.all(turns);
  }

  /** A staged server, which may be taken out in any way. @param {Random} random */
  async lease(random) {
    const aborts = random.chance(0.25);
    const { cwd } = random.pick(this.#world.places);
    const lease = await this.#settles(
      "stage",
      this.#cursor.stageCursorMcpLease({
        worktreePath: cwd,
        serverKey: `fusion-custom-tools-${randomUUID()}`,
        serverEntry: { command: "/opt/my tools/node", args: ["x"], env: { TOKEN: randomUUID() } },
        lockTimeoutMs: LOCK_MS,
        ...(aborts ? { signal: aborting(random, 150) } : {}),
      }),
      [...NOT_NOW, ...(aborts ? ["CURSOR_ABORTED"] : [])],
    );
    if (lease === undefined) return;
    for (let beats = random.below(3); beats > 0; beats -= 1) {
      await sleep(random.between(0, 100));
      const there = await this.#settles("heartbeat", lease.heartbeat(), []);
      this.#log.count("in force", String(there));
    }
    if (random.chance(0.1)) {
      this.#cursor.releaseHeldLeasesSync(random.chance(0.5) ? cwd : undefined);
      this.#log.count("release", "done");
    }
    await this.#away("dispose lease", () => lease.dispose(), random.chance(0.3));
  }

  /** A bridge with callers that behave and that do not. @param {Random} random */
  async bridge(random) {
    const opened = this.#cursor.startCursorToolBridge(tools(), { callTimeoutMs: 300 });
    const bridge = await this.#settles("bridge", opened, []);
    if (bridge == null) return;
    const { FUSION_CURSOR_TOOL_BRIDGE_URL: url = "" } = bridge.serverEntry.env;
    const callers = Array.from({ length: random.between(1, 3) }, (_, number) => {
      const its = random.fork(`caller-${number}`);
      // Nobody would wait for the child of a worker that is terminated, and it would stay a zombie: Node's own affair.
      return isMainThread && its.chance(0.5)
        ? this.#child(bridge, its)
        : this.#stranger(Number(new URL(url).port), its);
    });
    if (random.chance(0.5)) await sleep(random.between(0, 300));
    else await Promise.all(callers);
    await this.#away("dispose bridge", () => bridge.dispose(), random.chance(0.2));
    await Promise.all(callers);
  }

  /** @param {Random} random */
  async probe(random) {
    const aborts = random.chance(0.3);
    const signal = aborts ? { signal: aborting(random, 300) } : {};
    const codes = aborts ? ["CURSOR_ABORTED"] : [];
    const name = random.pick(["stand-in", "hangs", "babbles", "fails", "missing"]);
    const binaryPath = name === "stand-in" ? this.#world.agent : join(this.#world.programs, name);
    const options = { binaryPath, timeoutMs: random.between(50, 400), ...signal };
    if (random.chance(0.6)) await this.#settles("probe", this.#cursor.probeCursorBinary(options), codes);
    else {
      const { binaryPath, timeoutMs, ...rest } = options;
      await this.#settles("models", this.#cursor.discoverCursorModels(binaryPath, timeoutMs, rest), codes);
    }
  }

  /** @param {Random} random */
  async look(random) {
    const { cwd } = random.pick(this.#world.places);
    if (random.chance(0.5)) await this.#settles("inspect", this.#cursor.inspectCursorWorktree(cwd), []);
    else
      await this.#settles(
        "reconcile",
        this.#cursor.reconcileCursorWorktree(cwd, { lockTimeoutMs: LOCK_MS }),
        [],
      );
  }

  /**
   * @template T
   * @param {string} act @param {Promise<T>} promise @param {readonly string[]} codes @param {string} [about]
   */
  #settles(act, promise, codes, about = "") {
    return this.#log.settles(act, promise, { limitMs: LIMIT_MS, codes, about });
  }

  /**
   * Take it away, until that is done: in the way of a lease are only things that the operator mends soon.
   * @param {string} act @param {() => Promise<void>} dispose @param {boolean} twice at the same time
   */
  async #away(act, dispose, twice) {
    const all = async () => {
      for (let time = 0; ; time += 1) {
        try {
          await Promise.all(twice ? [dispose(), dispose()] : [dispose()]);
          return;
        } catch (error) {
          const { code, reason } = /** @type {{ code?: string, reason?: string }} */ (error);
          if (time === 50 || !NOT_NOW.includes(`${code}/${reason}`)) throw error;
          this.#log.count(act, `not yet, ${reason}`);
          await sleep(100);
        }
      }
    };
    await this.#settles(act, all(), []);
  }

  /** @param {string} name */
  #scenario(name) {
    return { FUSION_CURSOR_SCENARIO: join(this.#world.scenarios, `${name}.json`) };
  }

  /**
   * @param {import("fusion-cursor-native").CursorSession} session
   * @param {string} name
   * @param {Random} random
   */
  async #stream(session, name, random) {
    const least = random.chance(0.3) ? random.below(5) : Number.POSITIVE_INFINITY;
    const stream = session.stream(promptOf(name));
    let seen = 0;
    for await (const _ of stream) {
      if (seen >= least) break;
      seen += 1;
      if (random.chance(0.05)) await sleep(2);
    }
  }

  /** What Cursor starts, and a call of it; it may be killed in the middle. @param {import("fusion-cursor-native").CursorToolBridge} bridge @param {Random} random */
  async #child({ serverEntry: { command, args, env } }, random) {
    const child = spawn(command, args, {
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "ignore"],
    });
    const ended = once(child, "close");
    const killed = random.chance(0.4)
      ? setTimeout(() => child.kill("SIGKILL"), random.between(0, 400))
      : undefined;
    child.stdin.on("error", () => {});
    const calls = ["fn_say", "fn_fail", "fn_wait", "fn_large"].map((name, id) => ({
      method: "tools/call",
      id,
      params: { name, arguments: {} },
    }));
    const hello = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "soak", version: "1" },
    };
    const all = [
      { method: "initialize", id: "i", params: hello },
      { method: "notifications/initialized" },
      ...calls,
    ];
    for (const message of all) child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    child.stdin.end(random.chance(0.2) ? '{"jsonrpc": "2.0", "meth' : "");
    child.stdout.resume();
    await this.#settles("mcp child", ended, []);
    clearTimeout(killed);
  }

  /** Somebody who says anything, or nothing, and hangs up. @param {number} port @param {Random} random */
  async #stranger(port, random) {
    const said = random.pick([
      "",
      "GET / HTTP/1.1\r\n\r\n",
      "POST /tool-call HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 99999\r\n\r\n{",
      "\u0000\u0001\u0002".repeat(3000),
      "POST /tool-call HTTP/1.1\r\nauthorization: Bearer x\r\ncontent-length: 2\r\n\r\n{}",
    ]);
    const socket = connect({ port, host: "127.0.0.1" });
    socket.on("error", () => {});
    socket.write(said);
    socket.resume();
    await sleep(random.between(0, 300));
    socket.destroy();
    this.#log.count("stranger", "gone");
  }
}

/** @param {Random} random @returns {[string, import("./agents.mjs").Agent]} */
function anAgent(random) {
  const [name, agent] = random.pick(Object.entries(random.chance(0.5) ? good : bad));
  return [name, { ...agent, ends: agent.ends.includes("CURSOR_EXITED") ? LATE : agent.ends }];
}

/** More of them early: a turn is short. @param {Random} random @param {number} mostMs */
function aborting(random, mostMs) {
  const controller = new AbortController();
  const ms = random.next() ** 2 * mostMs;
  if (random.chance(0.03)) controller.abort();
  else setTimeout(() => controller.abort(), ms).unref();
  return controller.signal;
}

/** @param {string} name */
function promptOf(name) {
  return name === "one that never reads" ? "x".repeat(1 << 20) : name;
}

/** None, one that is quick, or one that holds the stream now and then. @param {Random} random */
function callbacks(random) {
  const kind = random.below(3);
  if (kind === 0) return {};
  if (kind === 1) return { onEvent: () => {} };
  let seen = 0;
  return {
    onText: () => {},
    onToolEnd: (
      /** @type {string} */ _name,
      /** @type {boolean} */ _isError,
      /** @type {unknown} */ _result,
    ) => {},
    onEvent: () => {
      seen += 1;
      return seen % 50 === 0 ? sleep(1) : undefined;
    },
  };
}

/** Made anew for each, as a host does. */
function tools() {
  return [
    {
      name: "fn_say",
      execute: (/** @type {string} */ _id, /** @type {Record<string, unknown>} */ args) => args.text,
    },
    {
      name: "fn_fail",
      execute: () => {
        throw new Error("it does not work");
      },
    },
    {
      name: "fn_wait",
      execute: (/** @type {string} */ _id, /** @type {unknown} */ _args, /** @type {AbortSignal} */ signal) =>
        sleep(30, "waited", { signal }),
    },
    { name: "fn_large", execute: () => "x".repeat(300_000) },
    { name: "no_fn", execute: () => "never" },
  ];
}
