"""How much has been credited, or taken, by some times? By plain loops over what rises.

Times and watts are whole numbers of 2^-160, so that energy is exact until it is rounded up.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from lpsched.verify.bag import UNIT, rounded_up
from lpsched.verify.day_runs import whole

if TYPE_CHECKING:
    from collections.abc import Sequence


def credited(amounts: Sequence[tuple[int, float]], times: Sequence[float]) -> dict[float, float]:
    """Return the sum of the amounts credited by each time; both rise."""
    found: dict[float, float] = {}
    total, done = 0.0, 0
    for time in times:
        now, first = whole(time), done
        while done < len(amounts) and amounts[done][0] <= now:
            done += 1
        found[time] = total = math.fsum((total, *(amount for _, amount in amounts[first:done])))
    return found


def taken(turns: Sequence[tuple[int, int]], times: Sequence[float]) -> dict[float, float]:
    """Return the joules taken by each time, where the watts change by so many at each turn; both rise."""
    found: dict[float, float] = {}
    joules = watts = then = done = 0
    for time in times:
        now = whole(time)
        while done < len(turns) and turns[done][0] <= now:
            at, change = turns[done]
            joules, watts, then, done = joules + watts * (at - then), watts + change, at, done + 1
        found[time] = rounded_up(Fraction(joules + watts * (now - then), UNIT * UNIT))
    return found
