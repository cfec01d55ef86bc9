"""What a cluster policy sees and what it returns: states, partial schedules, checked placements."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from lpsched.errors import PolicyError
from lpsched.online.simulate.state import abbreviated, call_policy
from lpsched.online.utility import utility_at

if TYPE_CHECKING:
    from lpsched.model.table import Integers, Mask
    from lpsched.online.arrays import ClusterArrays
    from lpsched.online.clusters import Clusters
    from lpsched.online.nodes.reservations import Profile


# What a policy for clusters sees at a scheduling event; never the future. It returns placements in the order in which
# it makes them. A placement that starts now begins; one that starts later is a permanent reservation, or a
# place-holder, as `ClusterPolicy` says. One that starts later and names no nodes is a planned start: nothing is held,
# the task waits, and the policy is called again by then at the latest (at the next point of the grid, if there is one).
# Tasks left out wait.
class Placement(NamedTuple):
    """One decision: this task on these nodes of a cluster, in the P-state of this column, from then on."""

    task: int
    column: int
    start: float
    nodes: tuple[tuple[int, int], ...]  # ranges of nodes from 0, the end of each excluded, rising; none: planned


@dataclass(frozen=True, slots=True)
class ClusterState:
    """The current state. All arrays are read-only; B tasks may be mapped, by rising number, that is by arrival."""

    arrays: ClusterArrays
    now: float  # seconds
    ends_at: float  # nothing may start then or later; infinite if the day never ends
    energy_left: float  # joules of this period that neither running nor reserved tasks take; infinite if free
    tasks: Integers  # B: numbers of the tasks that may be mapped
    allowed: Mask  # B x C: can run, and passes the energy filter
    profiles: tuple[Profile, ...]  # of each cluster, with what runs and is reserved; copies
    reservations: int  # that stand now
    memory: dict[str, Any]  # the policy's own, empty when the day begins
    until: float = math.inf  # what starts later may be left out: it would be dropped before


class Place(Protocol):
    """Decides at a scheduling event."""

    def __call__(self, state: ClusterState, rng: np.random.Generator, /) -> Sequence[Placement]:
        """Return what to place, in the order in which it was decided."""


@dataclass(frozen=True, slots=True)
class ClusterPolicy:
    """What the engine calls at each scheduling event."""

    name: str
    place: Place
    placeholders: bool = False  # what starts later is dropped at the next scheduling event
    drops: bool = True  # tasks that can earn next to nothing
    filtered: bool = True  # choices that take more than their fair share of energy
    needs_utility: bool = False  # and cannot work with costs of waiting


# A partial schedule, for users' own policies: what the state says and what was taken since, that is which nodes are
# free when, and what is left of the day's energy. Tasks are given by their place in the state.
# `docs/guides/policies.md` has an example.
class PartialClusterSchedule:
    """A partial schedule; `placements` is what a policy returns."""

    def __init__(self, state: ClusterState) -> None:
        self.state, self.arrays = state, state.arrays
        self.kinds = self.arrays.kind[state.tasks].tolist()
        self.energy_left = state.energy_left
        self.placements: list[Placement] = []
        self._own: dict[int, Profile] = {}  # profiles with something taken
        self._late: dict[int, tuple[int, float, float, tuple[tuple[int, int], ...]]] = {}
        self._found: dict[tuple[int, int, float], float] = {}  # earliest starts, while nothing is taken

    def columns(self, place: int) -> list[int]:
        """Return the columns in which a task can run and that the energy filter lets pass."""
        found: list[int] = np.flatnonzero(self.state.allowed[place]).tolist()
        return found

    def nodes(self, place: int, column: int) -> int:
        """Return how many nodes a task takes there."""
        return int(self.arrays.nodes.item(self.kinds[place], column))

    def seconds(self, place: int, column: int) -> float:
        """Return how long a task is planned to run there: what was requested for it."""
        return float(self.arrays.requested_seconds.item(self.kinds[place], column))

    def earliest(self, place: int, column: int) -> float:
        """Return when a task could first start there, before the day ends; infinite if it cannot."""
        cluster = self.arrays.column_cluster.item(column)
        nodes, seconds = self.nodes(place, column), self.seconds(place, column)
        known = self._found.get((cluster, nodes, seconds))
        if known is None:
            profile = self._profile(cluster)
            known = profile.earliest(nodes, seconds, self.state.now, self.state.ends_at)
            self._found[cluster, nodes, seconds] = known
        return known

    def starts_now(self, place: int, column: int) -> bool:
        """Return whether a task could start there now; quicker than `earliest`."""
        now = self.state.now
        nodes, seconds = self.nodes(place, column), self.seconds(place, column)
        profile = self._profile(self.arrays.column_cluster.item(column))
        return profile.earliest(nodes, seconds, now, math.nextafter(now, math.inf)) <= now

    def free_nodes(self, cluster: int) -> int:
        """Return how many nodes of a cluster run nothing now."""
        return self._profile(cluster).free_nodes(self.state.now)

    def utility(self, place: int, column: int) -> float:
        """Return what a task would earn there if it started as early as it can; 0 if it cannot start."""
        arrays, task = self.arrays, self.state.tasks[place]
        end = self.earliest(place, column) + self.seconds(place, column)
        if math.isinf(end):
            return 0.0
        return utility_at(arrays, arrays.function.item(task), end - arrays.arrivals.item(task))

    def joules(self, place: int, column: int) -> float:
        """Return the energy of a task there that counts today: of the part of its run before the day ends."""
        start, seconds = self.earliest(place, column), self.seconds(place, column)
        joules = float(self.arrays.watts.item(self.kinds[place], column)) * seconds
        ends_at = self.state.ends_at
        return joules * max(0.0, (ends_at - start) / seconds) if start + seconds > ends_at else joules

    def fits(self, place: int, column: int) -> bool:
        """Return whether a task may run there, can start before the day ends, and has the energy it needs."""
        if not self.state.allowed[place, column] or math.isinf(self.earliest(place, column)):
            return False
        return self.has_energy(place, column)

    def has_energy(self, place: int, column: int) -> bool:
        """Return whether the energy is left for a task that starts there as early as it can."""
        return math.isinf(self.energy_left) or self.joules(place, column) <= self.energy_left

    def take(self, place: int, column: int) -> Placement:
        """Place a task as early as it can start: its nodes are busy then, and its energy is spent."""
        cluster, task = int(self.arrays.column_cluster[column]), int(self.state.tasks[place])
        start, seconds = self.earliest(place, column), self.seconds(place, column)
        nodes = self._profile(cluster).choose(self.nodes(place, column), seconds, start)
        if not math.isinf(self.energy_left):
            self.energy_left -= self.joules(place, column)
        if start < start + seconds:
            self._late[cluster] = (task, start, start + seconds, nodes)
            self._found = {key: known for key, known in self._found.items() if key[0] != cluster}
        made = Placement(task, column, start, nodes)
        self.placements.append(made)
        return made

    def _profile(self, cluster: int) -> Profile:
        """Return a cluster's profile with all that was taken; a copy of the state's if something was."""
        if cluster in self._late:
            if cluster not in self._own:
                self._own[cluster] = self.state.profiles[cluster].copy()
            self._own[cluster].insert(*self._late.pop(cluster))
        return self._own.get(cluster, self.state.profiles[cluster])


# Every placement of a policy is checked: it names a task that may be mapped now and was not named before; a column in
# which the task can run and that passes the energy filter; a start from now on and before the day ends; and as many
# nodes of the cluster as the task takes, free from its start to its planned end by what runs, is reserved, and was
# placed before; or none, if it starts later. A placement without enough energy is no error: its task waits.
def answer_of(policy: ClusterPolicy, state: ClusterState, rng: np.random.Generator) -> list[Placement]:
    """Call a policy, and return its placements, each of whole numbers and a time."""
    answer = call_policy(policy.name, lambda: policy.place(state, rng), state.now)
    try:
        return [_plain(each) for each in answer]
    except (TypeError, ValueError, OverflowError):
        needed = "placements of task, column, start in seconds, and ranges of nodes; an empty list: none"
        text = f"policy {policy.name!r} answered {abbreviated(answer)}; needed are {needed}"
        raise PolicyError(text) from None


def _plain(placement: Any) -> Placement:  # noqa: ANN401 - of a user's policy
    task, column, start, nodes = placement
    if isinstance(start, str | bytes):
        raise TypeError
    ranges = tuple((operator.index(low), operator.index(high)) for low, high in nodes)
    return Placement(operator.index(task), operator.index(column), float(start), ranges)


class Checker:
    """Checks the placements of one answer, one after the other, and inserts them in profiles."""

    def __init__(
        self,
        clusters: Clusters,
        policy: ClusterPolicy,
        state: ClusterState,
        profiles: tuple[Profile, ...],  # not those of the state: a policy may have changed them
    ) -> None:
        self.clusters, self.policy, self.state, self.profiles = clusters, policy, state, profiles
        self.placed: set[int] = set()

    def check(self, placement: Placement) -> int:
        """Return the place of a placement's task in the state; raise an error if it breaks a rule."""
        place = int(np.searchsorted(self.state.tasks, placement.task))
        broken = self._broken(placement, place)
        if broken is not None:
            raise self._error(placement, broken)
        self.placed.add(placement.task)
        return place

    def insert(self, placement: Placement, planned_end: float) -> None:
        """Take the nodes of a placement; raise an error if some are busy."""
        if not placement.start < planned_end:
            return
        try:
            profile = self.profiles[self.state.arrays.column_cluster.item(placement.column)]
            profile.insert(placement.task, placement.start, planned_end, placement.nodes)
        except ValueError as error:
            raise self._error(placement, f"some of its nodes are busy then ({error})") from None

    def _broken(self, placement: Placement, place: int) -> str | None:  # noqa: C901, PLR0911 - one for each rule
        """Return the first rule that a placement breaks."""
        state, arrays, (task, column, start, nodes) = self.state, self.state.arrays, placement
        if place == len(state.tasks) or state.tasks[place] != task:
            return "that task is not among those to be mapped now (state.tasks)"
        if task in self.placed:
            return "that task was placed before in the same answer"
        if not 0 <= column < len(arrays.column_cluster):
            return "there is no such column"
        if not arrays.can_run[arrays.kind[task], column]:
            return "that task cannot run there"
        if not state.allowed[place, column]:
            return "the energy filter does not let that pass (state.allowed)"
        if not start >= state.now:
            return f"its start, {start!r} s, is not from now on"
        if start >= state.ends_at or math.isinf(start):
            return f"its start, {start!r} s, is not before the day ends (state.ends_at)"
        count, last = 0, 0
        for low, high in nodes:
            if not last <= low < high:
                return f"its ranges of nodes, {nodes}, do not rise"
            count, last = count + high - low, high
        there, needed = arrays.node_counts[arrays.column_cluster[column]], arrays.nodes[arrays.kind[task], column]
        if last > there:
            return f"the cluster has {there} nodes, 0 to {there - 1}"
        if count == needed or (count == 0 and start > state.now):
            return None
        return f"that task takes {needed} nodes there, not {count}"

    def _error(self, placement: Placement, rule: str) -> PolicyError:
        columns, clusters = self.state.arrays.column_cluster, self.clusters.clusters
        where = f"in column {placement.column}"
        if 0 <= placement.column < len(columns):
            where = f"on cluster {clusters[int(columns[placement.column])].name!r}, {where}"
        what = f"placed task {placement.task} {where}, at {self.state.now!r} s"
        return PolicyError(f"policy {self.policy.name!r} {what}: {rule}")
