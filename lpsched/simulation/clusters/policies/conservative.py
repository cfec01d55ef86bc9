"""Conservative backfilling: in the order of arrival, each task where it can start first.

A task that cannot start now gets a permanent reservation, so that nobody who came later delays it; whoever
fits into a gap before it is let in. What cannot start before the day ends waits.

This is not the published conservative backfilling (Mu'alem and Feitelson 2001). That reserves numbers of
nodes, and chooses the nodes when a task starts; here a reservation holds particular nodes from the moment it
is made, and tasks may wait that the published algorithm would start.

Source: Machovec et al. (2016), section III.D.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.simulation.clusters.policies.first_states import FirstToStart

if TYPE_CHECKING:
    import numpy as np

    from lpsched.simulation.clusters.state import ClusterState, Placement


def conservative(state: ClusterState, _rng: np.random.Generator, /) -> list[Placement]:
    """Answer at a mapping event."""
    firsts = FirstToStart(state)
    for place in range(len(state.tasks)):
        column = firsts.column(place)
        if column is not None:
            firsts.take(place, column)
    return firsts.draft.placements
