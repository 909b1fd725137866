/** What the doctor makes of what was found, and how it is told. Pure. */

import type { CursorBinaryStatus } from "fusion-cursor-native";
import { type Line, NO, OTHER, spansOf, YES } from "./render/lines.ts";
import type { Span } from "./render/operations.ts";
import { quote, singleLine } from "./render/text.ts";

/** The folder that turns are to run in. */
export interface Worktree {
  readonly path: string;
  readonly kind: "folder" | "missing" | "not-a-folder" | "closed";
  /** Why nobody can look into a folder that is closed. */
  readonly why?: string;
  /** `unknown` where there is no git to ask. */
  readonly git?: "worktree" | "none" | "unknown";
  readonly mcpConfig?: boolean;
}

/** What was found. */
export interface Found {
  platform: NodeJS.Platform;
  node: { version: string; platform: string; arch: string };
  /** `--binary`. */
  binary: string | undefined;
  hasKey: boolean;
  loaded?: { version: string; target: string; file: string };
  loadError?: string;
  cli?: CursorBinaryStatus;
  models?: { count: number; reason?: string };
  worktree?: Worktree;
}

/** Something that is wrong, and the command that cures it. */
export interface Problem {
  readonly what: string;
  readonly cure: string;
}

export interface Diagnosis {
  /** A turn could start. */
  readonly ok: boolean;
  readonly package: Found["loaded"] | null;
  readonly node: Found["node"];
  readonly cli: CursorBinaryStatus | null;
  readonly models: Found["models"] | null;
  readonly worktree: Worktree | null;
  readonly problems: readonly Problem[];
}

/** Where the loader knows no command that mends it. */
const READ = "more node_modules/fusion-cursor-native/docs/install.md";

export function diagnose(found: Found): Diagnosis {
  const { loaded, node, cli, models, worktree } = found;
  const problems = [...loadProblems(found), ...cliProblems(found), ...worktreeProblems(worktree)];
  const listed = (models?.count ?? 0) > 0;
  const isLoggedIn = cli?.authenticated === true || (found.hasKey && listed);
  const isNamed = found.binary === undefined || cli?.usingConfiguredBinaryPath === true;
  return {
    ok:
      cli?.available === true &&
      isLoggedIn &&
      isNamed &&
      (worktree === undefined || worktree.kind === "folder"),
    package: loaded ?? null,
    node,
    cli: cli ?? null,
    models: models ?? null,
    worktree: worktree ?? null,
    problems,
  };
}

function loadProblems({ loadError }: Found): Problem[] {
  if (loadError === undefined) return [];
  const [what = "", cure = READ] = loadError.split("\nTo mend it: ");
  return [{ what: what.replaceAll("\n", " "), cure }];
}

function cliProblems(found: Found): Problem[] {
  const { cli, models } = found;
  if (cli === undefined) {
    return [];
  }
  const problems: Problem[] = [];
  const what = cli.reason ?? cli.state;
  if (found.binary !== undefined && !cli.usingConfiguredBinaryPath && cli.binaryPath !== undefined) {
    const fate = cli.diagnostics?.[0] ?? `--binary ${found.binary} cannot be used`;
    const cure = makeRunnable(cli) ?? `fusion-cursor doctor --binary ${quote(cli.binaryPath)}`;
    problems.push({ what: fate, cure });
  }
  switch (cli.state) {
    case "ready":
      break;
    case "unauthenticated":
      if (!(found.hasKey && (models?.count ?? 0) > 0)) {
        problems.push({ what, cure: agentCommand(cli, "login") });
      }
      break;
    case "auth-unknown":
      problems.push({ what, cure: agentCommand(cli, "status") });
      break;
    case "keychain-locked":
      problems.push({ what, cure: "security unlock-keychain" });
      break;
    case "not-runnable":
      problems.push({ what, cure: makeRunnable(cli) ?? installCommand(found.platform) });
      break;
    case "ide-missing":
    case "missing":
      problems.push({ what, cure: installCommand(found.platform) });
      break;
  }
  if (cli.state === "ready" && models?.count === 0) {
    const why = models.reason ?? "no models";
    problems.push({ what: `no models: ${why}`, cure: agentCommand(cli, "models") });
  }
  return problems;
}

function worktreeProblems(worktree: Worktree | undefined): Problem[] {
  switch (worktree?.kind) {
    case "missing":
      return [{ what: `${worktree.path} does not exist`, cure: `mkdir -p ${quote(worktree.path)}` }];
    case "not-a-folder":
      return [
        {
          what: `${worktree.path} is not a folder`,
          cure: `fusion-cursor doctor --worktree ${quote(parent(worktree.path))}`,
        },
      ];
    case "closed":
      return [
        {
          what: `${worktree.path} cannot be looked into: ${worktree.why}`,
          cure: `ls -ld ${quote(worktree.path)}`,
        },
      ];
    default:
      return [];
  }
}

function parent(file: string): string {
  return file.replace(/[\\/][^\\/]*$/, "") || "/";
}

/** The command that makes the configured program one, where it is a file without the permission. */
function makeRunnable({ configuredBinaryPath, diagnostics }: CursorBinaryStatus): string | undefined {
  const fate = diagnostics?.[0] ?? "";
  if (configuredBinaryPath === undefined || !fate.endsWith(" may not be executed (EACCES)")) {
    return undefined;
  }
  // A name was looked up: the file is the one that its fate tells. A long line lacks its middle.
  const looked = fate.slice(fate.indexOf(": ") + 2, -" may not be executed (EACCES)".length);
  const file = /[\\/]/.test(configuredBinaryPath) ? configuredBinaryPath : looked;
  return file.includes("…") ? undefined : `chmod +x ${quote(file)}`;
}

function installCommand(platform: NodeJS.Platform): string {
  return platform === "win32"
    ? "irm 'https://cursor.com/install?win32=true' | iex"
    : "curl https://cursor.com/install -fsS | bash";
}

function agentCommand(cli: CursorBinaryStatus, command: string): string {
  const words = [cli.binaryPath ?? "cursor-agent", ...(cli.launchArgs ?? []), command];
  return words.map(quote).join(" ");
}

/** The lines for a person. */
export function describeDiagnosis(diagnosis: Diagnosis): Span[] {
  const { ok, package: loaded, node, problems } = diagnosis;
  const spans: Span[] = [];
  const line = (...parts: Line): void => {
    spans.push(...spansOf(parts));
  };
  if (loaded == null) {
    line(NO, "the addon is not loaded");
  } else {
    line(YES, `fusion-cursor-native ${loaded.version}`, loaded.target, loaded.file);
  }
  line(YES, `Node ${node.version}`, node.platform, node.arch);
  for (const parts of [...candidateLines(diagnosis), ...worktreeLines(diagnosis.worktree)]) {
    line(...parts);
  }
  spans.push({ text: "\n", style: "plain" });
  for (const { what, cure } of problems) {
    spans.push({ text: `${singleLine(what)}\n`, style: "plain" });
    spans.push({ text: "  cure: ", style: "cyan" }, { text: `${singleLine(cure)}\n`, style: "bold" });
  }
  spans.push(
    ok ? { text: "a turn can start\n", style: "green" } : { text: "a turn cannot start\n", style: "red" },
  );
  return spans;
}

function candidateLines({ cli, models }: Diagnosis): Line[] {
  if (cli === null) {
    return [];
  }
  const lines: Line[] = (cli.diagnostics ?? []).map((fate) => [NO, fate]);
  if (cli.binaryPath === undefined) {
    return lines;
  }
  const name = cli.usingConfiguredBinaryPath
    ? "--binary"
    : [cli.binaryName, ...(cli.launchArgs ?? [])].join(" ");
  const version = cli.version === undefined ? [] : [cli.version];
  lines.push([version.length > 0 ? YES : NO, name, cli.binaryPath, ...version]);
  for (const other of ["cursor-agent", "cursor"]) {
    if (cli.binaryName !== other && !cli.diagnostics?.some((fate) => fate.startsWith(`${other}: `))) {
      lines.push([OTHER, other, "not tried: the one above answers"]);
    }
  }
  lines.push([cli.authenticated ? YES : NO, cli.authenticated ? "logged in" : `login: ${cli.state}`]);
  if (models != null) {
    const count = models.count === 1 ? "1 model" : `${models.count} models`;
    const reason = models.reason === undefined ? "" : `: ${models.reason}`;
    lines.push([models.count > 0 ? YES : NO, `${count}${reason}`]);
  }
  return lines;
}

function worktreeLines(worktree: Worktree | null): Line[] {
  if (worktree === null) {
    return [];
  }
  if (worktree.kind !== "folder") {
    const kinds = {
      missing: "does not exist",
      "not-a-folder": "is not a folder",
      closed: "cannot be looked into",
    };
    return [[NO, "worktree", worktree.path, kinds[worktree.kind]]];
  }
  const git = {
    worktree: "in a git worktree",
    none: "not in a git worktree",
    unknown: "git cannot say whether it is a worktree",
  };
  return [
    [YES, "worktree", worktree.path],
    [worktree.git === "worktree" ? YES : OTHER, git[worktree.git ?? "unknown"]],
    [
      worktree.mcpConfig ? YES : OTHER,
      worktree.mcpConfig ? ".cursor/mcp.json is there" : "no .cursor/mcp.json",
    ],
  ];
}
