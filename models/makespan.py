"""The least makespan if tasks could be split, straight from the maths.

    min   t
    s.t.  sum_jk x_ijk          =  n_i      for each task type i
          sum_ik e_ijk x_ijk    <= m_j t    for each machine type j
          x >= 0

x_ijk tasks of type i run on machine type j in P-state k; an absent pair has no variable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pulp

if TYPE_CHECKING:
    from lpsched.instance import Bag

OPTIMAL: Final = 1  # what PuLP 3 returns, and the status in what PuLP 4 returns


def least_makespan(bag: Bag) -> float:
    """Return the optimum in seconds."""
    model = pulp.LpProblem("makespan", pulp.LpMinimize)
    t = model.add_variable("t", lowBound=0)
    x = {
        (i, j, k): model.add_variable(f"x_{i}_{j}_{k}", lowBound=0)
        for i in range(len(bag.task_types))
        for column, (j, k) in enumerate(bag.modes)
        if bag.seconds[i, column] is not None
    }
    e = {
        (i, j, k): bag.seconds[i, column]
        for i in range(len(bag.task_types))
        for column, (j, k) in enumerate(bag.modes)
    }
    model += t
    for i, task in enumerate(bag.task_types):
        model += pulp.lpSum(x[pair] for pair in x if pair[0] == i) == task.count
    for j, machine in enumerate(bag.machine_types):
        model += pulp.lpSum(e[pair] * x[pair] for pair in x if pair[1] == j) <= machine.count * t
    outcome = model.solve(pulp.HiGHS(msg=False))
    assert int(getattr(outcome, "status", outcome)) == OPTIMAL
    return float(pulp.value(t))
