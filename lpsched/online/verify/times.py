"""Exact times, and what verifiers count of each task."""

from __future__ import annotations

import math
from typing import Final

from lpsched.model.violation import LONGEST, UNIT

# Times as whole numbers of 2^-160, and starts that somebody rounded.
#
# Every time in a day, being 0 or at least 1e-30, is such a number, so ends are exact sums of integers.
#
# Start times are decimal numbers that someone rounded, so a task may start before its arrival, or before the
# end of the one before it, by a billionth of that time.

ROUNDING: Final = 10**9  # one of so many parts of a time is rounding
MOST: Final = 1000  # violations of one schedule; more would not help anybody


def whole(number: float) -> int:
    """Return how many 2^-160 a number is: exactly, for 0 and from 1e-30 up; rounded down below."""
    numerator, denominator = number.as_integer_ratio()
    return numerator * UNIT // denominator


def seconds_of(time: int) -> float:
    """Return an exact time in seconds, rounded up; integers divide without a second rounding."""
    rounded = time / UNIT
    numerator, denominator = rounded.as_integer_ratio()
    return rounded if numerator * UNIT >= time * denominator else math.nextafter(rounded, math.inf)


def clearly_before(time: int, limit: int) -> bool:
    """Tell whether a time is before a limit by more than rounding."""
    return ROUNDING * (limit - time) > limit


def broken_start(task: int, start: float, arrival: float, ends_at: float) -> tuple[str, str] | None:
    """Return the rule that a start breaks by itself, and a sentence; nothing may start at `ends_at`."""
    if not 0 <= start <= LONGEST:
        return "bad-start", f"task {task} starts at {start!r} s, where 0 to {LONGEST:g} s are times"
    if start < arrival and clearly_before(whole(start), whole(arrival)):
        return "before-arrival", f"task {task} starts at {start!r} s, but arrives at {arrival!r} s"
    if start >= ends_at:
        over = f"the period that counts ends at {ends_at!r} s"
        return "starts-after-the-day", f"task {task} starts at {start!r} s, but {over}"
    return None
