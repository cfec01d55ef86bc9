"""More of a simulated day than its sums: over time, by priority, by machine type. All by the verifier.

Traces are at 72 even steps of the period: 20 minutes each where it is a day. A period without an end is drawn
until the last task ends.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from lpsched.result.policy_run import Earned, Traces
from lpsched.result.priorities import kind_of, kinds_by_worth

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lpsched.instance.day import Day
    from lpsched.verify.day import DayAccount, DayDetails, DayMeasurement, ToldUtility

STEPS: Final = 72


def traces_of(day: Day, account: DayAccount, measured: DayMeasurement) -> Traces:
    """Return what had been counted by even steps of the period."""
    length = _length(day, measured)
    since = [length * step / STEPS for step in range(STEPS)] + [length]
    begin, end = day.period.begins_at, day.period.ends_at
    utility, joules = account.traces([min(begin + seconds, end) for seconds in since])
    return Traces(tuple(since), utility, joules)


def earned_by_kind(day: Day, found: DayDetails) -> tuple[Earned, ...]:
    """Return what tasks of each priority, or own function, earned; those worth most first."""
    parts: defaultdict[str, list[ToldUtility]] = defaultdict(list)
    for each in found.utility_by_told:
        parts[kind_of(each.told)].append(each)
    return tuple(
        Earned(
            kind,
            math.fsum(each.earned for each in parts[kind]),
            math.fsum(each.if_none_waits for each in parts[kind]),
        )
        for kind in kinds_by_worth(day)
    )


def busy_shares(
    day: Day, measured: DayMeasurement, busy_seconds: Mapping[tuple[str, int], float]
) -> tuple[tuple[str, float], ...]:
    """Return which share of the period the machines of each type were busy."""
    length = _length(day, measured)
    busy: defaultdict[str, list[float]] = defaultdict(list)
    for (name, _), seconds in busy_seconds.items():
        busy[name].append(seconds)
    return tuple(
        (each.name, math.fsum(busy[each.name]) / (each.count * length) if length else 0.0)
        for each in day.machine_types
    )


def naive_utility(found: DayDetails) -> float:
    """Return what all tasks would earn if each began at once where it is quickest."""
    return math.fsum(each.if_none_waits for each in found.utility_by_told)


def _length(day: Day, measured: DayMeasurement) -> float:
    """Return how long the period is; without an end, until the last task ends."""
    if day.period.length_seconds is not None:
        return day.period.length_seconds
    return max(0.0, (measured.makespan_seconds or 0.0) - day.period.begins_at)
