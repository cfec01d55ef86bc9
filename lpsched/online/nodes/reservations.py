"""Which nodes are free when: availability profiles of clusters, and the reservation table of all of them."""

from __future__ import annotations

import heapq
import math
from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from lpsched.online.nodes import free_slots
from lpsched.online.simulate.machines import Accounts, accounts_of, charge, has_energy

if TYPE_CHECKING:
    from lpsched.model.table import Integers
    from lpsched.online.arrays import ClusterArrays
    from lpsched.online.parts import Period

Ranges: TypeAlias = tuple[tuple[int, int], ...]  # of nodes from 0, the end of each excluded, rising


# Each query and each change of a profile takes time in proportion to the number of ranges of nodes in use, times its
# logarithm where something is sorted, whatever the numbers of nodes and seconds (`free_slots.py`).
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
        self.since = 0.0  # earlier times are forgotten
        self.slots = free_slots.FreeSlots(
            np.zeros(1, dtype=np.int64), np.full(1, nodes, dtype=np.int64), np.zeros(1), np.full(1, math.inf)
        )
        self._all = np.array([[0], [nodes]])  # the range of all nodes
        self._orders: free_slots.Orders | None = None
        self._taken: dict[int, tuple[float, float, Integers]] = {}  # start, end, ranges (2 x R: low, high) of tasks
        self._ends: list[tuple[float, int]] = []  # a heap; some are out of date

    def copy(self) -> Profile:
        """Return a profile that can be changed without changing this one."""
        made = object.__new__(Profile)
        made.since, made.slots, made._orders, made._all = self.since, self.slots, self._orders, self._all
        made._taken, made._ends = self._taken.copy(), self._ends.copy()
        return made

    def earliest(self, nodes: int, seconds: float, not_before: float, before: float = math.inf) -> float:
        """Return the first start, from `not_before` on and before `before`, at which nodes are free; infinite: none."""
        if self._orders is None:
            self._orders = free_slots.orders_of(self.slots)
        limits = float(not_before), float(before)
        return float(free_slots.earliest(self.slots, self._orders, nodes, float(seconds), limits))

    def choose(self, nodes: int, seconds: float, start: float) -> Ranges:
        """Return nodes that are free for that time: fewest voids left, then the smallest voids.

        A void before the task begins at the time of the last `forget_before`, or later; a `ValueError` if too few are
        free.
        """
        ranges = free_slots.chosen(self.slots, nodes, float(start), float(start + seconds))
        if (found := int((ranges[1] - ranges[0]).sum())) < nodes:
            raise ValueError(f"{found} nodes are free from {start!r} s for {seconds!r} s, not {nodes}")
        return as_tuples(ranges)

    def insert(self, task: int, start: float, end: float, nodes: Ranges) -> None:
        """Reserve nodes for a task; raise a `ValueError` if one of them is busy then."""
        start, end, ranges = float(start), float(end), np.array(nodes, dtype=np.int64).reshape(-1, 2).T.copy()
        wanted = sum(high - low for low, high in nodes)
        if not start < end:
            raise ValueError(f"task {task} cannot be from {start!r} s to {end!r} s")
        if task in self._taken:
            raise ValueError(f"task {task} has nodes already")
        if (free := free_slots.overlapping(self.slots, start, end, ranges)[0]) != wanted:
            raise ValueError(f"task {task}: {free} of {wanted} nodes are free from {start!r} s to {end!r} s")
        self._change(free_slots.taken(self.slots, start, end, ranges))
        self._taken[task] = start, end, ranges
        heapq.heappush(self._ends, (end, task))

    def remove(self, task: int) -> None:
        """Forget a task."""
        self._free(*self._taken.pop(task))

    def shorten(self, task: int, end: float) -> None:
        """Let a task end earlier than it was inserted with."""
        start, planned, ranges = self._taken[task]
        if not start <= end <= planned:
            raise ValueError(f"task {task} is from {start!r} s to {planned!r} s, and cannot end at {end!r} s")
        end = float(end)
        self._taken[task] = start, end, ranges
        heapq.heappush(self._ends, (end, task))
        self._free(end, planned, ranges)

    def free_nodes(self, now: float) -> int:
        """Return how many nodes run nothing at a time."""
        return int(free_slots.overlapping(self.slots, float(now), math.nextafter(now, math.inf), self._all)[0])

    def forget_before(self, time: float) -> None:
        """Forget tasks that have ended by a time, and all earlier times."""
        while self._ends and self._ends[0][0] <= time:
            end, task = heapq.heappop(self._ends)
            if task in self._taken and self._taken[task][1] == end:
                del self._taken[task]
        self.since = max(self.since, float(time))
        self._change(free_slots.joined(self.slots, self.since))

    def _free(self, start: float, end: float, ranges: Integers) -> None:
        start = max(start, self.since)
        if start < end:
            self._change(free_slots.joined(free_slots.freed(self.slots, start, end, ranges), self.since))

    def _change(self, slots: free_slots.FreeSlots) -> None:
        self.slots, self._orders = slots, None


def as_tuples(ranges: Integers) -> Ranges:
    """Return ranges of nodes (2 x R) as tuples."""
    return tuple(zip(ranges[0].tolist(), ranges[1].tolist(), strict=True))


# What runs and what is reserved; only the engine changes it.
#   run        a task on nodes of a cluster, from a start to its planned end: start + requested seconds. It really ends
#              after its own seconds, which are not known before
#   reserved   runs to come. A permanent reservation is in its cluster's profile; a place-holder is not: it is dropped
#              at the next scheduling event, unless it has started by then
#   used       joules of each segment of time (`simulate/machines.py`) that running and reserved tasks take
# At equal times, tasks end before reservations start. When a task ends before its planned end, permanent reservations
# of its cluster move up: in the order of their starts, each to an earlier start where there is one, and energy for it.
@dataclass(slots=True)
class Run:
    """A task that runs, or will."""

    task: int
    column: int
    cluster: int
    count: int  # of nodes
    start: float
    nodes: Ranges
    seconds: float
    requested_seconds: float
    joules: float

    @property
    def end(self) -> float:
        """When it really ends."""
        return self.start + self.seconds

    @property
    def planned_end(self) -> float:
        """When it ends as planned."""
        return self.start + self.requested_seconds


class ReservationTable:
    """Runs by task, and profiles; `begins` is called with each run that begins."""

    def __init__(
        self, arrays: ClusterArrays, period: Period, begins: Callable[[Run], None], *, placeholders: bool
    ) -> None:
        self.arrays, self.begins, self.placeholders = arrays, begins, placeholders
        self.profiles = tuple(Profile(int(nodes)) for nodes in arrays.node_counts)
        self.accounts = accounts_of(period)
        self.is_metered = not np.isinf(self.accounts.limits).all()
        self.started = self.accounts._replace(used=self.accounts.used.copy())  # without what place-holders take
        self.runs: dict[int, Run] = {}
        self.ends: list[tuple[float, int]] = []  # a heap of what runs
        self.reserved: list[tuple[float, int]] = []  # starts, rising

    def run_of(self, task: int, column: int, start: float, nodes: Ranges) -> Run:
        """Return the run of a placement."""
        arrays = self.arrays
        k, cluster = arrays.kind[task], int(arrays.column_cluster[column])
        amounts = (float(each[k, column]) for each in (arrays.seconds, arrays.requested_seconds, arrays.joules))
        return Run(task, column, cluster, int(arrays.nodes[k, column]), start, nodes, *amounts)

    def has_energy(self, run: Run) -> bool:
        """Return whether the energy of a run is left, in every segment of time that it runs in."""
        return not self.is_metered or bool(has_energy(self.accounts, 0, run.start, run.end, run.joules))

    def add(self, run: Run, now: float, *, is_inserted: bool = False) -> None:
        """Start a run now, or reserve it; its nodes are free, or its own already, and its energy is left."""
        self.runs[run.task] = run
        self._charge(self.accounts, run, run.joules)
        if not is_inserted and (run.start <= now or not self.placeholders):
            self._insert(run)
        if run.start <= now:
            self._begin(run)
        else:
            insort(self.reserved, (run.start, run.task))

    def forget_placeholders(self) -> None:
        """Drop all place-holders."""
        if self.placeholders:
            for _, task in self.reserved:
                del self.runs[task]
            self.reserved.clear()
            self.accounts.used[:] = self.started.used

    def next_change(self) -> float:
        """Return when something ends or starts next; infinite if nothing does."""
        end = self.ends[0][0] if self.ends else math.inf
        return min(end, self.reserved[0][0]) if self.reserved else end

    def next_end(self) -> float:
        """Return when a task ends next by the current reservations; infinite if none does."""
        end = self.ends[0][0] if self.ends else math.inf
        for start, task in self.reserved:
            if start >= end:
                break
            end = min(end, self.runs[task].end)
        return end

    def next_planned_end(self) -> float:
        """Return when a task ends next as planned; infinite if nothing runs or is reserved."""
        return min((run.planned_end for run in self.runs.values()), default=math.inf)

    def advance(self, until: float) -> None:
        """Process all starts and ends up to a time."""
        while (time := self.next_change()) <= until and time < math.inf:
            if self.ends and self.ends[0][0] <= time:
                self._end_tasks(time)
            else:
                run = self.runs[self.reserved.pop(0)[1]]
                if self.placeholders:
                    self._insert(run)
                self._begin(run)

    def planned_resources(self, begin: float, end: float) -> float:
        """Return the core-seconds that running and reserved tasks take between two times, as planned."""
        cores: list[int] = self.arrays.cores_per_node.tolist()
        return math.fsum(
            (min(run.planned_end, end) - max(run.start, begin)) * run.count * cores[run.cluster]
            for run in self.runs.values()
            if run.planned_end > begin and run.start < end
        )

    def _begin(self, run: Run) -> None:
        if self.placeholders:
            self._charge(self.started, run, run.joules)
        heapq.heappush(self.ends, (run.end, run.task))
        self.begins(run)

    def _insert(self, run: Run) -> None:
        if run.start < run.planned_end:  # a short run late may take no time in doubles
            self.profiles[run.cluster].insert(run.task, run.start, run.planned_end, run.nodes)

    def _end_tasks(self, now: float) -> None:
        """End all tasks that end now; then move up what may start earlier."""
        clusters = set()
        while self.ends and self.ends[0][0] <= now:
            _, task = heapq.heappop(self.ends)
            run = self.runs.pop(task)
            if now < run.planned_end:
                self.profiles[run.cluster].shorten(task, now)
                clusters.add(run.cluster)
        if not (clusters and self.reserved) or self.placeholders:
            return
        for cluster in clusters:
            self.profiles[cluster].forget_before(now)
        reserved = [self.runs[task] for _, task in self.reserved]
        for run in reserved:
            if run.cluster in clusters and run.start < run.planned_end:
                self._move(run, now)
        self.reserved = sorted((run.start, run.task) for run in reserved)

    def _move(self, run: Run, now: float) -> None:
        """Move a reservation to an earlier start, if there is one, and energy for it."""
        profile, before = self.profiles[run.cluster], run.start
        if math.isinf(profile.earliest(run.count, 0.0, now, before)):
            return  # at no time before are enough nodes idle
        without = profile.copy()
        without.remove(run.task)
        start = without.earliest(run.count, run.requested_seconds, now, before)
        if start >= before:
            return
        self._charge(self.accounts, run, -run.joules)
        run.start = start
        moves = self.has_energy(run)
        run.start = start if moves else before
        self._charge(self.accounts, run, run.joules)
        if moves:
            profile.remove(run.task)
            run.nodes = profile.choose(run.count, run.requested_seconds, start)
            self._insert(run)

    def _charge(self, accounts: Accounts, run: Run, joules: float) -> None:
        if self.is_metered:
            charge(accounts, 0, run.start, run.end, joules)
