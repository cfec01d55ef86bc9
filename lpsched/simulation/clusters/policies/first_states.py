"""What policies that come from homogeneous clusters look at: each cluster in its first P-state.

    column    of a kind in a cluster: P-state 0, or the first in which that kind can run there
    need      nodes of a kind in that column; more than there are where the cluster cannot run it
    planned   seconds of it there

Source: Machovec et al. (2016), section III.D: the comparison heuristics always use P-state 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.simulation.clusters.draft import Draft

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.cluster_arrays import ClusterArrays
    from lpsched.simulation.clusters.state import ClusterState

STATES_MEMORY: Final = "first states"


@dataclass(frozen=True, slots=True)
class FirstStates:
    """Of each kind and cluster, K x M."""

    column: Integers  # -1 where the cluster cannot run the kind
    need: Integers
    planned: Floats
    columns: list[list[int]]  # of each kind, those there are

    @classmethod
    def of(cls, arrays: ClusterArrays) -> FirstStates:
        """Look them up."""
        starts = arrays.first_column
        can_run = [arrays.can_run[:, a:b] for a, b in pairwise(starts)]
        column = np.stack(
            [
                np.where(each.any(axis=1), first + np.argmax(each, axis=1), -1)
                for first, each in zip(starts[:-1], can_run, strict=True)
            ],
            axis=1,
        )
        kinds = np.arange(len(column))[:, np.newaxis]
        need = np.where(column >= 0, arrays.nodes[kinds, column], arrays.node_counts + 1)
        planned = np.where(column >= 0, arrays.requested_seconds[kinds, column], 0.0)
        return cls(column, need, planned, [row[row >= 0].tolist() for row in column])


def first_states(state: ClusterState) -> FirstStates:
    """Return them, looked up once in a day."""
    if STATES_MEMORY not in state.memory:
        state.memory[STATES_MEMORY] = FirstStates.of(state.arrays)
    found: FirstStates = state.memory[STATES_MEMORY]
    return found


class FirstToStart:
    """Where tasks can start first; tasks of a kind are answered alike until something is taken."""

    def __init__(self, state: ClusterState) -> None:
        self.draft, self.first = Draft(state), first_states(state)
        self._known: dict[int, int | None] = {}
        self._not_now: set[int] = set()

    def column(self, place: int) -> int | None:
        """Return the column in which a task can start first, the lowest of several; `None`: in none."""
        kind = self.draft.kinds[place]
        if kind not in self._known:
            self._known[kind] = self._found(place, self.first.columns[kind])
        return self._known[kind]

    def column_now(self, place: int) -> int | None:
        """Return the first column in which a task can start now; `None`: in none."""
        kind = self.draft.kinds[place]
        if kind in self._not_now:  # nor later in this draft, for there is ever less
            return None
        columns = self.first.columns[kind]
        found = next((column for column in columns if self._starts_now(place, column)), None)
        if found is None:
            self._not_now.add(kind)
        return found

    def may_start_now(self, place: int) -> list[int]:
        """Return the tasks from a place on for which enough nodes run nothing now."""
        state = self.draft.state
        clusters = range(len(state.profiles))
        free = np.array([self.draft.free_nodes(cluster) for cluster in clusters])
        need = self.first.need[state.arrays.kind[state.tasks[place:]]]
        found: list[int] = (place + np.flatnonzero((need <= free).any(axis=1))).tolist()
        return found

    def take(self, place: int, column: int) -> None:
        """Place a task there."""
        self.draft.take(place, column)
        self._known.clear()

    def _starts_now(self, place: int, column: int) -> bool:
        return self.draft.starts_now(place, column) and self.draft.has_energy(place, column)

    def _found(self, place: int, columns: list[int]) -> int | None:
        best, soonest = None, math.inf
        for column in columns:
            start = self.draft.earliest(place, column)
            if start < soonest and self.draft.has_energy(place, column):
                best, soonest = column, start
        return best
