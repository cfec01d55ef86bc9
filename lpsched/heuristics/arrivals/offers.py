"""What would a task take and earn now, on every column? The one step that all heuristics of days share.

On a machine that is free at R, a task that arrives at A and takes e seconds there ends at max(A, R) + e and
earns U(end - A). Of the machines of one type none is better than the one that is free first; `machines.py`
says which of several that are free is taken.

Of choices with the same score the one of more utility wins, then the one of less energy, then the one that
ends earlier, then the lowest task, then the lowest column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from lpsched.instance.day_arrays import utility

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.instance.array_types import Floats, Mask
    from lpsched.instance.day_arrays import DayArrays


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
    earned = utility(arrays, task, ends - arrival)
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
