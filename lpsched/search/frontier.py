"""Every corner of the energy/makespan front, exactly: no weights are sampled.

The front is the convex chain of non-dominated (E, t) of `formulations/front.py`; all its weights share one
set of rows, so each program starts from the basis of the one before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.formulations import front
from lpsched.formulations.scales import scales_of
from lpsched.lp.hot import CheckedSweep
from lpsched.lp.program import require_optimal
from lpsched.search.corners import FLAT, Corner, corners

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.formulations.scales import Scales
    from lpsched.lp.program import LpSolution, Solver
    from lpsched.relaxation import Point, Relaxation


FAR: Final = 1e6  # times the shortest makespan: beyond, one T does not fit both ends of the front
FINE: Final = 1e-14  # where each weight has a T of its own, far flatter corners can be told


@dataclass(frozen=True, slots=True)
class Edge:
    """Between two neighbouring corners: the weights at which both are best, and the solution there."""

    scales: Scales
    weights: front.Weights
    solution: LpSolution

    def relaxation(self) -> Relaxation:
        """Return the solution in the terms of the bag, with the prices that prove the edge."""
        return front.read_solution(self.scales, self.weights, self.solution)


@dataclass(frozen=True, slots=True)
class Frontier:
    """The corners by rising energy, and the edges between them (two ends that are one have one edge)."""

    corners: tuple[Point, ...]
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
    common = scales_of(bag)
    program = front.compile_lp(common, front.Weights(1.0, 1.0), for_all_weights=True)
    sweep = CheckedSweep(solver, program)
    apart = front.longest_useful(common) > FAR * common.seconds

    def minimise(joules_weight: float, seconds_weight: float) -> Corner[tuple[Edge, Point]]:
        weights = front.Weights(joules_weight, seconds_weight)
        if apart:
            scales = front.scales_for(bag, weights)
            solution = require_optimal(solver.solve(front.compile_lp(scales, weights)))
        else:
            scales = common
            solution = sweep.solve(front.all_costs(scales, weights))
        point = front.point_of(scales, solution)
        assert point.energy_joules is not None, "a front needs watts"
        return Corner(point.energy_joules, point.makespan_seconds, (Edge(scales, weights, solution), point))

    thriftiest, fastest = minimise(1.0, 0.0), minimise(0.0, 1.0)
    found, edges = corners(minimise, thriftiest, fastest, flat=FINE if apart else FLAT)
    between = [each.source for each in edges] or [thriftiest.source]
    return Frontier(
        corners=tuple(point for _, point in (each.source for each in found)),
        edges=tuple(edge for edge, _ in between),
        solves=sweep.solves,
        colds=sweep.colds,
    )
