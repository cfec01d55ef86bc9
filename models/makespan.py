"""A makespan that no schedule undercuts, straight from the maths.

    min   t
    s.t.  sum_jk x_ijk          =  n_i      for each task type i
          sum_ik e_ijk x_ijk    <= m_j t    for each machine type j
          x >= 0,  t >= L                     L is that of `whole_tasks.py`: otherwise tasks may be split

x_ijk tasks of type i run on machine type j in P-state k; an absent pair has no variable. Seconds are
counted in a unit that makes t a number from 1 up, because solvers have absolute tolerances.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pulp

from models.whole_tasks import shortest

if TYPE_CHECKING:
    from lpsched.bag.model import Bag

OPTIMAL: Final = 1  # what PuLP 3 returns, and the status in what PuLP 4 returns


def least_makespan(bag: Bag) -> float:
    """Return the optimum in seconds."""
    e = {
        (i, j, k): seconds
        for i, row in enumerate(bag.seconds)
        for (j, k), seconds in zip(bag.modes, row, strict=True)
        if seconds is not None
    }
    quickest = [min(e[pair] for pair in e if pair[0] == i) for i in range(len(bag.task_types))]
    unit = sum(task.count * q for task, q in zip(bag.task_types, quickest, strict=True)) / bag.machines

    model = pulp.LpProblem("makespan", pulp.LpMinimize)
    t = model.add_variable("t", lowBound=float(shortest(bag)) / unit)
    x = {(i, j, k): model.add_variable(f"x_{i}_{j}_{k}", lowBound=0) for i, j, k in e}
    model += t
    for i, task in enumerate(bag.task_types):
        model += pulp.lpSum(x[pair] for pair in x if pair[0] == i) == task.count
    for j, machine in enumerate(bag.machine_types):
        model += pulp.lpSum(e[pair] / unit * x[pair] for pair in x if pair[1] == j) <= machine.count * t
    outcome = model.solve(pulp.HiGHS(msg=False))
    assert int(getattr(outcome, "status", outcome)) == OPTIMAL
    return float(pulp.value(t)) * unit
