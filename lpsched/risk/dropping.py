"""When a task is given up: how late it may be expected to end and still earn enough.

A task is dropped when it would earn less than a limit d. Whoever decides knows when the machine is free in
this sample, but not how long the task will take: the decision is by the table's mean seconds, start + e. The
thesis does not say how it decides. Utility never rises, so U(t) >= d exactly for all t below one moment:

    the first interval k whose values fall below d ends it: at once if its start s_k < d,
    at  t_k + log((s_k - f_k) / (d - f_k)) / r_k  if it falls below d before its end, else at its end

Source: Friese, thesis of 2015, section 7.3.3.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats
    from lpsched.instance.day_arrays import DayArrays


def too_late(arrays: DayArrays, drop_below: float | None) -> Floats:
    """Return for each utility function the seconds since arrival from which on it earns too little.

    Infinite where it always earns enough: also where nothing is ever dropped.
    """
    functions = len(arrays.first_interval) - 1
    if drop_below is None:
        return np.full(functions, math.inf)
    return np.array([_end(arrays, f, drop_below) for f in range(functions)])


def _end(arrays: DayArrays, f: int, limit: float) -> float:
    first, last = int(arrays.first_interval[f]), int(arrays.first_interval[f + 1])
    for p in range(first, last):
        after, start = float(arrays.after_seconds[p]), float(arrays.starts_at[p])
        floor, rate = float(arrays.falls_to[p]), float(arrays.rate_per_second[p])
        end = float(arrays.after_seconds[p + 1]) if p + 1 < last else math.inf
        if start < limit:
            return after
        if rate > 0.0 and floor < limit:
            crossing = after + math.log((start - floor) / (limit - floor)) / rate
            if crossing < end:
                return math.nextafter(crossing, math.inf)  # at the crossing itself it still earns enough
    return math.inf
