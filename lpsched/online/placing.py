"""What heuristics of days are made of: offers of a task and their scores, free machines, placed tasks."""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from lpsched.online.schedule import DaySchedule, PlacedTask
from lpsched.online.utility import utilities

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.model.arrays import Floats, Mask
    from lpsched.online.arrays import DayArrays
    from lpsched.online.day import Day


# What would a task take and earn now, on every column? The one step that all heuristics of days share.
#
# On a machine that is free at R, a task that arrives at A and takes e seconds there ends at max(A, R) + e and
# earns U(end - A). Of the machines of one type none is better than the one that is free first; `FreeMachines`
# says which of several that are free is taken.
#
# Of choices with the same score the one of more utility wins, then the one of less energy, then the one that
# ends earlier, then the lowest task, then the lowest column.
@dataclass(frozen=True, slots=True, eq=False)
class Offers:
    """One number for each column; `can_run` is False where the pair is absent."""

    can_run: Mask
    seconds: Floats
    watts: Floats
    ends: Floats
    utility: Floats

    @property
    def joules(self) -> Floats:
        """The energy of the task."""
        return self.seconds * self.watts


Score: TypeAlias = "Callable[[Offers], Floats]"  # the higher, the better


@dataclass(frozen=True, slots=True)
class Choice:
    """A task's best column, and what it would get there."""

    column: int
    score: float
    utility: float
    joules: float
    end: float


def best_choice(arrays: DayArrays, task: int, ready: Floats, score: Score) -> Choice:
    """Return where a task scores best on columns whose machines are free at `ready`."""
    kind, arrival = arrays.task_type[task], arrays.arrivals[task]
    seconds = arrays.seconds[kind]
    ends = np.maximum(arrival, ready) + seconds
    earned = utilities(arrays, arrays.function.item(task), ends - arrival)
    offers = Offers(arrays.can_run[kind], seconds, arrays.watts[kind], ends, earned)
    joules = offers.joules
    scores = np.where(offers.can_run, score(offers), -np.inf)
    best = first_best(scores, earned, -joules, -ends)
    return Choice(best, *(float(each[best]) for each in (scores, earned, joules, ends)))


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


# What heuristics of days look for: one number for each choice, the higher the better.
#
# A task that takes no energy (or power) has infinite utility per joule (or watt).
def by_end(offer: Offers) -> Floats:
    """Score by the completion time, the earliest best."""
    return -offer.ends


def by_energy(offer: Offers) -> Floats:
    """Score by energy, the least best."""
    return -offer.joules


def by_utility(offer: Offers) -> Floats:
    """Score by utility."""
    return offer.utility


def by_utility_per_energy(offer: Offers) -> Floats:
    """Score by utility per joule."""
    return _per(offer.utility, offer.joules)


def by_utility_per_power(offer: Offers) -> Floats:
    """Score by utility per watt."""
    return _per(offer.utility, offer.watts)


def by_utility_per_time(offer: Offers) -> Floats:
    """Score by utility per second of machine time."""
    return _per(offer.utility, offer.seconds)


def _per(earned: Floats, spent: Floats) -> Floats:
    """Return a ratio, infinite where nothing is spent.

    >>> _per(np.array([8.0, 0.0, 3.0]), np.array([4.0, 5.0, 0.0])).tolist()
    [2.0, 0.0, inf]
    """
    return np.divide(earned, spent, out=np.full_like(earned, np.inf), where=spent > 0.0)


# Which machine of a type runs a task, and when is a type free? Machines that nobody has used are not listed.
#
# Machines of a type are numbered from 1, and all are free at 0. Where several are free when a task starts, it
# is given to the one that became free last (ties: the lowest number), so that those that have been free for
# longer stay free for tasks that came earlier and are mapped later. Machines that have never run anything
# come last, by number. So 10^12 machines cost no more than the tasks there are.
class FreeMachines:
    """When the machines are free; `ready` has, for each column, when the first one of its type is."""

    def __init__(self, arrays: DayArrays) -> None:
        self.arrays = arrays
        self._counts: list[int] = arrays.machine_counts.tolist()
        self._used: list[list[tuple[float, int]]] = [[] for _ in self._counts]  # free from, minus number
        edges = np.searchsorted(arrays.mode_type, np.arange(len(self._counts) + 1)).tolist()
        self.columns = [slice(low, high) for low, high in pairwise(edges)]
        self.ready: Floats = np.zeros(len(arrays.mode_type))

    def take(self, machine_type: int, start: float, end: float) -> int:
        """Keep a machine of a type busy from `start` to `end`; return its number."""
        used, count = self._used[machine_type], self._counts[machine_type]
        last = bisect_right(used, (start, 0)) - 1
        machine = -used.pop(last)[1] if last >= 0 else len(used) + 1
        assert machine <= count, "a machine is free"
        insort(used, (end, -machine))
        if len(used) == count:
            self.ready[self.columns[machine_type]] = used[0][0]
        return machine


class Placing:
    """Collects tasks as they are placed; a task that never is, is dropped."""

    def __init__(self, day: Day) -> None:
        self._modes = []
        for j, k in day.modes:
            kind = day.machine_types[j]
            self._modes.append((kind.name, None if kind.p_states is None else kind.p_states[k]))
        self._placed: list[PlacedTask] = []

    def place(self, task: int, column: int, machine: int, start_seconds: float) -> None:
        """Run a task on a machine of a column's type, in that column's P-state."""
        machine_type, p_state = self._modes[column]
        self._placed.append(PlacedTask(task, machine_type, machine, start_seconds, p_state))

    def schedule(self) -> DaySchedule:
        """Return all of it, by task."""
        return DaySchedule(tuple(sorted(self._placed, key=lambda each: each.task)))
