// Figures: the front of energy and makespan, and the profit at every price. Drawn at the width that there is, so
// that letters keep their size on a telephone. Each figure has a table with its numbers beside it.
import { el, show, svg, table } from "./dom.js";
import { number, roundedDown, roundedUp } from "./numbers.js";
import { ticks } from "./scales.js";
import { duration, energyText, paired, shortUnit } from "./texts.js";

const HEIGHT = 300;
const MARGIN = { left: 64, right: 18, top: 16, bottom: 46 };
const ENERGY_UNITS = [[3.6e9, "MWh"], [3.6e6, "kWh"], [3600, "Wh"]];
const TIME_UNITS = [[86400, "days"], [3600, "h"], [60, "min"], [1, "s"]];
const MOST_ROWS = 200;
const LEAST_SPAN = 0.04;

// To measure a box while the page changes makes the browser lay it out at once, several times for one answer.
let available = 0;

/** The width that figures have; they are drawn again by the caller. */
export function setWidth(pixels) {
  available = pixels;
}

function unitFor(largest, units) {
  return units.find(([size]) => largest >= 2 * size) ?? units[units.length - 1];
}

function padded(values, share = 0.06) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const room = high > low ? share * (high - low) : 0;
  // Differences of less than a few per cent are not drawn as if they were large.
  const least = Math.max(room, (LEAST_SPAN * Math.abs(high) - (high - low)) / 2, 1e-9);
  return [low - least, high + least];
}

/**
 * @typedef {{points: [number, number][], className: string, kind: "line"|"dots"|"area"}} Series
 * @param {HTMLElement} box
 * @param {{label: string, x: {range: [number, number], label: string}, y: {range: [number, number], label: string},
 *   series: Series[], lines?: {x: number, text: string, className: string}[],
 *   marks?: {x: number, y: number, className: string, text: string}[]}} about
 */
function chart(box, about) {
  const width = Math.max(260, Math.floor(available || box.clientWidth || 600));
  const inner = [MARGIN.left, width - MARGIN.right, HEIGHT - MARGIN.bottom, MARGIN.top];
  const place = ([low, high], from, to) => (value) => from + ((value - low) / (high - low)) * (to - from);
  const x = place(about.x.range, inner[0], inner[1]);
  const y = place(about.y.range, inner[2], inner[3]);
  const fit = (value) => Math.round(10 * value) / 10;
  const at = ([a, b]) => fit(x(a)) + "," + fit(y(b));
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", "aria-label": about.label });
  const layer = svg("g");
  for (const mark of ticks(...about.x.range, width < 480 ? 4 : 7)) {
    layer.append(svg("line", { class: "grid", x1: fit(x(mark)), x2: fit(x(mark)), y1: inner[2], y2: inner[3] }),
      svg("text", { class: "tick", x: fit(x(mark)), y: inner[2] + 16, "text-anchor": "middle" }, number(mark)));
  }
  for (const mark of ticks(...about.y.range, 5)) {
    const isZero = mark === 0;
    layer.append(svg("line", { class: isZero ? "zero" : "grid", x1: inner[0], x2: inner[1], y1: fit(y(mark)), y2: fit(y(mark)) }),
      svg("text", { class: "tick", x: inner[0] - 6, y: fit(y(mark)) + 4, "text-anchor": "end" }, number(mark)));
  }
  const clip = "clip-" + box.id;
  drawing.append(svg("clipPath", { id: clip },
    svg("rect", { x: inner[0] - 8, y: inner[3] - 8, width: inner[1] - inner[0] + 16, height: inner[2] - inner[3] + 16 })));
  const inside = svg("g", { "clip-path": `url(#${clip})` });
  for (const { points, className, kind } of about.series) {
    if (kind === "dots") {
      for (const point of points) inside.append(svg("circle", { class: className, cx: fit(x(point[0])), cy: fit(y(point[1])), r: 3.4 }));
    } else if (points.length) {
      const tag = kind === "area" ? "polygon" : "polyline";
      inside.append(svg(tag, { class: className, points: points.map(at).join(" ") }));
    }
  }
  // Words beside vertical lines: on the side where there is room, one below the other.
  (about.lines ?? []).forEach((line, k) => {
    const px = fit(x(line.x));
    const isRight = px > (inner[0] + inner[1]) / 2;
    inside.append(svg("line", { class: line.className, x1: px, x2: px, y1: inner[2], y2: inner[3] }),
      svg("text", { class: "word " + line.className, x: px + (isRight ? -5 : 5), y: inner[3] + 12 + 15 * k,
        "text-anchor": isRight ? "end" : "start" }, line.text));
  });
  for (const mark of about.marks ?? []) {
    const [px, py] = [fit(x(mark.x)), fit(y(mark.y))];
    inside.append(svg("path", { class: mark.className, "data-x": mark.x, "data-y": mark.y,
      d: `M${px} ${py - 8}L${px + 8} ${py}L${px} ${py + 8}L${px - 8} ${py}Z` }, svg("title", {}, mark.text)));
  }
  drawing.append(layer, inside,
    svg("text", { class: "axis", x: (inner[0] + inner[1]) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, about.x.label),
    svg("text", { class: "axis", x: -(inner[2] + inner[3]) / 2, y: 14, transform: "rotate(-90)", "text-anchor": "middle" }, about.y.label));
  return drawing;
}

function legend(entries) {
  return el("ul", { class: "legend" }, entries.filter(Boolean).map(([className, text]) => (
    el("li", {}, el("span", { class: "sign " + className, "aria-hidden": "true" }), text))));
}

/** The numbers of a figure in a table, which is made when it is opened. @param {() => any[][]} rowsOf */
function numbersOf(caption, heads, rowsOf) {
  const details = el("details", { class: "data", ontoggle: () => {
    if (!details.open || details.children.length > 1) return;
    const rows = rowsOf();
    details.append(table({ caption, heads, rows: rows.slice(0, MOST_ROWS), hidden: true }));
    if (rows.length > MOST_ROWS) details.append(el("p", { class: "note" }, `The first ${MOST_ROWS} of ${rows.length} rows.`));
  } }, el("summary", {}, "Numbers of this figure"));
  return details;
}

// A figure keeps its table open or closed while a slider moves.
function place(box, ...children) {
  const isOpen = box.querySelector("details.data")?.open ?? false;
  show(box, ...children);
  const details = box.querySelector("details.data");
  if (details) details.open = isOpen;
}

/** One sentence in place of a figure. */
export function missing(box, sentence) {
  show(box, el("p", { class: "note" }, sentence));
}

const pairs = (points) => (points ?? []).filter(Boolean).map((each) => [each.energy_joules, each.makespan_seconds]);

/**
 * The front: vertices of the linear program, below which no schedule lies (proved), and verified schedules.
 * @param {HTMLElement} box
 * @param {{front: any, solve: any}} now
 * @param {{front: any, solve: any}|null} pin
 */
export function drawFront(box, now, pin) {
  const both = [now, ...(pin?.front ? [pin] : [])];
  const current = both.map(({ solve }) => (
    solve && solve.makespan_seconds !== null && solve.energy_joules !== null ? [solve.energy_joules, solve.makespan_seconds] : null));
  const every = [...both.flatMap(({ front }) => [...pairs(front.vertices), ...pairs(front.schedules)]), ...current.filter(Boolean)];
  if (!every.length) {
    missing(box, "No schedule was found, so there is no front.");
    return;
  }
  const [joules, energyName] = unitFor(Math.max(...every.map(([energy]) => energy)), ENERGY_UNITS);
  const [seconds, timeName] = unitFor(Math.max(...every.map(([, time]) => time)), TIME_UNITS);
  const scaled = (points) => points.map(([a, b]) => [a / joules, b / seconds]);
  const inside = scaled(every);
  const ranges = [padded(inside.map(([a]) => a)), padded(inside.map(([, b]) => b))];
  const vertices = scaled(pairs(now.front.vertices)).sort((a, b) => a[0] - b[0]);
  const ends = vertices.length ? [[vertices[0][0], ranges[1][1]], ...vertices, [ranges[0][1], vertices.at(-1)[1]]] : [];
  const forbidden = ends.length ? [...ends, [ranges[0][1], ranges[1][0]], [ranges[0][0], ranges[1][0]], [ranges[0][0], ranges[1][1]]] : [];
  const text = (point) => energyText(point[0]) + " in " + duration(point[1]);
  const marks = current.map((point, k) => point && ({ x: point[0] / joules, y: point[1] / seconds,
    className: k ? "mark pinned" : "mark", text: (k ? "pinned schedule: " : "this schedule: ") + text(point) })).filter(Boolean).reverse();
  const label = `Energy and makespan: ${now.front.vertices.length} vertices of the front (proved)`
    + (current[0] ? `; this schedule takes ${text(current[0])} (verified)` : "");
  const pinnedSeries = pin?.front ? [
    { points: scaled(pairs(pin.front.vertices)), className: "curve pinned", kind: "line" },
    { points: scaled(pairs(pin.front.schedules)), className: "dot pinned", kind: "dots" }] : [];
  place(box, chart(box, { label, x: { range: ranges[0], label: "energy, " + energyName }, y: { range: ranges[1], label: "makespan, " + timeName },
    series: [{ points: forbidden, className: "forbidden", kind: "area" }, ...pinnedSeries,
      { points: ends, className: "curve bound", kind: "line" },
      { points: scaled(pairs(now.front.schedules)), className: "dot value", kind: "dots" }],
    marks }),
  legend([["bound", "no schedule lies below the line (proved)"], ["dots value", "schedules (verified)"],
    ["diamond", "this schedule (verified)"], pin && ["pinned", "pinned scenario"]]),
  numbersOf("Vertices of the front and the schedules near them", ["", "LP vertex: energy", "LP vertex: makespan", "schedule: energy (verified)", "schedule: makespan (verified)"],
    () => now.front.vertices.map((vertex, k) => {
      const found = now.front.schedules[k];
      return [String(k + 1), energyText(vertex.energy_joules), duration(vertex.makespan_seconds),
        found ? energyText(found.energy_joules) : "-", found ? duration(found.makespan_seconds) : "-"];
    })));
}

/**
 * The corners of a price curve up to a price: [price, bound, value]; the last segment goes on as a straight line.
 * A value is that of a schedule at this very price; null where none is known.
 */
export function curveUpTo(curve, end) {
  const corners = [];
  for (const piece of curve.pieces) {
    corners.push([piece.from_price, piece.bound_at_from, piece.value_at_from]);
    if (piece.to_price !== null) corners.push([piece.to_price, piece.bound_at_to, piece.value_at_to]);
  }
  const last = curve.pieces.at(-1);
  const beyond = (curve.points ?? []).filter((point) => last && last.to_price === null && point.price > last.from_price).at(-1);
  if (beyond) {
    corners.push([beyond.price, beyond.bound, beyond.value]);
    const slope = (beyond.bound - last.bound_at_from) / (beyond.price - last.from_price);
    if (end > beyond.price) corners.push([end, beyond.bound + slope * (end - beyond.price), null]);
  }
  return corners;
}

/**
 * The bound at a price, between corners; null outside. The most profit is convex in the price, so the straight line
 * between two proved bounds is proved too. Values have no such line: those at two corners may be of two schedules.
 */
export function boundAt(corners, price) {
  for (let k = 1; k < corners.length; k += 1) {
    const [from, to] = [corners[k - 1], corners[k]];
    if (price < from[0] || price > to[0]) continue;
    if (price === to[0] || price === from[0]) return price === to[0] ? to[1] : from[1];
    const share = (price - from[0]) / (to[0] - from[0]);
    return from[1] + share * (to[1] - from[1]) + 4 * Number.EPSILON * Math.max(Math.abs(from[1]), Math.abs(to[1]));
  }
  return null;
}

function cut(corners, end) {
  const kept = corners.filter(([price]) => price <= end);
  const there = kept.at(-1)?.[0] === end ? null : boundAt(corners, end);
  return there === null ? kept : [...kept, [end, there, null]];
}

// The profit of the schedule that is shown, whatever it was solved for.
function profitOf(solve) {
  return (solve?.objective === "profit" ? solve.value : solve?.money?.per_hour.profit) ?? null;
}

function priceEnd(both) {
  const ends = both.map(({ curve, price }) => {
    const even = curve.break_even_price ?? curve.least_price_to_run ?? 0;
    const corner = Math.max(0, ...curve.pieces.map((piece) => piece.from_price));
    return price !== null ? Math.max(1.5 * price, 1.3 * even) : even ? 4 * even : 1.2 * corner;
  });
  return Math.max(...ends) || 1;
}

/**
 * The most profit at every price of the bag.
 * @param {HTMLElement} box
 * @param {{curve: any, price: number|null, solve: any}} now
 * @param {{curve: any, price: number|null, solve: any}|null} pinned not drawn where it is in another currency
 */
export function drawPrice(box, now, pinned) {
  const pin = pinned?.curve.unit === now.curve.unit ? pinned : null;
  const both = [now, ...(pin?.curve ? [pin] : [])];
  const end = priceEnd(both);
  const curves = both.map(({ curve }) => cut(curveUpTo(curve, end), end));
  const unit = shortUnit(now.curve.unit);
  const currency = unit.split("/")[0];
  const earned = both.map(({ solve, price }) => (price === null ? null : profitOf(solve)));
  const heights = [...curves.flatMap((corners) => corners.flatMap(([, bound, value]) => [bound, value])), ...earned].filter((each) => each !== null);
  const range = padded([0, ...heights]);
  const points = (corners, place) => corners.filter((each) => each[place] !== null).map((each) => [each[0], each[place]]);
  const marks = both.map((each, k) => ({ each, k, y: earned[k] })).filter(({ y }) => y !== null)
    .map(({ each, k, y }) => ({ x: each.price, y, className: k ? "mark pinned" : "mark",
      text: `${k ? "pinned: " : ""}price ${number(each.price)} ${currency}, profit ${number(y)} ${unit}` })).reverse();
  const even = now.curve.break_even_price;
  const least = now.curve.least_price_to_run;
  const lines = [
    even !== null && even <= end ? { x: even, text: `break-even at least ${roundedDown(even)} (proved)`, className: "even" } : null,
    now.price !== null ? { x: now.price, text: "price " + number(now.price), className: "now" } : null].filter(Boolean);
  const idle = least !== null && least > 0 ? [{ className: "forbidden", kind: "area",
    points: [[0, range[0]], [0, range[1]], [Math.min(least, end), range[1]], [Math.min(least, end), range[0]]] }] : [];
  const label = `Profit over the price of the bag. ${even === null ? "" : `No schedule breaks even below ${roundedDown(even)} ${currency} (proved).`}`
    + (now.price === null ? "" : ` Current price ${number(now.price)} ${currency}.`);
  place(box, chart(box, { label, x: { range: [0, end], label: `price of the bag, ${currency}` }, y: { range, label: `profit, ${unit}` },
    series: [...idle, ...(curves[1] ? [{ points: points(curves[1], 1), className: "curve pinned", kind: "line" }] : []),
      { points: points(curves[0], 1), className: "curve bound", kind: "line" },
      { points: points(curves[0], 2), className: "dot value", kind: "dots" }],
    lines, marks }),
  legend([["bound", "no schedule earns more (proved)"], ["dots value", "a schedule earns this (verified)"],
    earned[0] !== null && ["diamond", "this schedule (verified)"], idle.length > 0 && ["area", "best not to run (proved)"], pin?.curve && ["pinned", "pinned scenario"]]),
  numbersOf("Profit at the corners of the curve", [`price, ${currency}`, `no schedule earns more than, ${unit} (proved)`, `a schedule earns, ${unit} (verified)`],
    () => curves[0].filter((corner, k, all) => k === 0 || corner[0] !== all[k - 1][0]).map(([price, bound, value]) => {
      const [achieved, proved] = value === null ? ["-", roundedUp(bound)] : paired(value, Math.abs(bound) < 1e-12 ? 0 : bound, true);
      return [number(price), proved, achieved];
    })),
  pinned && !pin ? el("p", { class: "note" }, `The pinned curve is in ${shortUnit(pinned.curve.unit)}: it is not drawn here.`) : null);
}
