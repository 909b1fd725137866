import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";
import { docs, everyPage, Page, root } from "./support/markdown.js";

const pages = everyPage();

/** Where a link of a page leads, from the root of the repository. */
function target(page: Page, file: string): string {
  return file === "" ? page.path : normalize(join(dirname(page.path), file));
}

describe.each(pages.map((page) => [page.path, page] as const))("%s", (_, page) => {
  test("links to files that are there", () => {
    const lost = page.links().filter(({ file }) => !existsSync(join(root, target(page, file))));
    expect(lost).toEqual([]);
  });

  test("links to places that are there", () => {
    const lost = page.links().filter(({ file, place }) => {
      if (place === undefined) return false;
      const path = target(page, file);
      // Only pages have places; a link into anything else is one to a line, which moves.
      return !(
        pages
          .find((other) => other.path === path)
          ?.places()
          .includes(place) ?? false
      );
    });
    expect(lost).toEqual([]);
  });
});

test("every page in docs/ is on the map in the README", () => {
  const linked = new Page("README.md").links().map(({ file }) => file);
  expect(
    docs()
      .map(({ path }) => path)
      .filter((path) => !linked.includes(path)),
  ).toEqual([]);
});

test("what the package has of pages links to nothing that the package leaves out", () => {
  const files: string[] = JSON.parse(new Page("package.json").text).files;
  const always = ["README.md", "LICENSE", "package.json"];
  const packed = (path: string): boolean =>
    always.includes(path) ||
    files.some((line) => line === path || path.startsWith(line.replace(/\*.*$/, "")));
  const shipped = pages.filter(({ path }) => packed(path));
  const lost = shipped.flatMap((page) =>
    page
      .links()
      .map(({ file }) => target(page, file))
      .filter((path) => !packed(path))
      .map((path) => [page.path, path]),
  );
  expect(lost).toEqual([]);
});
