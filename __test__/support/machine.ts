/** A machine to probe: folders of programs, a home, and the environment that leads there. */

import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { standInAgentPath } from "fusion-cursor-native/testing";
import { onTestFinished } from "vitest";

export const VERSION = "2026.08.11-e8db854";

/** The body of a shell script that answers as the agent does. */
export const AGENT = `
case "$*" in
  --version) echo ${VERSION} ;;
  "status --format json") echo '{"isAuthenticated":true}' ;;
  models) printf 'Available models\\n\\nauto - Auto (default)\\nm - M\\n' ;;
  *) exit 9 ;;
esac`;

export class Machine {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "fusion-cursor-machine-")));
  readonly env: Record<string, string>;

  /** An empty home and an empty folder `bin` in `PATH`. They are removed when the test is over. */
  constructor() {
    for (const name of ["bin", "home"]) mkdirSync(this.at(name));
    this.env = { PATH: this.at("bin"), HOME: this.at("home") };
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  at(...parts: string[]): string {
    return join(this.folder, ...parts);
  }

  script(name: string, body: string): string {
    return this.file(name, `#!/bin/sh\n${body}\n`, 0o755);
  }

  file(name: string, content: string, mode = 0o644): string {
    const file = this.at(name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    chmodSync(file, mode);
    return file;
  }

  /** The stand-in under this name, playing this scenario. */
  standIn(name: string, scenario: Record<string, unknown> = {}): string {
    const file = this.at(name);
    mkdirSync(dirname(file), { recursive: true });
    symlinkSync(standInAgentPath(), file);
    this.env.FUSION_CURSOR_SCENARIO = this.file("scenario.json", JSON.stringify({ turn: [], ...scenario }));
    return file;
  }

  /** Puts another folder behind those in `PATH`. */
  addPath(folder: string): void {
    this.env.PATH += delimiter + folder;
  }

  read(name: string): string {
    return readFileSync(this.at(name), "utf8");
  }
}
