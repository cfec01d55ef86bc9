"""The naive bound of the thesis, by a plain formula: every task starts at once where it is fastest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.online.arrays import day_arrays
from lpsched.online.day import Day
from lpsched.online.utility import utilities

if TYPE_CHECKING:
    from lpsched.online.clusters import Clusters


def naive_utility(given: Day | Clusters) -> float:
    """Return the sum of what tasks earn, each by its share in the period."""
    if isinstance(given, Day):
        arrays = day_arrays(given)
        fastest = np.where(arrays.can_run, arrays.seconds, np.inf).min(axis=1)[arrays.task_type]
        earned = utilities(arrays, arrays.function, fastest)
    else:
        kinds = np.array([given.fastest_seconds(kind) for kind in given.kinds])
        fastest = kinds[np.frombuffer(given.kind_numbers, dtype=np.int64)]
        numbers = np.frombuffer(given.function_numbers, dtype=np.int64)
        pairs = zip(numbers.tolist(), fastest.tolist(), strict=True)
        earned = np.array([given.functions[number].at(seconds) for number, seconds in pairs])
    arrivals = np.array(given.arriving.arrival_seconds)
    shares = [given.period.share(s, f) for s, f in zip(arrivals, arrivals + fastest, strict=True)]
    return float(earned @ np.array(shares))
