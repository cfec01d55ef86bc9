"""From a schedule of a bag to a chromosome, and back.

A schedule does not tell tasks of a type apart, nor machines; a chromosome numbers both. So the way there
gives the numbers out in turn, and the way back joins machines that do the same.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from lpsched.instance.p_states import column_numbers
from lpsched.schedule.bag import MachineGroup, Run, Schedule
from lpsched.schedule.genes import Genes, first_machines

if TYPE_CHECKING:
    from lpsched.instance import Bag


def genes_of(bag: Bag, schedule: Schedule) -> Genes:
    """Return the chromosome of N genes that does what a schedule does; it does not wait at the end.

    Raises
    ------
    ValueError
        If it is no schedule of this bag; the message says why.

    Examples
    --------
    >>> from lpsched.instance import Bag, MachineType, Table, TaskType
    >>> cpu, task = MachineType(name="cpu", count=5), TaskType(name="a", count=4)
    >>> bag = Bag("two", (cpu,), (task,), Table.of([[3.0]]))
    >>> genes_of(bag, Schedule((MachineGroup("cpu", 2, (Run("a", 2),)),))).machines.tolist()
    [0, 0, 1, 1]
    """
    kinds = {machine.name: j for j, machine in enumerate(bag.machine_types)}
    free = first_machines([machine.count for machine in bag.machine_types], bag.tasks).tolist()
    last = free[1:]
    giver = _Giver(bag)
    for group in schedule.groups:
        j = kinds.get(group.machine_type)
        if j is None:
            raise ValueError(f"there is no machine type {group.machine_type!r}")
        for _ in range(group.machines if group.runs else 0):
            if free[j] == last[j]:
                raise ValueError(f"there are not so many machines of type {group.machine_type!r}, or tasks")
            for run in group.runs:
                giver.give(run, free[j], group.machine_type)
            free[j] += 1
    return giver.genes()


class _Giver:
    """Gives out the numbers of the tasks, type by type."""

    def __init__(self, bag: Bag) -> None:
        self.bag = bag
        self.row = {task.name: i for i, task in enumerate(bag.task_types)}
        self.column = column_numbers(bag.machine_types)
        ends = np.cumsum([task.count for task in bag.task_types]).tolist()
        self.next, self.end = [0, *ends[:-1]], ends
        self.machines, self.columns, self.orders = (np.full(bag.tasks, -1, dtype=np.int32) for _ in range(3))
        self.given = 0

    def give(self, run: Run, machine: int, kind: str) -> None:
        """Let a machine run some tasks, after what it has."""
        i, column = self.row.get(run.task_type), self.column.get((kind, run.p_state))
        if i is None or column is None or self.bag.seconds[i, column] is None:
            raise ValueError(f"{run.task_type!r} on {kind!r} in P-state {run.p_state!r} cannot run")
        first, after = self.next[i], self.next[i] + run.count
        if run.count < 1 or after > self.end[i]:
            raise ValueError(f"there are not so many tasks of type {run.task_type!r}")
        self.machines[first:after] = machine
        self.columns[first:after] = column
        self.orders[first:after] = range(self.given, self.given + run.count)
        self.next[i], self.given = after, self.given + run.count

    def genes(self) -> Genes:
        """Return them all."""
        if self.given < len(self.machines):
            raise ValueError(f"it runs {self.given} of {len(self.machines)} tasks")
        return Genes(self.machines, self.columns, self.orders)


def to_schedule(bag: Bag, genes: Genes) -> Schedule:
    """Return what a chromosome of N genes says, in the bag's words; equal machines of a type make a group.

    >>> from lpsched.instance import Bag, MachineType, Table, TaskType
    >>> cpu, task = MachineType(name="cpu", count=5), TaskType(name="a", count=4)
    >>> bag = Bag("two", (cpu,), (task,), Table.of([[3.0]]))
    >>> numbers = np.array([0, 3, 3, 0], dtype=np.int32)
    >>> to_schedule(bag, Genes(numbers, numbers * 0, numbers)).groups
    (MachineGroup(machine_type='cpu', machines=2, runs=(Run(task_type='a', count=2, p_state=None),)),)
    """
    names = [task.name for task in bag.task_types]
    rows = np.repeat(np.arange(len(names)), [task.count for task in bag.task_types]).tolist()
    machines, columns = genes.machines.tolist(), genes.columns.tolist()
    states = [state for machine in bag.machine_types for state in machine.p_states or (None,)]
    groups: Counter[tuple[str, tuple[Run, ...]]] = Counter()
    in_turn = np.lexsort((genes.orders, genes.machines)).tolist()  # it is stable: ties by task number
    for _, tasks in groupby(in_turn, key=machines.__getitem__):
        own = list(tasks)
        runs = tuple(
            Run(names[i], len(list(same)), states[column])
            for (i, column), same in groupby(own, key=lambda task: (rows[task], columns[task]))
        )
        groups[bag.machine_types[bag.modes[columns[own[0]]][0]].name, runs] += 1
    return Schedule(tuple(MachineGroup(kind, machines, runs) for (kind, runs), machines in groups.items()))
