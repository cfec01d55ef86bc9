"""The engine of clusters: events in time order, tasks that begin, end and are dropped."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.cancellation import Watch
from lpsched.errors import Fault, InstanceError, StalledError
from lpsched.online.arrays import cluster_arrays
from lpsched.online.nodes.filters import filter_of
from lpsched.online.nodes.reservations import Book
from lpsched.online.nodes.state import Checker, ClusterState, answer_of
from lpsched.online.schedule import ClustersSchedule, PlacedOnNodes
from lpsched.online.simulate.filters import earned_at, steps_to
from lpsched.online.simulate.machines import Fate, Record
from lpsched.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.model.arrays import Floats, Integers
    from lpsched.online.arrays import ClusterArrays
    from lpsched.online.clusters import Clusters
    from lpsched.online.nodes.reservations import Run
    from lpsched.online.nodes.state import ClusterOptions, ClusterPolicy, Placement


# When the next mapping event is: so long after the last one, or as soon as something arrives or ends.
#
#     grid    at s, 2 s, 3 s, ... with s = `every_seconds`; the day begins as if there had been an event at 0
#     without at every arrival and at every end of a task
#
# An event at which nothing waits is left out. So are, where more than ten thousand points of the grid would
# pass (a week of minutes) in which nothing arrives, starts or ends, all but the one after that.
#
# Source: Machovec et al. (2016), section III.A, for the minute.
LONG: Final = 10_000  # points of the grid


class Clock:
    """The events to come; `step` is how many points of the grid are over.

    >>> from types import SimpleNamespace
    >>> idle = SimpleNamespace(next_change=lambda: math.inf, next_end=lambda: math.inf)
    >>> clock = Clock(60.0, math.inf)
    >>> clock.next_event(0.0, idle, next_arrival=130.0, something_waits=False)
    180.0
    """

    def __init__(self, every_seconds: float | None, ends_at: float) -> None:
        self.seconds, self.ends_at = every_seconds, ends_at
        self.step = 0

    def next_event(self, now: float, book: Book, *, next_arrival: float, something_waits: bool) -> float:
        """Move on to the next event, and return its time; infinite if there is none."""
        if self.seconds is None:
            return min(next_arrival, book.next_end()) if something_waits else next_arrival
        change = min(next_arrival, book.next_change(), self.ends_at) if something_waits else next_arrival
        tick = (self.step + 1) * self.seconds
        if not something_waits or change > tick + LONG * self.seconds:
            if math.isinf(change):
                return math.inf
            self.step = max(self.step, steps_to(change, 0.0, self.seconds) - 1)
        self.step += 1
        return max(self.step * self.seconds, math.nextafter(now, math.inf))

    def latest(self, now: float, book: Book, *, next_arrival: float) -> float:
        """Return when the next event is at the latest if something still waits; infinite if nobody knows.

        Place-holders that would start later than that are forgotten, whatever else is placed now.
        """
        if self.seconds is None:
            return book.next_planned_end()  # not its real end: that would tell the future
        tick = (self.step + 1) * self.seconds
        change = min(next_arrival, book.next_change(), self.ends_at)
        if change > tick + LONG * self.seconds:
            return math.inf
        return max(tick, math.nextafter(now, math.inf))


# Dropping: at the beginning of a mapping event, tasks that can no longer earn enough are given up for good.
#
# The most that a task could earn: its utility if it started now where it is planned to run the fewest
# seconds, in any cluster and P-state that can run it. Less than the threshold: it is dropped.
#
# Source: Machovec et al. (2016), sections III.C and IV.C.
def fastest_seconds(arrays: ClusterArrays) -> Floats:
    """Return the fewest seconds that each kind is planned to run; infinite where nothing runs it."""
    fastest: Floats = np.where(arrays.can_run, arrays.requested_seconds, np.inf).min(axis=1)
    return fastest


def most_utility(arrays: ClusterArrays, tasks: Integers, fastest: Floats, now: float) -> Floats:
    """Return what each task would earn if it started now where it is fastest."""
    return earned_at(
        tasks, now + fastest, arrays.arrivals, arrays.kind, arrays.function, arrays.first_interval,
        arrays.after_seconds, arrays.starts_at, arrays.falls_to, arrays.rate_per_second,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class SimulatedClusters:
    """What happened: a schedule for the verifier, the fate of every task, and what mapping took."""

    schedule: ClustersSchedule  # of all tasks that began, warm-up included
    fates: Integers  # N, of Fate
    dropped_at: Floats  # N: when each dropped task was dropped; NaN for the others
    event_at: Floats  # when each mapping event was
    event_seconds: Floats  # how long the policy (with dropping and filter) took at each
    is_whole: bool  # False: stopped by the watch before the day was over
    refused: int = 0  # placements that were not done, for their energy was not left


class ClusterRecord(Record):
    """The record that the engine keeps."""

    def __init__(self, tasks: int) -> None:
        super().__init__(tasks)
        self.nodes: dict[int, tuple[tuple[int, int], ...]] = {}

    def begin(self, run: Run) -> None:
        """Note a task that begins."""
        self.fates[run.task] = Fate.RAN
        self.starts[run.task], self.columns[run.task] = run.start, run.column
        self.nodes[run.task] = run.nodes

    def simulated(self, clusters: Clusters, *, is_whole: bool) -> SimulatedClusters:
        """Return what happened."""
        schedule = self._schedule(clusters)
        return SimulatedClusters(schedule, *self.columns_of_result(), is_whole, self.refused)

    def _schedule(self, clusters: Clusters) -> ClustersSchedule:
        """Return the tasks that ran, by start; nodes are numbered from 1."""
        names = [clusters.clusters[c].name for c, _ in clusters.modes]
        states = [clusters.p_state(column) for column in range(len(names))]
        ran = self.by_start()
        rows = zip(ran.tolist(), self.columns[ran].tolist(), self.starts[ran].tolist(), strict=True)
        return ClustersSchedule(
            tuple(
                PlacedOnNodes(
                    task, names[column], tuple((low + 1, high) for low, high in self.nodes[task]), start, states[column]
                )
                for task, column, start in rows
            )
        )


# Clusters on their way: the tasks that have come, what runs, and what a mapping event does with them.
TELL_EVERY: Final = 256  # mapping events
MOST_EVENTS: Final = 5_000_000  # one a minute for ten years
NO_TASKS: Final = np.zeros(0, dtype=np.int64)


class Running:
    """Clusters on their way."""

    def __init__(
        self, clusters: Clusters, policy: ClusterPolicy, rng: np.random.Generator, options: ClusterOptions, watch: Watch
    ) -> None:
        self.clusters, self.policy, self.rng, self.options, self.watch = (clusters, policy, rng, options, watch)
        self.arrays = cluster_arrays(clusters)
        self.ends_at = clusters.period.ends_at
        self.record = ClusterRecord(clusters.tasks)
        self.book = Book(self.arrays, clusters.period, self.record.begin, placeholders=policy.placeholders)
        self.filter = filter_of(options, clusters.period, self.arrays) if policy.filtered else None
        self.fastest = fastest_seconds(self.arrays)
        self.clock = Clock(options.every_seconds, self.ends_at)
        self.drops = policy.drops and options.drop_below > 0.0
        self.waiting = NO_TASKS  # by rising number; those that have place-holders too
        self.arrived = 0
        self.memory: dict[str, Any] = {}
        self.has_placed = False
        self.could_place_at: float | None = None  # when a policy could first have placed something

    def run(self) -> bool:
        """Go from mapping event to mapping event; tell whether the day came to its end."""
        now = 0.0
        while True:
            now = self.clock.next_event(
                now, self.book, next_arrival=self._next_arrival(), something_waits=len(self.waiting) > 0
            )
            if now >= self.ends_at or math.isinf(now):
                break
            if self.watch.is_over():
                return False
            self._refuse_too_many_events(now)
            self._event(now)
        self.book.advance(math.inf)
        return True

    def raise_if_stalled(self) -> None:
        """Refuse a day in which nothing was placed, or tasks were left that have to run."""
        left, events = int((self.record.fates == Fate.WAITING).sum()), len(self.record.event_at)
        do = "let it return placements of some of state.tasks"
        if not self.has_placed and self.could_place_at is not None:
            what = f"policy {self.policy.name!r} placed nothing at {events:,} mapping events"
            though = f"though some of its {left:,} tasks fitted, the first at {self.could_place_at!r} s"
            raise StalledError(f"{what}, {though}; {do}")
        if self.clusters.waiting is not None and left:
            what = f"policy {self.policy.name!r} left {left:,} of {len(self.record.fates):,} tasks waiting"
            raise StalledError(f"{what}, and all have to run where waiting has a cost; {do}")

    def _next_arrival(self) -> float:
        arrivals = self.arrays.arrivals
        return float(arrivals[self.arrived]) if self.arrived < len(arrivals) else math.inf

    def _event(self, now: float) -> None:
        """Come to a mapping event, and do what the policy says."""
        self.book.advance(now)
        self._settle()
        self._arrive(now)
        if not len(self.waiting):
            return
        events = len(self.record.event_at)
        if events % TELL_EVERY == 0:
            self.watch.tell(f"{self.policy.name}: {now / SECONDS_PER_HOUR:.1f} h, {events:,} mapping events")
        began = time.perf_counter()
        self.book.forget_before(now)
        if self.drops:
            self._drop(now)
        if len(self.waiting):
            state = self._seen(now)
            answer = answer_of(self.policy, state, self.rng)
            self.record.event(now, time.perf_counter() - began)
            self._place(answer, state)
        else:
            self.record.event(now, time.perf_counter() - began)

    def _settle(self) -> None:
        """Forget place-holders; those that were due have started, and wait no more."""
        if self.policy.placeholders:
            self.book.forget_placeholders()
            self.waiting = self.waiting[self.record.fates[self.waiting] == Fate.WAITING]

    def _arrive(self, now: float) -> None:
        arrived = int(np.searchsorted(self.arrays.arrivals, now, side="right"))
        if arrived > self.arrived:
            self.waiting = np.concatenate((self.waiting, np.arange(self.arrived, arrived)))
            self.arrived = arrived

    def _drop(self, now: float) -> None:
        low = most_utility(self.arrays, self.waiting, self.fastest, now) < self.options.drop_below
        if low.any():
            self.record.drop(self.waiting[low], now)
            self.waiting = self.waiting[~low]

    def _seen(self, now: float) -> ClusterState:
        """Return the present as a policy sees it."""
        book, piece = self.book, self.book.accounts.piece(now)
        allowed = self.arrays.can_run
        if self.filter is not None:
            allowed = self.filter.allowed(allowed, book, now)
        until = math.inf
        if self.policy.placeholders:
            until = self.clock.latest(now, book, next_arrival=self._next_arrival())
        state = ClusterState(
            arrays=self.arrays,
            now=now,
            ends_at=book.accounts.ends_at(piece),
            energy_left=book.accounts.left(piece),
            tasks=self.waiting,
            allowed=allowed[self.arrays.kind[self.waiting]],
            profiles=tuple(profile.copy() for profile in book.profiles),
            reservations=len(book.reserved),
            memory=self.memory,
            until=until,
        )
        state.tasks.flags.writeable = state.allowed.flags.writeable = False
        return state

    def _place(self, answer: list[Placement], state: ClusterState) -> None:
        """Do what the policy says, as far as there is energy for it."""
        checker = Checker(self.clusters, self.policy, state, self.book.profiles)
        stays = np.ones(len(state.tasks), dtype=bool)
        runs = []
        for placement in answer:
            place = checker.check(placement)
            run = self.book.run_of(placement)
            checker.insert(placement, run.planned_end)
            stays[place] = self.policy.placeholders and placement.start > state.now
            runs.append((place, run))
        for place, run in runs:
            if self.book.has_energy(run):
                self.book.add(run, state.now)
                self.has_placed = True
            else:
                self.record.refused += 1
                stays[place] = True
        if answer:
            self.waiting = state.tasks[stays]
        if not self.has_placed and self.could_place_at is None and self._could_place(state):
            self.could_place_at = state.now

    def _could_place(self, state: ClusterState) -> bool:
        """Tell whether some task would earn something, and could start now."""
        arrays = self.arrays
        free = np.array([profile.free_nodes(state.now) for profile in self.book.profiles])
        kinds = arrays.kind[state.tasks]
        fits = state.allowed & (arrays.nodes[kinds] <= free[arrays.column_cluster])
        fits &= arrays.joules[kinds] <= state.energy_left
        if self.clusters.waiting is None:
            fits &= (most_utility(arrays, state.tasks, self.fastest, state.now) > 0.0)[:, np.newaxis]
        return bool(fits.any())

    def _refuse_too_many_events(self, now: float) -> None:
        if len(self.record.event_at) >= MOST_EVENTS:
            found = f"{MOST_EVENTS:,} mapping events by {now!r} s, and no end"
            fault = Fault(("every_seconds",), found, "fewer", "map tasks less often")
            raise InstanceError("simulating clusters", (fault,))


# The engine for clusters: owns the clock and the truth, asks a policy, checks every answer.
#
# Of equal times: tasks end; then reservations that are due start; then tasks arrive; then comes the mapping
# event, which sees all of that. The clock stands still while a policy thinks. A mapping event:
#
#   1. place-holders are forgotten; those that were due have started                  (`reservations.py`)
#   2. tasks that can no longer earn enough are dropped                               (above)
#   3. choices that take too much energy are filtered out                             (`filters.py`)
#   4. the policy is asked, and each of its placements checked                        (`state.py`)
#   5. what starts now begins; what starts later is reserved, or held for the time being. What would break the
#      energy constraint is not done, whatever the policy says: the task waits
#
# What policies plan with is what was requested of a task; energy is counted as it will really be taken. The
# day is over when its period is. A period without an end is over when nothing waits any more, or when nothing
# arrives, runs or is reserved any more and the policy places nothing.
#
# Source: Machovec et al. (2016), sections III.A to III.C and III.G.
__all__ = ["Fate", "SimulatedClusters", "simulate_clusters"]


def simulate_clusters(
    clusters: Clusters,
    policy: ClusterPolicy,
    rng: np.random.Generator,
    options: ClusterOptions,
    *,
    watch: Watch | None = None,
) -> SimulatedClusters:
    """Run clusters under a policy."""
    faults = tuple(_misfits(clusters, policy, options))
    if faults:
        raise InstanceError("simulating clusters", faults)
    running = Running(clusters, policy, rng, options, watch if watch is not None else Watch())
    is_whole = running.run()
    if is_whole:
        running.raise_if_stalled()
    return running.record.simulated(clusters, is_whole=is_whole)


def _misfits(clusters: Clusters, policy: ClusterPolicy, options: ClusterOptions) -> Iterator[Fault]:
    """Find options, and a policy, that do not fit the instance."""
    if clusters.waiting is not None and policy.needs_utility:
        found = f"{policy.name!r} for tasks without utility, which cost what they wait"
        needed = "a policy that needs no utility, for instance easy or conservative"
        yield Fault(("policy",), found, needed, "choose another, or give tasks a utility")
    if clusters.waiting is not None and options.drop_below > 0.0:
        found = f"{options.drop_below!r} for tasks that cost what they wait"
        yield Fault(("drop_below",), found, "0, since all of them have to run", "leave it out")
    if (options.every_seconds or 0.0) >= clusters.period.ends_at:
        found = f"{options.every_seconds!r} s"
        needed = f"less than the day has, {clusters.period.ends_at!r} s"
        yield Fault(("every_seconds",), found, needed, "shorten it: there would be no mapping event")
