/** Text that is safe to show, and how many columns it takes. Everything here is pure. */

import { stripVTControlCharacters } from "node:util";

// C0 without tab and newline, DEL, and C1: what is left once whole escape sequences are gone.
const CONTROL = /[^\P{Cc}\t\n]/gu;
// Orders to a terminal that end with ST or BEL and carry a payload (OSC, DCS, SOS, PM, APC), in both spellings.
const STRING_SEQUENCE =
  /(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c|$)/g;
// They can make a command read as another one.
const BIDI_CONTROL = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * What an agent wrote, without anything that could drive the terminal: only newlines and tabs stay.
 */
export function printable(text: string): string {
  return stripVTControlCharacters(text.replace(STRING_SEQUENCE, "")).replace(CONTROL, "");
}

/** The same as one line: every run of white space is one space. */
export function singleLine(text: string): string {
  return printable(text.replace(/[\r\n\u2028\u2029]/g, " "))
    .replace(BIDI_CONTROL, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** A word for a shell, quoted where it has to be. */
export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const PLAIN_ASCII = /^[\u0020-\u007e]*$/;
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]/u;
const EMOJI = /^\p{Emoji_Presentation}|^\p{Extended_Pictographic}\ufe0f/u;
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{17000}-\u{18cff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]/u;

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** The characters as a person counts them. */
export function graphemes(text: string): Iterable<string> {
  return PLAIN_ASCII.test(text) ? text : segments(text);
}

function* segments(text: string): Generator<string> {
  for (const { segment } of segmenter.segment(text)) {
    yield segment;
  }
}

/** Columns of one character as a person counts them: 0, 1 or 2. */
export function graphemeWidth(grapheme: string): number {
  if (ZERO_WIDTH.test(grapheme)) {
    return 0;
  }
  return EMOJI.test(grapheme) || WIDE.test(grapheme) ? 2 : 1;
}

/** Columns of a line without tabs. */
export function displayWidth(text: string): number {
  if (PLAIN_ASCII.test(text)) {
    return text.length;
  }
  let width = 0;
  for (const grapheme of graphemes(text)) {
    width += graphemeWidth(grapheme);
  }
  return width;
}

/** The line cut to at most `columns` columns; a cut shows as `…`. */
export function truncate(text: string, columns: number): string {
  if (displayWidth(text) <= columns) {
    return text;
  }
  if (columns < 1) {
    return "";
  }
  let kept = "";
  let width = 0;
  for (const grapheme of graphemes(text)) {
    const next = graphemeWidth(grapheme);
    if (width + next > columns - 1) {
      break;
    }
    kept += grapheme;
    width += next;
  }
  return `${kept.trimEnd()}…`;
}

/**
 * Where the cursor is after `text`, in a terminal of `columns` columns that wraps. The answer may be `columns`
 * itself: the row is full, and the wrap waits for the next character.
 */
export function advanceColumn(column: number, text: string, columns: number): number {
  const lineStart = text.lastIndexOf("\n") + 1;
  let at = lineStart > 0 ? 0 : column;
  for (const grapheme of graphemes(text.slice(lineStart))) {
    if (grapheme === "\t") {
      at = Math.min((Math.floor(at / 8) + 1) * 8, columns - 1);
    } else {
      const width = graphemeWidth(grapheme);
      at = at + width > columns ? width : at + width;
    }
  }
  return at;
}
