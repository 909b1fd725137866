/** What a release stands on, and how it is published: with npm itself, into a registry on this machine. */

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { tagFor } from "../scripts/publish.mjs";
import { disagreements, type Facts, type Listed, notes } from "../scripts/release.mjs";

const run = promisify(execFile);
const script = join(__dirname, "..", "scripts", "publish.mjs");
const repository = { type: "git", url: "git+https://github.com/example/fusion-cursor-native.git" };

describe("before anything is built", () => {
  const manifest = { name: "main", version: "1.2.3", repository };
  const crate = 'name = "main"\nversion = "1.2.3"\n';
  const good: Facts = {
    tag: "v1.2.3",
    manifest,
    lock: { version: "1.2.3", packages: { "": { version: "1.2.3" } } },
    packages: [{ ...manifest, name: "main-linux" }],
    cargo: `[package]\n${crate}`,
    cargoLock: `[[package]]\n${crate}`,
    changelog:
      "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-02\n\n- It works.\n\n## [1.2.2] - 2026-01-01\n",
    onMain: true,
    runsIn: "https://github.com/Example/fusion-cursor-native",
  };

  test("all agrees", () => {
    expect(disagreements(good)).toEqual([]);
    expect(disagreements({ ...good, onMain: undefined, runsIn: undefined })).toEqual([]);
  });

  const older = { ...manifest, version: "1.2.2" };
  test.each<[string, Partial<Facts>, string]>([
    ["another tag", { tag: "v1.2.4" }, "the tag is v1.2.4, and package.json has the version 1.2.3"],
    ["a tag without its v", { tag: "1.2.3" }, "the tag is 1.2.3"],
    [
      "a version that is none",
      { manifest: { ...manifest, version: "1.2" } },
      "has the version 1.2, which is none",
    ],
    [
      "another crate",
      { cargo: crate.replace("1.2.3", "1.2.2") },
      "Cargo.toml has another version than 1.2.3",
    ],
    ["another crate in the lock", { cargoLock: "" }, "Cargo.lock has another version than 1.2.3"],
    ["another lock", { lock: { version: "1.2.3", packages: {} } }, "package-lock.json has another version"],
    ["another package", { packages: [{ ...older, name: "main-linux" }] }, "main-linux has the version 1.2.2"],
    [
      "a package from elsewhere",
      { packages: [{ name: "main-linux", version: "1.2.3" }] },
      "names another repository",
    ],
    ["no notes", { changelog: "## [Unreleased]\n" }, "CHANGELOG.md has no section `## [1.2.3] - YYYY-MM-DD`"],
    ["notes without a date", { changelog: "## [1.2.3]\n\n- It works.\n" }, "CHANGELOG.md has no section"],
    [
      "empty notes",
      { changelog: "## [1.2.3] - 2026-01-02\n\n## [1.2.2] - 2026-01-01\n\n- x\n" },
      "says nothing about",
    ],
    [
      "another repository",
      { runsIn: "https://github.com/other/fork" },
      "but this runs in https://github.com/other/fork",
    ],
    ["a branch", { onMain: false }, "the tagged commit is not on main"],
    ["an unknown main", { onMain: undefined }, "there is no origin/main here"],
  ])("%s is told", (_, changed, what) => {
    expect(disagreements({ ...good, ...changed }).join("\n")).toContain(what);
  });

  test("a missing repository is told, and where to read on", () => {
    const without = { name: "main", version: "1.2.3" };
    expect(disagreements({ ...good, manifest: without, packages: [without] })).toEqual([
      "package.json has no `repository`, without which npm takes no provenance; see docs/releasing.md",
    ]);
  });

  test("the notes of a version are its section", () =>
    expect(notes(good.changelog, "1.2.3")).toBe("- It works."));
});

/** A package of one file, as npm packs it. */
function tarball(manifest: object): Buffer {
  const data = Buffer.from(JSON.stringify(manifest));
  const head = Buffer.alloc(512);
  head.write("package/package.json");
  head.write("0000644\0", 100);
  head.write("0000000\0", 108);
  head.write("0000000\0", 116);
  head.write(`${data.length.toString(8).padStart(11, "0")}\0`, 124);
  head.write("00000000000\0", 136);
  head.write("        0", 148);
  head.write("ustar\u000000", 257);
  const sum = head.reduce((all, byte) => all + byte, 0);
  head.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  const rest = Buffer.alloc(512 - (data.length % 512) + 1024);
  return gzipSync(Buffer.concat([head, data, rest]));
}

const NAMES = ["release-test-linux", "release-test-windows", "release-test"];

/** The packages of a release in a folder of their own. */
function packages({ version = "1.2.3", more = { repository } as object, asked = NAMES.slice(0, -1) } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "fusion-cursor-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const list: Listed[] = NAMES.map((name) => {
    const main = name === "release-test";
    const optionalDependencies = Object.fromEntries(asked.map((one) => [one, version]));
    const bytes = tarball({ name, version, ...more, ...(main ? { optionalDependencies } : {}) });
    const file = `${name}-${version}.tgz`;
    writeFileSync(join(folder, file), bytes);
    const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
    return { name, version, file, integrity };
  });
  writeFileSync(join(folder, "packages.json"), JSON.stringify(list));
  return { folder, list };
}

/** A registry: what it has as `name@version`, what it was sent in order, and what it is to do when it is sent a package. */
class Registry {
  readonly has = new Map<string, string>();
  readonly sent: string[] = [];
  readonly tags: string[] = [];
  /** Answers with an error where it returns false. */
  accepts = (_name: string) => true;
  /** What it does first when it is asked: breaks the connection, or answers so. */
  readonly troubles: ("break" | number)[] = [];
  /** The version that it says is the latest of each. */
  latest: string | undefined;
  /** How often it denies what it has taken. */
  denials = 0;
  readonly #server = createServer((request, answer) => {
    const name = decodeURIComponent(String(request.url).slice(1)).replace(/[/?].*/, "");
    if (request.method !== "PUT") return this.#get(name, answer);
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      if (!this.accepts(name)) return answer.writeHead(403).end('{"error":"not today"}');
      const body = JSON.parse(String(Buffer.concat(chunks)));
      for (const [version, { dist }] of Object.entries<{ dist: { integrity: string } }>(body.versions))
        this.has.set(`${name}@${version}`, dist.integrity);
      this.sent.push(name);
      this.tags.push(...Object.keys(body["dist-tags"]));
      return answer.writeHead(201).end("{}");
    });
    return undefined;
  });

  #get(name: string, answer: import("node:http").ServerResponse): void {
    const trouble = this.troubles.shift();
    if (trouble === "break") {
      answer.destroy();
      return;
    }
    if (trouble !== undefined) {
      answer.writeHead(trouble).end();
      return;
    }
    const mine = [...this.has].filter(([key]) => key.startsWith(`${name}@`));
    if (mine.length === 0 || this.#denies()) {
      answer.writeHead(404).end("{}");
      return;
    }
    const versions = mine.map(([key, integrity]) => [key.split("@")[1], { dist: { integrity } }]);
    const tags = this.latest === undefined ? {} : { latest: this.latest };
    answer.end(JSON.stringify({ name, versions: Object.fromEntries(versions), "dist-tags": tags }));
  }

  #denies(): boolean {
    this.denials -= 1;
    return this.denials >= 0;
  }

  /** Publish a folder into it; rejects with what the script said. */
  async publish(folder: string, ...options: string[]): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const home = mkdtempSync(join(tmpdir(), "fusion-cursor-test-"));
    try {
      const { port } = this.#server.address() as AddressInfo;
      const config = join(home, "npmrc");
      writeFileSync(config, `registry=http://127.0.0.1:${port}/\n//127.0.0.1:${port}/:_authToken=nobody\n`);
      const npm = {
        NPM_CONFIG_USERCONFIG: config,
        NPM_CONFIG_CACHE: join(home, "cache"),
        NPM_CONFIG_LOGLEVEL: "error",
      };
      // What `npm test` tells its scripts would be told to this npm too.
      const inherited = Object.entries(process.env).filter(([key]) => !/^npm_/i.test(key));
      const env = { ...Object.fromEntries(inherited), ...npm };
      const { stdout } = await run(process.execPath, [script, folder, ...options], { cwd: home, env });
      return stdout;
    } finally {
      this.#server.closeAllConnections();
      await new Promise((resolve) => this.#server.close(resolve));
      rmSync(home, { recursive: true, force: true });
    }
  }
}

/** What a rejected run has said. */
const said = (running: Promise<string>) =>
  running.then(
    () => "",
    (error) => String(error.stderr),
  );

describe("to publish", { timeout: 70_000 }, () => {
  test("sends every package, the main one last, and as what npm installs unasked", async () => {
    const registry = new Registry();
    const { folder, list } = packages();
    await registry.publish(folder, "--by-hand");
    expect(registry.sent).toEqual(NAMES);
    expect(registry.tags).toEqual(["latest", "latest", "latest"]);
    for (const { name, version, integrity } of list)
      expect(registry.has.get(`${name}@${version}`)).toBe(integrity);
  });

  test("makes of a version before a version nothing that npm installs unasked", async () => {
    const registry = new Registry();
    await registry.publish(packages({ version: "1.3.0-rc.1" }).folder, "--by-hand");
    expect(registry.tags).toEqual(["next", "next", "next"]);
  });

  test("makes of a mend of an old line nothing that npm installs unasked", async () => {
    const registry = new Registry();
    registry.latest = "2.0.0";
    registry.has.set("release-test@2.0.0", "sha512-other");
    await registry.publish(packages().folder, "--by-hand");
    expect(registry.tags).toEqual(["latest-1.2", "latest-1.2", "latest-1.2"]);
  });

  test.each([
    ["1.2.3", undefined, "latest"],
    ["1.2.3", "1.2.2", "latest"],
    ["1.10.0", "1.9.9", "latest"],
    ["2.0.0", "1.9.9", "latest"],
    ["1.0.0", "1.0.0-rc.1", "latest"],
    ["1.2.3", "1.2.3", "latest"],
    ["1.2.3", "1.2.4", "latest-1.2"],
    ["1.9.9", "1.10.0", "latest-1.9"],
    ["2.0.0-rc.1", "1.0.0", "next"],
  ])("calls %s, where %s is the latest, %s", (version, latest, tag) => {
    expect(tagFor(version, latest)).toBe(tag);
  });

  test("is refused where a platform is not among what was packed", async () => {
    const registry = new Registry();
    const { folder } = packages({ asked: [...NAMES.slice(0, -1), "release-test-macos"] });
    expect(await said(registry.publish(folder, "--by-hand"))).toContain(
      "release-test asks for release-test-macos, which packages.json does not list.",
    );
    expect(registry.sent).toEqual([]);
  });

  test("goes on where it failed half way", async () => {
    const { folder, list } = packages();
    const first = new Registry();
    first.accepts = (name) => name !== "release-test-windows";
    expect(await said(first.publish(folder, "--by-hand"))).toContain("ended with code 1");
    expect(first.sent).toEqual(["release-test-linux"]);

    const second = new Registry();
    for (const entry of first.has) second.has.set(...entry);
    expect(await second.publish(folder, "--by-hand")).toContain(
      "release-test-linux 1.2.3 is published already.",
    );
    expect(second.sent).toEqual(["release-test-windows", "release-test"]);

    const third = new Registry();
    for (const { name, version, integrity } of list) third.has.set(`${name}@${version}`, integrity);
    await third.publish(folder, "--by-hand");
    expect(third.sent).toEqual([]);
  });

  test("waits with the main package until the registry shows the others", async () => {
    const registry = new Registry();
    const sentBefore: number[] = [];
    registry.accepts = (name) => {
      if (name === "release-test-windows") registry.denials = 3;
      if (name === "release-test") sentBefore.push(registry.denials);
      return true;
    };
    await registry.publish(packages().folder, "--by-hand");
    expect(registry.sent).toEqual(NAMES);
    expect(sentBefore.every((left) => left < 0)).toBe(true);
    expect(sentBefore).toHaveLength(1);
  });

  test("asks again where the connection breaks or the registry has a trouble, but not for ever", async () => {
    const registry = new Registry();
    registry.troubles.push("break", 503, "break");
    await registry.publish(packages().folder, "--by-hand");
    expect(registry.sent).toEqual(NAMES);

    const broken = new Registry();
    broken.troubles.push("break", 503, 503, 502);
    expect(await said(broken.publish(packages().folder, "--by-hand"))).toContain("The registry answers 502");
    const closed = new Registry();
    closed.troubles.push(403);
    expect(await said(closed.publish(packages().folder, "--by-hand"))).toContain("The registry answers 403");
    expect([...broken.sent, ...closed.sent]).toEqual([]);
  });

  test("sends nothing where one of them is published with other bytes", async () => {
    const registry = new Registry();
    registry.has.set("release-test@1.2.3", "sha512-other");
    const text = await said(registry.publish(packages().folder, "--by-hand"));
    expect(text).toContain("release-test 1.2.3 is published with other bytes (sha512-other, and not sha512-");
    expect(text).toContain("release the next one");
    expect(registry.sent).toEqual([]);
  });

  test("is refused without a repository, with where to read on", async () => {
    const registry = new Registry();
    const text = await said(registry.publish(packages({ more: {} }).folder, "--by-hand"));
    expect(text).toContain("package.json has no `repository`.");
    expect(text).toContain("docs/releasing.md");
    expect(registry.sent).toEqual([]);
  });

  test.each<[string, (folder: string, list: Listed[]) => void, string]>([
    [
      "a file that changed",
      (folder, [listed]) => writeFileSync(join(folder, String(listed?.file)), "x"),
      "is not what",
    ],
    ["a file that is gone", (folder, [listed]) => rmSync(join(folder, String(listed?.file))), "is not there"],
    ["a file too many", (folder) => writeFileSync(join(folder, "x.tgz"), ""), "does not list x.tgz"],
    [
      "another name than the package has",
      (folder, [listed, ...rest]) =>
        writeFileSync(join(folder, "packages.json"), JSON.stringify([{ ...listed, name: "other" }, ...rest])),
      "is release-test-linux 1.2.3; other 1.2.3 is released",
    ],
  ])("is refused for %s", async (_, spoil, what) => {
    const registry = new Registry();
    const { folder, list } = packages();
    spoil(folder, list);
    expect(await said(registry.publish(folder, "--by-hand"))).toContain(what);
    expect(registry.sent).toEqual([]);
  });

  test("asks for provenance, which npm gives nobody outside of a workflow", async () => {
    const registry = new Registry();
    expect(await said(registry.publish(packages().folder))).toMatch(
      /provenance|npm 11\.5\.1 or later is needed/,
    );
    expect(registry.sent).toEqual([]);
  });
});

test.each(["release.mjs", "publish.mjs", "smoke.mjs"])(
  "%s runs where no packages are installed, as in the workflows",
  async (name) => {
    const clone = mkdtempSync(join(tmpdir(), "fusion-cursor-test-"));
    onTestFinished(() => rmSync(clone, { recursive: true, force: true }));
    const root = join(__dirname, "..");
    cpSync(join(root, "scripts"), join(clone, "scripts"), { recursive: true });
    cpSync(join(root, "package.json"), join(clone, "package.json"));
    const text = await said(
      run(process.execPath, [join(clone, "scripts", name)]).then(({ stdout }) => stdout),
    );
    expect(text).toMatch(/^\nSay /);
  },
);
