/**
 * Which C library this process runs on. No program is run for it; and `ldd`, which tells of the system and not of this
 * Node, is read last: a Node for glibc can run on Alpine, and NixOS has no `ldd` there.
 */

import { interpreterOf, type Read } from "./elf.js";

export type Libc = "glibc" | "musl";

/** What is asked, in this order. Whatever throws is passed over. */
export interface Sources {
  /** The text of `/proc/self/maps`: the files that are mapped into this process. */
  readonly maps: () => string;
  /** Does something with the program that runs this process. */
  readonly program: <T>(look: (read: Read) => T) => T;
  /** Node's report on this process. */
  readonly report: () => unknown;
  /** The text of `/usr/bin/ldd`, which is a script. */
  readonly ldd: () => string;
}

/** The C library; glibc where nothing tells. */
export function detectLibc({ maps, program, report, ldd }: Sources): Libc {
  return (
    // What an addon is going to be linked to, even where musl runs a program that was made for glibc (gcompat).
    told(() => byFiles(maps())) ??
    told(() => byFiles(program(interpreterOf) ?? "")) ??
    // Not earlier: for it Node waits for every worker, and for seconds where one of them runs a command.
    told(() => byReport(report())) ??
    told(() => (ldd().includes("musl") ? "musl" : "glibc")) ??
    "glibc"
  );
}

function told(ask: () => Libc | undefined): Libc | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

// Their names as files, and not those of folders. `libc.so` is musl's: glibc has a text for linkers of that name.
const MUSL = /(?:^|\/)(?:ld-musl-[^/]+|libc\.musl-[^/]+|libc\.so)(?: \(deleted\))?$/m;
const GLIBC = /(?:^|\/)(?:ld-linux[^/]*|ld-2\.[^/]+|libc\.so\.6|libc-2\.[^/]+)(?: \(deleted\))?$/m;

/** By the paths at the ends of lines. */
function byFiles(text: string): Libc | undefined {
  if (MUSL.test(text)) return "musl";
  return GLIBC.test(text) ? "glibc" : undefined;
}

function byReport(report: unknown): Libc | undefined {
  const { header, sharedObjects } = report as {
    header?: { glibcVersionRuntime?: unknown };
    sharedObjects?: readonly string[];
  };
  const loaded = byFiles(sharedObjects?.join("\n") ?? "");
  return loaded ?? (header?.glibcVersionRuntime ? "glibc" : undefined);
}
