"""Simulated clusters: the backend of the engine for nodes, with permanent reservations and place-holders.

At a scheduling event place-holders are dropped; those that were due have started (`reservations.py`). A placement that
starts now begins; one that starts later is reserved, or a place-holder; one that starts later and has no nodes is only
planned: its task waits, and the policy is called again by then at the latest. Policies plan with what was requested of
a task; energy is counted as it will really be taken.

Source: Machovec et al. (2016), sections III.A to III.C and III.G.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from lpsched.errors import InputIssue
from lpsched.online.arrays import cluster_arrays
from lpsched.online.nodes.reservations import ReservationTable, Run
from lpsched.online.nodes.state import Checker, ClusterPolicy, ClusterState, Placement, answer_of
from lpsched.online.schedule import ClustersSchedule, PlacedOnNodes
from lpsched.online.simulate.engine import Engine, Grid, SimulationTrace, TaskOutcome
from lpsched.online.simulate.options import ClusterOptions, cluster_filter_of, earned_at

if TYPE_CHECKING:
    from lpsched.cancellation import CancelToken
    from lpsched.model.table import Floats, Integers, Mask
    from lpsched.online.clusters import Clusters


def simulate_clusters(
    clusters: Clusters,
    policy: ClusterPolicy,
    rng: np.random.Generator,
    options: ClusterOptions,
    *,
    cancel: CancelToken | None = None,
) -> SimulationTrace[ClustersSchedule]:
    """Simulate clusters under a policy."""
    return _ClusterEngine(clusters, policy, rng, options, cancel).run()


# Scheduling events come at s, 2 s, 3 s, ... with s = `every_seconds`, or without that at every arrival, at every end of
# a task, and when the first start is due that was planned at the last event. Events at which nothing waits are skipped;
# so are, where more than ten thousand points of the grid (a week of minutes) would pass in which nothing arrives,
# starts or ends, all but the one after that.
# Source: Machovec et al. (2016), section III.A, for the minute.
LONG: Final = 10_000  # points of the grid


class _ClusterEngine(Engine[ClusterState, list[Placement], ClustersSchedule]):
    """Simulated clusters; those of `waiting` may have place-holders."""

    subject: ClassVar[str] = "clusters"
    done: ClassVar[str] = "placed"
    answers: ClassVar[str] = "placements"
    ask = staticmethod(answer_of)
    instance: Clusters
    policy: ClusterPolicy
    options: ClusterOptions

    def _set_up(self) -> None:
        policy, period, arrays = self.policy, self.instance.period, cluster_arrays(self.instance)
        self.arrays, self.must_run = arrays, self.instance.waiting is not None
        self.drops = policy.drops and self.drops
        self.table = ReservationTable(arrays, period, self._begin, placeholders=policy.placeholders)
        self.filter = cluster_filter_of(self.options, period, arrays) if policy.filtered else None
        self.fastest = np.where(arrays.can_run, arrays.requested_seconds, np.inf).min(axis=1)
        self.grid = Grid(self.options.every_seconds)
        self.planned_start = math.inf  # the first that the policy planned at the last event
        self.nodes: dict[int, tuple[tuple[int, int], ...]] = {}  # of tasks that have begun

    def _begin(self, run: Run) -> None:
        self.outcomes[run.task] = TaskOutcome.RAN
        self.starts[run.task], self.columns[run.task] = run.start, run.column
        self.nodes[run.task] = run.nodes

    def _next_event(self, now: float) -> float:
        grid, change, waits = self.grid, self._next_arrival(), len(self.waiting) > 0
        if grid.seconds is None:
            return min(change, self.table.next_end(), self.planned_start) if waits else change
        if waits:
            change = min(change, self.table.next_change(), self.planned_start, self.ends_at)
        if not waits or grid.is_long(change, LONG):
            if math.isinf(change):
                return math.inf
            grid.skip_to(change)
        event = grid.after(now)
        grid.step += 1
        return event

    def _latest_event(self, now: float) -> float:
        """Return when the next event is at the latest: place-holders that would start later are dropped before."""
        if self.grid.seconds is None:
            return self.table.next_planned_end()  # not its real end, which policies must not know
        change = min(self._next_arrival(), self.table.next_change(), self.ends_at)
        return math.inf if self.grid.is_long(change, LONG) else self.grid.after(now)

    def _settle(self, now: float) -> bool:
        self.table.advance(now)
        self.table.forget_placeholders()
        return self.policy.placeholders

    def _look(self, now: float) -> None:
        for profile in self.table.profiles:
            profile.forget_before(now)

    def _most_utility(self, tasks: Integers, now: float) -> Floats:
        arrays = self.arrays
        return earned_at(tasks, now + self.fastest, arrays.arrivals, arrays.kind, arrays.function, arrays.curves)

    def _see(self, now: float) -> ClusterState:
        table, segment = self.table, self.table.accounts.segment(now)
        can_run = self.arrays.can_run
        allowed = can_run if self.filter is None else self.filter.allowed(can_run, table, now)
        until = self._latest_event(now) if self.policy.placeholders else math.inf
        state = ClusterState(
            arrays=self.arrays,
            now=now,
            ends_at=table.accounts.ends_at(segment),
            energy_left=table.accounts.left(segment),
            tasks=self.waiting,
            allowed=allowed[self.arrays.kind[self.waiting]],
            profiles=tuple(profile.copy() for profile in table.profiles),
            reservations=len(table.reserved),
            memory=self.memory,
            until=until,
        )
        state.tasks.flags.writeable = state.allowed.flags.writeable = False
        return state

    def _carry_out(self, answer: list[Placement], state: ClusterState) -> Integers:
        if not answer:
            self.planned_start = math.inf
            return state.tasks
        table = self.table
        all_are_carried_out = not (table.is_metered or table.placeholders)  # and so may be checked on the truth itself
        profiles = table.profiles if all_are_carried_out else tuple(profile.copy() for profile in table.profiles)
        checker = Checker(self.instance, self.policy, state, profiles)
        stays = np.ones(len(state.tasks), dtype=bool)
        runs, self.planned_start = [], math.inf
        for placement in answer:
            place = checker.check(placement)
            if not placement.nodes:
                self.planned_start = min(self.planned_start, placement.start)
                continue
            run = table.run_of(*placement)
            checker.insert(placement, run.planned_end)
            stays[place] = self.policy.placeholders and placement.start > state.now
            runs.append((place, run))
        for place, run in runs:
            if table.has_energy(run):
                table.add(run, state.now, is_inserted=all_are_carried_out)
                self.has_mapped = True
            else:
                self.rejected += 1
                stays[place] = True
        return state.tasks[stays]

    def _fits_now(self, state: ClusterState) -> Mask:
        arrays, kinds = self.arrays, self.arrays.kind[state.tasks]
        free = np.array([profile.free_nodes(state.now) for profile in self.table.profiles])
        fits = state.allowed & (arrays.nodes[kinds] <= free[arrays.column_cluster])
        return fits & (arrays.joules[kinds] <= state.energy_left)

    def _schedule(self, ran: Integers) -> ClustersSchedule:
        names = [self.instance.clusters[c].name for c, _ in self.instance.modes]
        states = [self.instance.p_state(column) for column in range(len(names))]
        placed = []
        rows = zip(ran.tolist(), self.columns[ran].tolist(), self.starts[ran].tolist(), strict=True)
        for task, column, start in rows:
            nodes = tuple((low + 1, high) for low, high in self.nodes[task])
            placed.append(PlacedOnNodes(task, names[column], nodes, start, states[column]))
        return ClustersSchedule(tuple(placed))

    def _misfits(self) -> Iterator[InputIssue]:
        if self.instance.waiting is not None and self.policy.needs_utility:
            found = f"{self.policy.name!r} for tasks without utility, which cost what they wait"
            needed = "a policy that needs no utility, for instance easy or conservative"
            yield InputIssue(("policy",), found, needed, "choose another, or give tasks a utility")
        if self.instance.waiting is not None and self.options.drop_below > 0.0:
            found = f"{self.options.drop_below!r} for tasks that cost what they wait"
            yield InputIssue(("drop_below",), found, "0, since all of them have to run", "leave it out")
        yield from super()._misfits()
