// What a package's tarball holds, read from the archive itself: what is checked is what users get.

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

/**
 * A file of a package: its path in the package, its permissions, its bytes.
 * @typedef {{ path: string, mode: number, data: Buffer }} Entry
 */

const BLOCK = 512;

/**
 * The files of a tarball that `npm pack` has made, in its order. Throws where there is anything but files in it.
 * @param {string} file
 * @returns {Entry[]}
 */
export function readTarball(file) {
  const bytes = gunzipSync(readFileSync(file));
  /** @type {Entry[]} */
  const entries = [];
  for (let at = 0; at + BLOCK <= bytes.length && bytes[at] !== 0; ) {
    const text = (/** @type {number} */ from, /** @type {number} */ length) =>
      (bytes.toString("utf8", at + from, at + from + length).split("\0")[0] ?? "").trim();
    const path = [text(345, 155), text(0, 100)].filter(Boolean).join("/");
    const type = text(156, 1) || "0";
    // A link in a package could show anywhere, and npm leaves it out on installing.
    if (type !== "0") throw new Error(`${file} holds ${path}, which is no file (its type is ${type}).`);
    if (!/^package\/(?!.*\.\.\/)/.test(path))
      throw new Error(`${file} holds ${path}, which is not in package/.`);
    const size = Number.parseInt(text(124, 12), 8);
    const start = at + BLOCK;
    entries.push({
      path: path.slice("package/".length),
      mode: Number.parseInt(text(100, 8), 8),
      data: bytes.subarray(start, start + size),
    });
    at = start + Math.ceil(size / BLOCK) * BLOCK;
  }
  return entries;
}
