"""Which nodes of a cluster are free when, by the second and the node: for reading, and as a second road.

All times are whole seconds, up to a horizon after which everything is free. A table says for each node and
second which task has it. To find the earliest start, every second is tried; to find nodes, every node.

Source: Machovec et al. (2016), section III.F.
"""

from __future__ import annotations

import math
from typing import Final

FREE: Final = -1


class SecondBySecond:
    """The nodes of one cluster."""

    def __init__(self, nodes: int, horizon: int) -> None:
        self.horizon, self.since = horizon, 0
        self.table = [[FREE] * horizon for _ in range(nodes)]

    def is_free(self, node: int, second: int) -> bool:
        """Tell whether a node runs nothing in a second."""
        return second >= self.horizon or self.table[node][second] == FREE

    def fitting(self, seconds: int, start: int) -> list[int]:
        """Return the nodes that are free from a start for so long."""
        run = range(start, start + seconds)
        return [node for node in range(len(self.table)) if all(self.is_free(node, second) for second in run)]

    def earliest(self, nodes: int, seconds: int, not_before: int, before: int | None = None) -> int | None:
        """Return the first start with enough nodes that are free all the time; `None` if there is none."""
        if nodes > len(self.table):
            return None
        for start in range(not_before, self.horizon + not_before + 1 if before is None else before):
            if len(self.fitting(seconds, start)) >= nodes:
                return start
        return None

    def stretch(self, node: int, second: int) -> tuple[int, float]:
        """Return from when to when a node is free that is free now."""
        begin = end = second
        while begin > self.since and self.is_free(node, begin - 1):
            begin -= 1
        while end < self.horizon and self.is_free(node, end):
            end += 1
        return begin, math.inf if end >= self.horizon else end

    def choose(self, nodes: int, seconds: int, start: int) -> list[int]:
        """Return the nodes to take: fewest voids left, then the shortest stretch, then the lowest."""

        def rank(node: int) -> tuple[int, float, int]:
            begin, end = self.stretch(node, start)
            voids = (begin < start) + (start + seconds < end < math.inf)
            return voids, end - begin, node

        return sorted(sorted(self.fitting(seconds, start), key=rank)[:nodes])

    def insert(self, task: int, start: int, end: int, nodes: list[int]) -> None:
        """Write a task into the table."""
        for node in nodes:
            for second in range(start, end):
                assert self.is_free(node, second), "two tasks on one node"
                self.table[node][second] = task

    def remove(self, task: int) -> None:
        """Take a task out of the table."""
        self.shorten(task, 0)

    def shorten(self, task: int, end: int) -> None:
        """Take out of the table what a task has from a time on."""
        for row in self.table:
            for second in range(end, self.horizon):
                row[second] = FREE if row[second] == task else row[second]

    def free_nodes(self, now: int) -> int:
        """Return how many nodes run nothing at a time."""
        return sum(self.is_free(node, now) for node in range(len(self.table)))

    def forget_before(self, time: int) -> None:
        """Look at no time before this one any more."""
        self.since = time
