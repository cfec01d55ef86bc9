"""From the relaxation's shares to an allocation that keeps every limit, not only within tolerances.

Patterns that are mixed over time are a real allocation, so there is nothing to round. But a solver lets
limits slip by its tolerances. With the watts w_v that node v's patterns take above its overhead O_v, all
nodes run their patterns for theta of their shares:

    P_v(theta)  =  O_v + theta w_v,          the largest theta <= 1 with

    G P + H T  <=  R,    Gc P + Hc T  <=  R_c,    sum P + sum_u k_u (Gc P + Hc T - T)_u / CoP_u(T_u)  <=  cap

which `heat.largest_share` finds. A hair is left (`HAIR`), because the verifier adds up in another order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.heat import largest_share
from lpsched.schedule.facility import CoreRun, GangAllocation, PatternShare

if TYPE_CHECKING:
    from lpsched.formulations.facility_relaxation import FacilityRelaxation, NodePattern
    from lpsched.heat import HeatMap
    from lpsched.instance.facility import Facility
    from lpsched.instance.facility_arrays import FacilityArrays

HAIR: Final = 1e-10  # of a node's time
LEAST_SHARE: Final = 1e-12  # of a node's time; below, a pattern is the solver's noise


def gang(
    facility: Facility, arrays: FacilityArrays, heat: HeatMap, relaxed: FacilityRelaxation
) -> GangAllocation:
    """Return the allocation of the relaxation's patterns, each node's time at most 100 %, all limits kept."""
    shares = [_whole(node) for node in relaxed.shares]
    overhead = arrays.overhead_watts[arrays.node_type]
    own = np.array([sum(share * pattern.watts for share, pattern in node) for node in shares])
    theta = largest_share(arrays, heat, overhead, own, relaxed.outlets)
    return GangAllocation(
        tuple(map(float, relaxed.outlets)),
        tuple(
            tuple(PatternShare(theta * share, _runs(facility, pattern)) for share, pattern in node)
            for node in shares
        ),
    )


def _whole(node: tuple[tuple[float, NodePattern], ...]) -> list[tuple[float, NodePattern]]:
    """Return the patterns that run at all, together for at most the whole time."""
    kept = [(share, pattern) for share, pattern in node if share > LEAST_SHARE and pattern.runs]
    total = max(1.0, sum(share for share, _ in kept) * (1 + HAIR))
    return [(share / total, pattern) for share, pattern in kept]


def _runs(facility: Facility, pattern: NodePattern) -> tuple[CoreRun, ...]:
    return tuple(
        CoreRun(facility.task_types[i].name, cores, facility.p_state(column))
        for i, column, cores in pattern.runs
    )
