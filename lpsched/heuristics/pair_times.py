"""How long each task type takes on each machine type: as doubles to compare, as whole ticks to add up.

Rules about completion times use only the fastest P-state of each pair (of equally fast ones the one that
draws fewest watts, then the first). Sums of doubles depend on their order, and a rule that compares them
could choose otherwise than the same rule on paper. So ready times are whole numbers of ticks, 2^-s seconds,
with s such that every duration of the bag is a whole number of them: sums are exact, and so are ties.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lpsched.heuristics.ready_machines import Way
from lpsched.instance.arrays import arrays_of

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.arrays import BagArrays

MANTISSA_BITS = 53


@dataclass(frozen=True, slots=True)
class PairTimes:
    """Durations of the fastest P-state of every pair."""

    seconds: Floats  # T x M; infinite where the pair cannot run
    columns: Integers  # T x M: the column of that P-state
    shift: int  # 2^shift ticks are a second

    @classmethod
    def of(cls, bag: Bag) -> PairTimes:
        """Choose the fastest P-state of every pair.

        >>> from lpsched.instance import Bag, MachineType, Table, TaskType
        >>> gpu = MachineType(name="gpu", count=1, p_states=("P0", "P1"))
        >>> bag = Bag("b", (gpu,), (TaskType(name="t", count=1),), Table.of([[1.5, 0.75]]))
        >>> times = PairTimes.of(bag)
        >>> times.columns[0, 0], times.shift, times.ticks(0, 0)
        (np.int64(1), 2, 3)
        """
        arrays = arrays_of(bag)
        seconds = np.full((len(bag.task_types), len(bag.machine_types)), np.inf)
        columns = np.zeros(seconds.shape, dtype=np.int64)
        first = np.searchsorted(arrays.machine_of, np.arange(len(bag.machine_types)))
        for j, machine in enumerate(bag.machine_types):
            own = slice(first[j], first[j] + machine.modes)
            columns[:, j] = first[j] + fastest(arrays, own)
            seconds[:, j] = np.where(arrays.can_run[:, own], arrays.seconds[:, own], np.inf).min(axis=1)
        return cls(seconds, columns, shift_of(arrays.seconds[arrays.can_run]))

    def ticks(self, i: int, j: int) -> int:
        """Return the whole ticks of one task of type i on machine type j, which can run it."""
        return int(math.ldexp(float(self.seconds[i, j]), self.shift))

    def in_seconds(self, ticks: int) -> float:
        """Return ticks as seconds, rounded once."""
        return ticks / (1 << self.shift)

    def ways(self, i: int) -> list[Way]:
        """Return every way to run a task of type i: one for each machine type that can, in order."""
        can = np.flatnonzero(np.isfinite(self.seconds[i]))
        ticks = np.ldexp(self.seconds[i, can], self.shift).tolist()
        return [
            Way(j, column, int(length))
            for j, column, length in zip(can.tolist(), self.columns[i, can].tolist(), ticks, strict=True)
        ]

    def way(self, i: int, j: int) -> Way:
        """Return the fastest way to run a task of type i on machine type j, which can run it."""
        return Way(j, int(self.columns[i, j]), self.ticks(i, j))


def fastest(arrays: BagArrays, own: slice) -> Integers:
    """Return which of a machine type's own columns runs each task type fastest."""
    seconds = np.where(arrays.can_run[:, own], arrays.seconds[:, own], np.inf)
    quickest = seconds == seconds.min(axis=1, keepdims=True)
    drawn = np.zeros_like(seconds) if arrays.watts is None else arrays.watts[:, own]
    chosen: Integers = np.where(quickest, drawn, np.inf).argmin(axis=1)
    return chosen


def shift_of(seconds: Floats) -> int:
    """Return the least s >= 0 for which all these are whole numbers of 2^-s.

    >>> shift_of(np.array([3.0, 0.5, 1.25]))
    2
    """
    mantissas, exponents = np.frexp(seconds)
    whole = np.ldexp(mantissas, MANTISSA_BITS).astype(np.int64)
    zeros = np.frexp((whole & -whole).astype(float))[1] - 1  # at the end of each mantissa
    return max(0, int((MANTISSA_BITS - zeros - exponents).max()))
