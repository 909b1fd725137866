/** `fusion-cursor models`: what the CLI offers. */

import type { CursorModelDiscovery } from "fusion-cursor-native";
import type { ModelsCommand } from "./arguments.ts";
import { type Inquirer, interruptible } from "./doctor.ts";
import { jsonLine } from "./json.ts";
import type { Span } from "./render/operations.ts";
import { displayWidth, singleLine } from "./render/text.ts";
import { EXIT } from "./run.ts";

export async function listModels(command: ModelsCommand, inquirer: Inquirer): Promise<number> {
  const found = await interruptible(inquirer, (signal) => ask(command.binary, inquirer, signal));
  if (typeof found === "number") {
    return found;
  }
  if (command.json) {
    const { entries, source, reason, modelMeta } = found;
    inquirer.stdout.write(jsonLine({ models: entries, source, reason, modelMeta }, "models"));
  } else {
    inquirer.stdout.print(describeModels(found));
  }
  if (found.reason !== undefined) {
    inquirer.stderr.write(`${singleLine(found.reason)}\n`);
  }
  return found.source === "none" ? EXIT.failed : EXIT.success;
}

async function ask(
  binary: string | undefined,
  { load }: Inquirer,
  signal: AbortSignal,
): Promise<CursorModelDiscovery> {
  const { discoverCursorModels, probeCursorBinary } = await load();
  let program = binary;
  if (program === undefined) {
    const status = await probeCursorBinary({ signal });
    if (status.binaryPath === undefined) {
      const reason = status.reason ?? status.state;
      return { models: [], entries: [], source: "none", fallbackUsed: true, reason };
    }
    program = status.binaryPath;
  }
  return discoverCursorModels(program, undefined, { signal });
}

/** A row for each: the id, the label, the marks. */
export function describeModels({ entries }: CursorModelDiscovery): Span[] {
  const width = Math.max(0, ...entries.map((entry) => displayWidth(singleLine(entry.id))));
  return entries.flatMap(({ id, label, isDefault, isCurrent }) => {
    const marks = [...(isDefault ? ["default"] : []), ...(isCurrent ? ["current"] : [])];
    const shown = singleLine(id);
    return [
      { text: shown, style: "bold" },
      { text: " ".repeat(width - displayWidth(shown) + 2), style: "plain" },
      { text: singleLine(label), style: "plain" },
      { text: marks.length > 0 ? `  ${marks.join(", ")}\n` : "\n", style: "dim" },
    ] satisfies Span[];
  });
}
