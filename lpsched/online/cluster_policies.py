"""Policies for parallel tasks on clusters, by name. Sections are those of Machovec et al. (2016)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, TypedDict, Unpack, cast, overload

import numpy as np

from lpsched.online.nodes.backfilling import BACKFILLS, BLOCKS, PASSES, Plan, QueueView, in_order, no_plan, nodes_of
from lpsched.online.nodes.backfilling import conservative as conservative_starts
from lpsched.online.nodes.greedy import best_first, free_of, view_of
from lpsched.online.nodes.reservations import as_tuples
from lpsched.online.nodes.state import ClusterPolicy, ClusterState, PartialClusterSchedule, Place, Placement
from lpsched.online.simulate.options import resources
from lpsched.plugins import Named

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers
    from lpsched.online.arrays import ClusterArrays


# Policies from homogeneous clusters use each cluster in P-state 0, or the first in which a kind can run there (III.D).
#     need      nodes of a kind in that column; more than there are where the cluster cannot run it
#     planned   seconds of it there
#     joules    of it there, as planned
STATES_MEMORY: Final = "first states"


class FirstStates(NamedTuple):
    """Of each kind and cluster, K x M."""

    column: Integers  # -1 where the cluster cannot run the kind
    need: Integers
    planned: Floats
    joules: Floats
    columns: list[list[int]]  # of each kind, those there are

    @classmethod
    def of(cls, arrays: ClusterArrays) -> FirstStates:
        """Find them."""
        can_run = ((first, arrays.can_run[:, first:end]) for first, end in pairwise(arrays.first_column))
        found = [np.where(each.any(axis=1), first + np.argmax(each, axis=1), -1) for first, each in can_run]
        column, kinds = np.stack(found, axis=1), np.arange(len(arrays.can_run))[:, np.newaxis]
        need = np.where(column >= 0, arrays.nodes[kinds, column], arrays.node_counts + 1)
        planned = np.where(column >= 0, arrays.requested_seconds[kinds, column], 0.0)
        joules = arrays.watts[kinds, column] * planned
        return cls(column, need, planned, joules, [row[row >= 0].tolist() for row in column])

    @classmethod
    def at(cls, state: ClusterState) -> FirstStates:
        """Return those of a state, which are looked up once in a day."""
        if STATES_MEMORY not in state.memory:
            state.memory[STATES_MEMORY] = cls.of(state.arrays)
        return cast("FirstStates", state.memory[STATES_MEMORY])


# Backfilling as published, on counts of nodes (`nodes/backfilling.py`). Nodes are chosen when a task starts, as for all
# policies: fewest voids, then the smallest (`nodes/free_slots.py`).
def fcfs(state: ClusterState, _rng: np.random.Generator, /) -> list[Placement]:
    """Start tasks first come, first served."""
    return _in_order(state, BLOCKS)


def easy(state: ClusterState, _rng: np.random.Generator, /) -> list[Placement]:
    """Start tasks by EASY backfilling."""
    return _in_order(state, BACKFILLS)


def shortest_first(state: ClusterState, _rng: np.random.Generator, /) -> list[Placement]:
    """Start all tasks that fit, the shortest by their requests first."""
    queue = _queue_of(state)
    can_run = queue.need <= queue.nodes
    shortest = np.where(can_run, queue.seconds, np.inf).min(axis=1)[queue.kind]
    by_length = np.argsort(shortest, kind="stable")
    order, clusters = in_order(queue._replace(kind=queue.kind[by_length]), PASSES)
    return _starting(state, queue, by_length[order], clusters)


PLAN_MEMORY: Final = "plan"


# The next start that is planned is returned as well, so that there is a scheduling event when it is due.
def conservative(state: ClusterState, _rng: np.random.Generator, /) -> list[Placement]:
    """Start tasks by conservative backfilling."""
    queue, plan = _queue_of(state), cast("Plan", state.memory.get(PLAN_MEMORY) or no_plan(state.arrays.node_counts))
    order, clusters, plan = conservative_starts(queue, state.tasks, plan)
    state.memory[PLAN_MEMORY] = plan
    made = _starting(state, queue, order, clusters)
    if len(plan.tasks):
        w = int(np.argmin(plan.starts))
        task, cluster = int(plan.tasks[w]), int(plan.clusters[w])
        column = FirstStates.at(state).column.item(state.arrays.kind.item(task), cluster)
        made.append(Placement(task, column, float(plan.starts[w]), ()))
    return made


def _in_order(state: ClusterState, rule: int) -> list[Placement]:
    queue = _queue_of(state)
    return _starting(state, queue, *in_order(queue, rule))


def _queue_of(state: ClusterState) -> QueueView:
    arrays, (_, need, planned, joules, _) = state.arrays, FirstStates.at(state)
    waiting = arrays.kind[state.tasks], need, planned, joules, arrays.node_counts
    return QueueView(
        *waiting, *free_of(state), float(state.now), float(state.ends_at), np.array([float(state.energy_left)])
    )


def _starting(state: ClusterState, queue: QueueView, order: Integers, clusters: Integers) -> list[Placement]:
    """Return the placements of tasks that start now, given by place and cluster."""
    if not len(order):
        return []
    columns, nodes = FirstStates.at(state).column[queue.kind[order], clusters], nodes_of(queue, order, clusters)
    starts = [state.now] * len(order)
    return list(map(Placement, state.tasks[order].tolist(), columns.tolist(), starts, map(as_tuples, nodes)))


class FirstToStart:
    """Where tasks can start first; all tasks of a kind have one answer until something is taken."""

    def __init__(self, state: ClusterState) -> None:
        self.draft, self.first = PartialClusterSchedule(state), FirstStates.at(state)
        self._known: dict[int, int | None] = {}
        self._not_now: set[int] = set()

    def place(self, place: int) -> Placement | None:
        """Place a task in the column where it can start first, the lowest of several; `None`: in none."""
        kind = self.draft.kinds[place]
        if kind not in self._known:
            best, soonest = None, math.inf
            for column in self.first.columns[kind]:
                start = self.draft.earliest(place, column)
                if start < soonest and self.draft.has_energy(place, column):
                    best, soonest = column, start
            self._known[kind] = best
        return self._take(place, self._known[kind])

    def place_now(self, place: int) -> None:
        """Place a task in the first column in which it can start now, if there is one."""
        kind, draft = self.draft.kinds[place], self.draft
        if kind not in self._not_now:
            columns = self.first.columns[kind]
            now = (each for each in columns if draft.starts_now(place, each) and draft.has_energy(place, each))
            if self._take(place, next(now, None)) is None:
                self._not_now.add(kind)  # nor later in this draft, for there is ever less

    def may_start_now(self, place: int) -> list[int]:
        """Return the tasks from a place on for which enough nodes run nothing now."""
        state = self.draft.state
        free = np.array([self.draft.free_nodes(cluster) for cluster in range(len(state.profiles))])
        need = self.first.need[state.arrays.kind[state.tasks[place:]]]
        found: list[int] = (place + np.flatnonzero((need <= free).any(axis=1))).tolist()
        return found

    def _take(self, place: int, column: int | None) -> Placement | None:
        if column is None:
            return None
        self._known.clear()
        return self.draft.take(place, column)


# Backfilling with reservations of particular nodes (III.D, III.F). In the order of arrival, each task where it can
# start first; one that cannot start now gets a permanent reservation, of every task (conservative), or of the first
# that cannot start, if there is none yet (EASY); nothing that starts now delays it. What cannot start before the day
# ends waits. A task may wait for nodes that are reserved, though as many others would be free for the reservation in
# time: the published algorithms, above, do not.
def conservative_nodes(state: ClusterState, _rng: np.random.Generator, /) -> list[Placement]:
    """Place tasks by conservative backfilling on particular nodes."""
    firsts = FirstToStart(state)
    for place in range(len(state.tasks)):
        firsts.place(place)
    return firsts.draft.placements


def easy_nodes(state: ClusterState, _rng: np.random.Generator, /) -> list[Placement]:
    """Place tasks by EASY backfilling on particular nodes."""
    firsts = FirstToStart(state)
    looked_at, reserved = 0, state.reservations > 0
    while not reserved and looked_at < len(state.tasks):
        made = firsts.place(looked_at)
        reserved, looked_at = made is not None and made.start > state.now, looked_at + 1
    for place in firsts.may_start_now(looked_at):
        firsts.place_now(place)
    return firsts.draft.placements


# First come, first served with multiple queues (III.D):
#   resources   of a task: planned seconds times cores allocated, the mean over the clusters that can run it
#   queues      small: below 30 % of the resources of the kind that needs most; large: above 60 %; medium: the rest;
#               each in the order of arrival
#   cycle       at most one large task, then at most four medium ones, then at most eight small ones; again, until all
#               have been looked at
# Each task is placed as by `conservative-nodes`. One that cannot be placed does not count.
SMALL: Final = 0.3
LARGE: Final = 0.6
TURNS: Final = (1, 4, 8)  # large, medium, small
QUEUES_MEMORY: Final = "queues"


def multiple_queues(state: ClusterState, _rng: np.random.Generator, /) -> list[Placement]:
    """Place tasks of three queues in turn."""
    firsts = FirstToStart(state)
    if QUEUES_MEMORY not in state.memory:
        state.memory[QUEUES_MEMORY] = queues_of_kinds(state.arrays, firsts.first)
    queue = state.memory[QUEUES_MEMORY][firsts.draft.kinds]
    left = [(iter(np.flatnonzero(queue == q).tolist()), most) for q, most in enumerate(TURNS)]
    while left:
        left = [(places, most) for places, most in left if _turn(firsts, places, most)]
    return firsts.draft.placements


def queues_of_kinds(arrays: ClusterArrays, first: FirstStates) -> Integers:
    """Return the queue of each kind: 0 large, 1 medium, 2 small."""
    there = first.column >= 0
    cores = np.where(there, first.need, 0) * arrays.cores_per_node
    mean = (first.planned * cores).sum(axis=1) / there.sum(axis=1)
    most = mean.max()
    return np.where(mean > LARGE * most, 0, np.where(mean < SMALL * most, 2, 1))


def _turn(firsts: FirstToStart, places: Iterator[int], most: int) -> bool:
    """Place at most `most` tasks of a queue; return whether there may be more in it."""
    for place in places:
        if firsts.place(place) is not None:
            most -= 1
            if not most:
                return True
    return False


# Random (III.D): in the order of arrival, each task in a random cluster and P-state that can run it, as early as it can
# start there, permanently reserved. What cannot start there before the day ends, or has no energy left there, waits,
# and draws again at the next scheduling event.
def random_cluster(state: ClusterState, rng: np.random.Generator, /) -> list[Placement]:
    """Place tasks at random."""
    draft = PartialClusterSchedule(state)
    by_kind: dict[int, list[list[int]]] = state.memory.setdefault("columns", {})  # where it can run, by cluster
    for place, (cluster, p_state) in enumerate(rng.random((len(state.tasks), 2)).tolist()):
        kind = draft.kinds[place]
        if kind not in by_kind:
            can_run, edges = state.arrays.can_run[kind].tolist(), state.arrays.first_column.tolist()
            found = ([c for c in range(a, b) if can_run[c]] for a, b in pairwise(edges))
            by_kind[kind] = [columns for columns in found if columns]
        columns = by_kind[kind][int(cluster * len(by_kind[kind]))]
        column = columns[int(p_state * len(columns))]
        if draft.fits(place, column):
            draft.take(place, column)
    return draft.placements


# Max Util, Max UPT, Max UPR, Max UPE: of all tasks and columns the highest objective first; then the next.
#     s, d, q     earliest start in the column's cluster, planned seconds and nodes of a task there
#     u           cores per node; w  watts of all q nodes
#     U           the task's utility at s + d, as planned
#
#     Max Util    U                (equation 2)
#     Max UPT     U / d            (equation 3)
#     Max UPR     U / (d q u)      (equation 4)
#     Max UPE     U / (w d)        (equation 5)
# A task may start only before the day ends, and only if its energy until then is left. Of equal objectives the lowest
# column is taken, then the lowest task. What takes no energy has an infinite objective for Max UPE. A task that would
# earn nothing waits (the source does not say): it can only be in the way. What starts later than `state.until` may be
# left out: as a place-holder it would be dropped before.
# Source: sections III.E and III.F, algorithm 1.
def _highest_first(per: Callable[[ClusterArrays], Floats]) -> Place:
    """Return the rule that places the highest utility first, divided by this (K x C)."""

    def place(state: ClusterState, _rng: np.random.Generator, /) -> list[Placement]:
        if not len(state.tasks):
            return []
        places, columns, starts, nodes = best_first(view_of(state, per(state.arrays)), *free_of(state))
        tasks = state.tasks[places].tolist()
        return list(map(Placement, tasks, columns.tolist(), starts.tolist(), map(as_tuples, nodes)))

    return place


# The policies for clusters by name: built-in, registered, and of installed packages (`docs/guides/policies.md`).
# What a policy uses is given at its registration (see `ClusterPolicy`); by a package as attributes of these names. Max
# Util, Max UPT, Max UPR and Max UPE use permanent reservations or place-holders, as the options say; `:placeholders` or
# `:reservations` behind the name overrides them. The engine checks every placement.
COMPARED: Final[dict[str, Place]] = {
    "random": random_cluster,
    "fcfs": fcfs,
    "easy": easy,
    "conservative": conservative,
    "sjf": shortest_first,
    "easy-nodes": easy_nodes,
    "conservative-nodes": conservative_nodes,
    "multiple-queues": multiple_queues,
}
UTILITY_AWARE: Final[dict[str, Place]] = {
    "max-util": _highest_first(lambda arrays: np.ones_like(arrays.requested_seconds)),
    "max-upt": _highest_first(lambda arrays: arrays.requested_seconds),
    "max-upr": _highest_first(resources),
    "max-upe": _highest_first(lambda arrays: arrays.requested_seconds * arrays.watts),
}
ENERGY_AWARE: Final = "max-upe"  # and not filtered: section IV.C
PLACEHOLDERS: Final = "placeholders"
RESERVATIONS: Final = "reservations"
POLICIES: Final[Named[Place]] = Named(
    "cluster",
    "lpsched.cluster_policies",
    {**COMPARED, **UTILITY_AWARE},
    word="policy",
    needed="a function of a state and a random generator",
)


class Uses(TypedDict, total=False):
    """Options of a registered policy, as in `ClusterPolicy`."""

    placeholders: bool
    drops: bool
    filtered: bool
    needs_utility: bool


_registered: Final[dict[str, ClusterPolicy]] = {}

cluster_policy_names = POLICIES.names


def cluster_policy(name: str, *, placeholders: bool = False) -> ClusterPolicy:
    """Return the policy of a name; `placeholders`: whether the four that may use them do, where the name does not say.

    >>> cluster_policy("easy").drops
    False
    """
    plain, colon, kind = name.partition(":")
    place = POLICIES.get(plain)
    if colon and (plain not in UTILITY_AWARE or kind not in (PLACEHOLDERS, RESERVATIONS)):
        needed = f"{PLACEHOLDERS} or {RESERVATIONS} after {', '.join(UTILITY_AWARE)}; nothing after others"
        raise POLICIES.rejection(repr(name), needed, f"write {plain}")
    if plain in COMPARED:
        return ClusterPolicy(plain, place, drops=False, filtered=False)
    if plain in UTILITY_AWARE:
        held = kind == PLACEHOLDERS if colon else placeholders
        shown = f"{plain}:{PLACEHOLDERS}" if held else plain
        filtered = plain != ENERGY_AWARE
        return ClusterPolicy(shown, place, placeholders=held, filtered=filtered, needs_utility=True)
    announced = {use: bool(getattr(place, use)) for use in Uses.__annotations__ if hasattr(place, use)}
    return _registered.get(plain) or ClusterPolicy(plain, place, **announced)


@overload
def register(name: str, **uses: Unpack[Uses]) -> Callable[[Place], Place]: ...


@overload
def register(name: str, function: Place, **uses: Unpack[Uses]) -> Place: ...


def register(name: str, function: Place | None = None, **uses: Unpack[Uses]) -> Place | Callable[[Place], Place]:
    """Register a policy under a name, in this process; without a function, as a decorator; see `ClusterPolicy`.

    Raises
    ------
    InstanceError
        If the name is taken, or not lower-case letters, digits and hyphens; or if it is no function.
    """

    def registered(place: Place) -> Place:
        POLICIES.register(name, place)
        _registered[name] = ClusterPolicy(name, place, **uses)
        return place

    return registered if function is None else registered(function)


def forget(name: str) -> None:
    """Remove what was registered under a name in this process, if anything was."""
    POLICIES.forget(name)
    _registered.pop(name, None)
