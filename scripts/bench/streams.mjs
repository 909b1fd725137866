// One stream that is read alone, beside the loop that one writes by hand.

import { deepStrictEqual } from "node:assert";
import { inChild, inTurns, middle, row } from "./figures.mjs";
import { replay } from "./places.mjs";

const BY_HAND = "`readline` and `JSON.parse`";

/** @typedef {{ wallMs: number, busyMs: number, seen: object }} Read */

/** @param {import("./figures.mjs").Job} job */
export async function measure({ folder, options }) {
  const { binary, bytes } = replay(folder, options.streamMegabytes);
  /** @param {import("./child/ways.mjs").Way} way @returns {() => Read} */
  const read = (way) => () => inChild("stream.mjs", binary, way);
  const all = await inTurns(options.rounds, {
    plain: read("plain"),
    readline: read("readline"),
    four: read("four"),
    event: read("event"),
  });
  // None is fast because it left something out.
  const expected = all.readline[0]?.seen;
  for (const { seen } of all.four) deepStrictEqual(seen, expected);
  for (const { seen } of all.event) deepStrictEqual({ ...seen, payload: 0 }, { ...expected, payload: 0 });

  /** @param {keyof typeof all} way */
  const throughput = (way) => bytes / 1000 / middle(all[way].map(figures), "wallMs");
  /** @param {keyof typeof all} way */
  const busy = (way) => middle(all[way].map(figures), "busyMs");
  const fast = { part: "streams", unit: "MB/s", more: /** @type {const} */ (true) };
  const cheap = { part: "streams", unit: "ms", reference: busy("readline"), against: BY_HAND };
  return [
    row({
      ...fast,
      name: "throughput, four callbacks",
      value: throughput("four"),
      reference: throughput("readline"),
      against: BY_HAND,
    }),
    row({
      ...fast,
      name: "throughput, `onEvent`",
      value: throughput("event"),
      reference: throughput("readline"),
      against: BY_HAND,
    }),
    row({
      ...fast,
      name: "throughput, `onEvent`, to what is possible",
      value: throughput("event"),
      reference: throughput("plain"),
      against: "bytes that are read and thrown away",
    }),
    row({ ...cheap, name: "main thread, four callbacks", value: busy("four") }),
    row({ ...cheap, name: "main thread, `onEvent`", value: busy("event") }),
  ];
}

/** @param {Read} read */
const figures = ({ wallMs, busyMs }) => ({ wallMs, busyMs });
