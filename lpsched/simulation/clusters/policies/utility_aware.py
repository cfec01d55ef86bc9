"""Max Util, Max UPT, Max UPR, Max UPE: of all tasks and columns the highest objective first; then the next.

    s, d, q     earliest start in the column's cluster, planned seconds and nodes of a task there
    u           cores per node; w  watts of all q nodes
    U           the task's utility at s + d, as planned

    Max Util    U                (equation 2)
    Max UPT     U / d            (equation 3)
    Max UPR     U / (d q u)      (equation 4)
    Max UPE     U / (w d)        (equation 5)

A task may start only before the day ends, and only if its energy until then is left. Of equal objectives the
lowest column is taken, then the lowest task. What takes no energy is worth infinitely much to Max UPE. A task
that would earn nothing is not placed (the source does not say): it waits, since it can only be in others'
way.

What starts later than `state.until` may be left out: with place-holders it would be forgotten before.

Source: Machovec et al. (2016), sections III.E and III.F, algorithm 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.simulation.clusters.mapping.greedy import best_first
from lpsched.simulation.clusters.mapping.present import free_of, present_of
from lpsched.simulation.clusters.profile import as_tuples
from lpsched.simulation.clusters.state import Placement

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats
    from lpsched.simulation.clusters.state import ClusterState


def max_util(state: ClusterState, _rng: np.random.Generator, /) -> list[Placement]:
    """Answer at a mapping event: the most utility first."""
    return _placed(state, np.ones_like(state.arrays.requested_seconds))


def max_upt(state: ClusterState, _rng: np.random.Generator, /) -> list[Placement]:
    """Answer at a mapping event: the most utility per second first."""
    return _placed(state, state.arrays.requested_seconds)


def max_upr(state: ClusterState, _rng: np.random.Generator, /) -> list[Placement]:
    """Answer at a mapping event: the most utility per core-second first."""
    arrays = state.arrays
    cores = arrays.nodes * arrays.cores_per_node[arrays.column_cluster]
    return _placed(state, arrays.requested_seconds * cores)


def max_upe(state: ClusterState, _rng: np.random.Generator, /) -> list[Placement]:
    """Answer at a mapping event: the most utility per joule first."""
    return _placed(state, state.arrays.requested_seconds * state.arrays.watts)


def _placed(state: ClusterState, per: Floats) -> list[Placement]:
    """Return what is placed if utility is divided by this (K x C)."""
    if not len(state.tasks):
        return []
    mapped = best_first(present_of(state, per), free_of(state))
    tasks, columns, starts = state.tasks[mapped.tasks], mapped.columns, mapped.starts
    return [
        Placement(task, column, start, as_tuples(nodes))
        for task, column, start, nodes in zip(
            tasks.tolist(), columns.tolist(), starts.tolist(), mapped.nodes, strict=True
        )
    ]
