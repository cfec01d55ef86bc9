"""First come, first served with multiple queues: small, medium and large tasks take turns.

    resources   of a task: planned seconds times cores allocated, the mean over the clusters that can run it,
                each in its first P-state
    queues      small: below 30 % of the resources of the kind that needs most; large: above 60 %; medium: the
                rest; each in the order of arrival
    cycle       at most one large task, then at most four medium ones, then at most eight small ones; again,
                until all have been looked at

Each task is placed as by our conservative backfilling, whose reservations hold particular nodes. One that
cannot be placed does not count.

Source: Machovec et al. (2016), section III.D.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.simulation.clusters.policies.first_states import FirstToStart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.instance.array_types import Integers
    from lpsched.instance.cluster_arrays import ClusterArrays
    from lpsched.simulation.clusters.policies.first_states import FirstStates
    from lpsched.simulation.clusters.state import ClusterState, Placement

SMALL: Final = 0.3
LARGE: Final = 0.6
TURNS: Final = (1, 4, 8)  # large, medium, small
QUEUES_MEMORY: Final = "queues"


def multiple_queues(state: ClusterState, _rng: np.random.Generator, /) -> list[Placement]:
    """Answer at a mapping event."""
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
    """Place at most so many tasks of a queue; tell whether there may be more in it."""
    for place in places:
        column = firsts.column(place)
        if column is not None:
            firsts.take(place, column)
            most -= 1
            if not most:
                return True
    return False
