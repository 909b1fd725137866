// The clocks of the measured processes.

import { openSync, readSync } from "node:fs";
import { performance } from "node:perf_hooks";

/**
 * The middle one.
 * @param {number[]} values
 */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

const text = Buffer.alloc(100);
/** What the scheduler says about the main thread: nanoseconds that it ran, and that it waited for a processor. */
const schedule = process.platform === "linux" ? openSync("/proc/self/schedstat", "r") : undefined;

/** @param {number} descriptor @param {0 | 1} field */
function scheduledMs(descriptor, field) {
  const length = readSync(descriptor, text, 0, text.length, 0);
  return Number(text.toString("latin1", 0, length).split(" ")[field]) / 1e6;
}

/** Milliseconds for which the main thread has run; outside of Linux those in which the loop was not idle. */
export function busyMs() {
  return schedule === undefined ? performance.eventLoopUtilization().active : scheduledMs(schedule, 0);
}

/**
 * Milliseconds in which the main thread has run, slept or been blocked. On Linux those in which it only waited for a
 * processor, which whatever runs beside it has taken, do not count.
 */
export function ownMs() {
  return performance.now() - (schedule === undefined ? 0 : scheduledMs(schedule, 1));
}

/**
 * How late a timer is that may become due at any moment. A timer every millisecond is late once while the loop stands
 * still; all that would have become due behind it are counted too, as they are late all the same.
 */
export class Lateness {
  /** @type {number[]} */
  #late = [];
  #due = ownMs() + 1;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;

  constructor() {
    const tick = () => {
      const now = ownMs();
      for (let late = now - this.#due; late > 0; late -= 1) this.#late.push(late);
      this.#due = now + 1;
      this.#timer = setTimeout(tick, 1);
    };
    this.#timer = setTimeout(tick, 1);
  }

  /** The delay that so many of a hundred do not exceed, in milliseconds. */
  stop() {
    clearTimeout(this.#timer);
    const sorted = this.#late.sort((a, b) => a - b);
    return (/** @type {number} */ percent) =>
      sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0;
  }
}

/** Keeps the loop turning, and times every turn of it: the longest is the block that a host feels. */
export class Turning {
  longestMs = 0;
  #going = true;
  #last = ownMs();

  constructor() {
    const turn = () => {
      const time = ownMs();
      this.longestMs = Math.max(this.longestMs, time - this.#last);
      this.#last = time;
      if (this.#going) setImmediate(turn);
    };
    setImmediate(turn);
  }

  /** Forget what was. */
  again() {
    this.longestMs = 0;
    this.#last = ownMs();
  }

  stop() {
    this.#going = false;
  }
}
