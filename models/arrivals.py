"""The most utility of a day whose tasks can be split and whose machines of a type are one, from the maths.

    max   sum over tasks n, columns c, starts tau of  share U_n(tau + e - arrival) x_n,c,tau
    s.t.  sum over c, tau of x                         <=  1                   for each task n
          sum of q (seconds of the run in s) x         <=  m_j length of s     for each machine type j, slot s
          sum of share J x                             <=  E                   if energy is limited
          x >= 0

q is how many machines a run takes: 1 here, and the nodes of a cluster in `clusters.py`. Of the starts only
those matter at which something has a corner: the arrival, edges of slots and of the period, those less e, and
where utility breaks, less e; there the limit from the left is taken. Where a run is cut by the begin of the
period (prorated), utility is that of the corner before, as in the bound. Its dual is the bound with the best
prices on these slots. Rows are divided by their right sides, because solvers have absolute tolerances.

Starts, ends and shares are fractions: a task that arrives at 0.3 and takes 1 s ends 1 s after its arrival and not
a hair earlier (as in doubles: 0.3 + 1 - 1 is above 0.3), which is all its utility if it is due by then.
"""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import pulp

from models.front import solve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lpsched.online.day import Day
    from lpsched.online.parts import Period
    from lpsched.online.utility import UtilityFunction


class Start(NamedTuple):
    """A way to run a task: from when to when, on which machine type, what it earns and takes."""

    j: int
    start: Fraction
    end: Fraction
    utility: float
    joules: float
    width: int = 1  # how many machines


class Optimum(NamedTuple):
    """What the day earns at most, and the prices at which the dual is as much."""

    utility: float
    per_second: list[list[float]]  # of each machine type in each slot
    per_joule: float


def most_utility(day: Day, edges: Sequence[float]) -> Optimum:
    """Return the optimum with slots between these edges."""
    own = [list(ways(day, n, edges)) for n in range(day.tasks)]
    counts = [machine.count for machine in day.machine_types]
    return optimum(own, counts, edges, day.period.energy_constraint_joules)


def optimum(
    own: Sequence[Sequence[Start]],
    counts: Sequence[int],
    edges: Sequence[float],
    limit: float | None,
    *,
    must_run: bool = False,
) -> Optimum:
    """Return the optimum of tasks with these ways to run, on so many machines of each type."""
    model = pulp.LpProblem("arrivals", pulp.LpMaximize)
    earned, joules = [], []
    used: dict[tuple[int, int], list[pulp.LpAffineExpression]] = defaultdict(list)
    slots = [(Fraction(begin), Fraction(end)) for begin, end in pairwise(edges)]
    supply = [[count * (end - begin) for begin, end in slots] for count in counts]
    for n, found in enumerate(own):
        parts = []
        for k, way in enumerate(found):
            x = model.add_variable(f"x_{n}_{k}", lowBound=0)
            parts.append(x)
            earned.append(way.utility * x)
            joules.append(way.joules * x)
            for s, (begin, end) in enumerate(slots):
                seconds = min(way.end, end) - max(way.start, begin)
                if seconds > 0:
                    used[way.j, s].append(float(way.width * seconds / supply[way.j][s]) * x)
        model += (pulp.lpSum(parts) == 1 if must_run else pulp.lpSum(parts) <= 1), f"task_{n}"
    model += pulp.lpSum(earned)
    for (j, s), row in used.items():
        model += pulp.lpSum(row) <= 1, f"slot_{j}_{s}"
    if limit is not None:
        model += pulp.lpSum(joules) * (1 / (limit or 1)) <= (1 if limit else 0), "energy"
    solve(model)
    prices = [[0.0] * (len(edges) - 1) for _ in counts]
    for j, s in used:
        prices[j][s] = _dual(model, f"slot_{j}_{s}") / float(supply[j][s])
    per_joule = 0.0 if limit is None else _dual(model, "energy") / (limit or 1)
    return Optimum(float(pulp.value(model.objective) or 0.0), prices, per_joule)


def _dual(model: Any, name: str) -> float:  # noqa: ANN401 - PuLP 3 has no types
    return abs(float(model.get_constraint_by_name(name).pi))


def ways(day: Day, n: int, edges: Sequence[float]) -> Iterator[Start]:
    """Yield every way to run a task that may be best at some prices."""
    i, arrival = day.arriving.type_numbers[n], day.arriving.arrival_seconds[n]
    for (j, _), seconds, watts in zip(day.modes, day.seconds.row(i), day.watts.row(i), strict=True):
        if seconds is not None and watts is not None:
            e = Fraction(seconds)
            for tau, part, worth in starts(day.utility_of(n), day.period, Fraction(arrival), e, edges):
                yield Start(j, tau, tau + e, float(part) * worth, float(part * e * Fraction(watts)))


def starts(
    function: UtilityFunction, period: Period, arrival: Fraction, e: Fraction, edges: Sequence[float]
) -> Iterator[tuple[Fraction, Fraction, float]]:
    """Yield the starts at which something has a corner, which part of a run counts, and the utility of all of it."""
    begin, end = Fraction(period.begins_at), _end(period)
    breaks = [arrival + Fraction(each.after_seconds) for each in function.intervals[1:]]
    times = [*map(Fraction, edges), begin, *([] if end is None else [end])]
    corners = {*times, *(each - e for each in (*times, *breaks)), arrival}
    found = sorted(each for each in corners if arrival <= each and (end is None or each < end))
    first = max(arrival, begin - e) if period.edge == "completed" else arrival  # nothing that counts is before
    for before, tau in pairwise([*found[:1], *found]):
        since = tau + e - arrival
        worth = _utility(function, since, just_before=tau > first)
        if period.edge == "prorated" and before < begin and (end is None or tau + e <= end):
            worth = max(worth, _utility(function, before + e - arrival))
        part = _share(period, tau, tau + e)
        if part:
            yield tau, part, worth


def _utility(function: UtilityFunction, since: Fraction, *, just_before: bool = False) -> float:
    """Return the utility of a time since arrival, or its limit from the left."""
    begun = [each for each in function.intervals if Fraction(each.after_seconds) <= since]
    now = begun[-2 if just_before and len(begun) > 1 and begun[-1].after_seconds == since else -1]
    return now.falls_to + (now.starts_at - now.falls_to) * math.exp(
        -now.rate_per_second * float(since - Fraction(now.after_seconds))
    )


def _end(period: Period) -> Fraction | None:
    return None if math.isinf(period.ends_at) else Fraction(period.ends_at)


def _share(period: Period, start: Fraction, stop: Fraction) -> Fraction:
    """Return the part that counts; what ends as the period begins is taken for what ends just after."""
    begin, end = Fraction(period.begins_at), _end(period)
    if period.edge == "completed":
        return Fraction(int(begin <= stop and (end is None or stop <= end)))
    within = (stop if end is None else min(stop, end)) - max(start, begin)
    return max(Fraction(0), within) / (stop - start)
