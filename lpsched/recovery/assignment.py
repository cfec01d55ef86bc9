"""Whole tasks on single machines: the state that is improved, one machine at a time.

A machine h is one of the m_j machines of its type j. Where a type has P-states, each task runs in its fastest
one, because only the makespan counts here. So a state is a table of counts x_ih with

    sum_h x_ih = n_i,      load_h = sum_i l_ih x_ih.

Lengths are told in units of the bound that the prices y of the relaxation prove. With sum_h y_h = 1,

    u_i = min_h e_ih y_h,      bound = sum_i n_i u_i,      l_ih = e_ih / bound,
    r_ih = (e_ih y_h - u_i) / bound >= 0      (reduced costs)

and every state of makespan T obeys

    T - 1  =  sum_h y_h (T - load_h)  +  sum_ih r_ih x_ih.

Both sums are 0 or more. So a state near the bound has even loads and cheap pairs, and one of makespan T has
no pair with r_ih > T - 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lpsched.instance.arrays import usable_arrays
from lpsched.recovery.grouping import grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance import Bag
    from lpsched.instance.array_types import Floats, Integers, Mask
    from lpsched.schedule.bag import Schedule


@dataclass(frozen=True, slots=True)
class Fleet:
    """The machines of a bag one by one, and what each pair takes and costs; T task types, H machines."""

    bag: Bag
    bound_seconds: float
    machine_types: Integers  # H: the type of each machine
    columns: Integers  # T x H: the fastest P-state of the pair
    lengths: Floats  # T x H: in units of the bound; inf where the task cannot run
    prices: Floats  # H: what time on the machine is worth; they sum to 1
    reduced_costs: Floats  # T x H: inf where the task cannot run

    @property
    def size(self) -> int:
        """How many machines there are."""
        return len(self.machine_types)

    def loads(self, counts: Integers) -> Floats:
        """Return how long each machine works."""
        used = np.where(counts > 0, self.lengths, 0.0)  # inf x 0 is not 0
        loads: Floats = (used * counts).sum(axis=0)
        return loads

    def makespan(self, counts: Integers) -> float:
        """Return how long the longest machine works."""
        return float(self.loads(counts).max())


def fleet_of(bag: Bag, machine_prices: Sequence[float]) -> Fleet:
    """Lay out the machines of a bag; prices that prove nothing are taken as equal."""
    arrays = usable_arrays(bag)
    machine_types = np.repeat(np.arange(len(bag.machine_types)), arrays.machine_counts.astype(np.int64))
    seconds, columns = _fastest(np.where(arrays.can_run, arrays.seconds, np.inf), arrays.machine_of)
    seconds, columns = seconds[:, machine_types], columns[:, machine_types]
    prices = np.maximum(np.array(machine_prices), 0.0)[machine_types]
    can_run = np.isfinite(seconds)
    worth = _worth(seconds, can_run, prices)
    if not arrays.task_counts @ worth.min(axis=1) > 0:
        prices = np.ones(len(machine_types))
        worth = _worth(seconds, can_run, prices)
    least = worth.min(axis=1)
    value, whole = float(arrays.task_counts @ least), float(prices.sum())
    return Fleet(
        bag=bag,
        bound_seconds=value / whole,
        machine_types=machine_types,
        columns=columns,
        lengths=seconds * (whole / value),
        prices=prices / whole,
        reduced_costs=(worth - least[:, None]) / value,
    )


def counts_of(fleet: Fleet, schedule: Schedule) -> Integers:
    """Return how many tasks of each type run on each machine (T x H)."""
    task_of = {task.name: i for i, task in enumerate(fleet.bag.task_types)}
    type_of = {machine.name: j for j, machine in enumerate(fleet.bag.machine_types)}
    free = np.searchsorted(fleet.machine_types, np.arange(len(type_of)))
    counts = np.zeros(fleet.lengths.shape, dtype=np.int64)
    for group in schedule.groups:
        j = type_of[group.machine_type]
        first, free[j] = free[j], free[j] + group.machines
        for run in group.runs:
            counts[task_of[run.task_type], first : free[j]] += run.count
    return counts


def schedule_of(fleet: Fleet, counts: Integers) -> Schedule:
    """Return the schedule of a state, every task in its fastest P-state."""
    machines: list[tuple[int, dict[tuple[int, int], int]]] = []
    for h, j in enumerate(fleet.machine_types.tolist()):
        tasks = np.flatnonzero(counts[:, h])
        machines.append((j, {(int(i), int(fleet.columns[i, h])): int(counts[i, h]) for i in tasks}))
    return grouped(fleet.bag, machines)


def _fastest(seconds: Floats, machine_of: Integers) -> tuple[Floats, Integers]:
    """Return the seconds of the fastest P-state of each pair (T x M), and its column."""
    best = np.empty((len(seconds), int(machine_of[-1]) + 1))
    columns = np.empty(best.shape, dtype=np.int64)
    for j in range(best.shape[1]):
        own = np.flatnonzero(machine_of == j)
        columns[:, j] = own[np.argmin(seconds[:, own], axis=1)]
        best[:, j] = seconds[:, own].min(axis=1)
    return best, columns


def _worth(seconds: Floats, can_run: Mask, prices: Floats) -> Floats:
    """Return what each pair's time is worth, inf where it cannot run."""
    return np.where(can_run, np.where(can_run, seconds, 0.0) * prices, np.inf)
