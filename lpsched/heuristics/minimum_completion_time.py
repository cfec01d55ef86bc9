"""MCT, minimum completion time: each task goes to the machine that would end it first.

Tasks come type by type, in the order of the file. n equal tasks one after the other take the n smallest of
the completion times  R_g + q e_ij,  q = 1, 2, ...,  over all machines g: the machine that takes one is
ready that much later, and all others stay as they are. So the rule works on counts (`lowest_times.py`).
Ties go to the lowest machine type.

Source: Armstrong, Hensgen and Kidd, "The relative performance of various mapping algorithms is independent of
sizable variances in run-time predictions", 1998; Braun and others, 2001.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.heuristics.pair_times import PairTimes
from lpsched.heuristics.ready_machines import ReadyMachines

if TYPE_CHECKING:
    import numpy as np

    from lpsched.instance import Bag
    from lpsched.schedule.bag import Schedule


def minimum_completion_time(bag: Bag, _rng: np.random.Generator) -> Schedule:
    """Hand every task to the machine that ends it first."""
    times, machines = PairTimes.of(bag), ReadyMachines(bag)
    for i, task in enumerate(bag.task_types):
        machines.give(i, times.ways(i), task.count)
    return machines.schedule()
