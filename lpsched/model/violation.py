"""What verifiers of all kinds share: a broken rule, and sums of doubles without rounding."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

UNIT: Final = 1 << 160
LONGEST: Final = 1e60  # seconds; 10^15 of the longest tasks take 10^45


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: a code for programs, a sentence for people."""

    code: str
    sentence: str


def rounded_up(exact: Fraction) -> float:
    """Return the smallest double that is not below an exact number; beyond all doubles, infinity."""
    if exact > sys.float_info.max:
        return math.inf
    rounded = float(exact)
    return rounded if rounded >= exact else math.nextafter(rounded, math.inf)
