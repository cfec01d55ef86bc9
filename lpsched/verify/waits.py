"""How long tasks waited, and how much longer they took for it.

    d   wait of a task: from its arrival to when it really starts
    r   its run, where it ran

    slowdown           (d + r) / r
    bounded slowdown   max(1, (d + r) / max(r, 10 s))

Half of the waits are at most the median (for an even number of tasks the mean of the two in the middle); the
95th percentile is the shortest wait that at least 95 % of the waits are not above.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from lpsched.verify.exact_times import seconds_of, whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lpsched.instance.clusters import Clusters
    from lpsched.verify.day_counting import Ran

AT_LEAST: Final = 10.0  # seconds: shorter runs do not make a slowdown large


@dataclass(frozen=True, slots=True)
class Waits:
    """Of tasks that arrive in the period that counts, and start."""

    tasks: int
    mean_seconds: float
    median_seconds: float
    percentile_95_seconds: float
    longest_seconds: float
    mean_slowdown: float
    mean_bounded_slowdown: float


def waits_of(clusters: Clusters, runs: Iterable[Ran]) -> Waits | None:
    """Return the waits of runs; `None` if no task that arrives in the period starts."""
    begin, end = clusters.period.begins_at, clusters.period.ends_at
    arrivals = clusters.arriving.arrival_seconds
    own = [run for run in runs if begin <= arrivals[run.task] < end]
    if not own:
        return None
    waits = [seconds_of(run.start - whole(arrivals[run.task])) for run in own]
    lengths = [seconds_of(run.end - run.start) for run in own]
    pairs = list(zip(waits, lengths, strict=True))
    rising = sorted(waits)
    return Waits(
        tasks=len(own),
        mean_seconds=math.fsum(waits) / len(own),
        median_seconds=statistics.median(rising),
        percentile_95_seconds=rising[math.ceil(Fraction(95 * len(own), 100)) - 1],
        longest_seconds=rising[-1],
        mean_slowdown=math.fsum((wait + run) / run for wait, run in pairs) / len(own),
        mean_bounded_slowdown=math.fsum(max(1.0, (wait + run) / max(run, AT_LEAST)) for wait, run in pairs)
        / len(own),
    )
