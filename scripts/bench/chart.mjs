// Draws one chart with two lines as an SVG: ours, and the yardstick. It stands on a ground of its own, so that it
// can be read wherever it is shown, in light and in dark.

/**
 * @typedef {object} Chart
 * @property {string} title
 * @property {string} description what it shows, for those who do not see it
 * @property {string} xAxis with its unit
 * @property {string} yAxis with its unit
 * @property {boolean} [doubling] the places on the x axis are even for values that grow by a factor
 * @property {Line} ours
 * @property {Line} yardstick
 */

/** @typedef {{ label: string, points: { x: number, y: number }[] }} Line */

const [WIDTH, HEIGHT] = [720, 340];
const FRAME = { left: 64, right: 560, top: 48, bottom: 282 };
/** What a line of text takes. */
const LINE_HEIGHT = 16;
const STYLE = `
    .ground { fill: #ffffff; stroke: #d1d9e0 }
    .grid { stroke: #d1d9e0 }
    .axis { stroke: #59636e }
    text { fill: #1f2328; font: 13px system-ui, sans-serif }
    .title { font-size: 15px; font-weight: 600 }
    .line { fill: none; stroke-width: 2.5 }
    .ours { stroke: #0969da } .oursFill { fill: #0969da }
    .yardstick { stroke: #9a6700; stroke-dasharray: 7 4 } .yardstickFill { fill: #9a6700 }
    @media (prefers-color-scheme: dark) {
      .ground { fill: #0d1117; stroke: #3d444d }
      .grid { stroke: #30363d }
      .axis { stroke: #9198a1 }
      text { fill: #e6edf3 }
      .ours { stroke: #4493f8 } .oursFill { fill: #4493f8 }
      .yardstick { stroke: #d29922 } .yardstickFill { fill: #d29922 }
    }`;

/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** To a tenth of a pixel. @param {number} value */
const pixel = (value) => Number(value.toFixed(1));

/** Even steps from 0 to at least `highest`, in numbers that people like. @param {number} highest */
export function ticks(highest) {
  const rough = highest / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const count = Math.ceil(highest / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, number) => Number((number * step).toPrecision(6)));
}

/** @param {string} content @param {number} x @param {number} y @param {string} [more] */
const label = (content, x, y, more = "") =>
  `<text x="${pixel(x)}" y="${pixel(y)}"${more}>${escaped(content)}</text>`;

/** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 @param {string} kind */
const stroke = (x1, y1, x2, y2, kind) =>
  `<line x1="${pixel(x1)}" y1="${pixel(y1)}" x2="${pixel(x2)}" y2="${pixel(y2)}" class="${kind}"/>`;

/** Text in lines of at most so many letters. @param {string} text @param {number} most */
function wrapped(text, most) {
  /** @type {string[]} */
  const lines = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= most) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/**
 * Where the texts at the ends of the two lines stand, so that none covers the other.
 * @param {number[]} wanted
 * @param {number[]} heights
 */
function apart([first = 0, second = 0], [high = 0, low = 0]) {
  const upper = first <= second;
  const [top, bottom] = upper ? [first, second] : [second, first];
  const needs = (upper ? high : low) + LINE_HEIGHT;
  const lowered = Math.max(bottom, top + needs);
  return upper ? [top, lowered] : [lowered, top];
}

/** @param {Chart} chart */
export function draw({ title, description, xAxis, yAxis, doubling, ours, yardstick }) {
  const xs = [...new Set([...ours.points, ...yardstick.points].map(({ x }) => x))].sort((a, b) => a - b);
  const marks = ticks(Math.max(...[...ours.points, ...yardstick.points].map(({ y }) => y)));
  const highest = marks.at(-1) ?? 1;
  /** @param {number} x */
  const along = (x) => (doubling ? Math.log2(x) : x);
  const [from, to] = [doubling ? along(xs[0] ?? 1) : 0, along(xs.at(-1) ?? 1)];
  /** @param {number} x */
  const atX = (x) => FRAME.left + ((along(x) - from) / (to - from)) * (FRAME.right - FRAME.left);
  /** @param {number} y */
  const atY = (y) => FRAME.bottom - (y / highest) * (FRAME.bottom - FRAME.top);

  const grid = marks.flatMap((mark) => [
    stroke(FRAME.left, atY(mark), FRAME.right, atY(mark), mark === 0 ? "axis" : "grid"),
    label(String(mark), FRAME.left - 8, atY(mark) + 4, ' text-anchor="end"'),
  ]);
  const below = xs.flatMap((x) => [
    stroke(atX(x), FRAME.bottom, atX(x), FRAME.bottom + 5, "axis"),
    label(String(x), atX(x), FRAME.bottom + 20, ' text-anchor="middle"'),
  ]);
  const both = /** @type {const} */ ([
    ["yardstick", yardstick],
    ["ours", ours],
  ]);
  const ends = both.map(([, { points }]) => atY(points.at(-1)?.y ?? 0) + 4);
  const texts = both.map(([, line]) => wrapped(line.label, 20));
  const places = apart(
    ends,
    texts.map((lines) => (lines.length - 1) * LINE_HEIGHT),
  );
  const lines = both.flatMap(([kind, { points }], index) => [
    `<polyline class="line ${kind}" points="${points.map(({ x, y }) => `${pixel(atX(x))},${pixel(atY(y))}`).join(" ")}"/>`,
    ...points.map(({ x, y }) =>
      kind === "ours"
        ? `<circle class="oursFill" cx="${pixel(atX(x))}" cy="${pixel(atY(y))}" r="3.5"/>`
        : `<rect class="yardstickFill" x="${pixel(atX(x) - 3.5)}" y="${pixel(atY(y) - 3.5)}" width="7" height="7"/>`,
    ),
    ...(texts[index] ?? []).map((text, row) =>
      label(text, FRAME.right + 12, (places[index] ?? 0) + row * LINE_HEIGHT, ` class="${kind}Fill"`),
    ),
  ]);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="title desc">`,
    `  <title id="title">${escaped(title)}</title>`,
    `  <desc id="desc">${escaped(description)}</desc>`,
    `  <style>${STYLE}\n  </style>`,
    `  <rect class="ground" x="0.5" y="0.5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="6"/>`,
    ...[
      label(title, 16, 26, ' class="title"'),
      ...grid,
      ...below,
      label(xAxis, (FRAME.left + FRAME.right) / 2, HEIGHT - 14, ' text-anchor="middle"'),
      `<text transform="translate(20 ${(FRAME.top + FRAME.bottom) / 2}) rotate(-90)" text-anchor="middle">${escaped(yAxis)}</text>`,
      ...lines,
    ].map((line) => `  ${line}`),
    "</svg>",
    "",
  ].join("\n");
}
