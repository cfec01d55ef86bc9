"""Minimum energy: each task runs where, and in the P-state in which, it takes the fewest joules.

    joules of a way  =  seconds * watts        (of equal ones the fastest, then the first)

All tasks of a type go to one machine type, and there each to the machine that is ready first: the shortest
makespan of those choices, type by type. What idle machines draw meanwhile is not looked at, so that where
idle machines draw much, the least energy of all is elsewhere. The rule works on counts.

Source: Friese, thesis of 2015, section 6.5.1.2, where it seeds a genetic algorithm.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lpsched.errors import Fault, InstanceError
from lpsched.heuristics.pair_times import shift_of
from lpsched.heuristics.ready_machines import ReadyMachines, Way
from lpsched.instance.arrays import arrays_of

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.schedule.bag import Schedule


def min_energy(bag: Bag, _rng: np.random.Generator) -> Schedule:
    """Hand every task to the machine type and P-state that need the fewest joules for it.

    Raises
    ------
    InstanceError
        If the bag has no watts.
    """
    arrays = arrays_of(bag)
    if arrays.watts is None:
        needed = "the watts of every pair that can run, since min-energy counts joules"
        raise InstanceError(bag.name, (Fault(("watts",), "none", needed, "add them, or leave it out"),))
    joules = np.where(arrays.can_run, arrays.seconds * arrays.watts, np.inf)
    least = joules == joules.min(axis=1, keepdims=True)
    best = np.where(least, arrays.seconds, np.inf).argmin(axis=1)
    shift, machines = shift_of(arrays.seconds[arrays.can_run]), ReadyMachines(bag)
    for i, (task, column) in enumerate(zip(bag.task_types, best.tolist(), strict=True)):
        ticks = int(math.ldexp(float(arrays.seconds[i, column]), shift))
        machines.give(i, [Way(bag.modes[column][0], column, ticks)], task.count)
    return machines.schedule()
