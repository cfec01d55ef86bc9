"""Utility: what a finished task is worth, the later the less.

A utility function is a list of intervals of the time t since the task's arrival. Within interval k, that is
for t_k <= t < t_(k+1), utility falls from s_k towards f_k at the rate r_k:

    U(t)  =  f_k  +  (s_k - f_k) exp(-r_k (t - t_k))

The first interval begins at 0, the last never ends. A rate of 0 keeps utility where it is; a last interval
that starts at 0 is a hard deadline. Utility never rises: s_k >= f_k >= s_(k+1) >= 0.

Source: Friese, thesis of 2015, equation 1, where f_k = s_(k+1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """A stretch of time since arrival in which utility decays at one rate."""

    after_seconds: float
    starts_at: float
    falls_to: float
    rate_per_second: float


@dataclass(frozen=True, slots=True)
class UtilityFunction:
    """Intervals by rising `after_seconds`; the first begins at 0.

    >>> steady = Interval(0.0, 8.0, 8.0, 0.0)
    >>> UtilityFunction((steady, Interval(60.0, 0.0, 0.0, 0.0))).at(59.0)
    8.0
    """

    intervals: tuple[Interval, ...]

    def at(self, seconds: float) -> float:
        """Return the utility of a task that ends so many seconds after its arrival."""
        now = self.intervals[0]
        for interval in self.intervals:
            if interval.after_seconds > seconds:
                break
            now = interval
        decay = math.exp(-now.rate_per_second * (seconds - now.after_seconds))
        return now.falls_to + (now.starts_at - now.falls_to) * decay
