/** What is said where there is no addon: what is wrong, what likely brought it about, and what mends it. Pure. */

import { CursorError } from "../errors.js";
import { PLATFORMS, type Platform, titleOf } from "./platforms.js";

/** Why one place has no addon. `from` is the package, where it is one that has the file. */
export type Problem = Missing | (InFile & { readonly file: string; readonly from?: string | undefined });

/** The package is not installed; `instead` is one for another platform that is. */
interface Missing {
  readonly kind: "missing";
  readonly from: string;
  readonly instead: string | undefined;
  readonly cause: unknown;
}

type InFile =
  | { readonly kind: "absent"; readonly cause: unknown }
  /** It is there and does not load. */
  | { readonly kind: "refused"; readonly cause: unknown }
  | { readonly kind: "version"; readonly found: string };

/** What was asked for. */
export interface Wanted {
  readonly platform: Platform;
  readonly version: string;
  readonly variable: string | undefined;
}

const VARIABLE = "NAPI_RS_NATIVE_LIBRARY_PATH";

/** Throws the error. What a clone has built is told of before what no package manager has installed. */
export function unavailable(wanted: Wanted, problems: readonly Problem[]): never {
  const inFile = problems.find((problem) => problem.kind !== "missing");
  const problem = inFile ?? problems[0];
  const causes = problems.flatMap((problem) => ("cause" in problem ? [problem.cause] : []));
  const lines =
    problem === undefined
      ? unsupported(wanted)
      : wanted.variable && inFile !== undefined
        ? [`${VARIABLE} names ${named(wanted, inFile)}`, "Correct that variable, or unset it."]
        : described(wanted, problem);
  throw new CursorError(`fusion-cursor-native cannot be loaded: ${lines.join("\n")}`, {
    code: "CURSOR_ADDON_UNAVAILABLE",
    retryable: false,
    cause: causes.length > 1 ? new AggregateError(causes) : causes[0],
  });
}

function unsupported({ platform }: Wanted): string[] {
  return [
    `it has no package for ${titleOf(platform)}.`,
    `There is one for ${[...PLATFORMS.values()].join(", ")}.`,
    "Where Rust runs, it can be built from its source: npm run build",
  ];
}

/** The file that the variable names, and what is wrong with it. */
function named({ version }: Wanted, problem: Exclude<Problem, Missing>): string {
  switch (problem.kind) {
    case "absent":
      return `${problem.file}, which is not there.`;
    case "refused":
      return `${problem.file}, which does not load: ${wordsOf(problem.cause)}`;
    case "version":
      return `${problem.file}, which is version ${problem.found} and not ${version}.`;
  }
}

const LIKELY =
  "Likely causes: a lock file that npm before 11.3 made on another system, an installation with --omit=optional or " +
  "--no-optional, a node_modules folder from another machine, or a bundler that did not leave the package external.";

function described({ platform, version }: Wanted, problem: Problem): string[] {
  const { from } = problem;
  // Measured with npm 10 and 11: unlike a plain `npm install` it also mends a lock file that lacks the package.
  const add = `To mend it: npm install fusion-cursor-native@${version} --include=optional`;
  // What is there in the right version, that one would leave as it is.
  const anew = "To mend it: npm ci --include=optional";
  const build = "To mend it: npm run build";
  switch (problem.kind) {
    case "missing": {
      const { instead } = problem;
      const why =
        instead === undefined
          ? LIKELY
          : `There is ${instead} instead, as node_modules or the lock file was made on another system.`;
      return [`${from}, its package for ${titleOf(platform)}, is not installed.`, why, add];
    }
    case "absent": {
      const why = "Likely causes: an installation that broke off, or a program against viruses.";
      return [`${from} is installed, but its file ${problem.file} is gone.`, why, anew];
    }
    case "version": {
      const { found, file } = problem;
      return [
        `it is version ${version}, and ${from ?? file} is version ${found}.`,
        from === undefined ? build : add,
      ];
    }
    case "refused": {
      const { file, cause } = problem;
      const words = wordsOf(cause);
      const hint = HINTS.find(({ words: pattern }) => pattern.test(words));
      return [
        `${file} is there, but does not load: ${words}`,
        ...(hint === undefined ? [] : [hint.means]),
        ...(from === undefined ? [build] : hint?.anew ? [anew] : []),
      ];
    }
  }
}

/** What the system's words mean, and whether to install again mends it. */
const HINTS: readonly { readonly words: RegExp; readonly means: string; readonly anew: boolean }[] = [
  {
    words: /GLIBC_[\d.]+\W* not found/,
    means: "The glibc of this system is older than the one that it was built for.",
    anew: false,
  },
  {
    words:
      /wrong ELF class|invalid ELF header|Exec format error|incompatible architecture|not a mach-o|not a valid Win32/i,
    means: "It is for another system or processor than this Node, or damaged.",
    anew: true,
  },
  { words: /file too short|truncated|cannot read file data/i, means: "The file is damaged.", anew: true },
  {
    words: /(?:ld-linux|libc\.so\.6|libc\.musl).*: (?:cannot open|No such file)|symbol not found/,
    means: "It is for another C library than that of this Node.",
    anew: true,
  },
  {
    words: /failed to map segment|operation not permitted/i,
    means: "From its file system nothing may be executed (noexec).",
    anew: false,
  },
  {
    words: /code signature|library load disallowed/i,
    means: "macOS does not accept its signature.",
    anew: false,
  },
  {
    words: /module could not be found/i,
    means: "A library of Windows that it needs is missing.",
    anew: false,
  },
];

/** The first line of what the system says, which may go on with places that were tried. */
function wordsOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  const [line = ""] = message.trim().split(/\r?\n/);
  return line.length > 400 ? `${line.slice(0, 400)}…` : line;
}
