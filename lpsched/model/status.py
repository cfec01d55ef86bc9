"""How good an answer is known to be: its status and gap; intervals of means over trials."""

from __future__ import annotations

import bisect
import math
import statistics
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence


# How good an answer is known to be.


class Status(StrEnum):
    """How good the answer is known to be."""

    OPTIMAL = "optimal"  # value and bound are within the gap asked for
    FEASIBLE = "feasible"  # a verified schedule, further from its bound than that
    LIMIT = "limit"  # the same, but the time was up first


def relative_gap(value: float, bound: float) -> float | None:
    """Return |bound - value| / |bound|: 0 when they are equal, `None` when only the bound is 0."""
    if value == bound:
        return 0.0
    return abs(bound - value) / abs(bound) if bound else None


# The mean of some trials, and how sure we are of it.
#
# Of n trials with mean m and standard deviation s (the sum of squares divided by n - 1) the 95 % confidence
# interval is  m +- t s / sqrt(n),  with t the 97.5 % point of Student's distribution with n - 1 degrees of
# freedom. Between the rows of the table we take the row before, whose t is larger: the interval is never too
# narrow.

FREEDOM: Final = (*range(1, 31), 40, 60, 120)  # degrees of freedom, rows of the table
STUDENT: Final = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
    *(2.021, 2.000, 1.980),
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean of trials, and how far its 95 % confidence interval goes to each side; `None`: one trial."""

    mean: float
    half_width: float | None = None


def estimate_of(trials: Sequence[float]) -> Estimate:
    """Return the mean of at least one trial with its confidence interval.

    >>> estimate_of([1.0, 2.0, 3.0])  # 4.303 x 1 / sqrt(3)
    Estimate(mean=2.0, half_width=2.484338...)
    """
    count = len(trials)
    if count == 1:
        return Estimate(trials[0])
    t = STUDENT[bisect.bisect_right(FREEDOM, count - 1) - 1]
    return Estimate(statistics.fmean(trials), t * statistics.stdev(trials) / math.sqrt(count))
