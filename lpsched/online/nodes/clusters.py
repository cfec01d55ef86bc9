"""Nodes of clusters as a backend of the engine: placements, permanent reservations and place-holders.

At a mapping event place-holders are forgotten; those that were due have started (`reservations.py`). Of what a policy
places, what starts now begins; what starts later is reserved, or held for the time being. What policies plan with is
what was requested of a task; energy is counted as it will really be taken.

Source: Machovec et al. (2016), sections III.A to III.C and III.G.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from lpsched.errors import Fault
from lpsched.online.arrays import cluster_arrays
from lpsched.online.nodes.reservations import Book
from lpsched.online.nodes.state import Checker, ClusterState, Placement, answer_of
from lpsched.online.schedule import ClustersSchedule, PlacedOnNodes
from lpsched.online.simulate.engine import Clock, Engine, Fate
from lpsched.online.simulate.filters import cluster_filter_of, earned_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.cancellation import Watch
    from lpsched.model.arrays import Floats, Integers, Mask
    from lpsched.online.clusters import Clusters
    from lpsched.online.nodes.reservations import Run
    from lpsched.online.nodes.state import ClusterPolicy
    from lpsched.online.simulate.engine import Simulated
    from lpsched.online.simulate.options import ClusterOptions


def simulate_clusters(
    clusters: Clusters,
    policy: ClusterPolicy,
    rng: np.random.Generator,
    options: ClusterOptions,
    *,
    watch: Watch | None = None,
) -> Simulated[ClustersSchedule]:
    """Run clusters under a policy."""
    return _ClusterEngine(clusters, policy, rng, options, watch).run()


class _ClusterEngine(Engine[ClusterState, list[Placement], ClustersSchedule]):
    """Clusters on their way; those of `waiting` may have place-holders."""

    subject: ClassVar[str] = "clusters"
    done: ClassVar[str] = "placed"
    answers: ClassVar[str] = "placements"
    instance: Clusters
    policy: ClusterPolicy
    options: ClusterOptions

    def _set_up(self) -> None:
        policy, period, arrays = self.policy, self.instance.period, cluster_arrays(self.instance)
        self.arrays, self.must_run = arrays, self.instance.waiting is not None
        self.drops = policy.drops and self.drops
        self.book = Book(arrays, period, self._begin, placeholders=policy.placeholders)
        self.filter = cluster_filter_of(self.options, period, arrays) if policy.filtered else None
        self.fastest = np.where(arrays.can_run, arrays.requested_seconds, np.inf).min(axis=1)
        self.clock = Clock(self.options.every_seconds, self.ends_at)
        self.nodes: dict[int, tuple[tuple[int, int], ...]] = {}  # of tasks that have begun

    def _begin(self, run: Run) -> None:
        self.fates[run.task] = Fate.RAN
        self.starts[run.task], self.columns[run.task] = run.start, run.column
        self.nodes[run.task] = run.nodes

    def _next_event(self, now: float) -> float:
        waits = len(self.waiting) > 0
        return self.clock.next_event(now, self.book, next_arrival=self._next_arrival(), something_waits=waits)

    def _settle(self, now: float) -> bool:
        self.book.advance(now)
        self.book.forget_placeholders()
        return self.policy.placeholders

    def _look(self, now: float) -> None:
        self.book.forget_before(now)

    def _most_utility(self, tasks: Integers, now: float) -> Floats:
        arrays = self.arrays
        return earned_at(tasks, now + self.fastest, arrays.arrivals, arrays.kind, arrays.function, arrays.curves)

    def _see(self, now: float) -> ClusterState:
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

    def _ask(self, state: ClusterState) -> list[Placement]:
        return answer_of(self.policy, state, self.rng)

    def _carry_out(self, answer: list[Placement], state: ClusterState) -> Integers:
        """Do what the policy says, as far as there is energy for it."""
        checker = Checker(self.instance, self.policy, state, self.book.profiles)
        stays = np.ones(len(state.tasks), dtype=bool)
        runs = []
        for placement in answer:
            place = checker.check(placement)
            run = self.book.run_of(*placement)
            checker.insert(placement, run.planned_end)
            stays[place] = self.policy.placeholders and placement.start > state.now
            runs.append((place, run))
        for place, run in runs:
            if self.book.has_energy(run):
                self.book.add(run, state.now)
                self.has_mapped = True
            else:
                self.refused += 1
                stays[place] = True
        return state.tasks[stays] if answer else state.tasks

    def _fits_now(self, state: ClusterState) -> Mask:
        arrays, kinds = self.arrays, self.arrays.kind[state.tasks]
        free = np.array([profile.free_nodes(state.now) for profile in self.book.profiles])
        fits = state.allowed & (arrays.nodes[kinds] <= free[arrays.column_cluster])
        return fits & (arrays.joules[kinds] <= state.energy_left)

    def _schedule(self, ran: Integers) -> ClustersSchedule:
        names = [self.instance.clusters[c].name for c, _ in self.instance.modes]
        states = [self.instance.p_state(column) for column in range(len(names))]
        placed = []
        for task, column, start in zip(
            ran.tolist(), self.columns[ran].tolist(), self.starts[ran].tolist(), strict=True
        ):
            nodes = tuple((low + 1, high) for low, high in self.nodes[task])
            placed.append(PlacedOnNodes(task, names[column], nodes, start, states[column]))
        return ClustersSchedule(tuple(placed))

    def _misfits(self) -> Iterator[Fault]:
        if self.instance.waiting is not None and self.policy.needs_utility:
            found = f"{self.policy.name!r} for tasks without utility, which cost what they wait"
            needed = "a policy that needs no utility, for instance easy or conservative"
            yield Fault(("policy",), found, needed, "choose another, or give tasks a utility")
        if self.instance.waiting is not None and self.options.drop_below > 0.0:
            found = f"{self.options.drop_below!r} for tasks that cost what they wait"
            yield Fault(("drop_below",), found, "0, since all of them have to run", "leave it out")
        yield from super()._misfits()
