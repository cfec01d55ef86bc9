// Numbers, written letter by letter as lpsched/units.py writes them in Python.

const SMALL = 1e-3;
const LARGE = 1e15;
const ROUNDING = 1e-14;
const NOISE = 1e-13;
const LEAST_GAP = 1e-5;
const TOLERANCE = 10n ** 14n; // of 1 / ROUNDING
const DIGITS = 4;

// Python rounds a half to the even digit, JavaScript away from zero; all else is the same. 100 digits hold every
// double that can be such a half. `more` has one digit more than asked for: only if that is a 5 can it be one.
function evenHalf(rounded, more, exact) {
  if (!more.endsWith("5") || !/^0*$/.test(exact().slice(more.length))) return rounded;
  const kept = more.slice(0, -1);
  return "02468".includes(kept.replace(".", "").slice(-1)) ? kept.replace(/\.$/, "") : rounded;
}

function fixed(size, decimals) {
  return evenHalf(size.toFixed(decimals), size.toFixed(decimals + 1), () => size.toFixed(100));
}

// The figures, as "1.2345", and the power of ten.
function scientific(size, digits) {
  const [mantissa, power] = size.toExponential(digits - 1).split("e");
  const more = size.toExponential(digits).split("e")[0];
  return [evenHalf(mantissa, more, () => size.toExponential(100).split("e")[0]), Number(power)];
}

function withoutZeros(plain) {
  return plain.includes(".") ? plain.replace(/0+$/, "").replace(/\.$/, "") : plain;
}

// As Python's format "g": at most `digits` significant digits, no zeros at the end.
function general(size, digits) {
  const [mantissa, power] = scientific(size, digits);
  if (power >= -4 && power < digits) {
    const figures = mantissa.replace(".", "");
    const plain = power < 0
      ? "0." + "0".repeat(-power - 1) + figures
      : figures.slice(0, power + 1) + "." + figures.slice(power + 1);
    return withoutZeros(plain);
  }
  const shown = String(Math.abs(power)).padStart(2, "0");
  return withoutZeros(mantissa) + "e" + (power < 0 ? "-" : "+") + shown;
}

function number(value, digits = DIGITS) {
  if (value === null) return "-";
  if (Number.isNaN(value)) return "nan";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const size = Math.abs(value);
  if (size < NOISE) return "0";
  if (size === Infinity) return sign + "inf";
  if (size !== 0 && !(size >= SMALL && size < LARGE)) return sign + general(size, digits);
  const power = size === 0 ? digits : Number(size.toExponential().split("e")[1]);
  const [whole, decimals] = fixed(size, Math.max(0, digits - 1 - power)).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return sign + withoutZeros(decimals === undefined ? grouped : grouped + "." + decimals);
}

// The smallest number of `digits` digits that is not below, but for the rounding of doubles: as
// bound_text(value, upper=True). 100 digits hold
// every double from SMALL on; of a smaller one, what they leave out does not change the digits before. The value
// is multiplied by a power of ten first, exactly.
function roundedUp(value, digits = DIGITS, shift = 0) {
  if (value === null || !Number.isFinite(value) || value === 0) return number(value === 0 ? 0 : value, digits);
  const [figures, exponent] = Math.abs(value).toExponential(100).split("e");
  const power = Number(exponent) + shift;
  const isPlain = power >= -3 && power < 15; // from SMALL to LARGE
  const kept = isPlain ? Math.max(digits, power + 1) : digits;
  const all = figures.replace(".", "");
  const exact = BigInt(all);
  const unit = 10n ** BigInt(all.length - kept);
  const [low, over] = [exact / unit, exact % unit];
  const isNear = (over <= unit - over ? over : unit - over) * TOLERANCE <= exact; // only the rounding of doubles
  const isAbove = over > unit - over || (over === unit - over && low % 2n === 1n); // a half to the even digit, as Python
  const isMore = isNear ? isAbove : value > 0;
  const shown = String(low + (isMore ? 1n : 0n)); // one digit longer after 99...9
  const sign = value < 0 ? "-" : "";
  const first = power + shown.length - kept; // the power of ten of the first digit
  if (!isPlain && (first < -4 || first >= digits)) {
    const power10 = String(Math.abs(first)).padStart(2, "0");
    return sign + withoutZeros(shown[0] + "." + shown.slice(1)) + "e" + (first < 0 ? "-" : "+") + power10;
  }
  const padded = first < 0 ? "0".repeat(-first) + shown : shown;
  const whole = padded.slice(0, Math.max(0, first) + 1);
  const grouped = isPlain ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole;
  return sign + withoutZeros(grouped + "." + padded.slice(whole.length)).replace(/\.$/, "");
}

// As bound_text(value, upper=False).
function roundedDown(value, digits = DIGITS) {
  const text = roundedUp(value === null ? null : -value, digits);
  return text === "0" || text === "-" || text === "nan" ? text : text.startsWith("-") ? text.slice(1) : "-" + text;
}

function gapText(gap) {
  if (gap === null) return "-";
  if (gap > ROUNDING && gap < LEAST_GAP) return "under " + gapText(LEAST_GAP);
  return roundedUp(Math.abs(gap) > ROUNDING ? gap * (1 - ROUNDING) : 0, 4, 2) + " %";
}

function percent(share) {
  if (share === null) return "-";
  return number(Math.abs(share) > ROUNDING ? 100 * share : 0, 4) + " %";
}

export { gapText, number, percent, roundedDown, roundedUp, ROUNDING };
