/** What a renderer wants done to the terminal, and how that is written. */

/** How a piece of text looks. */
export type Style = "plain" | "dim" | "bold" | "green" | "red" | "cyan";

/** A piece of text in one style. */
export interface Span {
  readonly text: string;
  readonly style: Style;
}

/** One step of output. */
export type Operation =
  | { readonly do: "print"; readonly text: string; readonly style: Style }
  /** Up by `rows`, to column `column` (0 is the first). */
  | { readonly do: "move"; readonly rows: number; readonly column: number }
  /** From the cursor to the end of its row. */
  | { readonly do: "erase-row" }
  /** From the cursor to the end of the screen. */
  | { readonly do: "erase-below" }
  | { readonly do: "cursor"; readonly visible: boolean };

/** Something that turns the events of one turn into output. `now` is in milliseconds on any steady clock. */
export interface Renderer<Event, Result> {
  /** One event of the stream. */
  event(event: Event, now: number): Operation[];
  /** Time has passed; called every {@link FRAME_MS} while `animated`. */
  tick(now: number): Operation[];
  /** The turn is over. `result` is absent where it failed. */
  finish(result: Result | undefined, now: number): Operation[];
  /** The terminal has another size now. */
  resize(size: Size, now: number): Operation[];
  /** Is there anything that moves? */
  readonly animated: boolean;
}

/** Of a terminal, in characters. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** How long one picture of the spinner stands. */
export const FRAME_MS = 80;

/** Makes a hidden cursor visible. */
export const SHOW_CURSOR = "\u001b[?25h";
const HIDE_CURSOR = "\u001b[?25l";

const STYLE_CODES: Record<Exclude<Style, "plain">, readonly [on: number, off: number]> = {
  dim: [2, 22],
  bold: [1, 22],
  green: [32, 39],
  red: [31, 39],
  cyan: [36, 39],
};

/** Text in a style, as a terminal takes it. */
export function styled(text: string, style: Style): string {
  if (style === "plain" || text === "") {
    return text;
  }
  const [on, off] = STYLE_CODES[style];
  return `\u001b[${on}m${text}\u001b[${off}m`;
}

/** The bytes for a terminal. */
export function encode(operations: readonly Operation[]): string {
  return operations.map(encodeOne).join("");
}

/** The text alone, for a file or a pipe. */
export function encodePlain(operations: readonly Operation[]): string {
  return operations.map((operation) => (operation.do === "print" ? operation.text : "")).join("");
}

function encodeOne(operation: Operation): string {
  switch (operation.do) {
    case "print":
      return styled(operation.text, operation.style);
    case "move":
      return (
        (operation.rows > 0 ? `\u001b[${operation.rows}A` : "") +
        (operation.column > 0 ? `\u001b[${operation.column + 1}G` : "\r")
      );
    case "erase-row":
      return "\u001b[K";
    case "erase-below":
      return "\u001b[J";
    case "cursor":
      return operation.visible ? SHOW_CURSOR : HIDE_CURSOR;
  }
}
