/** The registry with what was packed: once for all files by the stage, or else by the file itself. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installManagers } from "../../../scripts/install/managers.mjs";
import { packedIn, packForTests } from "../../../scripts/install/packages.mjs";
import { startRegistry } from "../../../scripts/install/registry.mjs";

/** A registry, and what it has. */
export async function openShop() {
  const given = process.env.FUSION_CURSOR_PACKED;
  const folder = given ?? mkdtempSync(join(tmpdir(), "fusion-cursor-shop-"));
  if (given === undefined) await installManagers();
  const packages = given === undefined ? packForTests(folder) : packedIn(folder);
  const registry = await startRegistry(packages.tarballs);
  return {
    packages,
    registry,
    async close() {
      await registry.close();
      if (given === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}
