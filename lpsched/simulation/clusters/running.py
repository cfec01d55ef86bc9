"""Clusters on their way: the tasks that have come, what runs, and what a mapping event does with them."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.errors import Fault, InstanceError, StalledError
from lpsched.instance.cluster_arrays import cluster_arrays
from lpsched.simulation.clusters.answers import Checker, answer_of
from lpsched.simulation.clusters.book import Book
from lpsched.simulation.clusters.clock import Clock
from lpsched.simulation.clusters.dropping import fastest_seconds, most_utility
from lpsched.simulation.clusters.filters import filter_of
from lpsched.simulation.clusters.happened import ClusterRecord
from lpsched.simulation.clusters.state import ClusterState
from lpsched.simulation.happened import Fate

if TYPE_CHECKING:
    from lpsched.instance.clusters import Clusters
    from lpsched.simulation.clusters.options import ClusterOptions
    from lpsched.simulation.clusters.policy import ClusterPolicy
    from lpsched.simulation.clusters.state import Placement
    from lpsched.watch import Watch

TELL_EVERY: Final = 256  # mapping events
MOST_EVENTS: Final = 5_000_000  # one a minute for ten years
NO_TASKS: Final = np.zeros(0, dtype=np.int64)


class Running:
    """Clusters on their way."""

    def __init__(
        self,
        clusters: Clusters,
        policy: ClusterPolicy,
        rng: np.random.Generator,
        options: ClusterOptions,
        watch: Watch,
    ) -> None:
        self.clusters, self.policy, self.rng, self.options, self.watch = (
            clusters,
            policy,
            rng,
            options,
            watch,
        )
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
        """Refuse a day in which nothing was placed, or tasks were left that have to run.

        Raises
        ------
        StalledError
            If that is so.
        """
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
            self.watch.tell(f"{self.policy.name}: {now / 3600:.1f} h, {events:,} mapping events")
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
