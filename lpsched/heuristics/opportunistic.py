"""OLB, opportunistic load balancing: each task goes to the machine that is ready first, however slow it is.

Tasks come type by type, in the order of the file. n equal tasks one after the other take the n smallest of
the start times  R_g + q e_ij,  q = 0, 1, ...,  over all machines that can run them, so the rule works on
counts. Ties go to the lowest machine type.

Source: Armstrong, Hensgen and Kidd, 1998; Freund and others, "Scheduling resources in multi-user,
heterogeneous, computing environments with SmartNet", 1998; Braun and others, 2001.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.heuristics.pair_times import PairTimes
from lpsched.heuristics.ready_machines import ReadyMachines

if TYPE_CHECKING:
    import numpy as np

    from lpsched.instance import Bag
    from lpsched.schedule.bag import Schedule


def opportunistic(bag: Bag, _rng: np.random.Generator) -> Schedule:
    """Hand every task to the machine that starts it first."""
    times, machines = PairTimes.of(bag), ReadyMachines(bag)
    for i, task in enumerate(bag.task_types):
        machines.give(i, times.ways(i), task.count, by_start=True)
    return machines.schedule()
