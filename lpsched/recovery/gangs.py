"""From the relaxation's shares to an allocation that keeps every limit, not only within tolerances.

Patterns that are mixed over time are a real allocation, so there is nothing to round. But a solver lets
limits slip by its tolerances. With the watts w_v that node v's patterns take above its overhead O_v, all
nodes run their patterns for theta of their shares:

    P_v(theta)  =  O_v + theta w_v,          the largest theta <= 1 with

    G P + H T  <=  R,    Gc P + Hc T  <=  R_c,    sum P + sum_u k_u (Gc P + Hc T - T)_u / CoP_u(T_u)  <=  cap

All of these rise with theta along straight lines, so it is the least of as many quotients. A hair is left
(`HAIR`), because the verifier adds up in another order. A unit that takes out next to no heat at a smaller
theta would have to heat; the verifier would say so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.heat import crac_inlets, inlets, total_watts
from lpsched.schedule.facility import CoreRun, GangAllocation, PatternShare

if TYPE_CHECKING:
    from lpsched.heat import HeatMap
    from lpsched.instance.arrays import Floats
    from lpsched.instance.facility import Facility
    from lpsched.instance.facility_arrays import FacilityArrays
    from lpsched.relaxation import FacilityRelaxation, NodePattern

HAIR: Final = 1e-10  # of each limit
LEAST_SHARE: Final = 1e-12  # of a node's time; below, a pattern is the solver's noise


def gang(
    facility: Facility, arrays: FacilityArrays, heat: HeatMap, relaxed: FacilityRelaxation
) -> GangAllocation:
    """Return the allocation of the relaxation's patterns, each node's time at most 100 %, all limits kept."""
    shares = [_whole(node) for node in relaxed.shares]
    overhead = arrays.overhead_watts[arrays.node_type]
    own = np.array([sum(share * pattern.watts for share, pattern in node) for node in shares])
    theta = _largest(arrays, heat, overhead, own, relaxed.outlets)
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


def _largest(arrays: FacilityArrays, heat: HeatMap, overhead: Floats, own: Floats, outlets: Floats) -> float:
    """Return how much of the shares keeps redlines and cap."""

    def limits_at(theta: float) -> Floats:
        powers = overhead + theta * own
        return np.concatenate(
            (
                inlets(heat, powers, outlets),
                crac_inlets(heat, powers, outlets),
                [total_watts(arrays, heat, powers, outlets)],
            )
        )

    limits = np.concatenate((arrays.redline, arrays.crac_redline, [arrays.cap_watts]))
    limits = limits * (1 - HAIR * np.sign(limits))
    idle, full = limits_at(0.0), limits_at(1.0)
    over = (full > limits) & (full - idle > HAIR * np.maximum(1.0, np.abs(limits)))  # others it cannot mend
    room = (limits[over] - idle[over]) / (full[over] - idle[over])
    return float(np.clip(room.min(initial=1.0), 0.0, 1.0))


def _runs(facility: Facility, pattern: NodePattern) -> tuple[CoreRun, ...]:
    kind = facility.node_types[pattern.node_type]
    return tuple(
        CoreRun(
            facility.task_types[i].name,
            cores,
            None if kind.p_states is None else kind.p_states[facility.modes[column][1]],
        )
        for i, column, cores in pattern.runs
    )
