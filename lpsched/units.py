"""Sizes of units, and how numbers are written in tables: in a terminal, in a notebook and on a page.

number, percent    a measured number, rounded to the nearest
bound_text         a proved number, rounded to the side on which it stays true (upper_text, lower_text)
gap_text           a distance from a bound, rounded up
share_text         a share of a bound, rounded down
duration           7 h 50 min
energy_text        116.6 kWh
power_text         14.9 kW
counted            1 machine, 66 machines
parse_quantity     90, 5min, 30kW, 1.2GJ: what a user types, in SI

Texts for people have four significant digits; JSON has all of them.
"""

from __future__ import annotations

import html
import itertools
import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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
EXACT_DIGITS: Final = 1_100  # more than any double has, written out
LEAST_POWER: Final = -4  # of ten, that is written without an exponent: as in Python's format "g"


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

    >>> gap_text(0.012341), gap_text(None), gap_text(0.0), gap_text(2e-16), gap_text(0.1)
    ('1.235 %', '-', '0 %', '0 %', '10 %')
    """
    if gap is None:
        return "-"
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


def duration(seconds: float | None, *, upper: bool | None = None) -> str:
    """Write a time in its two largest units; a bound (`upper` or lower) is rounded to the side on which it stays true.

    >>> duration(28_207.8), duration(3599.7), duration(3599.7, upper=False), duration(0.25), duration(200_000.0)
    ('7 h 50 min', '1 h', '59 min 59 s', '0.25 s', '2 d 8 h')
    """
    if seconds is None or not math.isfinite(seconds):
        return "-"
    rounded: Callable[[float], int] = round if upper is None else math.ceil if upper else math.floor
    for (size, name), (small, below) in itertools.pairwise(TIMES):
        total = rounded(seconds / small) * small
        if total >= size:
            rest = total % size // small
            return f"{total // size:,} {name}" + (f" {rest} {below}" if rest else "")
    return f"{number(seconds) if upper is None else bound_text(seconds, upper=upper)} s"


def energy_text(joules: float | None, *, upper: bool | None = None) -> str:
    """Write an energy.

    >>> energy_text(419_858_324.0), energy_text(8400.0), energy_text(1e12), energy_text(None)
    ('116.6 kWh', '2.333 Wh', '277.8 MWh', '-')
    """
    return _in_units(joules, ENERGIES, upper)


def power_text(watts: float | None, *, upper: bool | None = None) -> str:
    """Write a power.

    >>> power_text(14_884.0), power_text(280.0), power_text(2.5e7)
    ('14.88 kW', '280 W', '25 MW')
    """
    return _in_units(watts, POWERS, upper)


def _in_units(value: float | None, units: Sequence[tuple[float, str]], upper: bool | None) -> str:  # noqa: FBT001
    if value is None:
        return "-"
    size, name = next((each for each in units if abs(value) >= each[0]), units[-1])
    text = number(value / size) if upper is None else bound_text(Fraction(value) / Fraction(size), upper=upper)
    return f"{text} {name}"


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
TERM: Final = re.compile(r"\s*([0-9]*\.?[0-9]+|[0-9]+\.)\s*([A-Za-z]+)")


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
    terms = TERM.findall(text)
    if not terms or TERM.sub("", text).strip():
        return float(text)
    return float(sum(Decimal(figures) * TYPED[kind][name] for figures, name in terms) / unit)


def html_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table for a notebook; texts appear exactly as they stand.

    >>> html_table(("a",), [("<b>",)])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{html.escape(header)}</th>" for header in headers)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
