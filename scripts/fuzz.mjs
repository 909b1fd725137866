// `npm run fuzz -- SECONDS`: runs every fuzz target for that long, one after the other. Stops at the first that
// finds something; the input is then in fuzz/artifacts/. What a run learns stays in fuzz/grown/, which git
// does not keep: an input worth keeping is copied into fuzz/corpus/ by hand, and every `npm test` replays it.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { capture, Failure, isProgram, root, run, runMain } from "./common.mjs";
import { checkRust } from "./setup.mjs";
import { hasTool, howToGet } from "./tools.mjs";

// cargo-fuzz asks for flags that only a nightly compiler takes unasked. No sanitizer: the code under test is
// safe Rust, and the sanitizers would need a nightly standard library.
const STABLE = { RUSTC_BOOTSTRAP: "1" };

/** @param {string} seconds */
async function fuzz(seconds) {
  if (!/^[1-9][0-9]{0,5}$/.test(seconds)) throw new Failure("Say for how many seconds: npm run fuzz -- 60");
  if (!hasTool("cargo-fuzz"))
    throw new Failure(`cargo-fuzz is missing. To get it: ${howToGet("cargo-fuzz")}`);
  checkRust();
  await run("cargo", ["fuzz", "build", "--sanitizer", "none"], STABLE);
  const targets = capture("cargo", "fuzz", "list")?.split("\n") ?? [];
  /** @type {string[]} */
  const lines = [];
  for (const target of targets) {
    console.log(`\n━━ ${target}`);
    const grown = join("fuzz", "grown", target);
    mkdirSync(join(root, grown), { recursive: true });
    const folders = [grown, join("fuzz", "corpus", target)];
    const limits = [
      `-max_total_time=${seconds}`,
      "-timeout=10",
      "-rss_limit_mb=2048",
      "-max_len=4096",
      "-verbosity=0",
    ];
    const output = await run(
      "cargo",
      ["fuzz", "run", "--sanitizer", "none", target, ...folders, "--", ...limits, "-print_final_stats=1"],
      STABLE,
    );
    const runs = output.match(/stat::number_of_executed_units: *(\d+)/)?.[1];
    if (runs === undefined) throw new Failure(`The target ${target} did not say how often it ran.`);
    lines.push(`  ✓ ${target.padEnd(8)} ${runs} inputs in ${seconds} s`);
  }
  if (lines.length === 0) throw new Failure("There is no fuzz target.");
  console.log(`\n━━ Summary\n${lines.join("\n")}`);
}

if (isProgram(import.meta.url)) await runMain(() => fuzz(process.argv[2] ?? ""));
