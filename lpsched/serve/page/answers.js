// An answer on the page: headline, money, allocation, marginal values; beside the pinned one where there is one.
import { el, show, svg, table } from "./dom.js";
import { compared, facts, headline, sentence } from "./headline.js";
import { number, percent } from "./numbers.js";
import { counted, ledger, moneyText, shortUnit, signed, wholeText } from "./texts.js";

const MONEY = ["revenue", "electricity", "wear", "depreciation", "overhead", "profit"];
const COSTS = MONEY.slice(1, -1);
const TWO_SIDED = "a / b: one more / one fewer. The linear program is degenerate there: its bound has two derivatives.";
const SAME = 1e-6; // relative: marginal values of one more and one fewer that are one number
const MOST_ROWS = 400; // task types in a table
const WIDE = 600; // of a bar, in units of its drawing

/** @param {HTMLElement} box @param {any} answer @param {{pue: number, extra: string[]}} about */
export function drawHeadline(box, answer, { pue, extra }) {
  const words = headline(answer);
  const said = sentence(answer);
  const lead = box.querySelector(".lead");
  if (lead.textContent !== said) { // or a screen reader would say the same again
    const line = ([before, value, after], tag) => [before, " ", el(tag, {}, value), " ", after, "."];
    show(lead, el("span", { class: "value" }, line(words.value, "strong")), " ", el("span", { class: "limit" }, line(words.bound, "b")));
  }
  show(box.querySelector(".notes"), [...words.notes, ...extra].join(" "));
  show(box.querySelector(".facts"), facts(answer, pue).map(([name, value, known]) => (
    el("div", {}, el("dt", {}, name), el("dd", {}, value, el("small", {}, known))))));
}

export function drawComparison(box, now, pin) {
  show(box, pin && now ? table({ caption: "The answer now and the pinned one", heads: ["", "now", "pinned", "difference"], rows: compared(now, pin), className: "numbers compare", hidden: true }) : null);
}

// Costs are shown as what they take away.
function amountsOf(split) {
  return MONEY.map((word) => {
    const amount = split?.[word] ?? null;
    return COSTS.includes(word) && amount ? -amount : amount;
  });
}

/** @param {HTMLElement} box */
export function drawMoney(box, answer, pin, why) {
  const money = answer.money;
  if (!money || money.per_hour.profit === null) {
    show(box, el("p", { class: "note" }, `${why ?? "The bag has no price."} So there is no profit to split; see \u201cPrices\u201d.`), money ? costTable(money) : null);
    return;
  }
  const unit = money.currency + "/h";
  const hour = amountsOf(money.per_hour);
  const bag = money.per_bag ? amountsOf(money.per_bag) : null;
  const other = pin?.money?.per_hour && pin.money.per_hour.profit !== null && pin.money.currency === money.currency ? amountsOf(pin.money.per_hour) : null;
  const kept = (word, place) => word === "profit" || hour[place] || bag?.[place] || other?.[place];
  const columns = [ledger(hour), ...(other ? [ledger(other), differenceTexts(hour, other)] : bag ? [ledger(bag)] : [])];
  const heads = ["", ...(other ? [`now, ${unit}`, `pinned, ${unit}`, "difference"] : bag ? [unit, money.currency + "/bag"] : [unit])];
  const rows = MONEY.map((word, place) => [word, ...columns.map((column) => column[place])]).filter((_, place) => kept(MONEY[place], place));
  const otherMoney = pin?.money && pin.money.currency !== money.currency ? el("p", { class: "note" }, `The pinned amounts are in ${pin.money.currency}: they are not shown here.`) : null;
  show(box, bars([["now", money.per_hour], ...(other ? [["pinned", pin.money.per_hour]] : [])], unit),
    table({ caption: `Money of the schedule (verified), in ${unit}${bag && !other ? " and per bag" : ""}`, heads, rows, className: "numbers money" }), otherMoney);
}

function differenceTexts(now, before) {
  const differences = now.map((each, k) => (each ?? 0) - (before[k] ?? 0));
  return ledger(differences).map((text) => (text.startsWith("-") ? text.replace("-", "\u2212") : /[1-9]/.test(text) ? "+" + text : "0"));
}

function costTable(money) {
  const hour = amountsOf(money.per_hour);
  const texts = ledger(hour);
  const rows = MONEY.map((word, place) => [word, texts[place]]).filter((_, place) => hour[place]);
  return rows.length ? table({ caption: `${hour[0] ? "Money" : "Costs"} of the schedule (verified)`, heads: ["", money.currency + "/h"], rows }) : null;
}

// Revenue above, what it is spent on below: where the lower bar is longer, the difference is lost.
function bars(splits, unit) {
  const spent = (split) => COSTS.reduce((sum, word) => sum + split[word], 0);
  const largest = Math.max(1e-12, ...splits.flatMap(([, split]) => [split.revenue ?? 0, spent(split)]));
  const used = ["revenue", ...COSTS, "profit"].filter((word) => splits.some(([, split]) => split[word] > 0));
  return el("div", { class: "barbox" }, splits.map(([name, split]) => [
    splits.length > 1 ? el("p", { class: "note" }, name) : null,
    bar(split, largest, `${splits.length > 1 ? name + ": " : ""}revenue ${number(split.revenue)}, costs ${number(spent(split))}, profit ${number(split.profit)} ${unit}`, unit)]),
  el("ul", { class: "legend" }, used.map((word) => el("li", {}, el("span", { class: "sign bar " + word, "aria-hidden": "true" }), word))));
}

function bar(split, largest, label, unit) {
  const drawing = svg("svg", { class: "bars", viewBox: `0 0 ${WIDE} 37`, preserveAspectRatio: "none", role: "img", "aria-label": label });
  let at = 0;
  const part = (word, row) => {
    const wide = (WIDE * Math.max(0, split[word])) / largest;
    if (wide <= 0) return;
    drawing.append(svg("rect", { class: word, x: at.toFixed(2), y: 20 * row, width: wide.toFixed(2), height: 17 },
      svg("title", {}, `${word} ${number(split[word])} ${unit}`)));
    at += wide;
  };
  part("revenue", 0);
  at = 0;
  for (const word of [...COSTS, "profit"]) part(word, 1);
  return drawing;
}

/** @param {HTMLElement} box */
export function drawAllocation(box, answer, document) {
  if (answer.makespan_seconds === null) {
    show(box, el("p", { class: "note" }, "Nothing runs, so no task runs anywhere."));
    return;
  }
  const machines = document.machine_types.map((machine) => machine.name).filter((name) => answer.machine_types[name]);
  const tasks = document.task_types.filter((task) => answer.allocation[task.name]).slice(0, MOST_ROWS);
  const rows = tasks.map((task) => {
    const there = answer.allocation[task.name];
    return [task.name, wholeText(task.count), ...machines.map((name) => (
      there[name] ? { text: wholeText(there[name]), share: there[name] / task.count, className: "heat" } : { text: "\u00b7", className: "heat none" }))];
  });
  const uses = machines.map((name) => answer.machine_types[name]);
  const foot = [
    ["machines used", "", ...uses.map((use) => `${wholeText(use.used)} of ${wholeText(use.count)}`)],
    ["busy", "", ...uses.map((use) => ({ text: percent(Math.round(1000 * use.busy_share) / 1000), share: use.busy_share, className: "heat" }))]];
  const left = document.task_types.length - tasks.length;
  const states = Object.entries(answer.p_states ?? {}).filter(([, used]) => Object.keys(used).length)
    .map(([name, used]) => `${name} ${Object.entries(used).map(([state, count]) => `${state} ${wholeText(count)}`).join(", ")}`);
  show(box, table({ caption: "Tasks of each type on each machine type (verified)", heads: ["task type", "tasks", ...machines], rows, foot, className: "numbers allocation" }),
    states.length ? el("p", { class: "note" }, "Tasks by P-state: " + states.join("; ") + ".") : null,
    left > 0 ? el("p", { class: "note" }, `${counted(left, "more task type")} not shown; the schedule file has all.`) : null);
}

function bothSides(more, fewer) {
  const isSame = more === fewer || (more !== null && fewer !== null && Math.abs(more - fewer) <= SAME * Math.max(Math.abs(more), Math.abs(fewer)));
  return isSame ? moneyText(more) : moneyText(more) + " / " + moneyText(fewer);
}

/** @param {HTMLElement} box */
export function drawMarginals(box, answer, pin, document) {
  const worth = answer.worth;
  if (!worth) {
    show(box, el("p", { class: "note" }, answer.objective === "profit"
      ? "The linear program was not finished, so there are no marginal values."
      : "Marginal values are of profit: choose the objective profit (it needs a price)."));
    return;
  }
  const unit = shortUnit(answer.unit);
  const currency = unit.split("/")[0];
  const isSameUnit = pin?.unit === answer.unit;
  const other = isSameUnit ? pin?.worth ?? null : null;
  const otherUnit = pin?.worth && !isSameUnit ? el("p", { class: "note" }, `The pinned marginal values are in ${shortUnit(pin.unit)}: they are not shown here.`) : null;
  const fewer = worth.one_fewer ?? worth;
  const heads = (text) => (other ? [`${text}, now`, `${text}, pinned`, "difference"] : [text]);
  const cells = (key, name) => {
    const text = bothSides(worth[key][name], (fewer[key] ?? {})[name] ?? null);
    if (!other) return [text];
    const before = other[key]?.[name] ?? null;
    return [text, moneyText(before), before === null ? "-" : signed(worth[key][name] - before, moneyText, Math.abs(before))];
  };
  const machineRows = Object.keys(worth.machine_types).map((name) => {
    const use = answer.machine_types[name];
    return [name, wholeText(use.count), ...(use.cost_per_hour === undefined ? [] : [number(use.cost_per_hour)]), ...cells("machine_types", name)];
  });
  if (worth.kilowatt_per_hour !== null) {
    const before = other?.kilowatt_per_hour ?? null;
    machineRows.push(["kilowatt under the cap", "", "", bothSides(worth.kilowatt_per_hour, fewer.kilowatt_per_hour ?? null),
      ...(other ? [number(before), before === null ? "-" : signed(worth.kilowatt_per_hour - before, moneyText, Math.abs(before))] : [])]);
  }
  const names = document.task_types.map((task) => task.name).filter((name) => Object.hasOwn(worth.task_types, name)).slice(0, MOST_ROWS);
  const charged = answer.task_prices;
  const taskRows = names.map((name) => [name, ...cells("task_types", name),
    ...(charged ? [number(charged[name]?.charged ?? null), charged[name]?.below_cost ? "below min. price (LP)" : ""] : [])]);
  const isTwoSided = [...machineRows, ...taskRows].some((row) => row.some((text) => typeof text === "string" && text.includes(" / ")));
  show(box,
    table({ caption: "Machine types: marginal value of one more (LP)", heads: ["machine type", "count", `fixed cost, ${unit}`, ...heads(`marginal value of one more (LP), ${unit}`)], rows: machineRows }),
    worth.kilowatt_per_hour === null ? el("p", { class: "note" }, "There is no power cap, so one more kilowatt changes nothing.") : null,
    table({ caption: "Task types: minimum price for one more task (LP)", heads: ["task type", ...heads(`minimum price for one more task (LP), ${currency}`), ...(charged ? [`charged, ${currency}`, ""] : [])], rows: taskRows }),
    isTwoSided ? el("p", { class: "note" }, TWO_SIDED) : null,
    otherUnit);
}
