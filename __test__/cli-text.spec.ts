import { describe, expect, test } from "vitest";
import { formatCount, formatDuration } from "../cli/render/format.ts";
import { advanceColumn, displayWidth, printable, singleLine, truncate } from "../cli/render/text.ts";

describe("text that is safe to print", () => {
  test.each([
    ["a\tb\nc", "a\tb\nc"],
    ["a\r\nb", "a\nb"],
    ["\u001b[1;31mred\u001b[0m", "red"],
    ["\u001b]0;title\u0007x", "x"],
    ["\u001b]8;;https://x.test\u001b\\link\u001b]8;;\u001b\\", "link"],
    ["\u001bP1;2|payload\u001b\\x", "x"],
    ["\u001b]52;c;Zm9v", ""],
    ["\u009b31mx", "x"],
    ["\u009d0;title\u009cx", "x"],
    ["a\u0000\u0007\u0008\u007f\u0085b", "ab"],
    ["\u001b\u001b[31mx", "x"],
    ["grüße 漢字 👩‍👩‍👧", "grüße 漢字 👩‍👩‍👧"],
  ])("%j becomes %j", (input, output) => {
    expect(printable(input)).toBe(output);
  });

  test("no mixture of what is left makes a control character", () => {
    const parts = ["\u001b", "[", "]", "31m", "\u0007", "\u009b", "\u009c", "\\", "P", "x", "\n"];
    for (let seed = 0; seed < 5000; seed += 1) {
      let input = "";
      for (let rest = seed * 7919 + 1; rest > 0; rest = Math.floor(rest / parts.length)) {
        input += parts[rest % parts.length];
      }
      expect(printable(input)).not.toMatch(/[^\P{Cc}\t\n]/u);
    }
  });

  test("one line has no breaks and no marks that turn the reading direction", () => {
    expect(singleLine("  a\n\n b\t\u2028c\u202ed\u2066e ")).toBe("a b cde");
  });
});

describe("columns", () => {
  test.each([
    ["", 0],
    ["abc", 3],
    ["漢字", 4],
    ["한국", 4],
    ["é", 1],
    ["e\u0301", 1],
    ["\u200b", 0],
    ["👍", 2],
    ["👩‍👩‍👧", 2],
    ["❤️", 2],
    ["⠋ ✓ ✗ · …", 9],
    ["ｆｕｌｌ", 8],
  ])("%j takes %i", (text, columns) => {
    expect(displayWidth(text)).toBe(columns);
  });

  test("a cut never goes through a character and never over the width", () => {
    expect(truncate("hello", 5)).toBe("hello");
    expect(truncate("hello!", 5)).toBe("hell…");
    expect(truncate("漢字漢字", 5)).toBe("漢字…");
    expect(truncate("漢字漢字", 4)).toBe("漢…");
    expect(truncate("ab cd", 4)).toBe("ab…");
    expect(truncate("hello", 1)).toBe("…");
    expect(truncate("hello", 0)).toBe("");
    for (let columns = 0; columns < 14; columns += 1) {
      expect(displayWidth(truncate("a漢👩‍👩‍👧e\u0301b 漢 c👍", columns))).toBeLessThanOrEqual(columns);
    }
  });

  test("the cursor's column after a text", () => {
    expect(advanceColumn(3, "ab", 10)).toBe(5);
    expect(advanceColumn(3, "ab\nc", 10)).toBe(1);
    expect(advanceColumn(0, "0123456789", 10)).toBe(10);
    expect(advanceColumn(10, "x", 10)).toBe(1);
    expect(advanceColumn(9, "漢", 10)).toBe(2);
    expect(advanceColumn(1, "\t", 10)).toBe(8);
    expect(advanceColumn(8, "\t", 10)).toBe(9);
  });
});

test.each([
  [0, "0.0s"],
  [1249, "1.2s"],
  [59_940, "59.9s"],
  [59_960, "1m 00s"],
  [125_000, "2m 05s"],
  [3_600_000, "1h 00m"],
  [-5, "0.0s"],
])("%i ms reads %s", (milliseconds, reading) => {
  expect(formatDuration(milliseconds)).toBe(reading);
});

test.each([
  [0, "0"],
  [999, "999"],
  [1000, "1.0k"],
  [18_432, "18.4k"],
  [999_949, "999.9k"],
  [999_950, "1.0M"],
  [1_250_000, "1.3M"],
])("%i tokens read %s", (count, reading) => {
  expect(formatCount(count)).toBe(reading);
});
