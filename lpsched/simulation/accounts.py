"""Energy by the day: of all simulated time, which pieces have an energy constraint, and what is left of it.

    L, w        length of the period that counts, and the warm-up before it
    pieces      the period itself; before it, counted backwards from its beginning, whole days of the same
                length L, each with the same energy constraint E; and what is left at the very beginning,
                shorter than a day, which has none. 48 hours with 24 of warm-up are two days, each with its
                own E; 26 hours with two of warm-up are one day and two hours that are free.
    used        joules of a piece that are taken, or that executing and pending tasks will take: each task by
                its share of the piece, prorated, or wholly where it ends (see `instance/period.py`)
    energy left E - used

At a mapping event in a whole day nothing is mapped that would start in the next one. The first hours, shorter
than a day, have no such rule, so that machines are not made idle when the period begins. After the period
nothing starts at all.

Source: Friese, thesis of 2015, 3.2.2, 3.3.1 and 3.5.1 (two days), 2.6.4 and 4.4.1 (26 hours).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import Fault, InstanceError
from lpsched.instance.period import PRORATED

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats
    from lpsched.instance.period import Period

MOST_DAYS: Final = 100_000  # before the period that counts; each has an account of its own


@dataclass(frozen=True, slots=True)
class Accounts:
    """The pieces of simulated time, from 0 to the end of the period; `used` changes while a day runs."""

    edges: Floats  # pieces + 1
    limits: Floats  # pieces: joules, infinite where there is no constraint
    used: Floats  # pieces: joules
    has_free_start: bool  # whether the first piece is shorter than a day
    prorated: bool
    inner_edges: tuple[float, ...]  # between pieces: looking one up in an array takes ten times as long

    def piece(self, now: float) -> int:
        """Return the number of the piece that a time is in."""
        return bisect_right(self.inner_edges, now)

    def ends_at(self, piece: int) -> float:
        """Return when nothing may start any more that is mapped in this piece."""
        is_free = piece == 0 and self.has_free_start
        return float(self.edges[-1] if is_free else self.edges[piece + 1])

    def left(self, piece: int) -> float:
        """Return the joules of a piece that are neither taken nor promised."""
        return float(self.limits[piece] - self.used[piece])


def accounts_of(period: Period) -> Accounts:
    """Open an account for each piece.

    Raises
    ------
    InstanceError
        If there are too many days before the period.

    Examples
    --------
    >>> from lpsched.instance.period import Period
    >>> accounts_of(Period(26.0, 12.0, energy_constraint_joules=5.0)).edges.tolist()
    [0.0, 2.0, 14.0, 26.0, 38.0]
    """
    begin, length = period.begins_at, period.length_seconds or math.inf
    earlier = begin / length
    if earlier >= MOST_DAYS + 1:
        found, needed = f"{earlier:.6g} days of its length", f"at most {MOST_DAYS:,}"
        fault = Fault(("period", "warm_up_seconds"), found, needed, "shorten it, or lengthen the period")
        raise InstanceError("simulating the day", (fault,))
    days = [begin - k * length for k in range(int(earlier) + 1, 0, -1) if begin - k * length >= 0.0]
    whole = [*days, begin]
    has_free_start = whole[0] > 0.0
    edges = [*([0.0] if has_free_start else []), *whole, period.ends_at]
    limit = period.energy_constraint_joules
    limits = np.full(len(edges) - 1, math.inf if limit is None else limit)
    if has_free_start:
        limits[0] = math.inf
    used, is_prorated = np.zeros(len(limits)), period.edge == PRORATED
    return Accounts(np.array(edges), limits, used, has_free_start, is_prorated, tuple(edges[1:-1]))
