// Sliders: every number is a line between two breakpoints, so it is exact wherever the slider stands.

const EVEN = 0.05; // of the track: with a breakpoint further from its place on a linear scale, there is a note
const UNEVEN = "The scale is non-linear: breakpoints that lie close together are spread out.";
const SHOWN_DIGITS = 6; // of a number that is not the typed one; the position itself has all
const APART = 0.004; // of the track: ticks that are closer would be a bar
const STEPS = 1000; // of the range; each is a round number, so that it can be typed elsewhere

// The same operations in the same order as lpsched/report/html/page.py, so that the last digit is the same.
function lineAt(x, start, stop, a, b) {
  return x === stop ? b : a + (b - a) * (x - start) / (stop - start);
}

// The number itself, of a heat map's cell.
function sizeAt(reading, x, start, stop) {
  return Array.isArray(reading) ? lineAt(x, start, stop, reading[1], reading[2]) : null;
}

// With as many decimals as the others below it.
function fixedText(value, decimals) {
  const text = fixed(Math.abs(value), decimals);
  const [whole, ...rest] = text.split(".");
  return (value < 0 && /[1-9]/.test(text) ? "-" : "") + [whole.replace(/\B(?=(\d{3})+$)/g, ","), ...rest].join(".");
}

function written(reading, formats, x, start, stop) {
  if (reading === null) return "-";
  if (typeof reading === "string") return reading;
  const [format, a, b, c, d] = reading;
  const [unit, digits, upper, decimals] = formats[format];
  const value = lineAt(x, start, stop, a, b) + 0; // no minus before a zero
  if (c !== undefined) {
    const below = lineAt(x, start, stop, c, d);
    return gapText(below !== 0 ? value / below : value !== 0 ? null : 0);
  }
  if (unit === "%") return percent(value);
  const bound = upper ? roundedUp : roundedDown;
  const text = decimals !== null ? fixedText(value, decimals) : (upper === null ? number : bound)(value, digits);
  return (text + " " + unit).trimEnd();
}

// Most cells stay as they are, and need not be laid out again.
function show(cell, text) {
  if (cell.textContent !== text) cell.textContent = text;
}

// Where a number is on a scale of a figure, in percent; null outside.
function placeOn([isLog, low, high, from, to], value) {
  const size = isLog ? Math.log : (plain) => plain;
  const share = (size(value) - size(low)) / (size(high) - size(low));
  return share >= -1e-9 && share <= 1 + 1e-9 ? from + (to - from) * share : null;
}

class Slider {
  constructor(root, suffix) { // of the keys in the address, by which several sliders differ
    this.root = root;
    Object.assign(this, JSON.parse(root.querySelector("script").textContent));
    this.scales = this.scales.map(([label, key, size]) => [label, key + suffix, size]);
    this.low = this.segments[0][0];
    this.high = this.segments[this.segments.length - 1][1];
    this.breakpoints.push(this.high);
    this.values = Array.from(root.querySelectorAll(".readings dd"));
    this.tables = Array.from(root.querySelectorAll(".following table"));
    this.rows = this.tables.map((table) => Array.from(table.tBodies[0].rows));
    this.marks = new Map();
    this.shares = this.breakpoints.map((x, at) => this.shareOf(x, at));
    this.buildControls();
    this.moveTo(this.fromAddress() ?? this.begins, { isNews: false });
    window.addEventListener("hashchange", () => {
      const x = this.fromAddress();
      if (x !== null) this.moveTo(x, { isNews: false });
    });
  }

  placeOf(x) {
    const at = this.segments.findIndex((segment) => x < segment[1]);
    return at < 0 ? this.segments.length - 1 : at;
  }

  // Breakpoints often lie close together at one end: half of the track is a linear scale, half is shared by all of them.
  shareOf(x, rank) {
    return (rank / (this.breakpoints.length - 1) + (x - this.low) / (this.high - this.low)) / 2;
  }

  // Between which breakpoints: the place of the first.
  spanOf(x) {
    return Math.max(0, this.breakpoints.findLastIndex((each, k) => each <= x && k < this.breakpoints.length - 1));
  }

  shareAt(x) {
    const at = this.spanOf(x);
    const [start, stop] = this.breakpoints.slice(at, at + 2);
    return this.shareOf(x, at + (x - start) / (stop - start));
  }

  // The number at a share of the track, rounded, but so that every step of it stays a number of its own.
  numberAt(share) {
    const at = Math.max(0, this.shares.findLastIndex((each, k) => each <= share && k < this.shares.length - 1));
    const [start, stop] = this.breakpoints.slice(at, at + 2);
    const slope = (stop - start) / (this.shares[at + 1] - this.shares[at]);
    const power = Math.floor(Math.log10(slope / STEPS / 2)); // a fourth of a step off at most
    const x = start + slope * (share - this.shares[at]);
    const round = power > 0 ? Math.round(x / 10 ** power) * 10 ** power : Number(x.toFixed(Math.min(100, -power)));
    return Math.min(this.high, Math.max(this.low, round));
  }

  buildControls() {
    const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
    const { id } = this.root;
    this.range = make("input", { type: "range", id: id + "-range", min: 0, max: STEPS, step: 1 });
    this.range.setAttribute("aria-label", this.scales[0][0]);
    this.range.setAttribute("aria-describedby", id + "-explained");
    this.boxes = this.scales.map(([label], place) => {
      const box = make("input", {
        type: "text", inputMode: "decimal", id: id + "-box" + place, autocomplete: "off", spellcheck: false,
      });
      box.setAttribute("aria-label", label + ", exactly");
      box.setAttribute("aria-describedby", id + "-where");
      box.addEventListener("change", () => this.typed(place));
      box.addEventListener("keydown", (event) => { if (event.key === "Enter") this.typed(place); });
      return box;
    });
    const step = (title, textContent, to) => {
      const button = make("button", { type: "button", title, textContent });
      button.setAttribute("aria-label", title);
      button.addEventListener("click", () => this.moveTo(to()));
      return button;
    };
    this.before = step("previous breakpoint", "\u2039 previous", () => this.neighbour(-1));
    this.after = step("next breakpoint", "next \u203a", () => this.neighbour(1));
    this.where = make("p", { className: "where", id: id + "-where" });
    this.said = make("p", { className: "unseen" });
    this.said.setAttribute("role", "status");
    const ticks = make("div", { className: "ticks", ariaHidden: "true" });
    const place = (element, share) => { element.style.left = 100 * share + "%"; ticks.append(element); };
    let last = -1;
    for (const share of this.shares.filter((each) => each > last + APART && (last = each, true))) place(make("i", {}), share);
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      place(make("span", { textContent: number(this.numberAt(share), 3) }), share);
    }
    const track = make("div", { className: "track" });
    const exactly = make("div", { className: "exactly" });
    this.boxes.forEach((box, at) => {
      const label = make("label", { htmlFor: box.id });
      label.append(this.scales[at][0] + " ", box);
      exactly.append(label);
    });
    exactly.append(this.before, this.after);
    if (this.current !== null) {
      const now = make("div", { className: "now", ariaHidden: "true", textContent: "current" });
      const share = this.shareAt(this.current);
      now.style.left = 100 * share + "%";
      now.classList.toggle("turned", share > 0.8);
      const line = make("div", { className: "above" });
      line.append(now);
      track.append(line);
      this.back = step("current price", "current", () => this.current);
      exactly.append(this.back);
    }
    track.append(this.range, ticks);
    exactly.append(this.where);
    const controls = make("div", { className: "controls" });
    controls.append(track, exactly);
    const isEven = this.shares.every((share, at) => (
      Math.abs(share - (this.breakpoints[at] - this.low) / (this.high - this.low)) < EVEN));
    const scale = make("p", { className: "scale", textContent: UNEVEN, hidden: isEven });
    this.root.querySelector(".position").replaceWith(controls, scale, this.said);
    this.range.addEventListener("input", () => this.moveTo(this.numberAt(this.range.value / STEPS)));
  }

  neighbour(direction) {
    const beyond = this.breakpoints.filter((x) => (direction > 0 ? x > this.x : x < this.x));
    return (direction > 0 ? beyond[0] : beyond[beyond.length - 1]) ?? this.x;
  }

  // A position from a number on one of the scales, or null outside the range.
  positionOf(typed, place) {
    const x = typed * this.scales[place][2];
    const rounding = 1e-12 * (this.high - this.low); // a number that was shown for an end
    if (!(x >= this.low - rounding && x <= this.high + rounding)) return null;
    return Math.min(this.high, Math.max(this.low, x));
  }

  typed(place) {
    const box = this.boxes[place];
    const text = box.value.trim();
    if (text === box.shown) return;
    const share = text.endsWith("%") ? this.scales.findIndex(([label]) => label.startsWith("%")) : -1;
    const at = share < 0 ? place : share; // 80% is a percentage in every box
    const bare = share < 0 ? text : text.slice(0, -1).trim();
    const plain = /^-?\d{1,3}(,\d{3})+(\.\d*)?$/.test(bare) ? bare.replace(/,/g, "") : bare; // 1,25 is no 125
    const x = plain === "" ? null : this.positionOf(Number(plain), at);
    if (x !== null) {
      this.moveTo(x, { keep: at, text: plain });
      return;
    }
    box.value = box.shown; // what all readings are for
    const size = this.scales[at][2];
    this.where.textContent = "got " + (text || "nothing") + ", expected a number from " + number(this.low / size) + " to "
      + number(this.high / size);
    clearTimeout(this.timer); // or what is said of the last move would follow, and hide the error
    this.intoAddress();
    this.said.textContent = this.where.textContent;
  }

  fromAddress() {
    const parameters = new URLSearchParams(location.hash.slice(1));
    const place = this.scales.findIndex(([, key]) => parameters.get(key));
    return place < 0 ? null : this.positionOf(Number(parameters.get(this.scales[place][1])), place);
  }

  intoAddress() {
    const rest = location.hash.includes("=") ? location.hash.slice(1) : "";
    const parameters = new URLSearchParams(rest);
    for (const [, key] of this.scales.slice(1)) parameters.delete(key);
    parameters.set(this.scales[0][1], String(this.x));
    try {
      history.replaceState(null, "", "#" + parameters);
    } catch {
      // Some browsers limit how many changes they allow in a short time; the next one will do.
    }
  }

  moveTo(x, { isNews = true, keep = -1, text = "" } = {}) {
    this.x = x;
    const [start, stop, readings, tables, marks] = this.segments[this.placeOf(x)];
    const write = (index) => written(this.readings[index], this.formats, x, start, stop);
    this.values.forEach((cell, column) => show(cell, write(readings[column])));
    tables.forEach((rows, t) => this.fill(t, rows, write, (index) => sizeAt(this.readings[index], x, start, stop)));
    this.moveMarks(marks, x, start, stop);
    // Where many steps are one number, on a segment of a few doubles, the range stays where it was put.
    if (this.numberAt(this.range.value / STEPS) !== x) this.range.value = Math.round(STEPS * this.shareAt(x));
    const texts = this.scales.map(([, , size], at) => (
      at === keep ? text : String(Number((x / size).toPrecision(SHOWN_DIGITS)))));
    this.range.setAttribute("aria-valuetext", this.scales.map(([label], at) => label + " " + texts[at]).join("; "));
    this.boxes.forEach((box, at) => {
      box.value = texts[at];
      box.shown = texts[at];
    });
    this.before.disabled = x <= this.low;
    this.after.disabled = x >= this.high;
    if (this.back) this.back.disabled = x === this.current;
    this.where.textContent = "segment " + (this.spanOf(x) + 1) + " of " + (this.breakpoints.length - 1);
    if (isNews) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => { this.intoAddress(); this.say(); }, 250);
    }
  }

  fill(t, rows, write, size) {
    const totals = this.totals[t];
    rows.forEach((row, r) => row.forEach((index, column) => {
      const cell = this.rows[t][r].cells[column + 1];
      show(cell, write(index));
      if (totals.length) cell.style.setProperty("--share", (size(index) ?? 0) / (totals[r] || 1));
    }));
    const table = this.tables[t];
    if (table.sorting && table.sorting.direction !== 0) sortTable(table);
  }

  // For screen readers: all readings, once the slider rests.
  say() {
    const names = Array.from(this.root.querySelectorAll(".readings dt"), (name) => name.textContent);
    const texts = this.values.map((cell, at) => names[at] + " " + cell.textContent);
    this.said.textContent = [this.range.getAttribute("aria-valuetext"), ...texts].join(", ");
  }

  moveMarks(marks, x, start, stop) {
    for (const dots of this.marks.values()) dots.forEach((dot) => { dot.hidden = true; });
    marks.forEach(([figure, xs, ys, axes], at) => this.dotsOf(figure, at).forEach((dot, place) => {
      const [across, down] = dot.scales;
      const left = placeOn(across, lineAt(x, start, stop, ...xs));
      const top = placeOn(down, lineAt(x, start, stop, ...ys));
      dot.hidden = left === null || top === null || (axes !== null && axes !== place);
      dot.style.left = left + "%";
      dot.style.top = top + "%";
    }));
  }

  // One for each of the figure's axes.
  dotsOf(name, at) {
    const key = at + " " + name;
    if (!this.marks.has(key)) {
      const figure = Array.from(document.querySelectorAll("figure[data-figure]"))
        .find((each) => each.dataset.figure === name);
      this.marks.set(key, !figure ? [] : JSON.parse(figure.dataset.scales).map((scales) => {
        const dot = Object.assign(document.createElement("div"), { className: "mark", ariaHidden: "true", scales });
        figure.querySelector(".canvas").append(dot);
        return dot;
      }));
    }
    return this.marks.get(key);
  }
}

function prepareSliders() {
  document.querySelectorAll(".slider").forEach((root, at) => new Slider(root, at === 0 ? "" : "-" + (at + 1)));
}
