"""Energy and makespan that no schedule undercuts, straight from the maths.

    min   wE E + wt t
    s.t.  sum_jk x_ijk              =  n_i      for each task type i
          sum_ik e_ijk x_ijk + h_j  =  m_j t    for each machine type j
          E  =  sum a_ijk e_ijk x_ijk + sum_j b_j h_j
          E  <= P t                             average power; P is P_max / PUE if the facility is metered
          x >= 0,  h >= 0,  L <= t <= deadline

x_ijk tasks of type i run on machine type j in P-state k; a pair that is absent, or longer than the deadline,
has no variable. L is that of `whole_tasks.py`; otherwise tasks may be split. All machines stay on until t:
those of type j idle for h_j seconds together, at b_j watts. To put h into E gives E = sum e (a - b) x + I t;
as it stands, no energy is a small difference of large ones.

Solvers have absolute tolerances. So x is counted in what fits into a unit of time, and unit and goal are
chosen anew until the answer is of their size. The first unit is the time that the thriftiest way takes:
who takes longer has more of both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pulp

from models.whole_tasks import Pair, shortest, usable

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.bag.model import Bag
    from lpsched.model.table import Table

OPTIMAL: Final = 1  # what PuLP 3 returns, and the status in what PuLP 4 returns
TOLERANCES: Final = (1e-10, 1e-9, 1e-8, 1e-7)  # the first with which HiGHS finds an answer
OPTIONS: Final = {
    "small_matrix_value": 1e-12,
    "presolve": "off",  # in HiGHS 1.15.1, it calls some feasible rows with a coefficient of 1e-10 infeasible
}
PASSES: Final = 8
FIT: Final = 0.1  # an answer of this share of its unit needs no smaller one
SLACK: Final = 1e-9  # relative: what the first goal may lose to the second
SMALLEST: Final = 1e-9  # relative: by how much a unit may shrink at once


@dataclass(frozen=True)
class Split:
    """The variables above, in the units of the bag."""

    x: dict[Pair, Any]
    seconds: Any
    joules: Any


def least_cost(bag: Bag, *, joules_weight: float, seconds_weight: float) -> float:
    """Return the least wE E + wt t."""
    return least(bag, lambda at: joules_weight * at.joules + seconds_weight * at.seconds)[0]


def least_energy_then_makespan(bag: Bag, *, slack: float = SLACK) -> tuple[float, float]:
    """Return the least joules, and the least seconds of all ways to take no more than that and the slack."""
    joules, seconds = least(bag, lambda at: at.joules)
    return joules, least(bag, lambda at: at.seconds, unit=seconds, most_joules=joules * (1.0 + slack))[0]


def least_makespan_then_energy(bag: Bag, *, slack: float = SLACK) -> tuple[float, float]:
    """Return the least joules of all ways to take no more than the least seconds and the slack, and those."""
    _, seconds = least(bag, lambda at: at.seconds)
    return least(bag, lambda at: at.joules, most_seconds=seconds * (1.0 + slack))[0], seconds


def least(
    bag: Bag,
    goal: Callable[[Split], Any],
    *,
    unit: float | None = None,
    most_joules: float | None = None,
    most_seconds: float | None = None,
) -> tuple[float, float]:
    """Return the least value of a goal that is not negative, and the makespan there."""
    way = thriftiest(bag)
    latest = most_seconds or bag.site.deadline_seconds
    unit = unit or min(way.seconds, latest or way.seconds)
    most = goal(way) or 1.0
    for _ in range(PASSES):
        model = pulp.LpProblem("front", pulp.LpMinimize)
        at = write_rows(model, bag, unit, most_joules, (float(shortest(bag)), latest))
        model += goal(at) * (1.0 / most)
        solve(model)
        found, seconds = float(pulp.value(goal(at))), float(pulp.value(at.seconds))
        if found >= FIT * most and FIT * unit <= seconds <= unit / FIT:
            break
        most, unit = max(found, SMALLEST * most), max(seconds, SMALLEST * unit)
    return found, seconds


def solve(model: Any) -> None:  # noqa: ANN401 - PuLP 3 has no types
    """Solve a model as strictly as HiGHS can."""
    for each in TOLERANCES:
        strict = {"primal_feasibility_tolerance": each, "dual_feasibility_tolerance": each}
        outcome = model.solve(pulp.HiGHS(msg=False, **OPTIONS, **strict))
        if int(getattr(outcome, "status", outcome)) == OPTIMAL:
            return
    raise AssertionError(f"{model.name}: no optimum")


def write_rows(
    model: Any,  # noqa: ANN401 - PuLP 3 has no types
    bag: Bag,
    unit: float,
    most_joules: float | None,
    ends: tuple[float, float | None],
) -> Split:
    """Write the rows above into a model, with t between two ends, and E <= most_joules if that is given."""
    e, a = cells(bag, bag.seconds), cells(bag, bag.watts)
    g = {pair: e[pair] * a.get(pair, 0.0) for pair in e}
    n, m = [task.count for task in bag.task_types], [machine.count for machine in bag.machine_types]
    b, cap = [machine.idle_watts for machine in bag.machine_types], cap_watts(bag)
    first, last = ends
    t = unit * model.add_variable("t", lowBound=first / unit, upBound=None if last is None else last / unit)
    h = [min(m[j] * unit, _ratio(most_joules, b[j])) * model.add_variable(f"h_{j}", lowBound=0) for j in range(len(m))]
    x = {
        (i, j, k): min(n[i], m[j] * unit / e[i, j, k], _ratio(most_joules, g[i, j, k]))
        * model.add_variable(f"x_{i}_{j}_{k}", lowBound=0)
        for i, j, k in e
    }
    joules = pulp.lpSum(g[pair] * x[pair] for pair in x) + pulp.lpSum(b[j] * h[j] for j in range(len(m)))
    for i, n_i in enumerate(n):
        model += pulp.lpSum(x[pair] for pair in x if pair[0] == i) * (1.0 / n_i) == 1
    for j, m_j in enumerate(m):
        busy = pulp.lpSum(e[pair] * x[pair] for pair in x if pair[1] == j)
        model += (busy + h[j] - m_j * t) * (1.0 / (m_j * unit)) == 0
    if cap is not None:
        model += (joules - cap * t) * (1.0 / (cap * unit)) <= 0
    if most_joules is not None:
        model += joules * (1.0 / most_joules) <= 1
    return Split(x, t, joules)


def thriftiest(bag: Bag) -> Split:
    """Return the way that has each task type in one place, where it takes the fewest joules above idle."""
    e, a = cells(bag, bag.seconds), cells(bag, bag.watts)
    n, m = [task.count for task in bag.task_types], [machine.count for machine in bag.machine_types]
    b, cap = [machine.idle_watts for machine in bag.machine_types], cap_watts(bag)
    d = {pair: e[pair] * (a[pair] - b[pair[1]]) for pair in a} or e
    best = [min((pair for pair in e if pair[0] == i), key=d.__getitem__) for i in range(len(n))]
    x = {pair: float(n[pair[0]]) if pair in best else 0.0 for pair in e}
    seconds = max(sum(e[pair] * x[pair] for pair in x if pair[1] == j) / m[j] for j in range(len(m)))
    seconds = max(seconds, float(shortest(bag)))
    above, floor = sum(d[pair] * x[pair] for pair in a), sum(b[j] * m[j] for j in range(len(m)))
    if cap is not None:
        seconds = max(seconds, above / (cap - floor))
    return Split(x, seconds, above + floor * seconds)


def _ratio(limit: float | None, each: float) -> float:
    """Return how many fit into a limit."""
    return math.inf if limit is None or each == 0 else limit / each


def cells(bag: Bag, table: Table | None) -> dict[Pair, float]:
    """Return the cells of a table of pairs that can run within the deadline."""
    may_run = usable(bag)
    return {
        (i, j, k): cell
        for i, row in enumerate(table or ())
        for (j, k), cell in zip(bag.modes, row, strict=True)
        if cell is not None and (i, j, k) in may_run
    }


def cap_watts(bag: Bag) -> float | None:
    """Return the cap on the average power of the machines."""
    cap, meter = bag.site.average_power_cap_watts, bag.site.cap_measured_at
    return cap / bag.site.pue if cap is not None and meter == "facility" else cap
