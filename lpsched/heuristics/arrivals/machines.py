"""Which machine of a type runs a task, and when is a type free? Machines that nobody has used are not listed.

Machines of a type are numbered from 1, and all are free at 0. Where several are free when a task starts, it
is given to the one that became free last (ties: the lowest number), so that those that have been free for
longer stay free for tasks that came earlier and are mapped later. Machines that have never run anything come
last, by number. So 10^12 machines cost no more than the tasks there are.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats
    from lpsched.instance.day_arrays import DayArrays


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
