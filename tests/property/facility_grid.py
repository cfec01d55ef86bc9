"""The best of a grid of allocations of a tiny facility: all mixes of patterns in some steps, at all temperatures.

One node mixes two patterns in quarters of its time, two nodes in halves, three run one pattern each; outlets are
tried on a grid over their ranges. What comes out is a real allocation, so no bound may be below it.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from lpsched.facility.air import crac_inlets, facility_arrays, heat_map, inlets
from lpsched.facility.parts import GangAllocation
from tests.property.tiny_facilities import Item, patterns, rates, share_of, watts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.facility.model import Facility

STEPS = {1: 4, 2: 2, 3: 1}  # parts of a node's time, by the number of nodes
MOST_MIXES = 40_000  # of all nodes together; where there are more, as many are drawn
POINTS = {1: 31, 2: 7}  # temperatures of each unit, by the number of units
HAIR = 1e-10  # kelvin, and share of the cap, so that the verifier agrees

Mix = tuple[tuple[float, tuple[Item, ...]], ...]


def mixes(facility: Facility, j: int, steps: int) -> list[Mix]:
    """Return all ways to divide the time of a node of type j, in steps, between at most two patterns."""
    known = patterns(facility, j)
    alone: list[Mix] = [((1.0, pattern),) for pattern in known]
    both: list[Mix] = [
        ((part / steps, one), (1.0 - part / steps, other))
        for one, other in combinations(known, 2)
        for part in range(1, steps)
    ]
    return alone + both


def outlet_grid(facility: Facility) -> list[Any]:
    """Return temperatures over the ranges of all units."""
    ranges = [np.linspace(*unit.outlet_celsius, POINTS[len(facility.crac_units)]) for unit in facility.crac_units]
    return [np.array(each) for each in product(*ranges)]


def best_on_grid(
    facility: Facility, rng: np.random.Generator, outlets: Sequence[Any] | None = None
) -> GangAllocation | None:
    """Return the best allocation of the grid, or `None` if nothing on it keeps the limits."""
    arrays, heat = facility_arrays(facility), heat_map(facility)
    own = [mixes(facility, j, STEPS[len(facility.nodes)]) for j in facility.nodes]
    sizes = [len(each) for each in own]
    if np.prod(sizes) <= MOST_MIXES:
        chosen = np.indices(sizes).reshape(len(own), -1)
    else:
        chosen = np.array([rng.integers(size, size=MOST_MIXES) for size in sizes])
    powers, done = np.zeros(chosen.shape), np.zeros((len(facility.task_types), chosen.shape[1]))
    for v, (j, ways) in enumerate(zip(facility.nodes, own, strict=True)):
        drawn = [sum(part * watts(facility, pattern) for part, pattern in mix) for mix in ways]
        rate = [sum(part * rates(facility, pattern) for part, pattern in mix) for mix in ways]
        powers[v] = facility.node_types[j].overhead_watts + np.array(drawn)[chosen[v]]
        done += np.array(rate)[chosen[v]].T
    reward = arrays.rewards @ np.minimum(done, arrays.arrivals[:, None])
    best, found = -1.0, None
    for each in outlet_grid(facility) if outlets is None else outlets:
        at = each[:, None]
        unit_inlets = crac_inlets(heat, powers, at)
        removed = heat.crac_watts_per_kelvin[:, None] * (unit_inlets - at)
        cop = (arrays.cop * np.vander(each, 3, increasing=True)).sum(axis=1)[:, None]
        kept = (inlets(heat, powers, at) <= arrays.redline[:, None] - HAIR).all(axis=0)
        kept &= ((unit_inlets <= arrays.crac_redline[:, None] - HAIR) & (unit_inlets >= at + HAIR)).all(axis=0)
        kept &= powers.sum(axis=0) + (removed / cop).sum(axis=0) <= arrays.cap_watts * (1.0 - HAIR)
        top = int(np.where(kept, reward, -1.0).argmax())
        if kept[top] and reward[top] > best:
            best, found = float(reward[top]), (each, chosen[:, top])
    if found is None:
        return None
    nodes = tuple(
        tuple(share_of(facility, part, pattern) for part, pattern in ways[at])
        for ways, at in zip(own, found[1], strict=True)
    )
    return GangAllocation(tuple(map(float, found[0])), nodes)
