"""What the most money per second depends on, by solving again and again.

    R(c)    the best rate of `profit.py` if a kilowatt-hour cost c
    R(m_j)  the best rate if there were m_j machines of type j, and no schedule were done before its longest
            task, max_i min_jk e_ijk, since no task is run by two machines

No breakpoint is worked out: whoever wants one looks where R changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from models.front import cells
from models.profit import best_rate

if TYPE_CHECKING:
    from lpsched.bag.model import Bag


def rate_at_electricity(bag: Bag, per_kwh: float) -> float:
    """Return R(c)."""
    return best_rate(bag.model_copy(update={"prices": bag.prices.model_copy(update={"electricity_per_kwh": per_kwh})}))


def rate_with(bag: Bag, j: int, more: int) -> float:
    """Return R(m_j) with more machines of type j than there are."""
    machines = list(bag.machine_types)
    machines[j] = machines[j].model_copy(update={"count": machines[j].count + more})
    return best_rate(bag.model_copy(update={"machine_types": tuple(machines)}), soonest_seconds=longest_task(bag))


def longest_task(bag: Bag) -> float:
    """Return max_i min_jk e_ijk."""
    e = cells(bag, bag.seconds)
    return max(min(e[pair] for pair in e if pair[0] == i) for i in range(len(bag.task_types)))


def most_of_use(bag: Bag, j: int) -> int:
    """Return how many more machines of type j could have a task each."""
    e = cells(bag, bag.seconds)
    tasks = sum(task.count for i, task in enumerate(bag.task_types) if any(pair[:2] == (i, j) for pair in e))
    return max(0, tasks - bag.machine_types[j].count)
