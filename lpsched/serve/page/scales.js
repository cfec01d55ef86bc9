// How far a slider reaches and how fine it is. Number boxes take any number; a slider then reaches further.

const STEPS = 200; // of a slider over real numbers

/** The next number from 1, 2, 5 times a power of ten. */
export function nice(value) {
  if (!(value > 0) || !Number.isFinite(value)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find((each) => each * power >= value * (1 - 1e-9));
  return Number((step * power).toPrecision(12));
}

/**
 * From where to where a slider goes: from the least to about four times the value that it starts at.
 * @param {number} value @param {{least?: number, isWhole?: boolean, usual?: number}} about
 * @returns {{min: number, max: number, step: number}}
 */
export function rangeOf(value, { least = 0, isWhole = false, usual = 1 } = {}) {
  const max = nice(Math.max(2.5 * (value || usual), isWhole ? 10 : 0));
  if (isWhole) return { min: least, max, step: 1 };
  const step = nice(max / STEPS / 2);
  return { min: least > 0 ? Math.max(least, step) : 0, max, step };
}

/** The same range, or one that also has this value. */
export function reaching(range, value) {
  if (value <= range.max) return range;
  const max = nice(1.5 * value);
  return { ...range, max, step: range.step === 1 ? 1 : nice(max / STEPS / 2) };
}

/** A value for something that was off: rounded up to two digits, so that it looks chosen and not measured. */
export function roundedStart(value) {
  if (!(value > 0) || !Number.isFinite(value)) return 1;
  const unit = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Number((Math.ceil(value / unit - 1e-9) * unit).toPrecision(12));
}

/** A number for a number box: as short as it can be, without an exponent for usual sizes. */
export function boxText(value) {
  return value === null || value === undefined ? "" : String(Number(value.toPrecision(12)));
}

/**
 * What was typed into a number box.
 * @returns {{value: number} | {problem: string}} with the words of the command line
 */
export function typed(text, { least = 0, isWhole = false, isAbove = false } = {}) {
  const bare = text.trim();
  const value = bare === "" ? NaN : Number(bare);
  const kind = isWhole ? "a whole number" : "a number";
  const needed = isAbove ? kind + " above " + least : kind + " from " + least + " up";
  const isFine = Number.isFinite(value) && (isAbove ? value > least : value >= least) && (!isWhole || Number.isInteger(value));
  return isFine ? { value } : { problem: "got " + (bare || "nothing") + ", expected " + needed };
}

/** Round marks of an axis between two numbers, about as many as asked for. */
export function ticks(low, high, about = 5) {
  if (!(high > low)) return [low];
  const step = nice((high - low) / about);
  const marks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) {
    marks.push(Number((k * step).toPrecision(12)));
  }
  return marks;
}

/** The unit in which times of this size are best typed. @returns {[number, string]} seconds and name */
export function timeUnit(seconds) {
  if (seconds === null) return [3600, "h"];
  if (!(seconds > 120)) return [1, "s"];
  if (seconds < 7200) return [60, "min"];
  return seconds < 72 * 3600 ? [3600, "h"] : [86400, "days"];
}
