"""The nodes of clusters one by one, each with a list of its tasks; what `Draft` tells, by looking at all.

Source: Machovec et al. (2016), section III.F.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lpsched.online.arrays import ClusterArrays


class Held(NamedTuple):
    """A node is a task's from one time to another, as planned."""

    start: float
    end: float
    task: int


class PlainNodes:
    """What every node of every cluster has to do."""

    def __init__(self, counts: Iterable[int]) -> None:
        self.lists: list[list[list[Held]]] = [[[] for _ in range(count)] for count in counts]

    def copy(self) -> PlainNodes:
        """Return nodes that can be changed without changing these."""
        made = PlainNodes(())
        made.lists = [[list(node) for node in cluster] for cluster in self.lists]
        return made

    def fitting(self, cluster: int, start: float, end: float) -> list[int]:
        """Return the nodes that are free from one time to another."""
        return [
            n
            for n, held in enumerate(self.lists[cluster])
            if all(each.end <= start or end <= each.start for each in held)
        ]

    def earliest(self, cluster: int, count: int, seconds: float, not_before: float, before: float = math.inf) -> float:
        """Return the first start with enough nodes: then, or when something ends; infinite if none is."""
        ends = {each.end for held in self.lists[cluster] for each in held if each.end > not_before}
        for start in sorted({not_before, *ends}):
            if start < before and len(self.fitting(cluster, start, start + seconds)) >= count:
                return start
        return math.inf

    def choose(self, cluster: int, count: int, seconds: float, start: float, now: float) -> list[int]:
        """Return the nodes to take: fewest voids left, then the shortest free stretch, then the lowest."""
        end = start + seconds

        def rank(n: int) -> tuple[int, float, int]:
            held = self.lists[cluster][n]
            begins = max([now, *(each.end for each in held if each.end <= start)])
            stops = min([math.inf, *(each.start for each in held if each.start >= end)])
            return (begins < start) + (end < stops < math.inf), stops - begins, n

        return sorted(sorted(self.fitting(cluster, start, end), key=rank)[:count])

    def put(self, cluster: int, nodes: list[int], held: Held) -> None:
        """Give nodes to a task."""
        assert set(nodes) <= set(self.fitting(cluster, held.start, held.end)), "they are free"
        for n in nodes:
            self.lists[cluster][n].append(held)

    def clear(self, task: int) -> None:
        """Take a task from its nodes."""
        for cluster in self.lists:
            for n, held in enumerate(cluster):
                cluster[n] = [each for each in held if each.task != task]


class PlainDraft:
    """An answer in the making, with the names of `lpsched/online/nodes/state.py`."""

    def __init__(  # noqa: PLR0913 - options are keyword-only
        self,
        arrays: ClusterArrays,
        nodes: PlainNodes,
        tasks: list[int],
        allowed: list[list[bool]],
        *,
        now: float,
        ends_at: float,
        energy_left: float,
        reservations: int,
    ) -> None:
        self.arrays, self.tasks, self.is_allowed = arrays, tasks, allowed
        self.plan = nodes.copy()
        self.now, self.ends_at, self.energy_left, self.reservations = now, ends_at, energy_left, reservations
        self.placements: list[tuple[int, int, float, list[int]]] = []
        self.kinds = [int(arrays.kind[task]) for task in tasks]

    def columns(self, place: int) -> list[int]:
        """Return the columns in which a task may run."""
        return [column for column, allowed in enumerate(self.is_allowed[place]) if allowed]

    def cluster(self, column: int) -> int:
        """Return the cluster of a column."""
        return int(self.arrays.column_cluster[column])

    def nodes(self, place: int, column: int) -> int:
        """Return how many nodes a task takes there."""
        return int(self.arrays.nodes[self.kinds[place], column])

    def seconds(self, place: int, column: int) -> float:
        """Return how long a task is planned to run there."""
        return float(self.arrays.requested_seconds[self.kinds[place], column])

    def earliest(self, place: int, column: int) -> float:
        """Return when a task could first start there."""
        count, seconds = self.nodes(place, column), self.seconds(place, column)
        return self.plan.earliest(self.cluster(column), count, seconds, self.now, self.ends_at)

    def joules(self, place: int, column: int) -> float:
        """Return the energy that counts today."""
        start, seconds = self.earliest(place, column), self.seconds(place, column)
        joules = float(self.arrays.watts[self.kinds[place], column]) * seconds
        return joules if start + seconds <= self.ends_at else joules * (self.ends_at - start) / seconds

    def fits(self, place: int, column: int) -> bool:
        """Tell whether a task may be placed there."""
        starts = column in self.columns(place) and self.earliest(place, column) < math.inf
        return starts and self.joules(place, column) <= self.energy_left

    def take(self, place: int, column: int) -> None:
        """Place a task as early as it can start."""
        cluster, start = self.cluster(column), self.earliest(place, column)
        seconds, task = self.seconds(place, column), self.tasks[place]
        nodes = self.plan.choose(cluster, self.nodes(place, column), seconds, start, self.now)
        self.energy_left -= self.joules(place, column)
        self.plan.put(cluster, nodes, Held(start, start + seconds, task))
        self.placements.append((task, column, start, nodes))
