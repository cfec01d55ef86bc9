"""Sizes of units, and how numbers are written in tables: in a terminal, in a notebook and on a page.

number, percent    a measured number, rounded to the nearest
bound_text         a proved number, rounded to the side on which it stays true (upper_text, lower_text)
gap_text           a distance from a bound, rounded up
paired             a value and its bound, with as many digits as their distance needs
range_text         between what a number lies, rounded outwards
share_text         a share of a bound, rounded down
duration           7 h 50 min
long_time          2.94 years
energy_text        116.6 kWh
power_text         14.9 kW
counted            1 machine, 66 machines
parse_quantity     90, 5min, 30kW, 1.2GJ: what a user types, in SI

Texts for people have four significant digits, more where a value and its bound need them; JSON has all of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Final, Literal, Protocol

from lpsched.text import html_text, number_in

KILO: Final = 1_000  # whole numbers, so that sums of fractions stay exact
MEGA: Final = 1_000_000
GIGA: Final = 1_000_000_000
SECONDS_PER_HOUR: Final = 3_600
SECONDS_PER_DAY: Final = 86_400
JOULES_PER_KWH: Final = 3_600_000

DIGITS: Final = 4  # significant, in texts for people
NOISE: Final = 1e-13  # rounding of doubles, where numbers are of the usual sizes
SMALL: Final = 1e-3
LARGE: Final = 1e15
ROUNDING: Final = 1e-14
TIMES: Final = ((SECONDS_PER_DAY, "d"), (SECONDS_PER_HOUR, "h"), (60, "min"), (1, "s"))
ENERGIES: Final = ((MEGA * SECONDS_PER_HOUR, "MWh"), (JOULES_PER_KWH, "kWh"), (SECONDS_PER_HOUR, "Wh"))
POWERS: Final = ((MEGA, "MW"), (KILO, "kW"), (1, "W"))
MASSES: Final = ((MEGA, "t"), (KILO, "kg"), (1, "g"))
EXACT_DIGITS: Final = 1_100  # more than any double has, written out
LEAST_POWER: Final = -4  # of ten, that is written without an exponent: as in Python's format "g"
LEAST_GAP: Final = 1e-5  # of which digits are shown: those of smaller ones differ from machine to machine
MOST_FINER: Final = 6  # steps: digits, units of time
MOST_EQUAL: Final = 2  # the same, of a value that is its bound
SAME_RANGE: Final = 1e-9  # relative: the ends of a range no wider are the same number
LEAST_MONEY: Final = 1e-9  # that is written without an exponent


def number(value: float | None, digits: int = DIGITS) -> str:
    """Write a number with at least `digits` significant digits and separated thousands; rounding noise is 0.

    >>> number(1234567.891), number(0.000012345), number(None), number(12.0), number(1234.5678), number(-3.5e-17)
    ('1,234,568', '1.234e-05', '-', '12', '1,235', '0')
    """
    if value is None:
        return "-"
    if abs(value) < NOISE:
        return "0"
    if value != 0 and not SMALL <= abs(value) < LARGE:
        return f"{value:.{digits}g}"
    decimals = digits - 1 - math.floor(math.log10(abs(value))) if value else 0
    return _without_zeros(f"{value:,.{max(0, decimals)}f}")


def percent(share: float | None) -> str:
    """Write a share as a percentage; what is only the rounding of doubles is none.

    >>> percent(0.01234), percent(None), percent(2e-16)
    ('1.234 %', '-', '0 %')
    """
    if share is None:
        return "-"
    return f"{number(100 * share if abs(share) > ROUNDING else 0.0, 4)} %"


def bound_text(value: float | Fraction | None, *, upper: bool, digits: int = DIGITS) -> str:
    """Write a bound as `number` would, but rounded so that it stays true: an upper one up, a lower one down.

    What is only the rounding of doubles is left out, as in `gap_text`: 3.4800000000000004 is 3.48.

    >>> bound_text(2 / 3, upper=True), bound_text(2 / 3, upper=False), bound_text(-2 / 3, upper=True)
    ('0.6667', '0.6666', '-0.6666')
    >>> bound_text(1234567.25, upper=True), bound_text(3.4800000000000004, upper=True), bound_text(1e-9, upper=False)
    ('1,234,568', '3.48', '1e-09')
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return number(value, digits)
    rounding = ROUND_CEILING if upper else ROUND_FLOOR
    ratio = Fraction(value)
    exact = Context(EXACT_DIGITS, rounding).divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
    if not exact:
        return "0"
    last = exact.adjusted() - digits + 1  # the power of ten of the last digit that is written
    plain = Decimal(str(SMALL)) <= abs(exact) < Decimal(str(LARGE))
    unit = Decimal((0, (1,), min(0, last) if plain else last))
    shown = exact.quantize(unit, ROUND_HALF_EVEN)
    if abs(shown - exact) > Decimal(str(ROUNDING)) * abs(exact):
        shown = exact.quantize(unit, rounding)
    if plain or LEAST_POWER <= shown.adjusted() < digits:
        return _without_zeros(f"{shown:,f}" if plain else f"{shown:f}")
    figures, power = f"{shown:e}".split("e")
    return f"{_without_zeros(figures)}e{int(power):+03d}"


def upper_text(bound: float | Fraction | None, digits: int = DIGITS, *, largest: float = 0.0) -> str:
    """Write a bound from above; what is only the rounding of the `largest` number beside it is 0.

    >>> upper_text(-3e-17, largest=2.0), upper_text(2.6e-16, largest=2.0), upper_text(2 / 3, largest=2.0)
    ('0', '0', '0.6667')
    """
    if bound is not None and abs(float(bound)) <= ROUNDING * largest:
        return "0"
    return bound_text(bound, upper=True, digits=digits)


def lower_text(bound: float | Fraction | None, digits: int = DIGITS) -> str:
    """Write a bound from below."""
    return bound_text(bound, upper=False, digits=digits)


def _without_zeros(plain: str) -> str:
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def gap_text(gap: float | None) -> str:
    """Write a distance from a bound as a percentage, never smaller than it is.

    What is only the rounding of doubles is none, as in `percent`: 0.1 is 10 %, though its double is above.

    >>> gap_text(0.012341), gap_text(None), gap_text(0.0), gap_text(2e-16), gap_text(0.1), gap_text(3e-9)
    ('1.235 %', '-', '0 %', '0 %', '10 %', 'under 0.001 %')
    """
    if gap is None:
        return "-"
    if ROUNDING < gap < LEAST_GAP:
        return f"under {gap_text(LEAST_GAP)}"
    surely = gap * (1.0 - ROUNDING) if abs(gap) > ROUNDING else 0.0
    return f"{bound_text(100 * Fraction(surely), upper=True, digits=4)} %"


def share_text(share: float | None) -> str:
    """Write a share of a bound as a percentage, never larger than it is, but for the rounding of doubles.

    >>> share_text(0.99999), share_text(1.0 - 1e-16), share_text(0.5), share_text(None)
    ('99.99 %', '100 %', '50 %', '-')
    """
    if share is None:
        return "-"
    return f"{bound_text(100 * Fraction(share * (1.0 + ROUNDING)), upper=False, digits=4)} %"


def duration(seconds: float | Fraction | None, *, upper: bool | None = None, finer: int = 0) -> str:
    """Write a time in its two largest units; a bound (`upper` or lower) is rounded to the side on which it stays true.

    With `finer` in as many further units, and then decimals of seconds.

    >>> duration(28_207.8), duration(3599.7), duration(3599.7, upper=False), duration(0.25), duration(200_000.0)
    ('7 h 50 min', '1 h', '59 min 59 s', '0.25 s', '2 d 8 h')
    >>> duration(28_207.8, finer=1), duration(28_207.8, finer=2, upper=False), duration(28_207.8, finer=1, upper=False)
    ('7 h 50 min 8 s', '7 h 50 min 7.8 s', '7 h 50 min 7 s')
    """
    if seconds is None or not math.isfinite(seconds):
        return "-"
    for place, (size, _) in enumerate(TIMES[:-1]):
        last = place + 1 + finer  # the unit that is rounded to
        decimals = max(0, last - len(TIMES) + 1)
        unit = Fraction(TIMES[min(last, len(TIMES) - 1)][0], 10**decimals)
        total = _whole(Fraction(seconds) / unit, upper) * unit
        if total >= size:
            return _in_parts(total, place, decimals)
    return f"{plain_text(seconds, upper=upper, finer=finer)} s"


def _whole(exact: Fraction, upper: bool | None) -> int:  # noqa: FBT001
    """Round to a whole number; what is only the rounding of doubles is left out, as in `bound_text`."""
    nearest = round(exact)
    if upper is None or abs(nearest - exact) <= ROUNDING * exact:
        return nearest
    return math.ceil(exact) if upper else math.floor(exact)


def _in_parts(total: Fraction, first: int, decimals: int) -> str:
    """Write a time in units from the `first` one down to seconds, without those of which there are none."""
    parts = []
    for size, name in TIMES[first:]:
        count, total = divmod(total, size) if size > 1 else (total, Fraction())
        if count:
            text = f"{int(count):,}" if count.denominator == 1 else _without_zeros(f"{float(count):.{decimals}f}")
            parts.append(f"{text} {name}")
    return " ".join(parts)


def long_time(hours: float | None) -> str:
    """Write a long time in hours, days or years, of 365 days.

    >>> long_time(25_745.0), long_time(36.0), long_time(5000.0), long_time(None)
    ('2.94 years', '36 hours', '208 days', '-')
    """
    if hours is None:
        return "-"
    for name, size in (("years", 365 * 24), ("days", 24)):
        if hours >= (1 if name == "years" else 3) * size:
            return f"{number(hours / size, 3)} {name}"
    return f"{number(hours, 3)} hours"


def energy_text(joules: float | Fraction | None, *, upper: bool | None = None, finer: int = 0) -> str:
    """Write an energy.

    >>> energy_text(419_858_324.0), energy_text(8400.0), energy_text(1e12), energy_text(None)
    ('116.6 kWh', '2.333 Wh', '277.8 MWh', '-')
    """
    return _in_units(joules, ENERGIES, upper, finer)


def power_text(watts: float | Fraction | None, *, upper: bool | None = None, finer: int = 0) -> str:
    """Write a power.

    >>> power_text(14_884.0), power_text(280.0), power_text(2.5e7)
    ('14.88 kW', '280 W', '25 MW')
    """
    return _in_units(watts, POWERS, upper, finer)


def _in_units(
    value: float | Fraction | None,
    units: Sequence[tuple[float, str]],
    upper: bool | None,  # noqa: FBT001
    finer: int,
) -> str:
    if value is None:
        return "-"
    size, name = next((each for each in units if abs(float(value)) >= each[0]), units[-1])
    scaled = value / size if upper is None else Fraction(value) / Fraction(size)
    return f"{plain_text(scaled, upper=upper, finer=finer)} {name}"


def plain_text(value: float | Fraction | None, *, upper: bool | None = None, finer: int = 0) -> str:
    """Write a measured number, or a bound, with `finer` digits more than usual.

    >>> plain_text(1234567.25), plain_text(1234567.25, finer=1), plain_text(2 / 3, upper=False, finer=2)
    ('1,234,567', '1,234,567.2', '0.666666')
    """
    digits = DIGITS
    if finer and value:
        size = abs(float(value))
        digits = max(DIGITS, math.floor(math.log10(size)) + 1 if size < LARGE else 0) + finer
    if upper is None:
        return number(None if value is None else float(value), digits)
    return bound_text(value, upper=upper, digits=digits)


# A value and its bound beside each other.
class Writer(Protocol):
    """A function that writes a number: measured, or a bound (`upper` or lower); `finer` than usual."""

    def __call__(self, value: float | Fraction, /, *, upper: bool | None = None, finer: int = 0) -> str: ...  # noqa: D102


def paired(value: float, bound: float, *, upper: bool, write: Writer = plain_text) -> tuple[str, str]:
    """Write a measured value and its bound, with equally many decimals, so that the texts are as far apart as they are.

    Where they are equal but for the rounding of doubles, so are the texts: with as many digits as it takes until the
    nearest number is on the bound's side. Where there are none such, both are the bound's.

    >>> paired(20.8777, 20.8901, upper=True), paired(20.894, 20.9, upper=True), paired(7.0, 8.25, upper=True)
    (('20.878', '20.891'), ('20.894', '20.900'), ('7.00', '8.25'))
    >>> paired(876.5546, 876.5546, upper=False), paired(2 / 3, 2 / 3, upper=False), paired(0.0, 1.5e-05, upper=True)
    (('876.55', '876.55'), ('0.666666', '0.666666'), ('0', '1.5e-05'))
    >>> paired(10_739.4, 10_730.5, upper=False, write=duration)
    ('2 h 58 min 59 s', '2 h 58 min 50 s')
    """
    finer = finer_by(value, bound, upper=upper, write=write)
    if are_equal(value, bound):
        limit = write(bound, upper=upper, finer=finer)
        return limit, limit
    return beside(value, bound, upper=upper, finer=finer, write=write)


def beside(value: float, bound: float, *, upper: bool, finer: int, write: Writer = plain_text) -> tuple[str, str]:
    """Write a measured value and its bound with equally many decimals; zeros at the end of the value are its own.

    >>> beside(1075.5, 706.83, upper=False, finer=0), beside(10.205, 6.3241, upper=False, finer=0)
    (('1,075.5', '706.8'), ('10.205', '6.324'))
    >>> beside(1.199999984, 1.20001, upper=True, finer=2), beside(5_402_700.0, 36_360.0, upper=False, finer=0)
    (('1.20000', '1.20001'), ('5,402,700', '36,360'))
    """
    limit = write(bound, upper=upper, finer=finer)
    figures, _, unit = limit.partition(" ")
    within = 0.5 * (1.0 + ROUNDING) * SIZES.get(unit, 1) / 10.0 ** len(figures.partition(".")[2])
    texts = (write(value, finer=finer + more) for more in range(DIGITS))
    text = next(texts)
    if "." in figures and "e" not in figures:
        text = next((each for each in (text, *texts) if abs(meant(each) - value) <= within), text)
    first, second = aligned(text, limit)
    return first, second


def finer_by(value: float, bound: float, *, upper: bool, write: Writer = plain_text, gap: float = LEAST_GAP) -> int:
    """Return how many digits more than usual a value and its bound need beside each other, and beside their `gap`."""
    equal, size = are_equal(value, bound), max(abs(value), abs(bound))
    within, most = max(abs(value - bound), gap * size) / 2.0, MOST_EQUAL if equal else MOST_FINER
    for finer in range(most):
        texts = write(value, finer=finer), write(bound, upper=upper, finer=finer)
        shown = abs(meant(texts[0]) - meant(texts[1]))
        if texts[0] == texts[1] if equal else abs(shown - abs(value - bound)) <= within:
            return finer
    return most


def beside_limit(value: float, limit: str, *, upper: bool, finer: tuple[int, int], write: Writer = plain_text) -> str:
    """Write a value in a column below its bound: with its own digits, or with the bound's where rounding would pass it.

    >>> [beside_limit(value, "99.9991", upper=True, finer=(0, 2)) for value in (99.9989, 90.0)]
    ['99.9989', '90']
    """
    text = write(value, finer=finer[0])
    is_beyond = meant(text) > meant(limit) if upper else meant(text) < meant(limit)
    return write(value, finer=finer[1]) if is_beyond else text


def are_equal(value: float, bound: float) -> bool:
    """Return whether two numbers are the same but for the rounding of doubles."""
    return abs(value - bound) <= ROUNDING * max(abs(value), abs(bound))


def meant(text: str) -> float:
    """Return the number that a text of a number, a time, an energy, a power or a mass writes: in SI, mass in grams.

    >>> meant("1,234.5"), meant("2 h 3 min"), meant("1.5e-05"), meant("2 kWh"), meant("2.5 kg")
    (1234.5, 7380.0, 1.5e-05, 7200000.0, 2500.0)
    """
    words = text.replace(",", "").split()
    sizes = [float(SIZES[unit]) for unit in words[1::2]] or [1.0]
    return sum(float(figures) * size for figures, size in zip(words[::2], sizes, strict=True))


SIZES: Final = {unit: size for size, unit in (*TIMES, *ENERGIES, *POWERS, *MASSES)}


def aligned(*texts: str) -> list[str]:
    """Return numbers, of one unit if they have any, with equally many decimals.

    >>> aligned("20.89", "20.9"), aligned("7", "8.25"), aligned("0", "1.5"), aligned("2 Wh", "1.5 Wh")
    (['20.89', '20.90'], ['7.00', '8.25'], ['0', '1.5'], ['2.0 Wh', '1.5 Wh'])
    """
    figures, units = zip(*(text.partition(" ")[::2] for text in texts), strict=True)
    if any("e" in text for text in figures) or len(set(units)) > 1 or any(" " in unit for unit in units):
        return list(texts)
    most = max(len(text.partition(".")[2]) for text in figures)
    padded = [
        text if not most or text == "0" else text.partition(".")[0] + "." + text.partition(".")[2].ljust(most, "0")
        for text in figures
    ]
    return [f"{text} {unit}".rstrip() for text, unit in zip(padded, units, strict=True)]


def range_text(low: float | Fraction, high: float | Fraction) -> str:
    """Write between what a number lies, rounded outwards; one number where both ends are the same but for rounding.

    >>> range_text(1 / 3, 2 / 3), range_text(-0.48714285714285716, -0.48714285714284244), range_text(2.8604e-05, 1e-4)
    ('0.3333 to 0.6667', '-0.4871', '0.0000286 to 0.0001')
    >>> range_text(0.0, 2.5e-16)
    '0'
    """
    nearest, size = number(float(low)), max(abs(float(low)), abs(float(high)))
    if nearest == number(float(high)) and (size < NOISE or high - low <= SAME_RANGE * size):
        return money_text(nearest)
    return f"{money_text(lower_text(low))} to {money_text(upper_text(high))}"


def money_text(text: str) -> str:
    """Return a number of money without an exponent, as long as it is not tiny.

    >>> money_text("8.417e-05"), money_text("-2e-30"), money_text("-"), money_text("1,234.5")
    ('0.00008417', '-2e-30', '-', '1,234.5')
    """
    return f"{Decimal(text):f}" if "e-" in text and abs(Decimal(text)) >= Decimal(str(LEAST_MONEY)) else text


def counted(count: int, noun: str, plural: str = "") -> str:
    """Write a number of things.

    >>> counted(1, "machine"), counted(56_500, "task"), counted(2, "facility", "facilities")
    ('1 machine', '56,500 tasks', '2 facilities')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


# What users type: a number, which means what it always meant there, or numbers with units.
Quantity = Literal["time", "power", "energy"]
TYPED: Final[Mapping[Quantity, Mapping[str, Decimal]]] = {  # the size of each unit in SI
    "time": {"ms": Decimal("0.001")} | {unit: Decimal(size) for size, unit in TIMES},
    "power": {unit: Decimal(size) for size, unit in POWERS},
    "energy": {unit: Decimal(size) for size, unit in (*ENERGIES, (1, "J"), (KILO, "kJ"), (MEGA, "MJ"), (GIGA, "GJ"))},
}
EXPECTED: Final = {
    "time": "a time such as 90, 90s, 5min, 2h, 1d",
    "power": "a power such as 250, 250W, 30kW, 1.5MW",
    "energy": "an energy such as 1.5, 800MJ, 1.5GJ, 400kWh",
}
TERM: Final = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([A-Za-z]+)")
LONGEST: Final = 400  # characters of a quantity; whole numbers beyond doubles have 309 digits


def parse_quantity(text: str, kind: Quantity, *, unit: int = 1, least: float | None = None) -> float:
    """Read a time, power or energy; return it, as a plain number is, in units of `unit` seconds, watts or joules.

    Raises
    ------
    ValueError
        If it is none, or below `least`.

    Examples
    --------
    >>> parse_quantity("90", "time"), parse_quantity("1h30min", "time"), parse_quantity("0.1 kW", "power")
    (90.0, 5400.0, 100.0)
    >>> parse_quantity("90", "time", unit=60), parse_quantity("90s", "time", unit=60)
    (90.0, 1.5)
    """
    try:
        value = _number_in(text, kind, unit)
    except (KeyError, ValueError):
        raise ValueError(f"got {text[:60]!r}, expected {EXPECTED[kind]}") from None
    if least is not None and not value >= least:
        raise ValueError(f"got {text[:60]!r}, expected {EXPECTED[kind]}, of at least {least:g}")
    return value


def _number_in(text: str, kind: Quantity, unit: int) -> float:
    if len(text) > LONGEST:
        raise ValueError(text)
    terms = TERM.findall(text)
    if not terms or TERM.sub("", text).strip():
        if (number := number_in(text.strip())) is None:
            raise ValueError(text)
        return float(number)
    return float(sum(Decimal(figures) * TYPED[kind][name] for figures, name in terms) / unit)


def html_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table for a notebook; texts appear exactly as they stand.

    >>> html_table(("a",), [("<b>",)])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{html_text(header)}</th>" for header in headers)
    body = "".join("<tr>" + "".join(f"<td>{html_text(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
