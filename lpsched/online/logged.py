"""The schedule of a log: when its tasks really started, on nodes that are chosen here."""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lpsched.errors import PolicyError
from lpsched.online.result.policy import AS_LOGGED
from lpsched.online.schedule import ClustersSchedule, PlacedOnNodes
from lpsched.units import counted, duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lpsched.online.clusters import Clusters, Run


# A log has the start of each task, and how many nodes it took. Which ones does not matter: nodes of a cluster are
# alike, so each task gets the lowest ones that are free when it starts. Where more tasks run at one time than there are
# nodes, some cannot start when the log says: a second is the unit of most logs, a run of 0 s is counted as half a
# second, and the size of the system may be given too small. Such a task starts as soon as enough nodes are free, the
# first by logged start first; how many did, and by how much, is reported. The verifier measures the result as it
# measures the schedule of any policy.
@dataclass(frozen=True, slots=True)
class GivenStarts:
    """The schedule, and the tasks that start later than given."""

    schedule: ClustersSchedule
    mean_wait: float  # with the starts as given
    moved: int
    most_seconds: float

    @property
    def note(self) -> str | None:
        """What was changed, in a sentence; `None` if nothing was."""
        if not self.moved:
            return None
        starts = f"{counted(self.moved, 'start')} of the log {'is' if self.moved == 1 else 'are'} moved"
        later = duration(self.most_seconds)
        why = f"by at most {later}: more ran at once than fits; the log's own mean wait is {duration(self.mean_wait)}"
        return f"{AS_LOGGED}: {starts} to when enough nodes are free, {why}."


def logged_schedule(clusters: Clusters) -> GivenStarts:
    """Return the log as a schedule.

    Raises
    ------
    PolicyError
        If the log does not say where tasks ran, because one can run on several clusters or in several P-states.
    """
    logged = clusters.arriving.logged_start_seconds
    assert logged is not None, "the instance has logged starts"
    columns = [_only_column(clusters, kind) for kind in range(len(clusters.kinds))]
    return on_nodes(clusters, logged, [columns[kind] for kind in memoryview(clusters.kind_numbers).cast("q")])


def on_nodes(clusters: Clusters, starts: Sequence[float], columns: Sequence[int]) -> GivenStarts:
    """Return the schedule of tasks with given starts and columns; those that find no nodes start later."""
    own: list[list[int]] = [[] for _ in clusters.clusters]
    for task in sorted(range(clusters.tasks), key=lambda task: (starts[task], task)):
        own[clusters.modes[columns[task]][0]].append(task)
    placed, moved, most = [], 0, 0.0
    for cluster, tasks in zip(clusters.clusters, own, strict=True):
        queue = deque((starts[task], task) for task in tasks)
        for task, start, nodes in _replayed(clusters, queue, columns, cluster.nodes):
            placed.append(PlacedOnNodes(task, cluster.name, nodes, start, clusters.p_state(columns[task])))
            moved += start > starts[task]
            most = max(most, start - starts[task])
    waits = (start - arrival for start, arrival in zip(starts, clusters.arriving.arrival_seconds, strict=True))
    return GivenStarts(ClustersSchedule(tuple(placed)), math.fsum(waits) / clusters.tasks, moved, most)


def _only_column(clusters: Clusters, kind: int) -> int:
    own = clusters.kinds[kind]
    found = [column for column, run in enumerate(clusters.runs(own.task_type, own.cores)) if run is not None]
    if len(found) != 1:
        name = clusters.task_types[own.task_type].name
        raise PolicyError(f"the log does not say where tasks ran: {name!r} can run in {len(found)} ways")
    return found[0]


def _replayed(
    clusters: Clusters, queue: deque[tuple[float, int]], columns: Sequence[int], nodes: int
) -> Iterator[tuple[int, float, tuple[tuple[int, int], ...]]]:
    """Yield the tasks of one cluster with their starts and nodes; `queue` has given start and task, by start."""
    kinds, kind_of = clusters.kinds, memoryview(clusters.kind_numbers).cast("q")
    free, running = FreeNodes(nodes), list[tuple[float, int, tuple[tuple[int, int], ...]]]()
    late: list[tuple[int, Run, float]] = []  # tasks that could not start, with their runs and seconds
    while queue or late:
        now = queue[0][0] if queue and not (running and running[0][0] < queue[0][0]) else running[0][0]
        while running and running[0][0] <= now:
            free.give(heapq.heappop(running)[-1])
        due = late
        while queue and queue[0][0] <= now:
            _, task = queue.popleft()
            own = kinds[kind_of[task]]
            run = clusters.runs(own.task_type, own.cores)[columns[task]]
            assert run is not None, "the column is one that can run it"
            due.append((task, run, own.work * run.seconds))
        late = []
        for task, run, seconds in due:
            taken = free.take(run.nodes)
            if taken is None:
                late.append((task, run, seconds))
                continue
            heapq.heappush(running, (now + seconds, task, taken))
            yield task, now, taken


class FreeNodes:
    """The free nodes of a cluster, as rising ranges that do not touch.

    >>> free = FreeNodes(5)
    >>> free.take(2), free.take(2), free.take(2)
    (((1, 2),), ((3, 4),), None)
    >>> free.give(((1, 2),)); free.take(3)
    ((1, 2), (5, 5))
    """

    def __init__(self, nodes: int) -> None:
        self.count = nodes
        self.ranges = [(1, nodes)]

    def take(self, count: int) -> tuple[tuple[int, int], ...] | None:
        """Return the lowest free nodes, which are free no longer; `None` if there are not enough."""
        if count > self.count:
            return None
        self.count -= count
        taken: list[tuple[int, int]] = []
        used = 0
        while count:
            first, last = self.ranges[used]
            most = min(last, first + count - 1)
            taken.append((first, most))
            count -= most - first + 1
            if most < last:
                self.ranges[used] = (most + 1, last)
            else:
                used += 1
        del self.ranges[:used]
        return tuple(taken)

    def give(self, nodes: tuple[tuple[int, int], ...]) -> None:
        """Let nodes be free again."""
        for first, last in nodes:
            self.count += last - first + 1
            place = bisect_left(self.ranges, (first, last))
            low, high, begin, end = first, last, place, place
            if place and self.ranges[place - 1][1] == first - 1:
                low, begin = self.ranges[place - 1][0], place - 1
            if place < len(self.ranges) and self.ranges[place][0] == last + 1:
                high, end = self.ranges[place][1], place + 1
            self.ranges[begin:end] = [(low, high)]
