/** The pages that people read, and what is in them. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(__dirname, "..", "..");

/** A fenced block. */
export interface Block {
  readonly language: string;
  readonly code: string;
  /** What stands right behind it in a block of `text`: what the code prints. */
  readonly prints: string | undefined;
}

/** A link: its file as it is written, empty for a place in the same page, and the place. */
export interface Link {
  readonly file: string;
  readonly place: string | undefined;
}

const FENCED = /^ *```(\w*)\n([\s\S]*?)^ *```$/gm;

export class Page {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;

  constructor(path: string) {
    this.path = path;
    this.text = readFileSync(join(root, path), "utf8");
  }

  /** The fenced blocks of these languages, in order. */
  blocks(...languages: string[]): Block[] {
    const found = [...this.text.matchAll(FENCED)].map((match) => ({
      language: match[1] as string,
      code: match[2] as string,
      from: match.index,
      to: match.index + match[0].length,
    }));
    return found.flatMap(({ language, code, to }, index) => {
      if (!languages.includes(language)) return [];
      const next = found[index + 1];
      const adjacent = next?.language === "text" && this.text.slice(to, next.from).trim() === "";
      return [{ language, code, prints: adjacent ? next.code : undefined }];
    });
  }

  /** The rows of the table whose head starts with `head`: the code in their first cell, and the other cells. */
  rows(head: string): { name: string; cells: string[] }[] {
    const [, table = ""] = this.text.split(`\n| ${head} |`);
    const [body = ""] = table.split("\n\n");
    return [...body.matchAll(/^\| `([^`]+)` \|(.*)\|$/gm)].map((match) => ({
      name: match[1] as string,
      cells: (match[2] as string).split("|").map((cell) => cell.trim()),
    }));
  }

  /** The links to files and places of the repository. Code is no link. */
  links(): Link[] {
    const found = this.#prose().matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g);
    return [...found].map((match) => ({ file: match[1] as string, place: match[2] }));
  }

  /** The places that a link may lead to, as GitHub names them. */
  places(): string[] {
    const seen = new Map<string, number>();
    return [...this.#prose().matchAll(/^#+ +(.+)$/gm)].map((match) => {
      const name = (match[1] as string)
        .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
        .replaceAll(" ", "-");
      const before = seen.get(name) ?? 0;
      seen.set(name, before + 1);
      return before === 0 ? name : `${name}-${before}`;
    });
  }

  /** The text without its fenced blocks. */
  #prose(): string {
    return this.text.replace(FENCED, "");
  }
}

/** The pages in `docs/`. */
export function docs(): Page[] {
  const names = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
  return names.sort().map((name) => new Page(`docs/${name}`));
}

/** Every page that is written for people. */
export function everyPage(): Page[] {
  const others = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "testing/README.md"];
  return [...others.map((path) => new Page(path)), ...docs()];
}
