// Where a soak takes place: worktrees of one repository and a folder in none, and what may lie in them.

import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { GIT_ENV } from "../git-env.mjs";

const CONFIG = ".cursor/mcp.json";
const OURS = "fusion-custom-tools-";

/**
 * `ignoring`: git ignores the operator's config. `open`: it does not. `bare`: the operator has none, at first.
 * `folder`: no repository.
 * @typedef {object} Place
 * @property {string} name
 * @property {string} cwd
 * @property {"ignoring" | "open" | "bare" | "folder"} kind
 */

/** @param {string} cwd @param {string[]} args */
function git(cwd, ...args) {
  return execFileSync("git", args, { cwd, env: GIT_ENV, encoding: "utf8", stdio: "pipe" });
}

/** @param {string} cwd @param {string[]} args */
async function gitBeside(cwd, ...args) {
  const { stdout } = await promisify(execFile)("git", args, { cwd, env: GIT_ENV, maxBuffer: 1 << 26 });
  return stdout;
}

export class Ground {
  /** @type {Place[]} */
  places = [];
  #top;
  #exclude;
  #gitFolder;

  /** @param {string} base an empty folder */
  constructor(base) {
    this.#top = join(base, "the repository");
    mkdirSync(this.#top);
    git(this.#top, "init", "--quiet", "--initial-branch=main");
    const bare = this.#commit("README", "x\n");
    const ignoring = this.#commit(".gitignore", `**/${CONFIG}\n`);
    const linked = (/** @type {string} */ name, /** @type {string} */ commit) => {
      const cwd = join(base, name);
      git(this.#top, "worktree", "add", "--quiet", "--detach", cwd, commit);
      return cwd;
    };
    const web = join(linked("linked three", ignoring), "apps", "[web]");
    const folder = join(base, "no repository");
    for (const made of [web, folder]) mkdirSync(made, { recursive: true });
    this.#add("top", this.#top, "ignoring");
    this.#add("one", linked("linked-1", bare), "bare");
    this.#add("two", linked("linked-2", ignoring), "ignoring");
    this.#add("web", web, "ignoring");
    this.#add("open", linked("linked-4", bare), "open");
    this.#add("folder", folder, "folder");
    this.excludeFile = join(this.#top, ".git", "info", "exclude");
    this.#exclude = readFileSync(this.excludeFile, "utf8");
    this.#gitFolder = this.#gitNames();
  }

  /**
   * Ask git what it shows, and what `git add -A` takes, beside all that goes on.
   * @param {Place} place
   * @param {import("./log.mjs").Log} log
   */
  async look(place, log) {
    if (place.kind === "folder") return;
    const shown = await gitBeside(place.cwd, "--no-optional-locks", "status", "--porcelain", "-uall", "-z");
    const strange = shown
      .split("\0")
      .filter((line) => line !== "" && !(place.kind !== "ignoring" && mine(line)));
    if (strange.length > 0) log.fail(`git status in ${place.name} shows ${strange.join(", ")}`);
    await gitBeside(place.cwd, "add", "-A");
    const added = await gitBeside(place.cwd, "diff", "--cached", "-U0");
    if (added.includes(OURS)) log.fail(`git add -A in ${place.name} took an entry of a lease`);
    if (/^\+\+\+ .*\.fusion-|^\+\+\+ .*\.tmp/m.test(added))
      log.fail(`git add -A in ${place.name} took ${added}`);
    await gitBeside(place.cwd, "reset", "--quiet");
    log.count("git", "asked");
  }

  /**
   * What is wrong with what lies here, when nobody is at work.
   * @param {typeof import("fusion-cursor-native")} cursor
   */
  async wrong(cursor) {
    /** @type {string[]} */
    const wrong = [];
    for (const { cwd, name, kind } of this.places) {
      const folder = join(cwd, ".cursor");
      const strange = existsSync(folder) ? readdirSync(folder).filter((found) => found !== "mcp.json") : [];
      if (strange.length > 0) wrong.push(`${name}: .cursor holds ${strange.join(", ")}`);
      const { leases, pending, quarantine, locks, residue, exclusion, problems } =
        await cursor.inspectCursorWorktree(cwd);
      const left = { leases, pending, quarantine, locks, residue, problems, block: exclusion?.present };
      for (const [what, there] of Object.entries(left)) {
        const none = Array.isArray(there)
          ? there.length === 0
          : there === null || there === undefined || there === false;
        if (!none) wrong.push(`${name}: ${what} is left: ${JSON.stringify(there)}`);
      }
      if (kind === "folder") continue;
      const shown = git(cwd, "status", "--porcelain", "-uall", "-z").split("\0");
      const visible = shown.filter((line) => line !== "" && !(kind !== "ignoring" && mine(line)));
      if (visible.length > 0) wrong.push(`${name}: git status shows ${visible.join(", ")}`);
    }
    const exclude = readFileSync(this.excludeFile, "utf8");
    if (exclude !== this.#exclude) wrong.push(`info/exclude is now ${JSON.stringify(exclude)}`);
    const names = this.#gitNames().filter((found) => !this.#gitFolder.includes(found));
    if (names.length > 0) wrong.push(`the git directory holds ${names.join(", ")}`);
    return wrong;
  }

  /** @param {string} name @param {string} cwd @param {Place["kind"]} kind */
  #add(name, cwd, kind) {
    this.places.push({ name, cwd, kind });
  }

  /** @param {string} name @param {string} content */
  #commit(name, content) {
    writeFileSync(join(this.#top, name), content);
    git(this.#top, "add", name);
    git(this.#top, "commit", "--quiet", `--message=${name}`);
    return git(this.#top, "rev-parse", "HEAD").trim();
  }

  /** All in the git directory, but for objects. */
  #gitNames() {
    const inGit = (/** @type {string} */ folder) =>
      existsSync(join(this.#top, ".git", folder))
        ? readdirSync(join(this.#top, ".git", folder)).map((name) => join(folder, name))
        : [];
    const worktrees = readdirSync(join(this.#top, ".git", "worktrees"));
    return [".", "info", ...worktrees.map((name) => join("worktrees", name))]
      .flatMap(inGit)
      .filter((name) => !/(^|\/)(ORIG_HEAD|FETCH_HEAD|index\.lock)$/.test(name));
  }
}

/** The operator's own config, which nobody hides. @param {string} line */
function mine(line) {
  return line.endsWith(` ${CONFIG}`);
}
