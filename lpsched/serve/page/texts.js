// Times, energies, money and pairs of value and bound, written as lpsched/units.py writes them.
import { number, roundedDown, roundedUp, ROUNDING } from "./numbers.js";

const TIMES = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
const ENERGIES = [[3.6e9, "MWh"], [3.6e6, "kWh"], [3600, "Wh"]];
const POWERS = [[1e6, "MW"], [1e3, "kW"], [1, "W"]];
const SIZES = Object.fromEntries([...TIMES, ...ENERGIES, ...POWERS].map(([size, unit]) => [unit, size]));
const DIGITS = 4;
const LEAST_GAP = 1e-5;
const MOST_FINER = 6;
const MOST_EQUAL = 2;
const LARGE = 1e15;
const NOISE = 1e-13;
const MOST_DIGITS = 7; // of the largest amount of a column of money

const WHOLE = new Intl.NumberFormat("en-US"); // made once: a table has hundreds of numbers

/** A whole number with separated thousands. */
export function wholeText(count) {
  return WHOLE.format(count);
}

/** @typedef {{upper?: boolean|null, finer?: number}} Rounding  upper null or absent: measured, rounded to the nearest */

/** A measured number, or a bound that is rounded to the side on which it stays true. @param {Rounding} how */
export function plainText(value, { upper = null, finer = 0 } = {}) {
  let digits = DIGITS;
  if (finer && value) {
    const size = Math.abs(value);
    digits = Math.max(DIGITS, size < LARGE ? Math.floor(Math.log10(size)) + 1 : 0) + finer;
  }
  if (upper === null) return number(value, digits);
  return upper ? roundedUp(value, digits) : roundedDown(value, digits);
}

function halfEven(x) {
  const low = Math.floor(x);
  if (x - low !== 0.5) return Math.round(x);
  return low % 2 === 0 ? low : low + 1;
}

function whole(x, upper) {
  const nearest = halfEven(x);
  if (upper === null || Math.abs(nearest - x) <= ROUNDING * x) return nearest;
  return upper ? Math.ceil(x) : Math.floor(x);
}

/** A time in its two largest units: 7 h 50 min. @param {Rounding} how */
export function duration(seconds, { upper = null, finer = 0 } = {}) {
  if (seconds === null || !Number.isFinite(seconds)) return "-";
  for (let place = 0; place < TIMES.length - 1; place += 1) {
    const last = place + 1 + finer;
    const decimals = Math.max(0, last - TIMES.length + 1);
    const unit = TIMES[Math.min(last, TIMES.length - 1)][0];
    const steps = whole(decimals ? seconds * 10 ** decimals : seconds / unit, upper);
    const total = decimals ? steps / 10 ** decimals : steps * unit;
    if (total >= TIMES[place][0]) return inParts(total, place, decimals);
  }
  return plainText(seconds, { upper, finer }) + " s";
}

function inParts(total, first, decimals) {
  const parts = [];
  let left = total;
  for (const [size, name] of TIMES.slice(first)) {
    const count = size > 1 ? Math.floor(left / size) : Number(left.toFixed(decimals));
    left -= size > 1 ? count * size : 0;
    if (count) parts.push((size > 1 ? wholeText(count) : String(count)) + " " + name);
  }
  return parts.join(" ");
}

function inUnits(value, units, how) {
  if (value === null) return "-";
  const [size, name] = units.find(([least]) => Math.abs(value) >= least) ?? units[units.length - 1];
  return plainText(value / size, how) + " " + name;
}

/** @param {Rounding} how */
export function energyText(joules, how = {}) {
  return inUnits(joules, ENERGIES, how);
}

/** @param {Rounding} how */
export function powerText(watts, how = {}) {
  return inUnits(watts, POWERS, how);
}

/** The number that a text of this file writes, in SI. */
export function meant(text) {
  const words = text.replaceAll(",", "").split(" ");
  let sum = 0;
  for (let place = 0; place < words.length; place += 2) sum += Number(words[place]) * (SIZES[words[place + 1]] ?? 1);
  return sum;
}

function areEqual(value, bound) {
  return Math.abs(value - bound) <= ROUNDING * Math.max(Math.abs(value), Math.abs(bound));
}

function decimalsIn(figures) {
  return figures.includes(".") ? figures.length - figures.indexOf(".") - 1 : 0;
}

// Numbers of one unit get equally many decimals, so that they can be compared at a glance.
function aligned(texts) {
  const parts = texts.map((text) => {
    const at = text.indexOf(" ");
    return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
  });
  const units = new Set(parts.map(([, unit]) => unit));
  if (parts.some(([figures, unit]) => figures.includes("e") || unit.includes(" ")) || units.size > 1) return texts;
  const most = Math.max(...parts.map(([figures]) => decimalsIn(figures)));
  return parts.map(([figures, unit]) => {
    const isPlain = !most || figures === "0";
    const padded = isPlain ? figures
      : figures.split(".")[0] + "." + (figures.split(".")[1] ?? "").padEnd(most, "0");
    return (padded + " " + unit).trimEnd();
  });
}

function finerBy(value, bound, upper, write) {
  const equal = areEqual(value, bound);
  const within = Math.max(Math.abs(value - bound), LEAST_GAP * Math.max(Math.abs(value), Math.abs(bound))) / 2;
  const most = equal ? MOST_EQUAL : MOST_FINER;
  for (let finer = 0; finer < most; finer += 1) {
    const texts = [write(value, { finer }), write(bound, { upper, finer })];
    const shown = Math.abs(meant(texts[0]) - meant(texts[1]));
    if (equal ? texts[0] === texts[1] : Math.abs(shown - Math.abs(value - bound)) <= within) return finer;
  }
  return most;
}

/**
 * A measured value and its bound, with as many digits as their distance needs.
 * @returns {[string, string]}
 */
export function paired(value, bound, upper, write = plainText) {
  const finer = finerBy(value, bound, upper, write);
  const limit = write(bound, { upper, finer });
  if (areEqual(value, bound)) return [limit, limit];
  const [figures, unit = ""] = limit.split(" ");
  const within = (0.5 * (1 + ROUNDING) * (SIZES[unit] ?? 1)) / 10 ** decimalsIn(figures);
  let text = write(value, { finer });
  if (figures.includes(".") && !figures.includes("e")) {
    for (let more = 0; more < DIGITS; more += 1) {
      const finest = write(value, { finer: finer + more });
      if (Math.abs(meant(finest) - value) <= within) {
        text = finest;
        break;
      }
    }
  }
  return aligned([text, limit]);
}

/** Amounts of money below each other, with equally many decimals. */
export function ledger(amounts) {
  const sizes = amounts.filter((x) => x !== null).map(Math.abs).filter((x) => x >= NOISE);
  if (!sizes.length || Math.max(...sizes) >= LARGE) return amounts.map((x) => number(x));
  const power = (x) => Math.floor(Math.log10(Math.max(x, NOISE)));
  const largest = power(Math.max(...sizes));
  const profit = power(Math.abs(amounts[amounts.length - 1] || Math.max(...sizes)));
  const decimals = Math.max(0, DIGITS - 1 - largest,
    Math.min(Math.max(1 - power(Math.min(...sizes)), 2 - profit), MOST_DIGITS - 1 - largest));
  return amounts.map((x) => (x === null ? "-" : grouped(x, decimals)));
}

function grouped(x, decimals) {
  const text = x.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return /[1-9]/.test(text) ? text : text.replace("-", "");
}

/** A difference, always with its sign; rounding noise is 0. */
export function signed(difference, write = plainText, scale = Math.abs(difference)) {
  if (difference === null || !Number.isFinite(difference)) return "-";
  if (Math.abs(difference) <= 1e-12 * scale || Math.abs(difference) < NOISE) return "0";
  const text = write(Math.abs(difference));
  return (difference < 0 ? "\u2212" : "+") + text;
}

export function counted(count, noun, plural = noun + "s") {
  return wholeText(count) + " " + (count === 1 ? noun : plural);
}

/** A measured amount of money, without an exponent as long as it is not tiny. */
export function moneyText(value) {
  const text = number(value);
  if (!text.includes("e-") || Math.abs(value) < 1e-9) return text;
  const [mantissa, power] = text.split("e-");
  return Number(text).toFixed(Number(power) + decimalsIn(mantissa));
}

/** USD/hour, as tables write it. */
export function shortUnit(unit) {
  return unit.replace(/\/hour$/, "/h");
}
