/** Workers in every runtime: whatever becomes of them, the host lives on and nothing of theirs is left. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { files, HERE, host, nothingLeft, repository, room } from "./support/hosts.mjs";

const init = { line: { type: "system", subtype: "init", session_id: "s-1", model: "Auto", cwd: "${cwd}" } };
const ok = { line: { type: "result", subtype: "success", is_error: false, result: "ok", session_id: "s-1" } };
const said = {
  line: { type: "assistant", message: { role: "assistant", content: [{ type: "text", text: "ok" }] } },
};

/** With a child of its own, so that more than one process has to go. */
const endless = [
  init,
  { start: [{ touch: "child" }, { linger: true }], args: ["worker-server"] },
  { waitFile: "child" },
  { touch: "leader" },
  { linger: true },
];

/** Another one every time; a failure tells it, and with this variable it is the same again. */
const seed = Number(process.env.FUSION_CURSOR_RUNTIMES_SEED ?? Date.now() % 2 ** 31);

/** A room with a repository for each of so many workers. @param {number} workers */
function workshop(workers) {
  const folder = room();
  for (let number = 0; number < workers; number++) {
    const work = repository(join(folder, `work-${number}`));
    writeFileSync(join(work, "endless.json"), JSON.stringify({ turn: endless }));
    writeFileSync(join(work, "short.json"), JSON.stringify({ turn: [init, said, ok] }));
  }
  return folder;
}

/**
 * A host of workers to its end, and what is left then.
 * @param {import("./support/hosts.mjs").Runtime} name
 * @param {number} workers
 * @param {string[]} args
 */
async function played(name, workers, ...args) {
  const folder = workshop(workers);
  const ended = await (await host(name, folder, ["workers.cjs", ...args])).end();
  const processes = await nothingLeft(folder);
  return { ...ended, processes };
}

const good = { code: 0, signal: null, error: "" };

for (const name of HERE) {
  describe(name, { concurrency: 1 }, () => {
    for (const longest of [60, 400, 1500]) {
      for (const then of ["end", "stay"]) {
        test(`twenty are terminated at random moments within ${longest} ms (${then})`, async (context) => {
          context.diagnostic(`FUSION_CURSOR_RUNTIMES_SEED=${seed}`);
          const { processes, ...end } = await played(name, 20, "twenty", String(seed), String(longest), then);
          const out = then === "end" ? ['"done"'] : ['"clean"', '"done"'];
          assert.deepEqual(end, { ...good, out }, `with FUSION_CURSOR_RUNTIMES_SEED=${seed}`);
        });
      }
    }

    test("fifty one after the other load the package, which the main thread never does", async () => {
      const { processes, ...end } = await played(name, 1, "rounds", "50");
      assert.deepEqual(end, { ...good, out: ['{"texts":50}', '"done"'] });
    });

    for (const main of ["never", "before", "after"]) {
      test(`workers load the package and end at once; the main thread loads it: ${main}`, async () => {
        const { processes, ...end } = await played(name, 1, "loads", "10", main);
        assert.deepEqual(end, { ...good, out: ['"done"'] });
      });
    }

    for (const main of ["main", "only"]) {
      test(`one is terminated in the middle of a turn (${main})`, async () => {
        const end = await played(name, 1, "live", main);
        const out = main === "main" ? ['"missing"', '"done"'] : ['"done"'];
        assert.deepEqual(end, { ...good, out, processes: 2 });
      });
    }

    for (const [way, code] of /** @type {const} */ ([
      ["exit", 0],
      ["throw", 1],
    ])) {
      for (const main of ["main", "only"]) {
        test(`the host ends in the middle of everything (${way}, ${main})`, async () => {
          const folder = workshop(4);
          const end = await (await host(name, folder, ["workers.cjs", "exit", way, main])).end();
          assert.deepEqual({ code: end.code, signal: end.signal }, { code, signal: null }, end.error);
          // Bun tells a worker nothing, and runs nothing of a library: the guard ends the processes, and files stay.
          if (name === "bun" && main === "only") {
            assert.equal(await nothingLeft(folder, files(folder)), 8);
            const next = await (await host(name, folder, ["workers.cjs", "next", "4"])).end();
            assert.deepEqual(next, { ...good, out: ['"done"'] });
          }
          assert.equal(await nothingLeft(folder), 8);
        });
      }
    }
  });
}
