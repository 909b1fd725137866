// The operator of a worktree, who changes their own `.cursor/mcp.json` whenever they like; and what they left there.

import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** By the name of this server an edit is known again. */
const MARK = /"own-\d+"/;
/** So long after a change it is looked for again, as an editor shows what is on disk. */
const LOOK_MS = 60;
const MODES = [0o600, 0o640, 0o644];

/** What people write; `@` is where the servers stand. */
const STYLES = [
  '{"mcpServers":{@}}',
  '{\n  "mcpServers": {\n    @\n  }\n}\n',
  '{\r\n\t"other": 1.50,\r\n\t"mcpServers": {\r\n\t\t@\r\n\t}\r\n}\r\n',
  '\ufeff{ "mcpServers": { @ }, "z": [1e3, {}] }',
  '// Mine.\n{\n  "mcpServers": {\n    @, /* and no more */\n  },\n}\n\n',
];

export class Operator {
  /** What the file is to hold when nobody else is at work; `undefined`: there is none. @type {string | undefined} */
  text;
  mode = 0o644;
  /** Changes that fell into the moment between a last look and a rename, and had to be made again. */
  lost = 0;
  #random;
  #log;
  #edits = 0;
  #around;
  #scratch;

  /**
   * @param {import("./ground.mjs").Place} place
   * @param {import("./random.mjs").Random} random
   * @param {import("./log.mjs").Log} log
   * @param {string} scratch a file of the operator's own, on the same disk
   */
  constructor(place, random, log, scratch) {
    this.file = join(place.cwd, ".cursor", "mcp.json");
    this.#random = random;
    this.#log = log;
    this.#scratch = scratch;
    // Whoever saves what they read before a lease ended brings its entry back; git must not see it then.
    this.#around = place.kind === "ignoring";
    if (place.kind !== "bare" && random.chance(0.7)) this.#put(this.#document());
  }

  /**
   * Change something, and see it on disk.
   * @param {boolean} gently nothing that only the next session, or `reconcile`, can put in order
   */
  async act(gently) {
    const kind = this.#random.below(gently ? 4 : 10);
    if (gently && kind === 0) return this.#permit();
    if (gently && kind === 1) return this.#save("deleted", undefined);
    if (kind < 4) await this.#save("written", this.#document());
    else if (kind < 6) await this.#edit();
    else if (kind === 6) await this.#save("deleted", undefined);
    else if (kind === 7) this.#permit();
    else await this.#breakFor(this.#random.between(20, 500));
  }

  /** What is wrong with what lies there, when nobody is at work. */
  wrong() {
    const text = this.#read();
    if (text !== this.text)
      return `holds ${JSON.stringify(text)}, and its operator left ${JSON.stringify(this.text)}`;
    if (text === undefined) return undefined;
    const mode = statSync(this.file).mode & 0o7777;
    if (mode !== this.mode)
      return `has mode ${mode.toString(8)}, and its operator gave it ${this.mode.toString(8)}`;
    return undefined;
  }

  #document() {
    this.#edits += 1;
    const own = [`"own-${this.#edits}": { "command": "b\\u00f6ard", "args": [ "1" ] }`];
    for (let more = this.#random.below(3); more > 0; more -= 1)
      own.push(`"more-${more}": {"url": "http://x//y"}`);
    return this.#random.pick(STYLES).replace("@", own.join(", "));
  }

  /** A new name and a comment in the middle of what is there, entries of leases included. */
  async #edit() {
    const found = this.#read();
    if (!this.#around || this.text === undefined || found === undefined || !MARK.test(found))
      return this.#save("written", this.#document());
    this.#edits += 1;
    const fresh = `${this.#random.chance(0.3) ? "/* here */ " : ""}"own-${this.#edits}"`;
    const change = (/** @type {string} */ text) => text.replace(MARK, fresh);
    await this.#save("edited", change(this.text), change(found));
  }

  #permit() {
    if (this.text === undefined) return;
    const mode = this.#random.pick(MODES);
    try {
      chmodSync(this.file, mode);
      this.mode = mode;
      this.#log.count("operator", "permitted");
    } catch {
      // It is just being replaced by a name that is not there yet: nothing was changed.
    }
  }

  /** No JSON for a while. @param {number} ms */
  async #breakFor(ms) {
    const found = this.#around ? this.#read() : undefined;
    this.#put(`${found ?? '{"mcpServers": {'} oops`);
    this.#log.count("operator", "broke it");
    await sleep(ms);
    await this.#save("mended", this.#document());
  }

  /**
   * Save it until it stands: a change in the microseconds between a last look and a rename is overwritten.
   * @param {string} what
   * @param {string | undefined} text what it comes to without entries of leases
   */
  async #save(what, text, written = text) {
    this.#log.count("operator", what);
    for (let time = 0; ; time += 1) {
      this.#put(written);
      this.text = text;
      await sleep(LOOK_MS);
      if (this.#stands()) return;
      this.lost += 1;
      if (time === 5)
        return void this.#log.fail(`${this.file}: a change by its operator was overwritten ${time} times`);
    }
  }

  #stands() {
    const found = this.#read();
    const [mark] = MARK.exec(this.text ?? "") ?? [];
    return mark === undefined ? !MARK.test(found ?? "") : (found ?? "").includes(mark);
  }

  /** As editors do: into the file, or by another one that takes its name. @param {string | undefined} text */
  #put(text) {
    if (text === undefined) return rmSync(this.file, { force: true });
    mkdirSync(dirname(this.file), { recursive: true });
    if (this.#random.chance(0.5)) {
      writeFileSync(this.file, text);
      chmodSync(this.file, this.mode);
    } else {
      // Not beside it: git looks there, and so do the checks.
      const other = this.#scratch;
      writeFileSync(other, text);
      chmodSync(other, this.mode);
      mkdirSync(dirname(this.file), { recursive: true });
      renameSync(other, this.file);
    }
  }

  #read() {
    try {
      return readFileSync(this.file, "utf8");
    } catch {
      return undefined;
    }
  }
}
