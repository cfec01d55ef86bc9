"""The most utility that a day can earn with so much energy if no task waited, straight from the maths.

    max   sum U_n(e_ijk) x_njk
    s.t.  sum e_ijk a_ijk x_njk  <=  E       over all tasks n; i is the type of n
          sum_jk x_njk           <=  1       for each task n
          x >= 0

x_njk is the part of task n that runs on machine type j in P-state k, at once and on a machine of its own; an
absent pair has no variable. U_n(t) is what the task earns if it ends t seconds after its arrival. The first
row is divided by E, because solvers have absolute tolerances.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulp

from models.front import solve

if TYPE_CHECKING:
    from lpsched.online.day import Day


def most_utility(day: Day, joules: float) -> float:
    """Return the most utility with at most so many joules; they are more than 0."""
    model = pulp.LpProblem("no_waiting", pulp.LpMaximize)
    earned, taken = [], []
    for n, i in enumerate(day.arriving.type_numbers):
        cells = zip(day.seconds.row(i), day.watts.row(i), strict=True)
        modes = [(e, a) for e, a in cells if e is not None and a is not None]
        x = [model.add_variable(f"x_{n}_{c}", lowBound=0) for c in range(len(modes))]
        earned += [day.utility_of(n).at(e) * x[c] for c, (e, _) in enumerate(modes)]
        taken += [e * a / joules * x[c] for c, (e, a) in enumerate(modes)]
        model += pulp.lpSum(x) <= 1
    model += pulp.lpSum(earned)
    model += pulp.lpSum(taken) <= 1
    solve(model)
    return float(pulp.value(model.objective) or 0.0)
