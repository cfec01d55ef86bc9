"""Whole numbers that stand for binary fractions: sums are exact, and what is rounded is rounded the safe way.

A number x is kept as x * 2^PLACES. Every double between 1e-30 and 1e30 is such a whole number, so data are
taken as they are. Products and quotients are rounded, up or down as the caller says, at the last of the
places: some seventy decimal digits.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

PLACES: Final = 256
ONE: Final = 1 << PLACES


def fixed(number: float) -> int:
    """Return the whole number that stands for a double; beyond the last place it is cut off downwards.

    >>> fixed(1.5) == ONE + ONE // 2
    True
    """
    numerator, denominator = number.as_integer_ratio()
    return (numerator << PLACES) // denominator


def product_up(left: int, right: int) -> int:
    """Return the product, or a hair more."""
    return -((-left * right) >> PLACES)


def quotient_up(left: int, right: int) -> int:
    """Return the quotient, or a hair more.

    >>> quotient_up(fixed(1.0), fixed(3.0)) - quotient_down(fixed(1.0), fixed(3.0))
    1
    """
    return -((-left << PLACES) // right)


def quotient_down(left: int, right: int) -> int:
    """Return the quotient, or a hair less."""
    return (left << PLACES) // right


def float_up(number: int) -> float:
    """Return the least double that is not below.

    >>> float_up(fixed(0.1)) == 0.1, float_up(fixed(0.1) + 1) > 0.1
    (True, True)
    """
    nearest = number / ONE
    return math.nextafter(nearest, math.inf) if fixed(nearest) < number else nearest


def float_down(number: int) -> float:
    """Return the largest double that is not above."""
    nearest = number / ONE
    return math.nextafter(nearest, -math.inf) if fixed(nearest) > number else nearest


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a certificate is accepted; if not, why. `proved` is what its prices prove, where they can."""

    claimed: Fraction
    proved: Fraction | None
    reasons: tuple[str, ...]

    @property
    def accepted(self) -> bool:
        """Whether the claim is proved."""
        return not self.reasons


def rounded_down(exact: Fraction) -> float:
    """Return the largest double that is not above an exact number: a lower bound stays one."""
    if abs(exact) > sys.float_info.max:
        return sys.float_info.max if exact > 0 else -math.inf
    rounded = float(exact)
    return rounded if rounded <= exact else math.nextafter(rounded, -math.inf)


def rounded_up(exact: Fraction) -> float:
    """Return the smallest double that is not below an exact number: an upper bound stays one."""
    return 0.0 - rounded_down(-exact)
