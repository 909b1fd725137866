// Numbers from a seed, by which a soak decides.

/** A mulberry32: the same numbers for the same seed. */
export class Random {
  #state;
  #seed;

  /** @param {number} seed */
  constructor(seed) {
    this.#seed = seed | 0;
    this.#state = this.#seed;
  }

  /** From 0 to below 1. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 to below `limit`. @param {number} limit */
  below(limit) {
    return Math.floor(this.next() * limit);
  }

  /** A whole number of these and between. @param {number} least @param {number} most */
  between(least, most) {
    return least + this.below(most - least + 1);
  }

  /** @param {number} part of all times */
  chance(part) {
    return this.next() < part;
  }

  /** @template T @param {readonly T[]} list @returns {T} */
  pick(list) {
    return /** @type {T} */ (list[this.below(list.length)]);
  }

  /**
   * Another one, which depends on the seed and the word alone: what one actor does then changes nothing for the others,
   * in whichever order they come.
   * @param {string} word
   */
  fork(word) {
    let hash = this.#seed ^ 0x811c9dc5;
    for (let at = 0; at < word.length; at += 1) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
    return new Random(hash);
  }

  /** For somebody else's {@link Random}. */
  get seed() {
    return this.#seed;
  }
}
