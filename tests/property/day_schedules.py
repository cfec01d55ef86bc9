"""All schedules of tiny days, or as many of them as a grid of starts allows; and what each earns, exactly.

A schedule gives each task a machine and a start, or drops it. Machines of a type are alike, so a task is
given a column and the number of a machine. Starts are taken from a list: semi-active ones (at arrival, or
when the machine gets free) and delayed ones (a grid, the edges of the period, just before utility breaks).
What a schedule earns and takes is worked out here once more, in fractions, straight from the definitions.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lpsched.online.day import Day


class Choice(NamedTuple):
    """One task on one machine, from when to when, what counts of its utility and of its joules."""

    machine: tuple[int, int]
    start: Fraction
    end: Fraction
    utility: float
    joules: Fraction


def share(day: Day, start: Fraction, end: Fraction) -> Fraction:
    """Return which part of a run counts."""
    period = day.period
    begin = Fraction(period.begins_at)
    last = None if math.isinf(period.ends_at) else Fraction(period.ends_at)
    if period.edge == "completed":
        return Fraction(int(begin < end and (last is None or end <= last)))
    within = (end if last is None else min(end, last)) - max(start, begin)
    return max(Fraction(0), within) / (end - start)


def utility(day: Day, task: int, seconds: Fraction) -> float:
    """Return U, looked up with exact times."""
    now = [each for each in day.utility_of(task).intervals if Fraction(each.after_seconds) <= seconds][-1]
    since = float(seconds - Fraction(now.after_seconds))
    return now.falls_to + (now.starts_at - now.falls_to) * math.exp(-now.rate_per_second * since)


def choices(day: Day, task: int, starts: Sequence[Fraction]) -> list[Choice]:
    """Return all choices of a task with these starts: those from which something is earned."""
    arrival = Fraction(day.arriving.arrival_seconds[task])
    i = day.arriving.type_numbers[task]
    found = []
    for (j, _), e, a in zip(day.modes, day.seconds.row(i), day.watts.row(i), strict=True):
        if e is None:
            continue
        for number, start in product(range(day.machine_types[j].count), starts):
            end = start + Fraction(e)
            if start < arrival or start >= day.period.ends_at:
                continue
            part = share(day, start, end)
            if part:
                earned = utility(day, task, end - arrival) * float(part)
                joules = Fraction(e) * Fraction(a) * part
                found.append(Choice((j, number), start, end, earned, joules))
    return found


def most_earned(day: Day, grid: Sequence[Sequence[Fraction]]) -> float:
    """Return the most that any schedule earns whose tasks start at these times, each within its energy."""
    limit = day.period.energy_constraint_joules
    own = [choices(day, task, starts) for task, starts in enumerate(grid)]
    own = [sorted(each, key=lambda choice: -choice.utility) for each in own]
    tops = [each[0].utility if each else 0.0 for each in own]
    best = 0.0

    def go_on(task: int, taken: list[Choice], earned: float, joules: Fraction) -> None:
        nonlocal best
        best = max(best, earned)
        if task == len(own) or earned + sum(tops[task:]) <= best:
            return
        for choice in own[task]:
            if limit is not None and joules + choice.joules > Fraction(limit):
                continue
            if all(_apart(choice, other) for other in taken):
                go_on(task + 1, [*taken, choice], earned + choice.utility, joules + choice.joules)
        go_on(task + 1, taken, earned, joules)

    go_on(0, [], 0.0, Fraction(0))
    return best


def _apart(one: Choice, other: Choice) -> bool:
    return one.machine != other.machine or one.end <= other.start or other.end <= one.start


def starts_of(day: Day, task: int, extra: Sequence[float], most: int) -> list[Fraction]:
    """Return starts worth trying: at once, after others, at edges, before breaks, and some more."""
    arrival = Fraction(day.arriving.arrival_seconds[task])
    row = day.seconds.row(day.arriving.type_numbers[task])
    lengths = [Fraction(e) for e in row if e is not None]
    period = day.period
    ends = [Fraction(period.ends_at)] if math.isfinite(period.ends_at) else []
    found = {arrival, Fraction(period.begins_at), *(Fraction(each) for each in extra)}
    found |= {edge - e for edge in [Fraction(period.begins_at), *ends] for e in lengths}
    found |= set(_breaks(day, task, arrival, lengths))
    found |= {start for other in range(day.tasks) if other != task for start in _after(day, other)}
    return sorted(each for each in found if each >= arrival)[:most]


def _breaks(day: Day, task: int, arrival: Fraction, lengths: list[Fraction]) -> Iterator[Fraction]:
    for interval in day.utility_of(task).intervals[1:]:
        for e in lengths:
            yield arrival + Fraction(interval.after_seconds) - e - Fraction(1, 10**9)


def _after(day: Day, other: int) -> Iterator[Fraction]:
    arrival = Fraction(day.arriving.arrival_seconds[other])
    for e in day.seconds.row(day.arriving.type_numbers[other]):
        if e is not None:
            yield arrival + Fraction(e)
            yield max(arrival, Fraction(day.period.begins_at)) + Fraction(e)
