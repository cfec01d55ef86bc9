"""Every corner of the energy/makespan front, exactly: no weights are sampled.

The front is the convex chain of non-dominated (E, t) of `formulations/front.py`; all its weights share one
set of rows, so each program starts from the basis of the one before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.formulations import front
from lpsched.formulations.scales import scales_of
from lpsched.lp.hot import CheckedSweep
from lpsched.lp.program import require_optimal
from lpsched.search.corners import FLAT, Corner, corners

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.lp.program import Solver
    from lpsched.relaxation import Relaxation


FAR: Final = 1e6  # times the shortest makespan: beyond, one T does not fit both ends of the front
FINE: Final = 1e-14  # where each weight has a T of its own, far flatter corners can be told


@dataclass(frozen=True, slots=True)
class Edge:
    """Between two neighbouring corners: the weights at which both are best, and the relaxation there."""

    weights: front.Weights
    relaxation: Relaxation


@dataclass(frozen=True, slots=True)
class Frontier:
    """The corners by rising energy, and the edges between them (two ends that are one have one edge)."""

    corners: tuple[Relaxation, ...]
    edges: tuple[Edge, ...]
    solves: int
    colds: int


def frontier(bag: Bag, solver: Solver) -> Frontier:
    """Return all corners of the front of a bag with watts, under its cap and deadline.

    Raises
    ------
    SolverError
        If the solver fails.
    """
    scales = scales_of(bag)
    start = front.Weights(1.0, 1.0)
    sweep = CheckedSweep(solver, front.compile_lp(scales, start, for_all_weights=True))

    apart = front.longest_useful(scales) > FAR * scales.seconds

    def minimise(joules_weight: float, seconds_weight: float) -> Corner[Edge]:
        weights = front.Weights(joules_weight, seconds_weight)
        if apart:
            relaxation = _in_own_scales(bag, weights, solver)
        else:
            y_costs, s_cost = front.costs_of(scales, weights)
            solution = sweep.solve(np.append((y_costs * scales.units).ravel(), s_cost))
            relaxation = front.read_solution(scales, weights, solution)
        assert relaxation.energy_joules is not None, "a front needs watts"
        return Corner(relaxation.energy_joules, relaxation.makespan_seconds, Edge(weights, relaxation))

    thriftiest, fastest = minimise(1.0, 0.0), minimise(0.0, 1.0)
    found, edges = corners(minimise, thriftiest, fastest, flat=FINE if apart else FLAT)
    return Frontier(
        corners=tuple(each.source.relaxation for each in found),
        edges=tuple(each.source for each in edges) or (thriftiest.source,),
        solves=sweep.solves,
        colds=sweep.colds,
    )


def _in_own_scales(bag: Bag, weights: front.Weights, solver: Solver) -> Relaxation:
    scales = front.scales_for(bag, weights)
    solution = require_optimal(solver.solve(front.compile_lp(scales, weights)))
    return front.read_solution(scales, weights, solution)
