/** Lines that begin with a mark: what is well, what is not, and what is neither. */

import type { Span } from "./operations.ts";
import { singleLine } from "./text.ts";

export const YES: Span = { text: "✓ ", style: "green" };
export const NO: Span = { text: "✗ ", style: "red" };
export const OTHER: Span = { text: "– ", style: "dim" };

/** A mark and what is behind it, which may be anybody's text. */
export type Line = [mark: Span, ...parts: string[]];

/** The line as it is shown. */
export function spansOf([mark, ...parts]: Line): Span[] {
  const shown = parts.map(singleLine).filter((part) => part !== "");
  return [mark, { text: `${shown.join("  ")}\n`, style: "plain" }];
}
