"""What tasks earned that tell their utility in one way, and would have earned if none had waited.

If none waits: the naive figure of Friese's thesis of 2015, 2.7.1; every task starts on arrival where it is
fastest, and its share counts. A task that arrives when the period is over earns nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lpsched.instance.clusters import Clusters
    from lpsched.instance.day import Day
    from lpsched.instance.day_tasks import ArrivingTasks, Told
    from lpsched.instance.parallel_tasks import ParallelTasks
    from lpsched.verify.day_counting import AnyRun, Counted


class ToldUtility(NamedTuple):
    """What tasks earned that tell their utility in one way, and would have if none had waited."""

    told: Told
    earned: float
    if_none_waits: float


def utility_by_told(
    arriving: ArrivingTasks | ParallelTasks,
    counted: Iterable[Counted[AnyRun]],
    utility: Iterable[float],
    naive: Sequence[Sequence[float]],
) -> tuple[ToldUtility, ...]:
    """Return the sums by the way utility is told, in the order of `arriving.told`."""
    earned: list[list[float]] = [[] for _ in arriving.told]
    for each, amount in zip(counted, utility, strict=True):
        earned[arriving.utility_numbers[each.run.task]].append(amount)
    return tuple(
        ToldUtility(told, math.fsum(earned[u]), math.fsum(naive[u])) for u, told in enumerate(arriving.told)
    )


def if_none_waits(
    day: Day | Clusters, kinds: Sequence[int] | memoryview[int], fastest: Sequence[float]
) -> list[list[float]]:
    """Return what each task would earn at once where it is fastest, by the way its utility is told.

    `fastest` has the fewest seconds of each kind of task, and `kinds` the kind of each task.
    """
    arriving = day.arriving
    functions = memoryview(day.function_numbers).cast("q")
    naive: list[list[float]] = [[] for _ in arriving.told]
    at_once: dict[tuple[int, int], float] = {}  # of each pair of a kind and a function
    for task, (arrival, kind, u) in enumerate(
        zip(arriving.arrival_seconds, kinds, arriving.utility_numbers, strict=True)
    ):
        key = kind, functions[task]
        if key not in at_once:
            at_once[key] = day.functions[key[1]].at(fastest[kind])
        if arrival < day.period.ends_at:
            naive[u].append(at_once[key] * day.period.share(arrival, arrival + fastest[kind]))
    return naive
