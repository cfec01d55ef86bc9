"""The availability profile of a cluster: which nodes are free when.

Each question and each change takes time in proportion to the number of ranges of nodes in use, times its
logarithm where something is sorted; the numbers of nodes and of seconds do not matter. How it is done:
`openings.py`.
"""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from lpsched.online.nodes.openings import (
    Openings,
    chosen,
    earliest,
    freed,
    joined,
    nodes_that_fit,
    orders_of,
    overlapping,
    taken,
)

if TYPE_CHECKING:
    from lpsched.model.arrays import Integers
    from lpsched.online.nodes.openings import Orders

Ranges: TypeAlias = tuple[tuple[int, int], ...]  # of nodes from 0, the end of each excluded, rising


class Taken(NamedTuple):
    """When a task is on which nodes."""

    start: float
    end: float
    ranges: Integers  # 2 x R: low, high


class Profile:
    """Nodes of one cluster, and the tasks that run or have reservations on them.

    >>> profile = Profile(10)
    >>> profile.insert(0, 0.0, 60.0, ((0, 8),))
    >>> profile.earliest(2, 30.0, 0.0), profile.earliest(3, 30.0, 0.0)
    (0.0, 60.0)
    >>> profile.choose(2, 30.0, 0.0)
    ((8, 10),)
    """

    def __init__(self, nodes: int) -> None:
        self.since = 0.0  # nobody asks about earlier times any more
        self.openings = Openings(
            np.zeros(1, dtype=np.int64), np.full(1, nodes, dtype=np.int64), np.zeros(1), np.full(1, math.inf)
        )
        self._orders: Orders | None = None
        self._taken: dict[int, Taken] = {}
        self._ends: list[tuple[float, int]] = []  # a heap; some are out of date

    def copy(self) -> Profile:
        """Return a profile that can be changed without changing this one."""
        made = object.__new__(Profile)
        made.since, made.openings, made._orders = self.since, self.openings, self._orders
        made._taken, made._ends = self._taken.copy(), self._ends.copy()
        return made

    def earliest(self, nodes: int, seconds: float, not_before: float, before: float = math.inf) -> float:
        """Return the first time, from `not_before` on and before `before`, from which so many nodes are free.

        They are the same nodes for the whole time from then to then + seconds. Infinite: there is none.
        """
        if self._orders is None:
            self._orders = orders_of(self.openings)
        limits = float(not_before), float(before)
        return float(earliest(self.openings, self._orders, nodes, float(seconds), limits))

    def choose(self, nodes: int, seconds: float, start: float) -> Ranges:
        """Return nodes that are free for that time: fewest voids left, then the smallest voids.

        A void before the task begins at the time of the last `forget_before`, or later. Raises ValueError
        if so many nodes are not free.
        """
        ranges = chosen(self.openings, nodes, float(start), float(start + seconds))
        if (found := int((ranges[1] - ranges[0]).sum())) < nodes:
            raise ValueError(f"{found} nodes are free from {start!r} s for {seconds!r} s, not {nodes}")
        return as_tuples(ranges)

    def insert(self, task: int, start: float, end: float, nodes: Ranges) -> None:
        """Reserve nodes for a task; raises ValueError if one of them is busy then."""
        start, end, ranges = float(start), float(end), np.array(nodes, dtype=np.int64).reshape(-1, 2).T.copy()
        wanted = int((ranges[1] - ranges[0]).sum())
        if not start < end:
            raise ValueError(f"task {task} cannot be from {start!r} s to {end!r} s")
        if task in self._taken:
            raise ValueError(f"task {task} has nodes already")
        if (free := overlapping(self.openings, start, end, ranges)[0]) != wanted:
            raise ValueError(f"task {task}: {free} of {wanted} nodes are free from {start!r} s to {end!r} s")
        self._change(taken(self.openings, start, end, ranges))
        self._taken[task] = Taken(start, end, ranges)
        heapq.heappush(self._ends, (end, task))

    def remove(self, task: int) -> None:
        """Forget a task."""
        start, end, ranges = self._taken.pop(task)
        self._free(start, end, ranges)

    def shorten(self, task: int, end: float) -> None:
        """Let a task end earlier than it was inserted with."""
        start, planned, ranges = self._taken[task]
        if not start <= end <= planned:
            raise ValueError(f"task {task} is from {start!r} s to {planned!r} s, and cannot end at {end!r} s")
        end = float(end)
        self._taken[task] = Taken(start, end, ranges)
        heapq.heappush(self._ends, (end, task))
        self._free(end, planned, ranges)

    def free_nodes(self, now: float) -> int:
        """Return how many nodes run nothing at a time."""
        return int(nodes_that_fit(self.openings, float(now), math.nextafter(now, math.inf)))

    def forget_before(self, time: float) -> None:
        """Forget tasks that have ended by a time; nobody asks about earlier times any more."""
        while self._ends and self._ends[0][0] <= time:
            end, task = heapq.heappop(self._ends)
            if task in self._taken and self._taken[task].end == end:
                del self._taken[task]
        self.since = max(self.since, float(time))
        self._change(joined(self.openings, self.since))

    def _free(self, start: float, end: float, ranges: Integers) -> None:
        start = max(start, self.since)
        if start < end:
            self._change(joined(freed(self.openings, start, end, ranges), self.since))

    def _change(self, openings: Openings) -> None:
        self.openings, self._orders = openings, None


def as_tuples(ranges: Integers) -> Ranges:
    """Return ranges of nodes (2 x R) as tuples."""
    return tuple(zip(ranges[0].tolist(), ranges[1].tolist(), strict=True))
