"""The most money per second over an interval of makespans if no task is split, straight from the maths.

    max   N r - sum_P cost_P z_P - K
    s.t.  sum_P a_iP z_P            =  n_i r     for each task type i
          sum_{P of j} z_P          <= m_j r     for each machine type j
          sum_{P of j} load_P z_P   <= m_j       for each machine type j
          z >= 0,  1 / t2 <= r <= 1 / t1

A pattern P of machine type j is a set of a_iP tasks of each type, in any P-states, that takes load_P <= t2
seconds and costs cost_P = sum kappa; z_P = y_P / t of them run in a second, on y_P machines. A machine that
runs nothing has no pattern. All patterns are written out, so this is for tiny bags only.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pulp

from models.front import cells, solve
from models.profit import income, standing, task_costs
from models.whole_tasks import Pair

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.bag.model import Bag

Pattern = dict[Pair, int]


def best_rate_between(bag: Bag, t1: float, t2: float) -> float:
    """Return the most money per second, less what a second costs anyway; somebody has to be done by t2."""
    e, kappa = cells(bag, bag.seconds), task_costs(bag)
    n, m = [task.count for task in bag.task_types], [machine.count for machine in bag.machine_types]
    model = pulp.LpProblem("packing", pulp.LpMaximize)
    r = model.add_variable("r", lowBound=t1 / t2, upBound=1.0)  # in units of 1 / t1
    done: list[Any] = [0] * len(n)
    money: Any = income(bag) * r
    for j, m_j in enumerate(m):
        used: Any = 0
        load: Any = 0
        for number, pattern in enumerate(patterns(bag, j, t2)):
            z = model.add_variable(f"z_{j}_{number}", lowBound=0)
            used += z
            load += sum(count * e[pair] for pair, count in pattern.items()) / t1 * z
            money -= sum(count * kappa[pair] for pair, count in pattern.items()) * z
            for pair, count in pattern.items():
                done[pair[0]] += count * z
        model += used - m_j * r <= 0
        model += load - m_j <= 0
    for i, n_i in enumerate(n):
        model += done[i] - n_i * r == 0
    model += money
    solve(model)
    return float(pulp.value(money)) / t1 - standing(bag)


def patterns(bag: Bag, j: int, t2: float) -> Iterator[Pattern]:
    """Yield every set of tasks that machine type j finishes within t2, but for the empty one."""
    e = {pair: seconds for pair, seconds in cells(bag, bag.seconds).items() if pair[1] == j}
    pairs = list(e)
    for counts in product(*(range(bag.task_types[pair[0]].count + 1) for pair in pairs)):
        pattern = {pair: count for pair, count in zip(pairs, counts, strict=True) if count}
        if pattern and sum(count * e[pair] for pair, count in pattern.items()) <= t2:
            yield pattern
