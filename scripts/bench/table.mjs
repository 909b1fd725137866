// The bench's table, as text.

import { parts } from "./parts.mjs";

/** @typedef {import("./figures.mjs").Row} Row */

/** What a row is about, with the number of what it grows with. @param {Row} row */
function title({ name, at }) {
  return at === undefined ? name : `${name}, ${at.value} ${at.unit}`;
}

/** Three digits, and never less than a whole. @param {number} value */
function digits(value) {
  if (value === 0) return "0";
  const before = Math.floor(Math.log10(Math.abs(value)));
  return value.toFixed(Math.max(0, Math.min(3, 2 - before)));
}

/** @param {number | null} value @param {string} unit */
const figure = (value, unit) => (value === null ? "–" : `${digits(value)} ${unit}`.trim());

/** @param {number | null} ratio */
const times = (ratio) => (ratio === null ? "–" : `${digits(ratio)} ×`);

/** The rows by their parts, in the order of the table. @param {Row[]} rows */
export function sections(rows) {
  return Object.entries(parts)
    .map(([part, { what }]) => ({ what, rows: rows.filter((row) => row.part === part) }))
    .filter(({ rows }) => rows.length > 0);
}

/** The lines of the table. @param {Row[]} rows */
export function table(rows) {
  const head = ["", "ours", "yardstick", "ratio", "the yardstick is"];
  /** @param {Row} row */
  const cells = (row) => [
    `  ${title(row)}${row.more ? " (more is better)" : ""}`,
    figure(row.value, row.unit),
    figure(row.reference, row.unit),
    times(row.ratio),
    row.against,
  ];
  const all = [head, ...rows.map(cells)];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  /** @param {string[]} row */
  const line = (row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        if (column === 4) return cell;
        return column === 0 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join("   ")
      .replaceAll("`", "");
  return [line(head), ...sections(rows).flatMap(({ what, rows }) => [what, ...rows.map(cells).map(line)])];
}
