"""Accounts of single tasks: what each earned and when, how its utility is given, and how long it waited."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

from lpsched.model.violation import UNIT, rounded_up
from lpsched.online.verify.counting import seconds_of, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day
    from lpsched.online.tasks import ArrivingTasks, ParallelTasks, Told
    from lpsched.online.verify.counting import AnyRun, Counted, Ran


# What the verifier found for each task: when it really ran, what it took, what counts of what it earned.
class TaskAccount(NamedTuple):
    """One task that ran; joules of the whole run, utility as far as it counts, or minus a cost."""

    start_seconds: float
    end_seconds: float
    joules: float
    earned: float


def task_accounts(
    runs: Iterable[Ran], counted: Iterable[Counted[AnyRun]], earned: Iterable[float]
) -> dict[int, TaskAccount]:
    """Return the account of every task that ran, by its number."""
    counts = {each.run.task: amount for each, amount in zip(counted, earned, strict=True)}
    return {
        run.task: TaskAccount(
            seconds_of(run.start),
            seconds_of(run.end),
            rounded_up(Fraction(run.watts * (run.end - run.start), UNIT * UNIT)),
            counts.get(run.task, 0.0),
        )
        for run in runs
    }


# What tasks earned that tell their utility in one way, and would have earned if none had waited.
#
# If none waits: the naive figure of Friese's thesis of 2015, 2.7.1; every task starts on arrival where it is
# fastest, and its share counts. A task that arrives when the period is over earns nothing.
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
    return tuple(ToldUtility(told, math.fsum(earned[u]), math.fsum(naive[u])) for u, told in enumerate(arriving.told))


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


AT_LEAST: Final = 10.0  # seconds: shorter runs do not make a slowdown large


# How long tasks waited, and how much longer they took for it.
#
#     d   wait of a task: from its arrival to when it really starts
#     r   its run, where it ran
#
#     slowdown           (d + r) / r
#     bounded slowdown   max(1, (d + r) / max(r, 10 s))
#
# Half of the waits are at most the median (for an even number of tasks the mean of the two in the middle);
# the 95th percentile is the shortest wait that at least 95 % of the waits are not above.
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
        mean_bounded_slowdown=math.fsum(max(1.0, (wait + run) / max(run, AT_LEAST)) for wait, run in pairs) / len(own),
    )
