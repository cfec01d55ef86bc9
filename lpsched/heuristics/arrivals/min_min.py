"""Min-min completion time: of all tasks of the day, the one that can end first, there; then the next.

Two stages: each task's earliest end over all machines and P-states, and the earliest of these ends. All
arrivals are known, and no task starts before it arrives.

Of one task type only the first task that is not mapped can be next: on a machine that is free at R, a task
that arrives at A ends at max(A, R) + e, which never falls as A rises. So a step compares one task of each
type, whatever the number of tasks. Ties go to less energy, then to the lowest task, then to the lowest
column. With `drop_below`, a task chosen that would earn less than that is dropped.

Source: Friese, thesis of 2015, section 5.5.2.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.heuristics.arrivals.machines import FreeMachines
from lpsched.heuristics.arrivals.placing import Placing
from lpsched.instance.day_arrays import day_arrays

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats
    from lpsched.instance.day import Day
    from lpsched.instance.day_arrays import DayArrays
    from lpsched.schedule.day import DaySchedule


def min_min(day: Day, _rng: np.random.Generator, *, drop_below: float | None = None) -> DaySchedule:
    """Return the schedule that maps the earliest end first."""
    arrays = day_arrays(day)
    machines, placing, firsts = FreeMachines(arrays), Placing(day), _Firsts(arrays)
    arrivals: list[float] = arrays.arrivals.tolist()
    for _ in range(len(arrays.arrivals)):
        kind, column = firsts.best()
        task, end = firsts.tasks[kind], float(firsts.ends[kind, column])
        if drop_below is None or day.utility_of(task).at(end - arrivals[task]) >= drop_below:
            start = max(arrivals[task], float(machines.ready[column]))
            used = int(arrays.mode_type[column])
            placing.place(task, column, machines.take(used, start, end), start)
            firsts.look_again(machines.columns[used], machines.ready)
        firsts.move_on(kind, machines.ready)
    return placing.schedule()


class _Firsts:
    """Of each task type its first task that is not mapped, and when that would end on every column."""

    def __init__(self, arrays: DayArrays) -> None:
        self.arrays = arrays
        types = len(arrays.can_run)
        by_type = np.argsort(arrays.task_type, kind="stable")
        edges = np.searchsorted(arrays.task_type[by_type], np.arange(1, types))
        self._queues = [iter(own.tolist()) for own in np.split(by_type, edges)]
        self._seconds = np.where(arrays.can_run, arrays.seconds, np.inf)
        self._joules = arrays.seconds * arrays.watts
        self._arrivals = np.full(types, np.inf)  # never, where no task is left
        self.tasks = [-1] * types
        self.ends = np.full(arrays.can_run.shape, np.inf)
        for kind in range(types):
            self.move_on(kind, np.zeros(len(arrays.mode_type)))

    def move_on(self, kind: int, ready: Floats) -> None:
        """Take the next task of a type."""
        task = next(self._queues[kind], None)
        self.tasks[kind] = -1 if task is None else task
        self._arrivals[kind] = np.inf if task is None else self.arrays.arrivals[task]
        self.ends[kind] = np.maximum(self._arrivals[kind], ready) + self._seconds[kind]

    def look_again(self, columns: slice, ready: Floats) -> None:
        """Find the ends on one machine type anew."""
        starts = np.maximum(self._arrivals[:, None], ready[None, columns])
        self.ends[:, columns] = starts + self._seconds[:, columns]

    def best(self) -> tuple[int, int]:
        """Return type and column of the earliest end; ties as said above."""
        kinds, columns = np.nonzero(self.ends == self.ends.min())
        if len(kinds) > 1:
            joules = self._joules[kinds, columns]
            thrifty = joules == joules.min()
            kinds, columns = kinds[thrifty], columns[thrifty]
        place = min(range(len(kinds)), key=lambda each: self.tasks[kinds[each]])
        return int(kinds[place]), int(columns[place])
