"""Heuristics for days: all arrivals are known beforehand, and a queue is never changed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias

import numpy as np

from lpsched.online.arrays import DayArrays, day_arrays
from lpsched.online.schedule import DaySchedule, schedule_of_columns
from lpsched.online.utility import utilities
from lpsched.plugins import Named

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers
    from lpsched.online.day import Day


class DayHeuristic(Protocol):
    """Maps the tasks of a day to machines, P-states and start times."""

    def __call__(self, day: Day, rng: np.random.Generator, /, *, drop_below: float | None = None) -> DaySchedule:
        """Return a schedule; a task that would earn less than `drop_below` is dropped."""


# What a task would take and earn now, on every column: on a machine that is free at R, a task that arrives at A and
# takes e seconds there ends at max(A, R) + e and earns U(end - A). Of the machines of one type none is better than the
# one that is free first. Of choices with the same score the one of more utility wins, then less energy, then the
# earlier end, then the lowest task, then the lowest column.
class Offers(NamedTuple):
    """What a task would take and earn, one number for each column."""

    seconds: Floats
    watts: Floats
    joules: Floats
    ends: Floats
    utility: Floats


Score: TypeAlias = "Callable[[Offers], Floats]"  # the higher, the better


class Choice(NamedTuple):
    """A task's best column, and what it would get there."""

    column: int
    score: float
    utility: float
    joules: float


def best_choice(arrays: DayArrays, task: int, ready: Floats, score: Score) -> Choice:
    """Return where a task scores best on columns whose machines are free at `ready`."""
    kind, arrival = arrays.task_type[task], arrays.arrivals[task]
    seconds, watts = arrays.seconds[kind], arrays.watts[kind]
    ends, joules = np.maximum(arrival, ready) + seconds, seconds * watts
    earned = utilities(arrays, arrays.function.item(task), ends - arrival)
    scores = np.where(arrays.can_run[kind], score(Offers(seconds, watts, joules, ends, earned)), -np.inf)
    best = first_best(scores, earned, -joules, -ends)
    return Choice(best, float(scores[best]), float(earned[best]), float(joules[best]))


def first_best(*keys: Floats) -> int:
    """Return the place of the best choice by the first key, of equal ones by the second, ...; then the first.

    Keys are the higher the better.

    >>> first_best(np.array([1.0, 2.0, 2.0]), np.array([9.0, 4.0, 4.0]), np.array([5.0, 6.0, 7.0]))
    2
    """
    best = np.flatnonzero(keys[0] == keys[0].max())
    for key in keys[1:]:
        if len(best) == 1:
            break
        values = key[best]
        best = best[values == values.max()]
    return int(best[0])


def _ratio(earned: Floats, spent: Floats) -> Floats:
    """Return a ratio, infinite where nothing is spent: of a task that takes no energy, time or power.

    >>> _ratio(np.array([8.0, 0.0, 3.0]), np.array([4.0, 5.0, 0.0])).tolist()
    [2.0, 0.0, inf]
    """
    return np.divide(earned, spent, out=np.full_like(earned, np.inf), where=spent > 0.0)


def _per_joule(offer: Offers) -> Floats:
    return _ratio(offer.utility, offer.joules)


# Machines of a type are numbered from 1, and all are free at 0. Where several are free when a task starts, it is given
# to the one that became free last (ties: the lowest number), so that those that have been free for longer stay free for
# tasks that came earlier and are mapped later. Machines that have never run anything come last, by number, and are not
# listed: 10^12 machines cost no more than the tasks there are.
class Machines:
    """What the machines run; `ready` has, for each column, when the first machine of its type is free."""

    def __init__(self, day: Day) -> None:
        self.day, self.arrays = day, day_arrays(day)
        self._counts: list[int] = self.arrays.machine_counts.tolist()
        self._used: list[list[tuple[float, int]]] = [[] for _ in self._counts]  # free from, minus number
        edges = np.searchsorted(self.arrays.mode_type, np.arange(len(self._counts) + 1)).tolist()
        self.columns = [slice(low, high) for low, high in pairwise(edges)]
        self.ready: Floats = np.zeros(len(self.arrays.mode_type))
        self.placed: list[tuple[int, int, int, float]] = []

    def run(self, task: int, column: int) -> int:
        """Run a task in a column as soon as a machine is free; return the number of its machine type."""
        arrays, machine_type = self.arrays, int(self.arrays.mode_type[column])
        start = max(float(arrays.arrivals[task]), float(self.ready[column]))
        used, count = self._used[machine_type], self._counts[machine_type]
        last = bisect_right(used, (start, 0)) - 1
        machine = -used.pop(last)[1] if last >= 0 else len(used) + 1
        assert machine <= count, "a machine is free"
        insort(used, (start + float(arrays.seconds[arrays.task_type[task], column]), -machine))
        if len(used) == count:
            self.ready[self.columns[machine_type]] = used[0][0]
        self.placed.append((task, column, machine, start))
        return machine_type

    def schedule(self) -> DaySchedule:
        """Return what runs, by task."""
        return schedule_of_columns(self.day, sorted(self.placed))


# One stage: tasks in the order of their arrival, each for good on what scores best for it at that time. With
# `drop_below`, a task that would earn less than that there is dropped, and takes no machine's time.
# Source: Friese, thesis of 2015, section 5.5.2; 2.4.4 for dropping.
def one_stage(score: Score) -> DayHeuristic:
    """Return the rule that sends each task, as it arrives, where a score is highest."""

    def place(day: Day, _rng: np.random.Generator, /, *, drop_below: float | None = None) -> DaySchedule:
        machines = Machines(day)
        for task in range(day.tasks):
            best = best_choice(machines.arrays, task, machines.ready, score)
            if drop_below is None or best.utility >= drop_below:
                machines.run(task, best.column)
        return machines.schedule()

    return place


# Random: each task, as it arrives, on any machine that can run it, in any P-state of that machine that can, all equally
# likely (machines, not machine types). The first population of a genetic algorithm is made of this, and it is what a
# rule must beat.
# Source: Friese, thesis of 2015, section 2.4.2.1.
def random_machine(day: Day, rng: np.random.Generator, *, drop_below: float | None = None) -> DaySchedule:
    """Return a schedule by chance; the queues are in the order of arrival."""
    arrays, placed = day_arrays(day), []
    ready: dict[tuple[int, int], float] = {}  # of the machines that have run something
    for task, (kind, arrival) in enumerate(zip(arrays.task_type.tolist(), arrays.arrivals.tolist(), strict=True)):
        columns = np.flatnonzero(arrays.can_run[kind])
        types = np.unique(arrays.mode_type[columns])
        ends_at = np.cumsum(arrays.machine_counts[types])
        drawn = int(rng.integers(ends_at[-1]))
        place = int(np.searchsorted(ends_at, drawn, side="right"))
        used = int(types[place])
        machine = drawn - int(ends_at[place]) + int(arrays.machine_counts[used]) + 1
        column = int(rng.choice(columns[arrays.mode_type[columns] == used]))
        start = max(arrival, ready.get((used, machine), 0.0))
        end = start + float(arrays.seconds[kind, column])
        if drop_below is None or day.utility_of(task).at(end - arrival) >= drop_below:
            ready[used, machine] = end
            placed.append((task, column, machine, start))
    return schedule_of_columns(day, placed)


# Min-min completion time: of all tasks of the day, the one that can end first, there; then the next. Two stages: each
# task's earliest end over all machines and P-states, and the earliest of these ends. No task starts before it arrives.
#
# Of one task type only the first task that is not mapped can be next: on a machine that is free at R, a task that
# arrives at A ends at max(A, R) + e, which never falls as A rises. So a step compares one task of each type. Ties go to
# less energy, then to the lowest task, then to the lowest column. With `drop_below`, a chosen task that would earn less
# is dropped.
# Source: Friese, thesis of 2015, section 5.5.2.4.
def min_min(day: Day, _rng: np.random.Generator, *, drop_below: float | None = None) -> DaySchedule:
    """Return the schedule that maps the earliest end first."""
    machines = Machines(day)
    arrays = machines.arrays
    seconds, joules = np.where(arrays.can_run, arrays.seconds, np.inf), arrays.seconds * arrays.watts
    queues = [iter(np.flatnonzero(arrays.task_type == kind).tolist()) for kind in range(len(seconds))]
    firsts = [next(queue, -1) for queue in queues]  # the first task of each type that is not mapped; -1: none
    arrivals = np.array([np.inf if task < 0 else arrays.arrivals[task] for task in firsts])
    ends = np.maximum(arrivals[:, np.newaxis], machines.ready) + seconds
    for _ in range(day.tasks):
        kinds, columns = np.nonzero(ends == ends.min())
        if len(kinds) > 1:
            least = joules[kinds, columns] == joules[kinds, columns].min()
            kinds, columns = kinds[least], columns[least]
        place = min(range(len(kinds)), key=lambda each: firsts[kinds[each]])
        kind, column = int(kinds[place]), int(columns[place])
        task, elapsed = firsts[kind], float(ends[kind, column] - arrivals[kind])
        if drop_below is None or day.utility_of(task).at(elapsed) >= drop_below:
            own = machines.columns[machines.run(task, column)]
            ends[:, own] = np.maximum(arrivals[:, np.newaxis], machines.ready[own]) + seconds[:, own]
        firsts[kind] = next(queues[kind], -1)
        arrivals[kind] = np.inf if firsts[kind] < 0 else arrays.arrivals[firsts[kind]]
        ends[kind] = np.maximum(arrivals[kind], machines.ready) + seconds[kind]
    return machines.schedule()


# Two stages, minute by minute: the first finds for each waiting task the machine and P-state of the highest score, the
# second the task whose score is highest of all. It is mapped, its machine's ready time moves on, and both stages begin
# again, until no task waits, or every machine that one of them can run on has work until the minute is over. The others
# wait for the next minute, when better tasks that come later may overtake them. With `drop_below`, a chosen task that
# would earn less is dropped.
#
# Tasks of one type with one utility function differ only in their arrival. Of those that wait, the last to arrive earns
# the most everywhere, so it represents its class; and of those that would earn as much as it does where it is best, the
# first to arrive is taken. Between classes, ties go to more utility, then less energy, then the class that came first.
#
# No score rises as machines get busier or tasks leave. So a class's best choice stays the best until its machine type,
# or the class itself, has a task mapped. After that it may be overestimated, and is looked at again if it comes out on
# top: however many tasks are alike, a step looks at few classes.
#
# The thesis has these heuristics from its online simulator, where all waiting tasks are mapped anew each minute, but
# for the next one of each machine. Here what is mapped stays mapped.
# Source: Friese, thesis of 2015, section 7.3.4; 2.7.1 for the minute.
MINUTE: Final = 60.0


def two_stages(score: Score) -> DayHeuristic:
    """Return the rule that maps, of each minute's tasks, the one of the highest score first; then the next."""

    def place(day: Day, _rng: np.random.Generator, /, *, drop_below: float | None = None) -> DaySchedule:
        machines = Machines(day)
        waiting = _Waiting(day, machines.arrays, score)
        while waiting.begin_a_minute(machines.ready):
            goes_on = True
            while goes_on:  # a minute maps one task at least
                task, column, elapsed = waiting.take_the_best(machines.ready)
                if drop_below is None or day.utility_of(task).at(elapsed) >= drop_below:
                    waiting.overestimated |= waiting.machine_types == machines.run(task, column)
                goes_on = bool((machines.ready[waiting.wanted()] < waiting.minute_ends).any())
        return machines.schedule()

    return place


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
        self.overestimated = np.zeros(count, dtype=bool)  # maybe: its machine type was given a task since

    def begin_a_minute(self, ready: Floats) -> bool:
        """Add the tasks of the next minute in which anything can start; return whether any task waits."""
        arrivals, first = self.arrays.arrivals, self.come
        if self.of_type.any():
            now = float(ready[self.wanted()].min())
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

    def wanted(self) -> Integers:
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


# The heuristics for days, by name: built-in ones, registered ones, those of installed packages (`docs/guides/days.md`).
# Sections are those of Friese, thesis of 2015. The verifier checks every schedule before a number of it is shown.
OF_DAYS: Final[Named[DayHeuristic]] = Named(
    "day",
    "lpsched.day_heuristics",
    {
        # Where a task takes the least energy: if none is dropped, no schedule of all tasks takes less (5.5.2.1).
        "min-energy": one_stage(lambda offer: -offer.joules),
        # Where it earns the most. Utility never rises, so that is where it ends first. Often it earns as much elsewhere
        # because its utility has not begun to fall, or is down to nothing: then it goes where that takes the least
        # energy (5.5.2.2).
        "max-utility": one_stage(lambda offer: offer.utility),
        "utility-per-energy": one_stage(_per_joule),  # without energy: where it earns the most (5.5.2.3)
        "mct": one_stage(lambda offer: -offer.ends),  # where it ends first: Maheswaran and others, 1999
        "min-min": min_min,
        "max-max-utility": two_stages(lambda offer: offer.utility),  # section 7.3.4, as the next three
        "max-max-utility-per-time": two_stages(lambda offer: _ratio(offer.utility, offer.seconds)),
        "max-max-utility-per-power": two_stages(lambda offer: _ratio(offer.utility, offer.watts)),
        "max-max-utility-per-energy": two_stages(_per_joule),
        "random": random_machine,
    },
)


register_for_days, forget_for_days = OF_DAYS.register, OF_DAYS.forget
names_for_days, heuristic_for_days = OF_DAYS.names, OF_DAYS.get
