// What a process has: children, descriptors, threads. Linux tells; elsewhere there are no numbers.

import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const told = process.platform === "linux";

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function processes() {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
}

/** State and parent, from behind the name, which may hold anything. */
function statOf(/** @type {string} */ pid) {
  const stat = read(`/proc/${pid}/stat`);
  const [state = "", parent = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state, parent };
}

/**
 * Children of this process, zombies among them, its descriptors, the threads of its runtime, and all others.
 * @returns {Record<"children" | "zombies" | "descriptors" | "runtime" | "threads", number> | undefined}
 */
export function holdings() {
  if (!told) return undefined;
  const children = processes()
    .map(statOf)
    .filter(({ parent }) => parent === String(process.pid));
  const threads = readdirSync("/proc/self/task").map((id) => read(`/proc/self/task/${id}/comm`).trim());
  const runtime = threads.filter((name) => name === "cursor-run").length;
  return {
    children: children.length,
    zombies: children.filter(({ state }) => state === "Z").length,
    // The listing has one open itself.
    descriptors: readdirSync("/proc/self/fd").length - 1,
    runtime,
    threads: threads.length - runtime,
  };
}

/**
 * The processes, whoever their parent is, that have this word in their environment.
 * @param {string} word
 */
export function marked(word) {
  if (!told) return [];
  return processes()
    .filter((pid) => pid !== String(process.pid) && read(`/proc/${pid}/environ`).includes(word))
    .map(Number);
}

/** What the descriptors of this process lead to, without numbers, and how many lead there. */
export function descriptors() {
  /** @type {Record<string, number>} */
  const kinds = {};
  for (const name of told ? readdirSync("/proc/self/fd") : []) {
    try {
      const kind = readlinkSync(`/proc/self/fd/${name}`).replace(/:\[\d+\]$/, "");
      kinds[kind] = (kinds[kind] ?? 0) + 1;
    } catch {
      // That of the listing itself.
    }
  }
  return kinds;
}
