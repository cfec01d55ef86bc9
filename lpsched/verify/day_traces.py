"""How much has been credited, or taken, by some times? By plain loops over what rises.

Times and watts are whole numbers of 2^-160, so that energy is exact until it is rounded up.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from lpsched.verify.exact_times import whole
from lpsched.verify.violation import UNIT, rounded_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.verify.day_counting import AnyRun, Counted


def traces_of(
    counted: Sequence[Counted[AnyRun]], earned: Sequence[float], times: Sequence[float]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return what runs have earned, and the joules they have taken, by each of some times in any order.

    What a run earns is credited when what counts of it ends; its energy is taken evenly while that runs.
    """
    rising = sorted(set(times))
    utility = credited(sorted(zip((each.end for each in counted), earned, strict=True)), rising)
    turns = [(each.start, each.run.watts) for each in counted]
    turns += [(each.end, -each.run.watts) for each in counted]
    energy = taken(sorted(turns), rising)
    return tuple(utility[time] for time in times), tuple(energy[time] for time in times)


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
