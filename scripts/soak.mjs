// `npm run soak -- [MINUTES]`: everything at once and at random, for so long: sessions, turns, leases, bridges and probes,
// on agents that misbehave, in one process, in workers that are terminated and in hosts that are killed, while an
// operator changes their config and git is asked what it sees. Every now and then all of it comes to rest, and then
// nothing may be left, and nothing may have changed.
//
//   MINUTES        1 without it
//   --seed N       what is decided; the same decisions for the same seed, at whatever moment they come
//   --json         the report as the last line
//   --inject A,B   do this before the last look, so that it is found; scripts/soak/faults.mjs has the names, and `memory`

import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { Failure, isProgram, runMain } from "./common.mjs";
import { faults } from "./soak/faults.mjs";

/**
 * What is free goes back to the system. Else the young generation grows with the load, and the C library keeps
 * freed blocks of any size that it has once seen, in as many arenas as there are threads: tens of megabytes that
 * nobody uses, and that hide a leak of a few.
 */
const FLAGS = ["--expose-gc", "--max-semi-space-size=2"];
const ALLOCATOR = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: "131072",
  MALLOC_TRIM_THRESHOLD_: "131072",
};

/** @type {typeof parseArgs} */
function parsed(config) {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new Failure(`${/** @type {Error} */ (error).message}`);
  }
}

/** @param {string[]} args */
function wanted(args) {
  const { values, positionals } = parsed({
    args,
    allowPositionals: true,
    options: {
      seed: { type: "string" },
      json: { type: "boolean", default: false },
      inject: { type: "string", default: "" },
    },
  });
  const [minutes = 1, ...more] = positionals.map(Number);
  if (!(minutes > 0 && minutes <= 24 * 60) || more.length > 0)
    throw new Failure("Say for how many minutes: npm run soak -- 5");
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
  if (!Number.isSafeInteger(seed)) throw new Failure(`--seed takes a whole number, not ${values.seed}.`);
  const inject = values.inject.split(",").filter((name) => name !== "");
  const unknown = inject.filter((name) => name !== "memory" && faults[name] === undefined);
  if (unknown.length > 0) throw new Failure(`--inject knows no ${unknown.join(", ")}.`);
  return { minutes, seed: seed | 0, json: values.json, inject };
}

await runMain(async () => {
  if (!isProgram(import.meta.url)) return;
  const options = wanted(process.argv.slice(2));
  if (globalThis.gc !== undefined) {
    const { soak } = await import("./soak/soak.mjs");
    if (!(await soak(options))) process.exitCode = 1;
    return;
  }
  const { minutes, seed, json, inject } = options;
  const args = [
    String(minutes),
    "--seed",
    String(seed),
    ...(json ? ["--json"] : []),
    "--inject",
    inject.join(","),
  ];
  const file = process.argv[1] ?? "";
  const { status, signal } = spawnSync(process.execPath, [...FLAGS, file, ...args], {
    stdio: "inherit",
    env: { ...process.env, ...ALLOCATOR },
  });
  if (signal !== null) throw new Failure(`The soak was ended by ${signal}.`);
  process.exitCode = status ?? 1;
});
