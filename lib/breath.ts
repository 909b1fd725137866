/**
 * Who hands over many events gives the event loop a breath in between: batches of several turns come in one go,
 * and timers and I/O of the host would have to wait for all of them.
 */

/** How long events are handed over without a break, in milliseconds, all turns together. */
const SLICE_MS = 4;

/** The clock is looked at once in so many events: it costs as much as a small one of them. */
const LOOK_EVERY = 16;

let unseen = 0;
let sliceBegan: number | undefined;

/** To be asked after every event. */
export function isBreathDue(): boolean {
  unseen += 1;
  if (unseen < LOOK_EVERY) return false;
  unseen = 0;
  const now = performance.now();
  if (sliceBegan !== undefined) return now - sliceBegan > SLICE_MS;
  sliceBegan = now;
  // Runs once the loop has come round, and then the next slice begins.
  setImmediate(() => {
    sliceBegan = undefined;
  });
  return false;
}

/** Settles when the loop has come round. */
export function breath(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
