"""Permuting: the head of each virtual queue is put into the order that earns most.

A policy may line up a task that loses nothing by waiting before one that loses much. So, after it has
answered, the first k tasks of each machine's virtual queue (those behind the pending task) are tried in all
their orders, one after the other from the end of the pending task on. The order in which they earn most
together is kept; of equally good ones, the first, counting through them from the policy's own order. Orders
in which one of them would start too late are not tried. The rest of the queue stays behind them.

The new queues are then lined up like any others, with the same look at time and energy.

Source: Friese, thesis of 2015, appendix A.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.compiled import compiled
from lpsched.simulation.earning import earned
from lpsched.simulation.state import Assignments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.day_arrays import DayArrays
    from lpsched.simulation.machines import LinedUp

ROUNDING: Final = 1e-12  # an order must be better by more than this share


def permuted(made: LinedUp, arrays: DayArrays, *, now: float, ends_at: float, most: int) -> Assignments:
    """Return what was lined up with the heads of the virtual queues in their best orders."""
    tasks, columns = made.tasks.copy(), made.columns.copy()
    for head in _heads(made, now, most):
        seconds = arrays.seconds[arrays.task_type[tasks[head]], columns[head]]
        orders = orders_of(len(head))
        best = best_order(
            orders, float(made.starts[head[0]]), ends_at, seconds, arrays.function[tasks[head]],
            arrays.arrivals[tasks[head]], arrays.first_interval, arrays.after_seconds, arrays.starts_at,
            arrays.falls_to, arrays.rate_per_second,
        )  # fmt: skip
        tasks[head], columns[head] = tasks[head][orders[best]], columns[head][orders[best]]
    return Assignments(tasks, made.machines, columns)


def _heads(made: LinedUp, now: float, most: int) -> Iterator[Integers]:
    """Find the first places of each virtual queue that has several tasks, in the order of its queue."""
    virtual = np.flatnonzero(made.stays_from > now)
    by_machine = virtual[np.argsort(made.machines[virtual], kind="stable")]
    firsts = np.flatnonzero(np.diff(made.machines[by_machine])) + 1
    for queue in np.split(by_machine, firsts):
        if len(queue) > 1:
            yield queue[:most]


@cache
def orders_of(size: int) -> Integers:
    """Return all orders of so many things, the given one first."""
    return np.array(list(permutations(range(size))), dtype=np.int64)


@compiled
def best_order(  # noqa: PLR0913, PLR0917 - arrays are what compiled functions take
    orders: Integers,
    begins_at: float,
    ends_at: float,
    seconds: Floats,
    functions: Integers,
    arrivals: Floats,
    first_interval: Integers,
    after_seconds: Floats,
    starts_at: Floats,
    falls_to: Floats,
    rate_per_second: Floats,
) -> int:
    """Return the number of the order that earns most."""
    best, most = 0, -1.0
    for n in range(len(orders)):
        time, total, starts_in_time = begins_at, 0.0, True
        for k in orders[n]:
            starts_in_time = starts_in_time and time < ends_at
            time += seconds[k]
            total += earned(
                functions[k], time - arrivals[k], first_interval, after_seconds, starts_at, falls_to,
                rate_per_second,
            )  # fmt: skip
        if starts_in_time and total > most * (1.0 + ROUNDING):
            best, most = n, total
    return best
