"""EASY backfilling: one permanent reservation; whoever does not delay it may start at once.

In the order of arrival: a task that can start now does, in the first cluster where it can. The first that
cannot gets a reservation where it can start first, if there is none yet. The reservation is in the profile,
hence nothing that starts now delays it.

This is not the published EASY (Lifka 1995). That reserves a number of nodes from a time on, and chooses the
nodes when the task starts; here the reservation holds particular nodes from the moment it is made. A task may
therefore wait for nodes that are held, though as many others would be free for the reservation in time.

Source: Machovec et al. (2016), section III.D.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.simulation.clusters.policies.first_states import FirstToStart

if TYPE_CHECKING:
    import numpy as np

    from lpsched.simulation.clusters.state import ClusterState, Placement


def easy(state: ClusterState, _rng: np.random.Generator, /) -> list[Placement]:
    """Answer at a mapping event."""
    firsts = FirstToStart(state)
    looked_at = 0 if state.reservations else _until_one_is_reserved(firsts, state)
    for place in firsts.may_start_now(looked_at):
        column = firsts.column_now(place)
        if column is not None:
            firsts.take(place, column)
    return firsts.draft.placements


def _until_one_is_reserved(firsts: FirstToStart, state: ClusterState) -> int:
    """Place tasks until one of them starts later; return how many were looked at."""
    for place in range(len(state.tasks)):
        column = firsts.column(place)
        if column is not None:
            starts_now = firsts.draft.earliest(place, column) <= state.now
            firsts.take(place, column)
            if not starts_now:
                return place + 1
    return len(state.tasks)
