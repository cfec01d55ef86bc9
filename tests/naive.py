"""The naive bound of the thesis, by a plain formula: every task starts at once on its fastest machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.instance.day_arrays import day_arrays, utility

if TYPE_CHECKING:
    from lpsched.instance.day import Day


def naive_utility(day: Day) -> float:
    """Return the sum of what tasks earn, each by its share in the period."""
    arrays = day_arrays(day)
    fastest = np.where(arrays.can_run, arrays.seconds, np.inf).min(axis=1)[arrays.task_type]
    earned = utility(arrays, np.arange(day.tasks), fastest)
    shares = [day.period.share(s, f) for s, f in zip(arrays.arrivals, arrays.arrivals + fastest, strict=True)]
    return float(earned @ np.array(shares))
