// Sliders: every number is a line between two breakpoints, so it is exact wherever the slider stands.

const EVEN = 0.05; // of the track: a breakpoint further from its place on an even scale is worth a word
const UNEVEN = "Equal steps of the slider are not equal numbers: where breakpoints crowd they get more room.";
const STEPS = 1000; // of the range; each is a round number, so that it can be typed elsewhere

// The same operations in the same order as lpsched/reports/slider.py, so that the last digit is the same.
function lineAt(x, start, stop, a, b) {
  return x === stop ? b : a + (b - a) * (x - start) / (stop - start);
}

function written(reading, formats, x, start, stop) {
  if (reading === null) return "-";
  if (typeof reading === "string") return reading;
  const [format, a, b, c, d] = reading;
  const [unit, digits, upper] = formats[format];
  const value = lineAt(x, start, stop, a, b) + 0; // no minus before a zero
  if (c !== undefined) {
    const below = lineAt(x, start, stop, c, d);
    return gapText(below !== 0 ? value / below : value !== 0 ? null : 0);
  }
  if (unit === "%") return percent(value);
  return ((upper ? roundedUp(value, digits) : number(value, digits)) + " " + unit).trimEnd();
}

// Most cells stay as they are, and need not be laid out again.
function show(cell, text) {
  if (cell.textContent !== text) cell.textContent = text;
}

// Where a number is on a scale of a picture, in percent; null outside.
function placeOn([isLog, low, high, from, to], value) {
  const size = isLog ? Math.log : (plain) => plain;
  const share = (size(value) - size(low)) / (size(high) - size(low));
  return share >= -1e-9 && share <= 1 + 1e-9 ? from + (to - from) * share : null;
}

class Slider {
  constructor(root, key) {
    this.root = root;
    this.label = root.dataset.label;
    this.key = key;
    Object.assign(this, JSON.parse(root.querySelector("script").textContent));
    this.low = this.stretches[0][0];
    this.high = this.stretches[this.stretches.length - 1][1];
    this.breakpoints = [...this.stretches.map((stretch) => stretch[0]), this.high];
    this.values = Array.from(root.querySelectorAll(".readings dd"));
    this.tables = Array.from(root.querySelectorAll(".following table"));
    this.rows = this.tables.map((table) => Array.from(table.tBodies[0].rows));
    this.marks = new Map();
    this.shares = this.breakpoints.map((x, at) => this.shareOf(x, at));
    this.buildControls();
    this.moveTo(this.fromAddress() ?? this.begins, false);
    window.addEventListener("hashchange", () => {
      const x = this.fromAddress();
      if (x !== null) this.moveTo(x, false);
    });
  }

  placeOf(x) {
    const at = this.stretches.findIndex((stretch) => x < stretch[1]);
    return at < 0 ? this.stretches.length - 1 : at;
  }

  // Breakpoints often crowd at one end: half of the track is a scale, half of it is shared by all stretches.
  shareOf(x, rank) {
    return (rank / this.stretches.length + (x - this.low) / (this.high - this.low)) / 2;
  }

  shareAt(x) {
    const at = this.placeOf(x);
    const [start, stop] = this.stretches[at];
    return this.shareOf(x, at + (x - start) / (stop - start));
  }

  // The number at a share of the track, rounded, but so that every step of it stays a number of its own.
  numberAt(share) {
    const at = Math.max(0, this.shares.findLastIndex((each, k) => each <= share && k < this.stretches.length));
    const [start, stop] = this.stretches[at];
    const slope = (stop - start) / (this.shares[at + 1] - this.shares[at]);
    const power = Math.floor(Math.log10(slope / STEPS / 2)); // a fourth of a step off at most
    const x = start + slope * (share - this.shares[at]);
    const round = power > 0 ? Math.round(x / 10 ** power) * 10 ** power : Number(x.toFixed(Math.min(100, -power)));
    return Math.min(this.high, Math.max(this.low, round));
  }

  buildControls() {
    const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
    const explained = this.root.id + "-explained";
    this.range = make("input", {
      type: "range", id: this.root.id + "-range", min: 0, max: STEPS, step: 1,
    });
    this.range.setAttribute("aria-describedby", explained);
    this.box = make("input", {
      type: "text", inputMode: "decimal", id: this.root.id + "-box", autocomplete: "off", spellcheck: false,
    });
    this.box.setAttribute("aria-label", this.label + ", exactly");
    this.box.setAttribute("aria-describedby", this.root.id + "-where");
    this.before = make("button", { type: "button", title: "previous breakpoint", textContent: "\u2039 previous" });
    this.after = make("button", { type: "button", title: "next breakpoint", textContent: "next \u203a" });
    for (const button of [this.before, this.after]) button.setAttribute("aria-label", button.title);
    this.where = make("p", { className: "where", id: this.root.id + "-where" });
    this.said = make("p", { className: "unseen" });
    this.said.setAttribute("role", "status");
    const ticks = make("div", { className: "ticks", ariaHidden: "true" });
    for (const share of this.shares) {
      const tick = make("i", {});
      tick.style.left = 100 * share + "%";
      ticks.append(tick);
    }
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      const told = make("span", { textContent: number(this.numberAt(share), 3) });
      told.style.left = 100 * share + "%";
      ticks.append(told);
    }
    const track = make("div", { className: "track" });
    track.append(this.range, ticks);
    const exactly = make("div", { className: "exactly" });
    exactly.append(this.before, this.box, this.after, this.where);
    const controls = make("div", { className: "controls" });
    controls.append(make("label", { htmlFor: this.range.id, textContent: this.label }), track, exactly);
    const isEven = this.shares.every((share, at) => (
      Math.abs(share - (this.breakpoints[at] - this.low) / (this.high - this.low)) < EVEN));
    const scale = make("p", { className: "scale", textContent: UNEVEN, hidden: isEven });
    this.root.querySelector(".stands").replaceWith(controls, scale, this.said);
    this.range.addEventListener("input", () => this.moveTo(this.numberAt(this.range.value / STEPS)));
    this.box.addEventListener("change", () => this.typed());
    this.box.addEventListener("keydown", (event) => { if (event.key === "Enter") this.typed(); });
    this.before.addEventListener("click", () => this.moveTo(this.neighbour(-1)));
    this.after.addEventListener("click", () => this.moveTo(this.neighbour(1)));
  }

  neighbour(direction) {
    const beyond = this.breakpoints.filter((x) => (direction > 0 ? x > this.x : x < this.x));
    return (direction > 0 ? beyond[0] : beyond[beyond.length - 1]) ?? this.x;
  }

  typed() {
    const text = this.box.value.trim();
    const plain = /^-?\d{1,3}(,\d{3})+(\.\d*)?$/.test(text) ? text.replace(/,/g, "") : text; // 1,25 is no 125
    const x = plain === "" ? NaN : Number(plain);
    const isFine = x >= this.low && x <= this.high;
    this.box.setAttribute("aria-invalid", String(!isFine));
    if (isFine) this.moveTo(x);
    else this.where.textContent = "needs a number from " + number(this.low) + " to " + number(this.high);
  }

  fromAddress() {
    const found = new URLSearchParams(location.hash.slice(1)).get(this.key);
    const x = found === null || found === "" ? NaN : Number(found);
    return x >= this.low && x <= this.high ? x : null;
  }

  intoAddress() {
    const rest = location.hash.includes("=") ? location.hash.slice(1) : "";
    const parameters = new URLSearchParams(rest);
    parameters.set(this.key, String(this.x));
    try {
      history.replaceState(null, "", "#" + parameters);
    } catch {
      // Some browsers refuse so many changes in a short time; the next one will do.
    }
  }

  moveTo(x, isNews = true) {
    this.x = x;
    const place = this.placeOf(x);
    const [start, stop, readings, tables, marks] = this.stretches[place];
    const write = (index) => written(this.readings[index], this.formats, x, start, stop);
    this.values.forEach((cell, column) => show(cell, write(readings[column])));
    tables.forEach((rows, t) => this.fill(t, rows, write));
    this.moveMarks(marks, x, start, stop);
    // Where many steps are one number, on a stretch of a few doubles, the range stays where it was put.
    if (this.numberAt(this.range.value / STEPS) !== x) this.range.value = Math.round(STEPS * this.shareAt(x));
    this.range.setAttribute("aria-valuetext", number(x));
    this.box.value = String(x);
    this.box.removeAttribute("aria-invalid");
    this.before.disabled = x <= this.low;
    this.after.disabled = x >= this.high;
    this.where.textContent = "stretch " + (place + 1) + " of " + this.stretches.length + ", between breakpoints "
      + number(start) + " and " + number(stop);
    if (isNews) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => { this.intoAddress(); this.say(); }, 250);
    }
  }

  fill(t, rows, write) {
    rows.forEach((row, r) => row.forEach((index, column) => {
      show(this.rows[t][r].cells[column + 1], write(index));
    }));
    const table = this.tables[t];
    if (table.sorting && table.sorting.direction !== 0) sortTable(table);
  }

  // For those who listen: all readings, once the slider rests.
  say() {
    const names = Array.from(this.root.querySelectorAll(".readings dt"), (name) => name.textContent);
    const told = this.values.map((cell, at) => names[at] + " " + cell.textContent);
    this.said.textContent = [this.label + " " + number(this.x), ...told].join(", ");
  }

  moveMarks(marks, x, start, stop) {
    for (const dot of this.marks.values()) dot.hidden = true;
    marks.forEach(([picture, axes, xs, ys, label], at) => {
      const dot = this.markOf(picture, at);
      if (!dot) return;
      const [across, down] = dot.scales[axes];
      const left = placeOn(across, lineAt(x, start, stop, ...xs));
      const top = placeOn(down, lineAt(x, start, stop, ...ys));
      if (left === null || top === null) return;
      dot.hidden = false;
      dot.style.left = left + "%";
      dot.style.top = top + "%";
      dot.firstChild.textContent = label;
      dot.classList.toggle("turned", left > 60);
    });
  }

  markOf(picture, at) {
    const name = at + " " + picture;
    if (!this.marks.has(name)) {
      const figure = Array.from(document.querySelectorAll("figure[data-picture]"))
        .find((each) => each.dataset.picture === picture);
      if (!figure) return null;
      const dot = document.createElement("div");
      dot.className = "mark";
      dot.hidden = true;
      dot.setAttribute("aria-hidden", "true");
      dot.append(document.createElement("span"));
      dot.scales = JSON.parse(figure.dataset.scales);
      figure.querySelector(".canvas").append(dot);
      this.marks.set(name, dot);
    }
    return this.marks.get(name);
  }
}

function prepareSliders() {
  const taken = new Map(); // two sliders of the same name: the address tells them apart
  for (const root of document.querySelectorAll(".slider")) {
    const { key } = root.dataset;
    taken.set(key, (taken.get(key) ?? 0) + 1);
    new Slider(root, taken.get(key) === 1 ? key : key + "-" + taken.get(key));
  }
}
