"""Every corner of the energy/makespan front, exactly: no weights are sampled.

The front is the convex chain of non-dominated (E, t) of `formulations/front.py`; all its weights share one
set of rows, so each program starts from the basis of the one before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from lpsched.formulations import front
from lpsched.formulations.scales import scales_of
from lpsched.lp.hot import CheckedSweep
from lpsched.search.corners import FAR, FINE, FLAT, Corner, corners
from lpsched.search.corners import Edge as CornerEdge
from lpsched.search.weighted_cost import least_cost

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.formulations.scales import Scales
    from lpsched.instance import Bag
    from lpsched.instance.array_types import Floats
    from lpsched.lp.program import LpSolution, Solver
    from lpsched.relaxation import Point, Relaxation


@dataclass(frozen=True, slots=True)
class Edge:
    """The weights at which two neighbouring corners, or one criterion alone, are best, and what shows it."""

    weights: front.Weights
    relaxation: Callable[[], Relaxation]  # with the prices that prove it; read when they are needed


@dataclass(frozen=True, slots=True)
class Frontier:
    """The corners by rising energy, and the edges: left of the first, between them, and below the last."""

    corners: tuple[Point, ...]
    edges: tuple[Edge, ...]
    solves: int
    colds: int


def frontier(bag: Bag, solver: Solver, *, whole: bool = True) -> Frontier:
    """Return all corners of the front of a bag with watts, under its cap and deadline.

    Without `whole`, a task may be split, and run on several machines at a time.

    Raises
    ------
    SolverError
        If the solver fails.
    """
    search = _FrontSearch(bag, solver, whole=whole)
    thriftiest, fastest = search.minimise(1.0, 0.0), search.minimise(0.0, 1.0)
    flat = FINE if search.apart else FLAT
    found, edges = corners(search.minimise, thriftiest, fastest, flat=flat, settle=search.settle)
    between = [CornerEdge(1.0, 0.0, thriftiest.source), *edges, CornerEdge(0.0, 1.0, fastest.source)]
    return Frontier(
        corners=tuple(each.source.point for each in found),
        edges=tuple(
            Edge(front.Weights(each.first_weight, each.second_weight), partial(search.relaxation, each))
            for each in between
        ),
        solves=search.sweep.solves,
        colds=search.sweep.colds,
    )


def sampled(bag: Bag, solver: Solver, count: int) -> tuple[Point, ...]:
    """Return what is best for so many evenly spaced weights: the usual way to a front, for comparison.

    Raises
    ------
    SolverError
        If the solver fails.
    """
    search = _FrontSearch(bag, solver)
    thriftiest, fastest = search.minimise(1.0, 0.0), search.minimise(0.0, 1.0)
    width = abs(fastest.first - thriftiest.first) or 1.0
    height = abs(thriftiest.second - fastest.second) or 1.0
    shares = [(k + 1) / (count + 1) for k in range(count)]
    found = (search.minimise((1.0 - share) / width, share / height) for share in shares)
    return tuple(corner.source.point for corner in found)


@dataclass(frozen=True, slots=True)
class _Found:
    """A corner: its point, the solution that found it, and its basis's multipliers of energy and makespan."""

    point: Point
    scales: Scales
    weights: front.Weights
    solution: LpSolution
    multipliers: list[Floats] | None


class _FrontSearch:
    """Solves the front program of one bag for one pair of weights after the other."""

    def __init__(self, bag: Bag, solver: Solver, *, whole: bool = True) -> None:
        self.bag, self.solver, self.whole = bag, solver, whole
        self.scales = scales_of(bag, whole=whole)
        program = front.compile_lp(self.scales, front.Weights(1.0, 1.0), for_all_weights=True)
        self.sweep = CheckedSweep(solver, program)
        self.apart = front.longest_useful(self.scales) > FAR * self.scales.seconds
        self.ends = (front.all_costs(self.scales, front.ENERGY), front.all_costs(self.scales, front.MAKESPAN))

    def minimise(self, joules_weight: float, seconds_weight: float) -> Corner[_Found]:
        """Return what is best for these weights."""
        weights, scales, multipliers = front.Weights(joules_weight, seconds_weight), self.scales, None
        if self.apart:
            scales, solution = least_cost(self.bag, weights, self.solver, whole=self.whole)
        else:
            solution = self.sweep.solve(front.all_costs(scales, weights))
            multipliers = self.sweep.multipliers_of(self.ends)
        point = front.point_of(scales, solution)
        assert point.energy_joules is not None, "a front needs watts"
        found = _Found(point, scales, weights, solution, multipliers)
        return Corner(point.energy_joules, point.makespan_seconds, found)

    def settle(self, corner: Corner[_Found], joules_weight: float, seconds_weight: float) -> float | None:
        """Return what the basis of a corner proves for other weights than it was found for."""
        if corner.source.multipliers is None:
            return None
        weights = front.Weights(joules_weight, seconds_weight)
        mixed = self._mixed(corner.source.multipliers, weights)
        bound = self.sweep.program.dual_bound(mixed, front.all_costs(self.scales, weights))
        return bound * front.unit_of(self.scales, weights)

    def relaxation(self, edge: CornerEdge[_Found]) -> Relaxation:
        """Return the relaxation at an edge, with its own multipliers or those of a corner's basis."""
        found, weights = edge.source, front.Weights(edge.first_weight, edge.second_weight)
        solution = found.solution
        if found.weights != weights and found.multipliers is not None:
            program = self.sweep.program.with_costs(front.all_costs(self.scales, weights))
            mixed = self._mixed(found.multipliers, weights)
            bound = program.dual_bound(mixed)
            solution = replace(solution, program=program, multipliers=mixed, bound=bound)
        return front.read_solution(found.scales, weights, solution)

    def _mixed(self, multipliers: list[Floats], weights: front.Weights) -> Floats:
        energy, makespan = multipliers
        joules = weights.joules * front.unit_of(self.scales, front.ENERGY)
        seconds = weights.seconds * front.unit_of(self.scales, front.MAKESPAN)
        mixed: Floats = (joules * energy + seconds * makespan) / front.unit_of(self.scales, weights)
        return mixed
