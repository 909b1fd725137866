// What became of everything in a soak: how often which act ended how, and what was wrong.

/** As many sentences are kept of what is wrong; the rest is counted. */
const KEPT = 100;

/**
 * @typedef {object} Report
 * @property {Record<string, number>} acts by `<act>: <end>`
 * @property {string[]} wrong
 * @property {number} more that were wrong
 */

export class Log {
  /** @type {Record<string, number>} */
  acts = {};
  /** @type {string[]} */
  wrong = [];
  more = 0;
  /** What has begun and not ended. @type {Set<string>} */
  open = new Set();
  #number = 0;

  /** @param {string} act @param {string} end */
  count(act, end, times = 1) {
    const name = `${act}: ${end}`;
    this.acts[name] = (this.acts[name] ?? 0) + times;
  }

  /** @param {string} what */
  fail(what) {
    if (this.wrong.length < KEPT) this.wrong.push(what);
    else this.more += 1;
  }

  /**
   * Wait for what has to settle within this time, with a value or one of these codes.
   * @template T
   * @param {string} act
   * @param {Promise<T>} promise
   * @param {{ limitMs: number, codes: readonly string[], about?: string }} expected
   * @returns {Promise<T | undefined>}
   */
  async settles(act, promise, { limitMs, codes, about = "" }) {
    this.#number += 1;
    const name = `${act} (${this.#number})`;
    const began = performance.now();
    this.open.add(name);
    try {
      const value = await promise;
      this.count(act, "done");
      return value;
    } catch (error) {
      const end = endOf(error);
      this.count(act, end);
      if (!codes.includes(end))
        this.fail(
          `${act}${about && ` of ${about}`}: ${end}: ${/** @type {Error} */ (error)?.message ?? error}`,
        );
      return undefined;
    } finally {
      this.open.delete(name);
      const took = performance.now() - began;
      if (took > limitMs)
        this.fail(
          `${act}${about && ` of ${about}`}: took ${Math.round(took)} ms, and ${limitMs} is its limit`,
        );
    }
  }

  /** @returns {Report} */
  report() {
    return { acts: this.acts, wrong: this.wrong, more: this.more };
  }

  /** Take over what another one had. @param {Report} report @param {string} who */
  add(report, who) {
    for (const [name, times] of Object.entries(report.acts)) this.acts[name] = (this.acts[name] ?? 0) + times;
    for (const what of report.wrong) this.fail(`${who}: ${what}`);
    this.more += report.more;
  }
}

/** A documented code, with its reason where it has one; else what kind of error it is. @param {unknown} error */
function endOf(error) {
  const { code, reason, name } = /** @type {{ code?: string, reason?: string, name?: string }} */ (
    error ?? {}
  );
  if (code === "bridge-start-failed") return `${code}/${reason}`;
  return String(code ?? name ?? error);
}
