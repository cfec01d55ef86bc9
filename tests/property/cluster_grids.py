"""All schedules of tiny clusters on a grid of starts, and what each earns, exactly.

A schedule gives each task a column and a start, or drops it where it may. Tasks of a cluster fit on its nodes
if never more are taken than there are: any nodes do, so whoever begins finds enough of them free. What a
schedule earns is worked out here once more, in fractions, straight from the definitions.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lpsched.online.clusters import Clusters, Kind


class Choice(NamedTuple):
    """One task in one cluster, from when to when, what it earns, and what counts of its joules."""

    c: int
    nodes: int
    start: Fraction
    end: Fraction
    earned: float
    joules: Fraction


def kind_of(clusters: Clusters, task: int) -> Kind:
    return clusters.kinds[memoryview(clusters.kind_numbers).cast("q")[task]]


def columns_of(clusters: Clusters, task: int) -> Iterator[tuple[int, int, Fraction, Fraction]]:
    """Yield cluster, nodes, seconds and joules of each column that can run a task."""
    kind = kind_of(clusters, task)
    for column, (c, _) in enumerate(clusters.modes):
        e, nodes = clusters.seconds_of(kind, column), clusters.nodes_of(kind, column)
        if e is not None and nodes is not None:
            yield c, nodes, Fraction(e), Fraction(e) * Fraction(clusters.watts_of(kind, column) or 0.0)


def share(clusters: Clusters, start: Fraction, end: Fraction) -> Fraction:
    """Return which part of a run counts."""
    period = clusters.period
    begin = Fraction(period.begins_at)
    last = None if math.isinf(period.ends_at) else Fraction(period.ends_at)
    if period.edge == "completed":
        return Fraction(int(begin < end and (last is None or end <= last)))
    within = (end if last is None else min(end, last)) - max(start, begin)
    return max(Fraction(0), within) / (end - start)


def utility(clusters: Clusters, task: int, seconds: Fraction) -> float:
    """Return U, looked up with exact times."""
    function = clusters.functions[memoryview(clusters.function_numbers).cast("q")[task]]
    now = [each for each in function.intervals if Fraction(each.after_seconds) <= seconds][-1]
    since = float(seconds - Fraction(now.after_seconds))
    return now.falls_to + (now.starts_at - now.falls_to) * math.exp(-now.rate_per_second * since)


def waiting_cost(clusters: Clusters, task: int, waited: Fraction) -> Fraction:
    """Return what a task costs that waited so long: the formulas of `online/utility.py`."""
    waiting, kind = clusters.waiting, kind_of(clusters, task)
    f, b = Fraction(clusters.fastest_seconds(kind)), Fraction(waiting.at_least_seconds)
    weight = {"task": Fraction(1), "cores": Fraction(kind.cores), "core-seconds": kind.cores * f}
    if waiting.measure == "seconds":
        cost = waited
    elif waiting.measure == "slowdown":
        cost = 1 + waited / f
    elif waiting.measure == "bounded-slowdown":
        cost = max(Fraction(1), (waited + f) / max(f, b))
    else:
        cost = _on_line([(Fraction(x), Fraction(y)) for x, y in waiting.points], waited)
    return weight[waiting.weight] * cost


def _on_line(points: list[tuple[Fraction, Fraction]], x: Fraction) -> Fraction:
    if len(points) == 1:
        return points[0][1]
    k = max(1, next((k for k, point in enumerate(points) if point[0] > x), len(points) - 1))
    (left, low), (right, high) = points[k - 1], points[k]
    return low + (high - low) * (x - left) / (right - left)


def choices(clusters: Clusters, task: int, starts: Sequence[Fraction]) -> list[Choice]:
    """Return all choices of a task with these starts; if it may be dropped, those that earn something."""
    arrival = Fraction(clusters.arriving.arrival_seconds[task])
    found = []
    for c, nodes, e, joules in columns_of(clusters, task):
        for start in starts:
            if start < arrival or start >= clusters.period.ends_at:
                continue
            if clusters.waiting is not None:
                cost = float(waiting_cost(clusters, task, start - arrival))
                found.append(Choice(c, nodes, start, start + e, -cost, Fraction(0)))
                continue
            part = share(clusters, start, start + e)
            if part:
                earned = utility(clusters, task, start + e - arrival) * float(part)
                found.append(Choice(c, nodes, start, start + e, earned, joules * part))
    return found


def most_on_grid(clusters: Clusters, grid: Sequence[Sequence[Fraction]]) -> float | None:
    """Return the most that any schedule earns whose tasks start at these times; `None` if there is none."""
    limit, must_run = clusters.period.energy_constraint_joules, clusters.waiting is not None
    own = [choices(clusters, task, starts) for task, starts in enumerate(grid)]
    own = [sorted(each, key=lambda choice: -choice.earned) for each in own]
    tops = [each[0].earned if each else 0.0 for each in own]
    best = -math.inf

    def go_on(task: int, taken: list[Choice], earned: float, joules: Fraction) -> None:
        nonlocal best
        if task == len(own):
            best = max(best, earned)
            return
        if earned + sum(tops[task:]) <= best:
            return
        for choice in own[task]:
            if limit is not None and joules + choice.joules > Fraction(limit):
                continue
            if _fits(clusters, [*taken, choice]):
                go_on(task + 1, [*taken, choice], earned + choice.earned, joules + choice.joules)
        if not must_run:
            go_on(task + 1, taken, earned, joules)

    go_on(0, [], 0.0, Fraction(0))
    return best if math.isfinite(best) else None


def _fits(clusters: Clusters, taken: list[Choice]) -> bool:
    return all(
        sum(each.nodes for each in taken if each.c == one.c and each.start <= one.start < each.end)
        <= clusters.clusters[one.c].nodes
        for one in taken
    )


def starts_of(clusters: Clusters, task: int, extra: Sequence[float], most: int) -> list[Fraction]:
    """Return starts worth trying: at once, after others, at edges, before breaks, and some more."""
    arrival, period = Fraction(clusters.arriving.arrival_seconds[task]), clusters.period
    lengths = [e for _, _, e, _ in columns_of(clusters, task)]
    edges = [Fraction(period.begins_at), *([Fraction(period.ends_at)] if period.length_seconds else [])]
    found = {arrival, Fraction(period.begins_at), *(Fraction(each) for each in extra)}
    found |= {edge - e for edge in edges for e in lengths}
    if clusters.waiting is None:
        function = clusters.functions[memoryview(clusters.function_numbers).cast("q")[task]]
        for interval in function.intervals[1:]:
            after = arrival + Fraction(interval.after_seconds)
            found |= {after - e - Fraction(1, 10**9) for e in lengths}
    for other in range(clusters.tasks):
        begun = Fraction(clusters.arriving.arrival_seconds[other])
        if other != task:
            found |= {at + e for _, _, e, _ in columns_of(clusters, other) for at in (begun, max(begun, edges[0]))}
    last = Fraction(clusters.arriving.arrival_seconds[-1])  # the last start: one after the other, late
    before = [max(e for _, _, e, _ in columns_of(clusters, other)) for other in range(task)]
    return [*sorted(each for each in found if each >= arrival)[:most], last + sum(before, Fraction(0))]
