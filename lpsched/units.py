"""Sizes of units, and how numbers are written in tables: in a terminal, in a notebook and on a page.

number, percent    what was measured, rounded to the nearest
bound_text         what is proved, rounded to the side on which it stays true (upper_text, lower_text)
gap_text           a distance from a bound, rounded up
share_text         a share of a bound, rounded down
"""

from __future__ import annotations

import html
import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

KILO: Final = 1_000  # whole numbers, so that sums of fractions stay exact
MEGA: Final = 1_000_000
GIGA: Final = 1_000_000_000
SECONDS_PER_HOUR: Final = 3_600
SECONDS_PER_DAY: Final = 86_400
JOULES_PER_KWH: Final = 3_600_000

SMALL: Final = 1e-3
LARGE: Final = 1e15
ROUNDING: Final = 1e-14
EXACT_DIGITS: Final = 1_100  # more than any double has, written out
LEAST_POWER: Final = -4  # of ten, that is written without an exponent: as in Python's format "g"


def number(value: float | None, digits: int = 6) -> str:
    """Write a number with at least `digits` significant digits and separated thousands.

    >>> number(1234567.891), number(0.000012345), number(None), number(12.0), number(1234.5678)
    ('1,234,568', '1.2345e-05', '-', '12', '1,234.57')
    """
    if value is None:
        return "-"
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


def bound_text(value: float | Fraction | None, *, upper: bool, digits: int = 6) -> str:
    """Write a bound as `number` would, but rounded so that it stays true: an upper one up, a lower one down.

    >>> bound_text(2 / 3, upper=True), bound_text(2 / 3, upper=False), bound_text(-2 / 3, upper=True)
    ('0.666667', '0.666666', '-0.666666')
    >>> bound_text(1234567.25, upper=True), bound_text(12.0, upper=True), bound_text(1e-9 / 3, upper=False)
    ('1,234,568', '12', '3.33333e-10')
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
    shown = exact.quantize(Decimal((0, (1,), min(0, last) if plain else last)), rounding)
    if plain or LEAST_POWER <= shown.adjusted() < digits:
        return _without_zeros(f"{shown:,f}" if plain else f"{shown:f}")
    figures, power = f"{shown:e}".split("e")
    return f"{_without_zeros(figures)}e{int(power):+03d}"


def upper_text(bound: float | Fraction | None, digits: int = 6, *, largest: float = 0.0) -> str:
    """Write a bound from above; what is only the rounding of the `largest` beside it in one digit.

    >>> upper_text(-3e-17, largest=2.0), upper_text(2.6e-16, largest=2.0), upper_text(2 / 3, largest=2.0)
    ('0', '3e-16', '0.666667')
    """
    if bound is not None and abs(float(bound)) <= ROUNDING * largest:
        return bound_text(max(Fraction(bound), Fraction(0)), upper=True, digits=1)
    return bound_text(bound, upper=True, digits=digits)


def lower_text(bound: float | Fraction | None, digits: int = 6) -> str:
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


def html_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table for a notebook; texts appear exactly as they stand.

    >>> html_table(("a",), [("<b>",)])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{html.escape(header)}</th>" for header in headers)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
