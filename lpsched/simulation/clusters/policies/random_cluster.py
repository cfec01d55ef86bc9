"""Random: in the order of arrival, each task in a random cluster and P-state that can run it.

It starts there as early as it can, reserved for good. What cannot start there before the day ends, or has no
energy left there, waits, and draws again at the next mapping event.

Source: Machovec et al. (2016), section III.D.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from lpsched.simulation.clusters.draft import Draft

if TYPE_CHECKING:
    import numpy as np

    from lpsched.instance.cluster_arrays import ClusterArrays
    from lpsched.simulation.clusters.state import ClusterState, Placement


def random_cluster(state: ClusterState, rng: np.random.Generator, /) -> list[Placement]:
    """Answer at a mapping event."""
    draft = Draft(state)
    by_kind: dict[int, list[list[int]]] = state.memory.setdefault("columns", {})
    for place, (cluster, p_state) in enumerate(rng.random((len(state.tasks), 2)).tolist()):
        kind = draft.kinds[place]
        if kind not in by_kind:
            by_kind[kind] = columns_by_cluster(state.arrays, kind)
        columns = by_kind[kind][int(cluster * len(by_kind[kind]))]
        column = columns[int(p_state * len(columns))]
        if draft.fits(place, column):
            draft.take(place, column)
    return draft.placements


def columns_by_cluster(arrays: ClusterArrays, kind: int) -> list[list[int]]:
    """Return the columns in which a kind can run, of each cluster where there are some."""
    can_run = arrays.can_run[kind].tolist()
    edges = arrays.first_column.tolist()
    found = [[c for c in range(a, b) if can_run[c]] for a, b in pairwise(edges)]
    return [columns for columns in found if columns]
