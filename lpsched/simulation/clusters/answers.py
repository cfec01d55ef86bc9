"""What a policy for clusters answers, checked: every placement must be possible.

A placement names a task that may be mapped now, and that it has not named before; a column in which the task
can run and that the energy filter lets pass; a start from now on and before the day ends; and as many nodes
of the cluster as the task takes, free from its start to its planned end by what runs, is reserved, and was
placed before in the same answer. What passes all that but has no energy left is not done, and nobody is
blamed.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from lpsched.errors import PolicyError
from lpsched.simulation.answers import asked, shown
from lpsched.simulation.clusters.state import Placement

if TYPE_CHECKING:
    from lpsched.instance.clusters import Clusters
    from lpsched.simulation.clusters.policy import ClusterPolicy
    from lpsched.simulation.clusters.profile import Profile
    from lpsched.simulation.clusters.state import ClusterState


def answer_of(policy: ClusterPolicy, state: ClusterState, rng: np.random.Generator) -> list[Placement]:
    """Ask a policy, and return its placements, each of whole numbers and a time.

    Raises
    ------
    PolicyError
        If it fails, or answers with something else.
    """
    answer = asked(policy.name, lambda: policy.place(state, rng), state.now)
    try:
        return [_plain(each) for each in answer]
    except (TypeError, ValueError, OverflowError):
        needed = "placements of task, column, start in seconds, and ranges of nodes; an empty list: none"
        text = f"policy {policy.name!r} answered {shown(answer)}; needed are {needed}"
        raise PolicyError(text) from None


def _plain(placement: Any) -> Placement:  # noqa: ANN401 - of somebody's own policy
    task, column, start, nodes = placement
    if isinstance(start, str | bytes):
        raise TypeError
    ranges = tuple((operator.index(low), operator.index(high)) for low, high in nodes)
    return Placement(operator.index(task), operator.index(column), float(start), ranges)


class Checker:
    """The placements of one answer, one after the other, on copies of the profiles."""

    def __init__(
        self,
        clusters: Clusters,
        policy: ClusterPolicy,
        state: ClusterState,
        profiles: tuple[Profile, ...],  # not those of the state: a policy may have changed them
    ) -> None:
        self.clusters, self.policy, self.state, self.truth = clusters, policy, state, profiles
        self.placed: set[int] = set()
        self.profiles: dict[int, Profile] = {}

    def check(self, placement: Placement) -> int:
        """Return where in the state the task of a placement is, if it can be done.

        Raises
        ------
        PolicyError
            If it cannot; the error names the policy, the task and the cluster.
        """
        state, arrays = self.state, self.state.arrays
        place = int(np.searchsorted(state.tasks, placement.task))
        if place == len(state.tasks) or state.tasks[place] != placement.task:
            raise self._refusal(placement, "that task is not among those to be mapped now (state.tasks)")
        if placement.task in self.placed:
            raise self._refusal(placement, "that task was placed before in the same answer")
        if not 0 <= placement.column < len(arrays.column_cluster):
            raise self._refusal(placement, "there is no such column")
        if not arrays.can_run[arrays.kind[placement.task], placement.column]:
            raise self._refusal(placement, "that task cannot run there")
        if not state.allowed[place, placement.column]:
            raise self._refusal(placement, "the energy filter does not let that pass (state.allowed)")
        self._check_start(placement)
        self._check_nodes(placement)
        self.placed.add(placement.task)
        return place

    def insert(self, placement: Placement, planned_end: float) -> None:
        """Take the nodes of a placement, if they are free.

        Raises
        ------
        PolicyError
            If they are not.
        """
        if not placement.start < planned_end:
            return
        cluster = int(self.state.arrays.column_cluster[placement.column])
        if cluster not in self.profiles:
            self.profiles[cluster] = self.truth[cluster].copy()
        try:
            self.profiles[cluster].insert(placement.task, placement.start, planned_end, placement.nodes)
        except ValueError as error:
            raise self._refusal(placement, f"some of its nodes are busy then ({error})") from None

    def _check_start(self, placement: Placement) -> None:
        if not placement.start >= self.state.now:
            raise self._refusal(placement, f"its start, {placement.start!r} s, is not from now on")
        if placement.start >= self.state.ends_at or math.isinf(placement.start):
            rule = f"its start, {placement.start!r} s, is not before the day ends (state.ends_at)"
            raise self._refusal(placement, rule)

    def _check_nodes(self, placement: Placement) -> None:
        arrays, count, last = self.state.arrays, 0, 0
        for low, high in placement.nodes:
            if not last <= low < high:
                raise self._refusal(placement, f"its ranges of nodes, {placement.nodes}, do not rise")
            count, last = count + high - low, high
        there = int(arrays.node_counts[arrays.column_cluster[placement.column]])
        if last > there:
            raise self._refusal(placement, f"the cluster has {there} nodes, 0 to {there - 1}")
        needed = int(arrays.nodes[arrays.kind[placement.task], placement.column])
        if count != needed:
            raise self._refusal(placement, f"that task takes {needed} nodes there, not {count}")

    def _refusal(self, placement: Placement, rule: str) -> PolicyError:
        columns, clusters = self.state.arrays.column_cluster, self.clusters.clusters
        where = f"in column {placement.column}"
        if 0 <= placement.column < len(columns):
            where = f"on cluster {clusters[int(columns[placement.column])].name!r}, {where}"
        what = f"placed task {placement.task} {where}, at {self.state.now!r} s"
        return PolicyError(f"policy {self.policy.name!r} {what}: {rule}")
