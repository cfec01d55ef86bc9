"""How fast is a core at a power between its P-states? The corners of the hull of its points (watts, speed).

A core that divides its time between P-states, and idles for the rest, reaches every point below the concave
hull of (0, 0) and the points of its P-states. So only the corners of that hull are ever worth running: from
the P-state that does most for a joule, below which idling in turn is better, up to the fastest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.facility_arrays import FacilityArrays


@dataclass(frozen=True, slots=True)
class CoreStates:
    """The variables x: core, task type and column of the tables of each, by rising watts within a pair."""

    node: Integers  # of each core
    core: Integers
    task: Integers
    column: Integers


def corners(speeds: Floats, watts: Floats) -> list[int]:
    """Return the states on the concave hull with idling, from the most efficient to the fastest.

    >>> corners(np.array([1.0, 2.0, 2.5, 3.0]), np.array([9.0, 10.0, 16.0, 20.0]))
    [1, 3]
    """
    hull: list[int] = []
    for state in sorted(np.flatnonzero(speeds > 0).tolist(), key=lambda each: (watts[each], -speeds[each])):
        if hull and speeds[state] <= speeds[hull[-1]]:
            continue  # hungrier, and no faster
        while hull:  # the last corner goes if the way from the one before it (or from idling) passes above it
            last = hull[-1]
            before = (speeds[hull[-2]], watts[hull[-2]]) if len(hull) > 1 else (0.0, 0.0)
            rise, way = speeds[last] - before[0], watts[last] - before[1]
            if rise * (watts[state] - before[1]) > (speeds[state] - before[0]) * way:
                break
            hull.pop()
        hull.append(state)
    return hull


def core_states(arrays: FacilityArrays) -> CoreStates:
    """Return what each core can run that brings something, on the corners of the hull."""
    earns = np.flatnonzero(arrays.rewards * arrays.arrivals > 0)
    of_type = []
    for j in range(len(arrays.cores)):
        own = np.flatnonzero(arrays.mode_type == j)
        pairs = [(i, own[corners(arrays.speeds[i, own], arrays.watts[i, own])]) for i in earns.tolist()]
        of_type.append(
            (np.repeat([i for i, _ in pairs], [len(c) for _, c in pairs]).astype(np.int64),
             np.concatenate([np.zeros(0, dtype=np.int64), *(c for _, c in pairs)]))
        )  # fmt: skip
    node = np.repeat(np.arange(len(arrays.node_type)), arrays.cores[arrays.node_type])
    kinds = arrays.node_type[node].tolist()
    return CoreStates(
        node,
        np.repeat(np.arange(len(node)), [len(of_type[j][0]) for j in kinds]),
        np.concatenate([of_type[j][0] for j in kinds]),
        np.concatenate([of_type[j][1] for j in kinds]),
    )


def count_variables(arrays: FacilityArrays) -> int:
    """Return how many variables the program has, without writing it down."""
    per_core = np.zeros(len(arrays.cores), dtype=np.int64)
    for j in range(len(arrays.cores)):
        own = np.flatnonzero(arrays.mode_type == j)
        for i in np.flatnonzero(arrays.rewards * arrays.arrivals > 0).tolist():
            per_core[j] += len(corners(arrays.speeds[i, own], arrays.watts[i, own]))
    classes = len(arrays.degradation) if arrays.degradation.any() else 0
    cores = arrays.cores[arrays.node_type]
    others = len(arrays.node_type) + len(arrays.crac_airflow) + len(arrays.arrivals)
    return int(cores @ (per_core[arrays.node_type] + classes)) + others
