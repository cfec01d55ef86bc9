"""More of a simulated day than its sums: over time, by priority, by machine type. All by the verifier.

Traces are at 72 even steps of the period: 20 minutes each where it is a day. A period without an end is drawn
until the last task ends.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Final, Protocol

from lpsched.result.policy_run import Earned, Traces
from lpsched.result.priorities import kinds_by_worth, kinds_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lpsched.instance.clusters import Clusters
    from lpsched.instance.day import Day
    from lpsched.instance.period import Period
    from lpsched.verify.day import ToldUtility

STEPS: Final = 72


class Traced(Protocol):
    """An account of a schedule, of whatever kind."""

    def traces(self, times: Sequence[float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return utility and joules that have been counted by some times."""


def length_of(period: Period, makespan_seconds: float | None) -> float:
    """Return how long the period is; without an end, until the last task ends."""
    if period.length_seconds is not None:
        return period.length_seconds
    return max(0.0, (makespan_seconds or 0.0) - period.begins_at)


def traces_of(period: Period, length: float, account: Traced) -> Traces:
    """Return what had been counted by even steps of the period."""
    since = [length * step / STEPS for step in range(STEPS)] + [length]
    begin, end = period.begins_at, period.ends_at
    utility, joules = account.traces([min(begin + seconds, end) for seconds in since])
    return Traces(tuple(since), utility, joules)


def earned_by_kind(instance: Day | Clusters, found: Sequence[ToldUtility]) -> tuple[Earned, ...]:
    """Return what tasks of each priority, or own function, earned; those worth most first."""
    parts: defaultdict[str, list[ToldUtility]] = defaultdict(list)
    for kind, each in zip(kinds_of(instance), found, strict=True):
        parts[kind].append(each)
    return tuple(
        Earned(
            kind,
            math.fsum(each.earned for each in parts[kind]),
            math.fsum(each.if_none_waits for each in parts[kind]),
        )
        for kind in kinds_by_worth(instance)
    )


def busy_shares(
    day: Day, length: float, busy_seconds: Mapping[tuple[str, int], float]
) -> tuple[tuple[str, float], ...]:
    """Return which share of the period the machines of each type were busy."""
    busy: defaultdict[str, list[float]] = defaultdict(list)
    for (name, _), seconds in busy_seconds.items():
        busy[name].append(seconds)
    return tuple(
        (each.name, math.fsum(busy[each.name]) / (each.count * length) if length else 0.0)
        for each in day.machine_types
    )


def naive_utility(found: Sequence[ToldUtility]) -> float:
    """Return what all tasks would earn if each began at once where it is quickest."""
    return math.fsum(each.if_none_waits for each in found)
