// The form: for each number a slider and a number box. What it changes is the document, one value at a time.
import { el, show } from "./dom.js";
import { currencyOf, hasWatts, valueAt } from "./document.js";
import { boxText, rangeOf, reaching, roundedStart, timeUnit, typed } from "./scales.js";

const OPEN_UP_TO = 12; // longer groups are folded at first
const FILTER_FROM = 20; // and can be filtered by name

/**
 * @typedef {{key: string, path: import("./document.js").Path, name: string, unit?: string, factor?: number,
 *   least?: number, isWhole?: boolean, isAbove?: boolean, isOptional?: boolean, usual?: number,
 *   start?: () => number|null}} Spec  factor: of the document's unit in the shown one; start: where it begins when switched on
 */

/**
 * All numbers of a bag that the form has, in groups.
 * @param {any} document
 * @param {() => {price: number|null, watts: number|null, seconds: number|null}} hints from the last answer
 * @returns {{name: string, title: string, specs: Spec[], note?: string}[]}
 */
export function specsOf(document, hints) {
  const currency = currencyOf(document);
  const prices = document.prices ?? {};
  const site = document.site ?? {};
  const perTask = prices.per_task ?? {};
  const isPerTask = Object.keys(perTask).length > 0;
  const [seconds, timeName] = timeUnit(site.deadline_seconds ?? hints().seconds);
  const side = site.cap_measured_at === "it" ? "at the machines" : "at the meter";
  const count = (kind) => document[kind].map((each, place) => (
    { key: `${kind}.${place}`, path: [kind, place, "count"], name: each.name, least: 1, isWhole: true }));
  const perTaskSpecs = isPerTask ? document.task_types.map((task) => ({ key: "per_task." + task.name,
    path: ["prices", "per_task", task.name], name: "one " + task.name, unit: currency, usual: Math.max(...Object.values(perTask), 0) || 1 })) : [];
  const hasTariff = site.tariff !== undefined && site.tariff !== null;
  return [
    { name: "prices", title: "Prices", specs: [
      { key: "per_bag", path: ["prices", "per_bag"], name: isPerTask ? "bag, in addition" : "bag", unit: currency, isOptional: true,
        start: () => roundedStart(2 * (hints().price ?? 50)) },
      ...perTaskSpecs,
      { key: "overhead", path: ["prices", "overhead_per_bag"], name: "overhead per bag", unit: currency, usual: prices.per_bag ? prices.per_bag / 10 : 1 },
      { key: "electricity", path: ["prices", "electricity_per_kwh"], name: "electricity", unit: currency + "/kWh", isOptional: true, usual: 0.1, start: () => 0.1 }],
    note: hasTariff ? "The file also has a tariff over time (site.tariff): it counts only in plans over hours, which the command line makes." : undefined },
    { name: "limits", title: "Limits", specs: [
      ...(hasWatts(document) ? [{ key: "cap", path: ["site", "average_power_cap_watts"], name: "power cap " + side, unit: "kW", factor: 1000, isAbove: true,
        isOptional: true, start: () => roundedStart((hints().watts ?? 10_000) / 1000) * 1000 }] : []),
      { key: "deadline", path: ["site", "deadline_seconds"], name: "deadline", unit: timeName, factor: seconds, isAbove: true,
        isOptional: true, start: () => roundedStart((1.2 * (hints().seconds ?? 3600)) / seconds) * seconds }],
    note: hasWatts(document) ? undefined : "The bag has no watts, so there is no power cap to set." },
    { name: "machines", title: `Machine types (${document.machine_types.length})`, specs: count("machine_types") },
    { name: "tasks", title: `Task types (${document.task_types.length})`, specs: count("task_types") }];
}

/** One number: its label, box and slider, and a switch where it may be off. */
class Control {
  /** @param {Spec} spec @param {any} initial in the document's unit @param {Form} form */
  constructor(spec, initial, form) {
    this.spec = spec;
    this.form = form;
    this.initial = initial;
    this.factor = spec.factor ?? 1;
    const id = "c-" + spec.key.replaceAll(/[^A-Za-z0-9]/g, "_") + "-" + form.next();
    const label = spec.name + (spec.unit ? `, ${spec.unit}` : "");
    this.range = rangeOf((initial ?? 0) / this.factor, { least: spec.least ?? 0, isWhole: spec.isWhole, usual: spec.usual });
    this.problem = el("p", { class: "problem", id: id + "-p", hidden: true });
    this.box = el("input", { type: "number", id, step: "any", min: spec.least ?? 0, inputmode: spec.isWhole ? "numeric" : "decimal",
      "aria-describedby": id + "-p", "data-key": spec.key, autocomplete: "off", oninput: () => this.typed(), onblur: () => this.rest() });
    this.slider = el("input", { type: "range", "aria-label": label + ", slider", "data-slider": spec.key, oninput: () => this.slid() });
    this.was = el("small", { class: "was" });
    const name = el("label", { for: id }, spec.name, spec.unit ? el("span", { class: "unit" }, spec.unit) : null);
    this.toggle = spec.isOptional ? el("input", { type: "checkbox", id: id + "-on", "aria-label": label + ", on or off", "data-toggle": spec.key, onchange: () => this.switched() }) : null;
    this.row = el("div", { class: "control", "data-name": spec.name.toLowerCase() },
      this.toggle, name, this.box, this.slider, this.was, this.problem);
    this.fit();
  }

  fit() {
    for (const [name, value] of Object.entries(this.range)) this.slider[name] = String(value);
  }

  /** Show a value of the document; the box that is typed in keeps its text. */
  show(value, { keepsText = false } = {}) {
    this.value = value;
    const isOff = value === undefined || value === null;
    const shown = isOff ? null : value / this.factor;
    if (this.toggle) {
      this.toggle.checked = !isOff;
      this.box.disabled = isOff;
      this.slider.disabled = isOff;
    }
    if (!keepsText) {
      this.box.value = boxText(shown ?? (this.toggle ? null : 0));
      this.complain(null);
    }
    this.range = reaching(this.range, shown ?? 0);
    this.fit();
    this.slider.value = String(shown ?? 0);
    this.slider.setAttribute("aria-valuetext", isOff ? "off" : `${boxText(shown)} ${this.spec.unit ?? ""}`.trim());
    const before = this.initial ?? null;
    const isChanged = (value ?? null) !== before && !(before === null && value === 0);
    this.row.classList.toggle("changed", isChanged);
    this.was.textContent = isChanged ? "was " + (before === null ? (this.toggle ? "off" : "0") : boxText(before / this.factor)) : "";
  }

  complain(text) {
    this.problem.textContent = text ?? "";
    this.problem.hidden = text === null;
    if (text === null) this.box.removeAttribute("aria-invalid");
    else this.box.setAttribute("aria-invalid", "true");
    this.form.complaint(this.spec, text);
  }

  change(shown) {
    this.form.change(this.spec, Number((shown * this.factor).toPrecision(15)));
  }

  typed() {
    const found = typed(this.box.value, this.spec);
    if ("problem" in found) {
      this.complain(found.problem);
      return;
    }
    this.complain(null);
    this.change(found.value);
    this.show(this.value, { keepsText: true });
  }

  // A box that was left with a wrong text goes back to the number that the answer is of.
  rest() {
    if (this.box.getAttribute("aria-invalid") === "true") this.show(this.value);
  }

  slid() {
    const value = Number(this.slider.value);
    this.change(this.spec.isAbove && value <= 0 ? this.range.step : value);
    this.show(this.value);
  }

  switched() {
    const start = this.toggle.checked ? this.spec.start() : undefined;
    if (start !== undefined && this.initial === undefined) {
      this.range = rangeOf(start / this.factor, { least: this.spec.least ?? 0, usual: this.spec.usual });
    }
    this.form.change(this.spec, this.toggle.checked ? this.initial ?? start : undefined);
    this.show(this.value);
  }
}

/** The form as a whole. */
export class Form {
  /**
   * @param {HTMLElement} root
   * @param {{onChange: (path: any[], value: any) => void, onComplaint: (text: string|null) => void, hints: () => any}} on
   */
  constructor(root, on) {
    this.root = root;
    this.on = on;
    this.controls = [];
    this.complaints = new Map();
    this.made = 0;
  }

  next() {
    this.made += 1;
    return this.made;
  }

  /** Build the form of a document. @param {any} document @param {any} initial what it was opened as */
  build(document, initial) {
    this.controls = [];
    this.complaints.clear();
    const name = el("input", { type: "text", id: "name-box", value: document.name ?? "", autocomplete: "off", spellcheck: "false", maxlength: 200,
      onchange: () => { if (name.value.trim()) this.on.onChange(["name"], name.value.trim()); else name.value = this.name; } });
    this.nameBox = name;
    this.name = document.name;
    const groups = specsOf(document, this.on.hints).map((group) => this.group(group, document, initial));
    show(this.root, el("div", { class: "control named" }, el("label", { for: "name-box" }, "name"), name), ...groups);
  }

  group({ name, title, specs, note }, document, initial) {
    const controls = specs.map((spec) => {
      const control = new Control(spec, valueAt(initial, spec.path), this);
      control.show(valueAt(document, spec.path));
      return control;
    });
    this.controls.push(...controls);
    const filter = specs.length >= FILTER_FROM ? el("input", { type: "search", placeholder: "filter by name", "aria-label": `Filter ${title}`, autocomplete: "off",
      oninput: (event) => {
        const wanted = event.target.value.trim().toLowerCase();
        for (const control of controls) control.row.hidden = !control.row.dataset.name.includes(wanted);
      } }) : null;
    const isSwitched = specs.some((spec) => spec.isOptional);
    return el("details", { class: isSwitched ? "group switched" : "group", "data-group": name, open: specs.length <= OPEN_UP_TO }, el("summary", {}, title),
      el("fieldset", {}, el("legend", { class: "unseen" }, title), filter, controls.map((control) => control.row),
        note ? el("p", { class: "note" }, note) : null));
  }

  change(spec, value) {
    const control = this.controls.find((each) => each.spec === spec);
    control.value = value;
    this.on.onChange(spec.path, value);
  }

  complaint(spec, text) {
    if (text === null ? !this.complaints.delete(spec.key) : this.complaints.get(spec.key) === text) return;
    if (text !== null) this.complaints.set(spec.key, text);
    const first = [...this.complaints.entries()][0];
    this.on.onComplaint(first ? `${this.controls.find((each) => each.spec.key === first[0])?.spec.name ?? first[0]}: ${first[1]}` : null);
  }
}
