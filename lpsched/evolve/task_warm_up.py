"""Compiling before the clock starts what NSGA-II runs: some seconds at the first use, then nothing."""

from __future__ import annotations

import numpy as np

from lpsched.evolve.task_front import evolve_front
from lpsched.instance import Bag, MachineType, Table, TaskType
from lpsched.instance.day import ArrivingTasks, Day, DayMachineType, DayTaskType
from lpsched.instance.utility import Interval, UtilityFunction


def warm_up_fronts() -> None:
    """Compile everything, by two generations of one task.

    Raises
    ------
    MissingExtraError
        If pymoo or Numba is not installed.
    """
    one = Table.of([[1.0]])
    bag = Bag("one task", (MachineType(name="m", count=1),), (TaskType(name="t", count=1),), one, one)
    tasks = ArrivingTasks.of([0.0], [0], ["u"])
    utility = {"u": UtilityFunction((Interval(0.0, 1.0, 1.0, 0.0),))}
    machines, types = (DayMachineType("m", 1),), (DayTaskType("t"),)
    day = Day("one task", machines, types, one, one, tasks, utility_functions=utility)
    for instance in (bag, day):
        evolve_front(instance, rng=np.random.default_rng(0), size=2, generations=1).schedules()
