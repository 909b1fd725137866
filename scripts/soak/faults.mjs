// What a soak must find, where it is told to do it: so it is known that its checks can fail.

import { spawn } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** @type {unknown[]} */
const kept = [];

/**
 * @typedef {object} Scene
 * @property {import("./ground.mjs").Place[]} places
 * @property {string} temp
 * @property {import("./operator.mjs").Operator[]} operators
 * @property {import("./log.mjs").Log} log
 * @property {import("./ground.mjs").Ground} ground
 */

/** Each is done once. @type {Record<string, (scene: Scene) => unknown>} */
export const faults = {
  descriptor: () => void openSync("/dev/null", "r"),
  process: () => {
    const child = spawn("sleep", ["600"], { stdio: "ignore", detached: true });
    child.unref();
    kept.push(child);
  },
  lock: ({ places: [place] }) => {
    const lock = join(place?.cwd ?? "", ".cursor", ".fusion-mcp.lock");
    mkdirSync(lock, { recursive: true });
    // Somebody who lives: nobody may take it over.
    writeFileSync(
      join(lock, "owner.json"),
      JSON.stringify({ pid: process.pid, hostname: "another", acquiredAt: Date.now() }),
    );
  },
  temp: ({ temp }) => void mkdtempSync(join(temp, "fusion-cursor-left-")),
  bytes: ({ operators: [first] }) => {
    if (first === undefined) return;
    mkdirSync(join(first.file, ".."), { recursive: true });
    writeFileSync(first.file, `${first.text ?? "{}"} `);
  },
  mode: ({ operators }) => {
    const other = operators.find(({ text }, at) => at > 0 && text !== undefined);
    if (other !== undefined) chmodSync(other.file, 0o604);
  },
  block: ({ ground }) => appendFileSync(ground.excludeFile, "/mine\n"),
  /** One that git does not ignore. */
  added: async ({ ground, places, log }) => {
    const place = places.find(({ name }) => name === "two");
    if (place === undefined) return;
    const file = join(place.cwd, "mcp.json");
    writeFileSync(file, '{"mcpServers": {"fusion-custom-tools-1": {}}}');
    await ground.look(place, log);
    rmSync(file);
  },
  rejection: () => void Promise.reject(new Error("nobody hears this")),
  code: ({ log }) => {
    const promise = Promise.reject(Object.assign(new Error("x"), { code: "NO_SUCH_CODE" }));
    void log.settles("injected", promise, { limitMs: 1000, codes: [] });
  },
  late: ({ log }) =>
    void log.settles("injected late", new Promise((done) => setTimeout(done, 300)), {
      limitMs: 50,
      codes: [],
    }),
};

/** A mebibyte for every look at the memory. */
export function leak() {
  kept.push(Array.from({ length: 1 << 17 }, () => Math.random()));
}
