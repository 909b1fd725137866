// The stage `install`: the packages are packed, served by a registry on this machine, installed by npm, pnpm and Yarn
// into empty folders, and used there. Run by itself: node scripts/install.mjs, after npm run build. Only the package
// managers come from the network, once.

import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onExit } from "./bounded.mjs";
import { isProgram, root, runMain } from "./common.mjs";
import { installManagers } from "./install/managers.mjs";
import { packForTests } from "./install/packages.mjs";
import { nodeTests } from "./node-tests.mjs";

/** Pack, and run the tests; resolves with the report on them. */
export async function testInstall() {
  await installManagers();
  const folder = mkdtempSync(join(tmpdir(), "fusion-cursor-install-"));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  onExit(remove);
  try {
    packForTests(folder);
    const temporary = join(folder, "tmp");
    mkdirSync(temporary);
    const specs = join(root, "__test__", "install");
    const files = readdirSync(specs)
      .filter((name) => name.endsWith(".spec.mjs"))
      .map((name) => join(specs, name));
    // What a test leaves behind that was ended goes with the folder.
    const own = { TMPDIR: temporary, TEMP: temporary, TMP: temporary };
    return await nodeTests(files, {
      env: { ...process.env, ...own, FUSION_CURSOR_PACKED: folder },
      seconds: 900,
    });
  } finally {
    remove();
  }
}

if (isProgram(import.meta.url)) await runMain(testInstall);
