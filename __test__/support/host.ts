/** A Node of its own, which loads the package as its users do. */

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const root = join(__dirname, "..", "..");

/** What `code` prints as its last line, as JSON. It has the package as `cursor`, and `given`. */
export async function inHost<T>(code: string, given: unknown = null, flags: string[] = []): Promise<T> {
  const program = `const cursor = () => require(${JSON.stringify(root)});
    const given = ${JSON.stringify(given)};
    (async () => { ${code} })().then((said) => console.log(JSON.stringify(said)));`;
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, "--eval", program], {
    timeout: 60_000,
    killSignal: "SIGKILL",
    maxBuffer: 64 << 20,
  });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}
