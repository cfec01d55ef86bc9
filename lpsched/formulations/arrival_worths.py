"""What is a task worth that ends, or starts, so long after its arrival? Rounded up. Compiled.

    utility        of the time t from arrival to end, in intervals:       f + (s - f) exp(-r (t - t_k))
    minus a cost   of the time t from arrival to start, straight pieces:  s - r (t - t_k)

Both never rise. `tail` is what of a run lies between its start and the moment that matters: all of it, or
nothing. How much rounding can take away, and so what is added, says `arrival_choices.py`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lpsched.compiled import compiled_inside

if TYPE_CHECKING:
    from lpsched.formulations.arrival_tables import Tables

MARGIN: Final = 2.0**-40  # of the utility at which an interval starts, or of a cost
LATE_SHARE: Final = 2.0**-49


@compiled_inside
def tail(tables: Tables, i: int, column: int) -> float:
    """Return how long after its start a run's worth is fixed."""
    return float(0.0 if tables.waits else tables.seconds[i, column])


@compiled_inside
def interval_at(tables: Tables, p: int, last: int, seconds: float) -> int:
    """Return the interval of a time, from interval p on; `last` is where the function ends."""
    while p + 1 < last and tables.after[p + 1] <= seconds:
        p += 1
    return p


@compiled_inside
def worth_up(tables: Tables, p: int, seconds: float) -> float:
    """Return the worth of a time in interval p, or a hair more."""
    since = max(0.0, seconds - tables.after[p])
    if tables.waits:
        rise = tables.rate[p] * since
        return float(tables.high[p] - rise + MARGIN * (abs(tables.high[p]) + rise))
    fall = (tables.high[p] - tables.low[p]) * math.exp(-tables.rate[p] * since)
    return float(tables.low[p] + fall + MARGIN * tables.high[p])


@compiled_inside
def latest_worth(tables: Tables, n: int, time: float) -> float:
    """Return what a task is worth at most that ends at a time or later; of utilities."""
    f, since = tables.function[n], time - tables.arrivals[n]
    since = max(0.0, since - LATE_SHARE * (abs(time) + tables.arrivals[n]))
    p = interval_at(tables, tables.first_interval[f], tables.first_interval[f + 1], since)
    return worth_up(tables, p, since)
