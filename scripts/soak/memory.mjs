// Whether memory grows, from what it was when nothing ran.

import { setTimeout as sleep } from "node:timers/promises";
import { getHeapStatistics } from "node:v8";

/** Fewer say nothing: the first ones fill caches and pools. */
export const LEAST = 12;
/** What the second half may grow by, in bytes. */
const MOST = { rss: 8 << 20, heap: 2 << 20 };

/** @typedef {{ rss: number, heap: number }} Sample in bytes */

/** With all gone that nobody holds. @returns {Promise<Sample>} */
export async function sample() {
  // The second time, what the first one's finalizers let go of.
  for (let time = 0; time < 2; time += 1) {
    globalThis.gc?.();
    await sleep(20);
  }
  const { used_heap_size: heap } = getHeapStatistics();
  return { rss: process.memoryUsage.rss(), heap };
}

/**
 * The growth over the second half, by the line that lies best through it: one high value at the end is no growth.
 * `undefined` where there are too few.
 * @param {number[]} values
 */
export function growth(values) {
  if (values.length < LEAST) return undefined;
  const half = values.slice(Math.floor(values.length / 2));
  const middle = (half.length - 1) / 2;
  const mean = half.reduce((sum, value) => sum + value, 0) / half.length;
  const [up, across] = half.reduce(
    ([up, across], value, at) => [up + (at - middle) * (value - mean), across + (at - middle) ** 2],
    [0, 0],
  );
  return Math.round((up / across) * (half.length - 1));
}

/** What is wrong with these. @param {Sample[]} samples */
export function grown(samples) {
  return /** @type {const} */ (["rss", "heap"]).flatMap((what) => {
    const by = growth(samples.map((sample) => sample[what]));
    if (by === undefined || by < MOST[what]) return [];
    return [
      `memory (${what}) has grown by ${mega(by)} over the second half; ${mega(MOST[what])} is the most`,
    ];
  });
}

/** @param {number} bytes */
export function mega(bytes) {
  return `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}
