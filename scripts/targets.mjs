// Types for the targets that this machine is not: `node scripts/targets.mjs [TARGET…]`.
//
// Only a check: nothing is linked, so no linker of another system is needed. The standard library of each target
// comes from rustup, or is built from its source; see scripts/windows/toolchain.mjs.

import { bounded } from "./bounded.mjs";
import { Failure, isProgram, runMain } from "./common.mjs";
import { toolchainFor } from "./windows/toolchain.mjs";

export const TARGETS = [
  "aarch64-apple-darwin",
  "x86_64-pc-windows-msvc",
  "x86_64-unknown-linux-musl",
  "aarch64-unknown-linux-gnu",
];

/**
 * Check the library with its binding, and the programs.
 * @param {string[]} targets
 */
export async function checkTargets(targets = TARGETS) {
  for (const target of targets) {
    const { cargo, flags, env, version } = toolchainFor(target);
    console.log(`Checking for ${target} with ${version}…`);
    const started = performance.now();
    await bounded(cargo, ["check", "--locked", "--lib", "--bins", "--target", target, ...flags], {
      env: { ...env, CARGO_PROFILE_DEV_DEBUG: "0" },
      seconds: 900,
    });
    console.log(`${target}: ${((performance.now() - started) / 1000).toFixed(0)} s`);
  }
}

if (isProgram(import.meta.url)) {
  await runMain(() => {
    const asked = process.argv.slice(2);
    if (asked.some((target) => target.startsWith("-")))
      throw new Failure("Name targets, or nothing for all.");
    return checkTargets(asked.length > 0 ? asked : TARGETS);
  });
}
