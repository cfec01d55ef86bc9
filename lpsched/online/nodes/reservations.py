"""Which nodes are free when: the reservation table, and profiles of it."""

from __future__ import annotations

import heapq
import math
from bisect import insort
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lpsched.online.nodes.profile import Profile, Ranges
from lpsched.online.simulate.machines import accounts_of, charge, has_energy

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.online.arrays import ClusterArrays
    from lpsched.online.nodes.state import Placement
    from lpsched.online.parts import Period
    from lpsched.online.simulate.machines import Accounts


# What runs and what is reserved: the truth about the nodes, which only the engine changes.
#
#   run        a task on nodes of a cluster, from a start to the end that was planned: start + requested
#              seconds. It really ends after its own seconds, which nobody knows before
#   reserved   runs to come. A permanent reservation is in its cluster's profile; a place-holder is not: it is
#              forgotten at the next mapping event, unless it has started by then
#   used       joules of each piece of time (`simulate/machines.py`) that running and reserved tasks take
#
# Of equal times, tasks end before reservations start. When a task ends before its planned end, permanent
# reservations of its cluster are moved up: in the order of their starts, each to an earlier start where there
# is one, and energy for it; never to a later one.
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
        """When it ends as far as anybody knows."""
        return self.start + self.requested_seconds


class Book:
    """Runs by task, and the profiles of the clusters.

    Parameters
    ----------
    arrays, period
        Of the instance.
    placeholders
        Whether what is reserved is so only until the next mapping event.
    begins
        Is told of each run that begins.
    """

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

    def run_of(self, placement: Placement) -> Run:
        """Return the run that a placement means."""
        task, column, start, nodes = placement
        arrays = self.arrays
        k = arrays.kind[task]
        return Run(
            task,
            column,
            int(arrays.column_cluster[column]),
            int(arrays.nodes[k, column]),
            start,
            nodes,
            float(arrays.seconds[k, column]),
            float(arrays.requested_seconds[k, column]),
            float(arrays.joules[k, column]),
        )

    def has_energy(self, run: Run) -> bool:
        """Tell whether the energy of a run is left, in every piece of time that it runs in."""
        return not self.is_metered or bool(has_energy(self.accounts, 0, run.start, run.end, run.joules))

    def add(self, run: Run, now: float) -> None:
        """Let a run begin now, or reserve it; its nodes are free, and its energy is left."""
        self.runs[run.task] = run
        self._charge(self.accounts, run, run.joules)
        if run.start <= now or not self.placeholders:
            self._insert(run)
        if run.start <= now:
            self._begin(run)
        else:
            insort(self.reserved, (run.start, run.task))

    def forget_placeholders(self) -> None:
        """Forget what was reserved for the time being only."""
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
        """Return when a task ends next, as things are; infinite if none does."""
        end = self.ends[0][0] if self.ends else math.inf
        for start, task in self.reserved:
            if start >= end:
                break
            end = min(end, self.runs[task].end)
        return end

    def next_planned_end(self) -> float:
        """Return when a task ends next as far as anybody knows; infinite if nothing runs or is reserved."""
        return min((run.planned_end for run in self.runs.values()), default=math.inf)

    def advance(self, until: float) -> None:
        """Let everything happen up to a time."""
        while (time := self.next_change()) <= until and time < math.inf:
            if self.ends and self.ends[0][0] <= time:
                self._end_tasks(time)
            else:
                run = self.runs[self.reserved.pop(0)[1]]
                if self.placeholders:
                    self._insert(run)
                self._begin(run)

    def forget_before(self, now: float) -> None:
        """Let profiles forget what is over."""
        for profile in self.profiles:
            profile.forget_before(now)

    def planned_resources(self, begin: float, end: float) -> float:
        """Return the core-seconds that running and reserved tasks take between two times, as planned."""
        return math.fsum(
            (min(run.planned_end, end) - max(run.start, begin))
            * run.count
            * int(self.arrays.cores_per_node[run.cluster])
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
        """Let all tasks end that end now; then move up what may start earlier."""
        clusters = set()
        while self.ends and self.ends[0][0] <= now:
            _, task = heapq.heappop(self.ends)
            run = self.runs.pop(task)
            if now < run.planned_end:
                self.profiles[run.cluster].shorten(task, now)
                clusters.add(run.cluster)
        if clusters and self.reserved and not self.placeholders:
            self._move_up(clusters, now)

    def _move_up(self, clusters: set[int], now: float) -> None:
        for cluster in clusters:
            self.profiles[cluster].forget_before(now)
        reserved = [self.runs[task] for _, task in self.reserved]
        for run in reserved:
            if run.cluster in clusters and run.start < run.planned_end:
                self._move(run, now)
        self.reserved = sorted((run.start, run.task) for run in reserved)

    def _move(self, run: Run, now: float) -> None:
        """Move a reservation to an earlier start, if there is one."""
        profile = self.profiles[run.cluster]
        if math.isinf(profile.earliest(run.count, 0.0, now, run.start)):
            return  # at no time before are so many nodes idle, for however short
        without = profile.copy()
        without.remove(run.task)
        start = without.earliest(run.count, run.requested_seconds, now, run.start)
        if start < run.start and self._recharge(run, start):
            profile.remove(run.task)
            run.nodes = profile.choose(run.count, run.requested_seconds, start)
            self._insert(run)

    def _recharge(self, run: Run, start: float) -> bool:
        """Let a run start then, if there is energy for that; tell whether there is."""
        before = run.start
        self._charge(self.accounts, run, -run.joules)
        run.start = start
        moves = self.has_energy(run)
        if not moves:
            run.start = before
        self._charge(self.accounts, run, run.joules)
        return moves

    def _charge(self, accounts: Accounts, run: Run, joules: float) -> None:
        if self.is_metered:
            charge(accounts, 0, run.start, run.end, joules)
