/** A small terminal: enough to tell what a person sees after some output. Unknown sequences are an error. */

import { graphemes, graphemeWidth } from "../../cli/render/text.ts";

// The order of the alternatives matters: a sequence before its first character alone.
const TOKEN = /\u001b\[(\??)([0-9;]*)([A-Za-z])|[\n\r\t]|\P{Cc}+|[\s\S]/gu;

export class Screen {
  cursorVisible = true;
  /** The most rows that were ever asked to go up beyond the top. */
  clipped = 0;
  private readonly columns: number;
  private readonly rows: number;
  private grid: string[][] = [[]];
  private top = 0;
  private row = 0;
  private column = 0;

  constructor(columns = 80, rows = 24) {
    this.columns = columns;
    this.rows = rows;
  }

  /** Everything ever shown, what has scrolled away included, without spaces at the ends of rows. */
  get lines(): string[] {
    const lines = this.grid.map((cells) =>
      Array.from(cells, (cell) => cell ?? " ")
        .join("")
        .trimEnd(),
    );
    while (lines.length > 1 && lines.at(-1) === "") {
      lines.pop();
    }
    return lines;
  }

  get text(): string {
    return this.lines.join("\n");
  }

  write(output: string): this {
    for (const [token, mark, parameters, final] of output.matchAll(TOKEN)) {
      if (final !== undefined) {
        this.control(`${mark ?? ""}${final}`, parameters ?? "");
      } else if (token === "\n") {
        this.lineFeed();
      } else if (token === "\r") {
        this.column = 0;
      } else if (token === "\t") {
        this.column = Math.min((Math.floor(this.column / 8) + 1) * 8, this.columns - 1);
      } else if (/^\p{Cc}/u.test(token)) {
        throw new Error(`a control character reached the terminal: ${JSON.stringify(token)}`);
      } else {
        for (const grapheme of graphemes(token)) {
          this.put(grapheme);
        }
      }
    }
    return this;
  }

  private put(grapheme: string): void {
    const width = graphemeWidth(grapheme);
    if (this.column + width > this.columns) {
      this.lineFeed();
    }
    const cells = this.cells();
    cells[this.column] = grapheme;
    if (width === 2) {
      cells[this.column + 1] = "";
    }
    this.column += width;
  }

  private lineFeed(): void {
    this.column = 0;
    this.row += 1;
    this.top = Math.max(this.top, this.row - this.rows + 1);
    while (this.grid.length <= this.row) {
      this.grid.push([]);
    }
  }

  private control(name: string, parameters: string): void {
    const count = Number(parameters || "1");
    switch (name) {
      case "A":
        this.clipped = Math.max(this.clipped, this.top - (this.row - count));
        this.row = Math.max(this.top, this.row - count);
        this.column = Math.min(this.column, this.columns - 1);
        break;
      case "G":
        this.column = Math.min(count, this.columns) - 1;
        break;
      case "K":
        this.cells().length = Math.min(this.cells().length, this.column);
        break;
      case "J":
        this.cells().length = Math.min(this.cells().length, this.column);
        this.grid.length = this.row + 1;
        break;
      case "m":
        break;
      case "?h":
      case "?l":
        this.cursorVisible = name === "?h";
        break;
      default:
        throw new Error(`unknown sequence: CSI ${parameters}${name}`);
    }
  }

  private cells(): string[] {
    const cells = this.grid[this.row];
    if (cells === undefined) {
      throw new Error("the cursor is below the screen");
    }
    return cells;
  }
}
