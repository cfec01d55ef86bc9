"""MET, minimum execution time: each task goes to the machine type that runs it fastest, however busy that is.

Tasks come type by type, in the order of the file; all tasks of a type go to one machine type, the first of
those that are fastest, and there each to the machine that is ready first. So the rule works on counts.

Source: Armstrong, Hensgen and Kidd, 1998; Braun and others, 2001.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.heuristics.pair_times import PairTimes
from lpsched.heuristics.ready_machines import ReadyMachines

if TYPE_CHECKING:
    import numpy as np

    from lpsched.instance import Bag
    from lpsched.schedule.bag import Schedule


def minimum_execution_time(bag: Bag, _rng: np.random.Generator) -> Schedule:
    """Hand every task to the machine type that runs it fastest."""
    times, machines = PairTimes.of(bag), ReadyMachines(bag)
    for i, task in enumerate(bag.task_types):
        machines.give(i, [times.way(i, int(times.seconds[i].argmin()))], task.count)
    return machines.schedule()
