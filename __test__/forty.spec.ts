/**
 * Forty sessions at once, in forty linked worktrees of one repository, in several hosts: some of the hosts are killed
 * in the middle of a turn, and some of the agents crash.
 */

import { execFile, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import * as cursor from "fusion-cursor-native";
import { standInAgentPath } from "fusion-cursor-native/testing";
import { expect, onTestFinished, test } from "vitest";
import { atMost, type Life, live } from "./support/forty-host.mjs";
import { ended, told } from "./support/host.js";
import { begins, repeats } from "./support/session.js";
import { eventually, PATIENCE, runs, type Step, text } from "./support/stage.js";
import { CONFIG, git, STATE } from "./support/worktree.js";

const HOST = join(__dirname, "support", "forty-host.mjs");
/** In this process, in a host that ends well, and in two that are killed. */
const HERE = 24;
const THERE = [6, 5, 5];
const COUNT = 40;

/** Whose bytes must come back. The stand-in reads plain JSON only. */
const OPERATORS = [
  "{}",
  '{\r\n\t"mcpServers": {\r\n\t\t"board": { "command": "b\\u00f6ard" }\r\n\t}\r\n}\r\n',
  '{ "other":1.50,"mcpServers":{}}\n\n',
];

type Said = Awaited<ReturnType<typeof live>>;

interface Place extends Life {
  /** The operator's config; absent where they have none. */
  operator: string | undefined;
  fate: "well" | "crashes" | "killed";
  /** Beside the worktree: the agent's files. */
  stage: string;
}

function room(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "fusion-cursor-test-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A repository with two commits; with the second, git ignores the config that an operator has. */
function repository(base: string): { top: string; bare: string; ignoring: string } {
  const top = join(base, "repository");
  mkdirSync(top);
  git(top, "init", "--quiet", "--initial-branch=main");
  const commit = (name: string, content: string): string => {
    writeFileSync(join(top, name), content);
    git(top, "add", name);
    git(top, "commit", "--quiet", `--message=${name}`);
    return git(top, "rev-parse", "HEAD").trim();
  };
  return { top, bare: commit("README", "x\n"), ignoring: commit(".gitignore", `${CONFIG}\n`) };
}

function fateOf(number: number): Place["fate"] {
  if (number >= HERE + (THERE[0] ?? 0)) return "killed";
  return number % 4 === 1 ? "crashes" : "well";
}

function playsOf(name: string, fate: Place["fate"]): Step[][] {
  const call: Step = {
    callTools: [{ tool: "fn_secret", arguments: { from: name } }],
    report: "report-${pid}",
  };
  return [0, 1, 2].map((number) => {
    const end: Record<Place["fate"], Step[]> = {
      well: [repeats],
      crashes: [{ raise: "SIGKILL" }],
      killed: [{ touch: "mid" }, { linger: true }],
    };
    return [
      { touch: "turn-${pid}" },
      begins,
      text(`${name} says ${number}`),
      call,
      ...(number === 1 ? end[fate] : [repeats]),
    ];
  });
}

function placesIn(base: string): Place[] {
  const { top, bare, ignoring } = repository(base);
  return Array.from({ length: COUNT }, (_, number) => {
    const name = `session-${number}`;
    const stage = join(base, name);
    mkdirSync(stage);
    const cwd = join(stage, "worktree");
    const operator = number % 2 === 0 ? undefined : OPERATORS[(number >> 1) % OPERATORS.length];
    git(top, "worktree", "add", "--quiet", "--detach", cwd, operator === undefined ? bare : ignoring);
    if (operator !== undefined) {
      mkdirSync(join(cwd, ".cursor"));
      writeFileSync(join(cwd, CONFIG), operator);
      chmodSync(join(cwd, CONFIG), number % 3 === 0 ? 0o600 : 0o644);
    }
    const fate = fateOf(number);
    return {
      name,
      secret: `secret of ${name}.`,
      cwd,
      binary: standInAgentPath(),
      scenario: join(stage, "scenario.json"),
      plays: playsOf(name, fate),
      operator,
      fate,
      stage,
    };
  });
}

/** Asks git in all worktrees, again and again, until it is told to stop; what it ever showed, and how often it looked. */
function watch(places: Place[]): () => Promise<{ rounds: number; shown: string[] }> {
  const run = promisify(execFile);
  let going = true;
  const shown: string[] = [];
  let rounds = 0;
  const done = (async () => {
    while (going) {
      for (const { cwd, name } of places) {
        // Without the index's lock, which a session's own git could want.
        const { stdout } = await run("git", ["--no-optional-locks", "status", "--porcelain"], { cwd });
        if (stdout !== "") shown.push(`${name}: ${stdout}`);
      }
      rounds += 1;
    }
  })();
  return async () => {
    going = false;
    await done;
    return { rounds, shown };
  };
}

/** The processes that were ever started for these: agents, and the children that serve the tools. */
function processesOf(places: Place[]): number[] {
  return places.flatMap(({ stage }) =>
    readdirSync(stage).flatMap((name) => {
      const [, agent] = /^turn-(\d+)$/.exec(name) ?? [];
      if (agent !== undefined) return [Number(agent)];
      return name.startsWith("report-") ? [JSON.parse(readFileSync(join(stage, name), "utf8")).pid] : [];
    }),
  );
}

function isAsItWas({ cwd, operator, name }: Place): void {
  expect([name, existsSync(join(cwd, STATE))]).toEqual([name, false]);
  if (operator === undefined) {
    expect([name, existsSync(join(cwd, ".cursor"))]).toEqual([name, false]);
    return;
  }
  expect([name, readFileSync(join(cwd, CONFIG), "utf8")]).toEqual([name, operator]);
  const mode = Number(name.split("-")[1]) % 3 === 0 ? 0o600 : 0o644;
  expect([name, lstatSync(join(cwd, CONFIG)).mode & 0o777]).toEqual([name, mode]);
  expect([name, readdirSync(join(cwd, ".cursor"))]).toEqual([name, ["mcp.json"]]);
}

/** Nothing of what a session saw was another's. */
function sawItsOwn({ name, secret, fate }: Place, said: Said): void {
  expect(said.trouble).toBeUndefined();
  expect(said.server).toEqual([expect.stringMatching(/^fusion-custom-tools-[0-9a-f-]{36}-fn_secret$/)]);
  expect(said.texts).toEqual([0, 1, 2].map((number) => `${name} says ${number}`));
  expect(said.callers).toEqual([name, name, name]);
  expect(said.tools).toHaveLength(3);
  for (const answered of said.tools as [string, boolean, string][]) {
    expect(answered.slice(0, 2)).toEqual(["fn_secret", false]);
    expect(answered[2]).toContain(`"${secret}"`);
  }
  const [first, second, third] = said.ends as [[string, string], unknown, [string, string]];
  expect(first[0]).toBe(`${name} says 0`);
  expect(second).toEqual(fate === "crashes" ? "CURSOR_EXITED" : [`${name} says 1`, first[1]]);
  expect(third).toEqual([`${name} says 2`, first[1]]);
  expect(new Set(said.ids)).toEqual(new Set([first[1]]));
  expect(said.turns).toBe(fate === "crashes" ? 2 : 3);
  expect(said.toolCalls).toEqual({ started: 3, completed: 3, failed: 0, rejected: 0, abandoned: 0 });
}

test("forty sessions share a repository and nothing else", { timeout: 180_000 }, async () => {
  const base = room();
  const places = placesIn(base);
  const exclude = join(base, "repository", ".git", "info", "exclude");
  const excluded = readFileSync(exclude, "utf8");
  const stop = watch(places);
  onTestFinished(async () => void (await stop()));

  // What their bridges leave where they are killed is theirs to leave, and goes with the room.
  const env = { ...process.env, TMPDIR: base };
  let from = HERE;
  const hosts = THERE.map((count) => {
    const lives = join(base, `lives-${from}.json`);
    const its = places.slice(from, from + count);
    from += count;
    writeFileSync(lives, JSON.stringify(its));
    const child = spawn(process.execPath, [HOST, lives], { env, stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    return { child, its, lines: told(child) as Said[], end: ended(child) };
  });
  const inTurn = atMost(8);
  const lives = places.slice(0, HERE).map((place) => live(cursor, place, inTurn));
  const here = Promise.all(lives);
  onTestFinished(async () => void (await Promise.allSettled(lives)));

  const doomed = hosts.slice(1);
  await Promise.all(
    doomed.map(async ({ child, its, end }) => {
      await eventually(
        "all of its turns are in the middle",
        () => its.every(({ stage }) => existsSync(join(stage, "mid"))),
        2 * PATIENCE,
      );
      child.kill("SIGKILL");
      expect(await end).toEqual({ code: null, signal: "SIGKILL" });
    }),
  );
  const said = [...(await here)];
  const [good] = hosts;
  expect(await good?.end).toEqual({ code: 0, signal: null });
  await eventually("it has told all", () => good?.lines.length === THERE[0]);
  said.push(...(good?.lines ?? []));

  const wells = places.filter(({ fate }) => fate !== "killed");
  expect(said.map(({ name }) => name).sort()).toEqual(wells.map(({ name }) => name).sort());
  for (const one of said) sawItsOwn(places.find(({ name }) => name === one.name) as Place, one);
  for (const place of wells) isAsItWas(place);
  expect(new Set(said.map(({ server }) => server[0])).size).toBe(said.length);

  const killed = places.filter(({ fate }) => fate === "killed");
  const processes = processesOf(places);
  // The last turn of those that were killed never came.
  expect(processes).toHaveLength(2 * (3 * wells.length + 2 * killed.length));
  await eventually("no process is left", () => !processes.some(runs));
  // The next session there puts in order what they left.
  await Promise.all(
    killed.map(async (place) => {
      await using _ = await cursor.CursorSession.create({ cwd: place.cwd, lockTimeoutMs: 60_000 });
      isAsItWas(place);
    }),
  );
  expect(readFileSync(exclude, "utf8")).toBe(excluded);

  const { rounds, shown } = await stop();
  expect(shown).toEqual([]);
  expect(rounds).toBeGreaterThan(2);
});
