/**
 * Test your own code without a Cursor account: an executable that takes the place of `cursor-agent` and plays
 * a scenario. The steps of a scenario are described in `testing/README.md`.
 */

/** The scenarios that come with the package. */
export type ScenarioName = "demo" | "answer" | "usage-limit";

/**
 * The absolute path of the stand-in agent: pass it as `binary`. It is looked up in the package itself and then
 * in the package of this platform.
 *
 * @throws Error when it is not installed; the message says what is missing and how to get it.
 */
export function standInAgentPath(): string;

/**
 * The absolute path of a ready scenario: `demo` (a bug fix, about five seconds), `answer` (a success at once),
 * `usage-limit` (the account has no usage left).
 *
 * @throws TypeError for any other name.
 */
export function scenarioPath(name: ScenarioName): string;

/**
 * What to add to `env` so that the stand-in plays this scenario. Anything but a ready scenario's name is the
 * path of a file, from the working directory of this process.
 *
 * @throws TypeError when it is not a string or is empty.
 */
export function scenarioEnv(nameOrPath: ScenarioName | (string & {})): { FUSION_CURSOR_SCENARIO: string };
