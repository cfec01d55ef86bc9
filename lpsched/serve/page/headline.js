// The headline of an answer in words: what a schedule does (verified), what no schedule can do (proved), and the gap.
import { gapText, number, ROUNDING } from "./numbers.js";
import { counted, duration, energyText, paired, plainText, powerText, shortUnit, signed } from "./texts.js";

const ROOM = { profit: "profit", loss: "running at a loss", "do-not-run": "not running" };
const WRITERS = { profit: plainText, makespan: duration, energy: energyText };

/** How a number of this objective is written. */
export function writerOf(objective) {
  return WRITERS[objective] ?? plainText;
}

function pairOf(answer) {
  const earns = answer.regime !== null;
  const bound = earns && Math.abs(answer.bound) <= ROUNDING * Math.abs(answer.value) ? 0 : answer.bound;
  return paired(answer.value, bound, earns, writerOf(answer.objective));
}

const unsigned = (text) => text.replace(/^-/, "");

/**
 * Value and bound in sentences of three parts: words, number, words.
 * @returns {{value: [string, string, string], bound: [string, string, string], notes: string[]}}
 */
export function headline(answer) {
  const [value, bound] = pairOf(answer);
  const notes = statusNotes(answer);
  if (answer.objective === "makespan") {
    return { value: ["A schedule is done in", value, "(verified)"], bound: ["No schedule is done in less than", bound, "(proved)"], notes };
  }
  if (answer.objective === "energy") {
    return { value: ["A schedule takes", value, "(verified)"], bound: ["No schedule takes less than", bound, "(proved)"], notes };
  }
  const unit = shortUnit(answer.unit);
  const money = (text) => text + " " + unit;
  const isGain = answer.value >= 0 || number(answer.value) === "0";
  const limit = answer.bound > 0 || number(answer.bound) === "0"
    ? ["No schedule earns more than", money(bound), "(proved)"]
    : ["In any case at least", money(unsigned(bound)), "is lost (proved)"];
  if (answer.makespan_seconds === null) {
    const known = answer.bound_regime === answer.regime ? "Best not to run" : "No better schedule found than not to run";
    return { value: [`${known}: that ${isGain ? "earns" : "loses"}`, money(unsigned(value)), "(verified)"], bound: limit, notes };
  }
  if (isGain) return { value: ["A schedule earns", money(value), "(verified)"], bound: limit, notes };
  const fixed = answer.money?.fixed_cost_per_hour ?? null;
  const idle = fixed === null ? [] : [
    `Not running would lose ${fixed > -answer.value ? "more, " : ""}${number(fixed)} ${unit}.`];
  return { value: ["A schedule loses", money(unsigned(value)), "(verified)"], bound: limit, notes: [...notes, ...idle] };
}

function statusNotes(answer) {
  const notes = [];
  if (answer.status === "optimal") {
    notes.push(answer.gap !== null && answer.gap <= ROUNDING ? "Optimal." : "Optimal within the gap asked for.");
  } else if (answer.status === "limit") {
    notes.push("Stopped early: the best answer so far.");
  } else if (answer.tight_may_help) {
    notes.push("A harder search may close the gap.");
  }
  if (answer.regime !== null && answer.regime !== answer.bound_regime) {
    notes.push(`The bound leaves room for ${ROOM[answer.bound_regime] ?? "more"}.`);
  } else if (answer.regime === "do-not-run") {
    notes.push("The price does not cover what the tasks cost.");
  }
  return notes;
}

/** The whole headline as one text, for tests and screen readers. */
export function sentence(answer) {
  const { value, bound } = headline(answer);
  return `${value.join(" ")}. ${bound.join(" ")}.`;
}

/** What else is known at a glance: name, number, how it is known. @returns {[string, string, string][]} */
export function facts(answer, pue = 1) {
  const rows = [["gap", gapText(answer.gap), "proved"]];
  const runs = answer.makespan_seconds !== null;
  if (runs) rows.push(["makespan", duration(answer.makespan_seconds), "verified"]);
  if (runs && answer.energy_joules !== null) {
    rows.push(["energy", energyText(answer.energy_joules), pue === 1 ? "verified" : "verified, at the machines"]);
  }
  if (answer.average_watts !== null && answer.average_watts !== undefined) {
    rows.push([runs ? "average power" : "idle power", powerText(answer.average_watts), pue === 1 ? "verified" : "verified, at the machines"]);
  }
  if (answer.power_cap) {
    const cap = answer.power_cap;
    const side = cap.measured_at === "facility" ? "at the meter" : "at the machines";
    rows.push(["power under the cap", powerText(cap.average_watts), `verified, ${side}; cap ${powerText(cap.watts)}`]);
  }
  rows.push(["size", counted(answer.tasks, "task"), "on " + counted(answer.machines, "machine")]);
  return rows;
}

/** Rows of a comparison with the pinned answer: name, now, pinned, difference. */
export function compared(now, pin) {
  const same = now.objective === pin.objective && now.unit === pin.unit;
  const write = writerOf(now.objective);
  const rows = [];
  const words = { profit: "earns", makespan: "is done in", energy: "takes" };
  const withUnit = (answer, text) => (answer.objective === "profit" ? text + " " + shortUnit(answer.unit) : text);
  const [nowTexts, pinTexts] = [pairOf(now), pairOf(pin)];
  const difference = (a, b, writer, unit = "") => {
    if (a === null || b === null || a === undefined || b === undefined) return "-";
    const text = signed(a - b, writer, Math.max(Math.abs(a), Math.abs(b)));
    return text === "0" || text === "-" ? text : text + unit;
  };
  const unit = now.objective === "profit" ? " " + shortUnit(now.unit) : "";
  const name = same ? words[now.objective] : "value";
  rows.push([`a schedule ${name} (verified)`.replace("a schedule value", "value of a schedule"), withUnit(now, nowTexts[0]), withUnit(pin, pinTexts[0]),
    same ? difference(now.value, pin.value, write, unit) : "-"]);
  rows.push(["bound (proved)", withUnit(now, nowTexts[1]), withUnit(pin, pinTexts[1]), same ? difference(now.bound, pin.bound, write, unit) : "-"]);
  rows.push(["gap (proved)", gapText(now.gap), gapText(pin.gap), "-"]);
  rows.push(["makespan (verified)", duration(now.makespan_seconds), duration(pin.makespan_seconds),
    difference(now.makespan_seconds, pin.makespan_seconds, duration)]);
  if (now.energy_joules !== null || pin.energy_joules !== null) {
    rows.push(["energy (verified)", energyText(now.energy_joules), energyText(pin.energy_joules),
      difference(now.energy_joules, pin.energy_joules, energyText)]);
  }
  return rows;
}
