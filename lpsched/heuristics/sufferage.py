"""Sufferage: the task goes first that would lose most if it did not get its best machine.

    C_i, C'_i   the earliest and the second earliest end of a task of type i, over all machines
    suffering   C'_i - C_i; without end, if only one machine can run it

One task is taken in each step: of the type that would suffer most, to the machine that would end it first.
Ties go to the lowest task type, then to the lowest machine type. Only the two earliest machines of each
type matter, so a step hands one task each to all but one of the machines that are ready together: while two
of them are left, nothing changes. The last task type goes at once, by completion times. Apart from that the
rule goes step by step (`steps.py` has the limit), comparing doubles.

Where each machine type has many machines ready together, nothing suffers, and the tasks go in the order of
the file: the rule was made for machines that differ.

Source: Maheswaran, Ali, Siegel, Hensgen and Freund, 1999; theirs hands out a task to each machine in a
step. The variant with one task a step is the one that is tabled for the instances of Braun and others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.heuristics.pair_times import PairTimes
from lpsched.heuristics.ready_machines import ReadyMachines
from lpsched.heuristics.steps import Steps

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.schedule.bag import Schedule


def sufferage(bag: Bag, _rng: np.random.Generator) -> Schedule:
    """Hand out the task that would suffer most, until none is left.

    Raises
    ------
    InstanceError
        If that takes too many steps.
    """
    times, machines, steps = PairTimes.of(bag), ReadyMachines(bag), Steps(bag, "sufferage")
    left = [task.count for task in bag.task_types]
    steps.expect((bag.tasks - max(left)) // max(machine.count for machine in bag.machine_types))
    types = len(bag.machine_types)
    unused = np.arange(len(left))  # task types
    ends = np.hstack((times.seconds, times.seconds))  # of the next task, on the first and the second machine
    for j in range(types):
        _change(ends, times, machines, unused, j)
    while len(unused) > 1:
        two = np.partition(ends, 1, axis=1)  # a second machine is never earlier than the first of its type
        row = int((two[:, 1] - two[:, 0]).argmax())
        i, j = int(unused[row]), int(ends[row, :types].argmin())
        given = min(left[i], max(1, machines.groups[j][0].machines - 1))
        machines.give_first(i, times.way(i, j), given)
        steps.step(given)
        left[i] -= given
        if not left[i]:
            unused, ends = np.delete(unused, row), np.delete(ends, row, axis=0)
        _change(ends, times, machines, unused, j)
    last = int(unused[0])
    machines.give(last, times.ways(last), left[last])
    return machines.schedule()


def _change(ends: Floats, times: PairTimes, machines: ReadyMachines, unused: Integers, j: int) -> None:
    """Write down when the next task of each type would end on the first two machines of a type."""
    second = machines.second_ready(j)
    seconds = times.seconds[unused, j]
    ends[:, j] = seconds + times.in_seconds(machines.ready(j))
    ends[:, len(machines.groups) + j] = np.inf if second is None else seconds + times.in_seconds(second)
