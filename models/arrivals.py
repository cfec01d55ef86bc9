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
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pulp

from models.front import solve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lpsched.online.day import Day


HAIR: Final = 1e-9  # seconds: so much is rounding, and "just before" is so much before


class Start(NamedTuple):
    """A way to run a task: from when to when, on which machine type, what it earns and takes."""

    j: int
    start: float
    end: float
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
    supply = [[count * (b - a) for a, b in pairwise(edges)] for count in counts]
    for n, found in enumerate(own):
        parts = []
        for k, way in enumerate(found):
            x = model.add_variable(f"x_{n}_{k}", lowBound=0)
            parts.append(x)
            earned.append(way.utility * x)
            joules.append(way.joules * x)
            for s, (begin, end) in enumerate(pairwise(edges)):
                seconds = min(way.end, end) - max(way.start, begin)
                if seconds > 0:
                    used[way.j, s].append(way.width * seconds / supply[way.j][s] * x)
        model += (pulp.lpSum(parts) == 1 if must_run else pulp.lpSum(parts) <= 1), f"task_{n}"
    model += pulp.lpSum(earned)
    for (j, s), row in used.items():
        model += pulp.lpSum(row) <= 1, f"slot_{j}_{s}"
    if limit is not None:
        model += pulp.lpSum(joules) * (1 / (limit or 1)) <= (1 if limit else 0), "energy"
    solve(model)
    prices = [[0.0] * (len(edges) - 1) for _ in counts]
    for j, s in used:
        prices[j][s] = _dual(model, f"slot_{j}_{s}") / supply[j][s]
    per_joule = 0.0 if limit is None else _dual(model, "energy") / (limit or 1)
    return Optimum(float(pulp.value(model.objective) or 0.0), prices, per_joule)


def _dual(model: Any, name: str) -> float:  # noqa: ANN401 - PuLP 3 has no types
    return abs(float(model.get_constraint_by_name(name).pi))


def ways(day: Day, n: int, edges: Sequence[float]) -> Iterator[Start]:
    """Yield every way to run a task that may be best at some prices."""
    i, arrival = day.arriving.type_numbers[n], day.arriving.arrival_seconds[n]
    period, function = day.period, day.utility_of(n)
    breaks = [arrival + each.after_seconds for each in function.intervals[1:]]
    for (j, _), e, a in zip(day.modes, day.seconds.row(i), day.watts.row(i), strict=True):
        if e is None or a is None:
            continue
        times = [*edges, period.begins_at, period.ends_at]
        corners = {*times, *(each - e for each in (*times, *breaks)), arrival}
        starts = sorted(each for each in corners if arrival <= each < period.ends_at)
        for before, tau in pairwise([*starts[:1], *starts]):
            part = _share(day, tau, e)
            worth = function.at(e if tau == arrival else max(0.0, tau + e - arrival - HAIR))
            if period.edge == "prorated" and before < period.begins_at and tau + e <= period.ends_at + HAIR:
                worth = function.at(before + e - arrival)
            if part:
                yield Start(j, tau, tau + e, part * worth, part * e * a)


def _share(day: Day, start: float, e: float) -> float:
    """Return the part that counts; what ends as the period begins is taken for what ends just after."""
    period = day.period
    if period.edge == "completed":
        return 1.0 if period.begins_at - HAIR <= start + e <= period.ends_at + HAIR else 0.0
    return period.share(start, start + e)
