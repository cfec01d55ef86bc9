"""Two stages: minute by minute, the pair of task and machine that scores best of all that have come.

The first stage finds for each waiting task the machine and P-state of the highest score, the second the task
whose score is highest of all. It is mapped, its machine's ready time moves on, and both stages begin again,
until no task waits, or every machine that one of them can run on has work until the minute is over. The
others wait for the next minute, when worthier tasks that come later may overtake them. With `drop_below`, a
task that is chosen and would earn less than that is dropped.

Tasks of one type with one utility function are alike but for their arrival. Of those that wait, the last to
arrive earns the most everywhere, so it speaks for its class; and of those that would earn as much as it does
where it is best, the first to arrive is taken. Between classes, ties go to more utility, then less energy,
then the class that came first.

No score rises as machines get busier or tasks leave. So a class's best choice stays the best until its
machine type, or the class itself, has a task mapped. After that it may be overestimated, and is looked at
again if it comes out on top. However many tasks are alike, a step looks at few classes.

The thesis has these heuristics from its online simulator, where all tasks that wait are mapped anew each
minute, but for the next one of each machine. Here what is mapped stays mapped.

Source: Friese, thesis of 2015, section 7.3.4; 2.7.1 for the minute.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.heuristics.arrivals.machines import FreeMachines
from lpsched.heuristics.arrivals.offers import best_choice, first_best
from lpsched.heuristics.arrivals.placing import Placing
from lpsched.instance.day_arrays import day_arrays

if TYPE_CHECKING:
    from lpsched.heuristics.arrivals.offers import Score
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.day import Day
    from lpsched.instance.day_arrays import DayArrays
    from lpsched.schedule.day import DaySchedule

MINUTE: Final = 60.0


def best_pairs_first(day: Day, score: Score, *, drop_below: float | None) -> DaySchedule:
    """Return the schedule that maps, minute by minute, the pair of the highest score first."""
    arrays = day_arrays(day)
    machines, placing, waiting = FreeMachines(arrays), Placing(day), _Waiting(day, arrays, score)
    while waiting.begin_a_minute(machines.ready):
        goes_on = True
        while goes_on:  # a minute maps one task at least
            task, column, elapsed = waiting.take_the_best(machines.ready)
            if drop_below is None or day.utility_of(task).at(elapsed) >= drop_below:
                start = max(float(arrays.arrivals[task]), float(machines.ready[column]))
                end = start + float(arrays.seconds[arrays.task_type[task], column])
                used = int(arrays.mode_type[column])
                placing.place(task, column, machines.take(used, start, end), start)
                waiting.forget_choices_of(used)
            goes_on = waiting.has_a_use_for(machines.ready)
    return placing.schedule()


class _Waiting:
    """The tasks that have come and are not mapped, by classes of alike ones, each with its best choice."""

    def __init__(self, day: Day, arrays: DayArrays, score: Score) -> None:
        self.day, self.arrays, self.score = day, arrays, score
        self.classes = _classes(arrays)  # of each task
        count = int(self.classes.max(initial=-1)) + 1
        self.members: list[list[int]] = [[] for _ in range(count)]  # those that wait, by arrival
        self.come = 0  # how many tasks, in the order of arrival
        self.minute_ends = 0.0
        self.of_type = np.zeros(len(arrays.can_run), dtype=np.int64)
        self.scores = np.full(count, -np.inf)  # where a member waits
        self.utility, self.saved = np.zeros(count), np.zeros(count)  # saved: minus joules
        self.columns, self.machine_types = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        self.overestimated = np.zeros(count, dtype=bool)

    def begin_a_minute(self, ready: Floats) -> bool:
        """Let in the tasks of the next minute in which anything can start; tell whether any task waits."""
        arrivals, first = self.arrays.arrivals, self.come
        if self.of_type.any():
            now = float(ready[self._wanted()].min())
        elif first < len(arrivals):
            now = float(arrivals[first])
        else:
            return False
        self.minute_ends = MINUTE * (now // MINUTE + 1.0)
        least = first if self.of_type.any() else first + 1  # one that has come, whatever rounding says
        self.come = max(least, int(np.searchsorted(arrivals, self.minute_ends)))
        new = self.classes[first : self.come]
        for task, own in enumerate(new.tolist(), first):
            self.members[own].append(task)
        np.add.at(self.of_type, self.arrays.task_type[first : self.come], 1)
        for own in np.unique(new).tolist():
            self._look_at(own, ready)
        return True

    def has_a_use_for(self, ready: Floats) -> bool:
        """Tell whether a machine that some waiting task can run on is free before the minute is over."""
        return bool((ready[self._wanted()] < self.minute_ends).any())

    def take_the_best(self, ready: Floats) -> tuple[int, int, float]:
        """Take out the task of the best pair; return it, its column, and its end in seconds since arrival."""
        while self.overestimated[best := first_best(self.scores, self.utility, self.saved)]:
            self._look_at(best, ready)
        members, column = self.members[best], int(self.columns[best])
        function = self.day.utility_of(members[-1])
        seconds = float(self.arrays.seconds[self.arrays.task_type[members[-1]], column])
        free, arrivals = float(ready[column]), self.day.arriving.arrival_seconds

        def elapsed(task: int) -> float:
            return max(arrivals[task], free) + seconds - arrivals[task]

        most = function.at(elapsed(members[-1]))
        task = members.pop(bisect_left(members, most, key=lambda each: function.at(elapsed(each))))
        self.overestimated[best] = True
        self.scores[best] = self.scores[best] if members else -np.inf
        self.of_type[self.arrays.task_type[task]] -= 1
        return task, column, elapsed(task)

    def forget_choices_of(self, machine_type: int) -> None:
        """Note that choices of a machine type that was given a task may be worse now."""
        self.overestimated |= self.machine_types == machine_type

    def _wanted(self) -> Integers:
        """Return the columns that some waiting task can run on."""
        return np.flatnonzero(self.arrays.can_run[self.of_type > 0].any(axis=0))

    def _look_at(self, own: int, ready: Floats) -> None:
        """Find the best choice of a class."""
        best = best_choice(self.arrays, self.members[own][-1], ready, self.score)
        self.scores[own], self.utility[own], self.saved[own] = best.score, best.utility, -best.joules
        self.columns[own], self.machine_types[own] = best.column, self.arrays.mode_type[best.column]
        self.overestimated[own] = False


def _classes(arrays: DayArrays) -> Integers:
    """Return the class of each task, numbered as they first come: those of one type and utility function."""
    codes = arrays.task_type * len(arrays.first_interval) + arrays.function
    _, first, number = np.unique(codes, return_index=True, return_inverse=True)
    place: Integers = np.argsort(np.argsort(first))
    return place[number]
