"""The frontier of feasible energy and makespan, and the region above it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag import front
from lpsched.bag.arrays import arrays_of
from lpsched.bag.relaxation import Point, scales_of
from lpsched.bag.search.objectives import FAR, FINE, FLAT, Corner, corners, least_cost
from lpsched.bag.search.objectives import Edge as CornerEdge
from lpsched.lp.sweep import CheckedSweep
from lpsched.model.fields import SMALLEST
from lpsched.model.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.bag.model import Bag
    from lpsched.bag.relaxation import Relaxation, Scales
    from lpsched.lp.program import LpSolution, Solver
    from lpsched.model.arrays import Floats


# Every corner of the energy/makespan front, exactly: no weights are sampled.
#
# The front is the convex chain of non-dominated (E, t) of `bag/front.py`; all its weights share one
# set of rows, so each program starts from the basis of the one before.
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
    """Return what is best for so many evenly spaced weights: the usual way to a front, for comparison."""
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


# Everything that a bag can take: all pairs of energy and makespan that some way to run it has, exactly.
#
# With x and t as in `bag/front.py`, and tasks that may be split, the feasible region is a polyhedron
# projected on the plane:
#
#     R  =  { (E, t) :  E = D(x) + I t,  x meets the demand,  load_j(x) <= t for each machine type j }
#
# D(x) are the joules above idle and I the watts of all machines when idle. For a given x, t may be as long as
# one likes, and nothing else is unbounded; so R goes on for ever in the direction (I, 1) alone: upwards
# without idle power. Seen in the coordinates (D, t) it is what lies above a convex function,
#
#     R  =  { (D, t) :  D_min <= D <= D_max,  t >= f(D) },     f(D) = min { max_j load_j(x) : D(x) = D },
#
# so all its corners are on the chain of f. Each is best for some direction (a, b), min a D + b t with b >= 0:
#
#     a >= 0   from D_min down to the least makespan: the front of the bag if idling took nothing
#     a <= 0   from there up to D_max: the same search, with the joules of each task type turned upside down
#
# Every task of type i may be given joules of its own, wherever it runs: that moves all of R and changes no
# corner. So both searches are fronts of bags without idle power, whose tasks take d_ij - min_j d_ij and
# max_j d_ij - d_ij joules, in a unit that makes the largest power 1 W. What a corner takes is told by its x.
#
# A power cap E <= P t and a deadline t <= T are half-planes of the plane itself: the region under limits is
# what they leave of R, so R is told without them. The largest profit (N - c E) / t, being a ratio of lines,
# is at a corner of R or, if nothing pays, at the far end, where waiting costs c I.
#
# Source: Tarplee, Maciejewski and Siegel, 2014, section V-C, who find the projection by hulls of points.
SAME: Final = 1e-9  # relative: corners this near are one
THRIFTY: Final = 1.0
WASTEFUL: Final = -1.0


@dataclass(frozen=True, slots=True)
class Region:
    """The corners, and where the region goes on for ever.

    Attributes
    ----------
    corners
        From the fewest joules above idle to the most, each with shares of tasks that take it there.
    idle_watts
        I: from its first and from its last corner the border goes on in the direction (I, 1).
    """

    corners: tuple[Point, ...]
    idle_watts: float


def region(bag: Bag, solver: Solver) -> Region:
    """Return the feasible region of a bag with watts; its cap and its deadline play no part."""
    free = bag.without_limits()
    scales = scales_of(free, whole=False)
    down = _chain(scales, THRIFTY, solver)
    up = _chain(scales, WASTEFUL, solver)
    return Region(tuple(_once([*down, *reversed(up)])), scales.idle_floor_watts)


def _chain(scales: Scales, sign: float, solver: Solver) -> list[Point]:
    """Return the corners from the least makespan to one end, with the energy that the bag takes there."""
    found = frontier(_without_idling(scales.bag, sign), solver, whole=False)
    return [_point(scales, each) for each in found.corners]


def _without_idling(bag: Bag, sign: float) -> Bag:
    """Return a bag whose tasks take what they take above idle, or its negative, and as little as may be."""
    arrays = arrays_of(bag)
    assert arrays.watts is not None, "a region needs watts"
    joules = sign * arrays.seconds * (arrays.watts - arrays.idle_watts[arrays.machine_of])
    least = np.where(arrays.can_run, joules, np.inf).min(axis=1, keepdims=True)
    watts = np.where(arrays.can_run, (joules - least) / np.where(arrays.can_run, arrays.seconds, 1.0), 0.0)
    watts /= watts.max() or 1.0
    told = np.where(arrays.can_run, np.where(watts < SMALLEST, 0.0, watts), np.nan)
    machines = (each.model_copy(update={"idle_watts": 0.0}) for each in bag.machine_types)
    return bag.model_copy(update={"machine_types": tuple(machines), "watts": Table.of(told.tolist())})


def _point(scales: Scales, corner: Point) -> Point:
    """Return the corner with the energy that the bag itself takes there."""
    makespan = scales.makespan_of(corner.shares)
    return Point(corner.shares, makespan, scales.energy_of(corner.shares, makespan))


def _once(corners: list[Point]) -> list[Point]:
    """Return the corners without repetitions: where both searches meet."""
    kept = corners[:1]
    for each in corners[1:]:
        if not all(_near(each, kept[-1])):
            kept.append(each)
    return kept


def _near(one: Point, other: Point) -> tuple[bool, bool]:
    assert one.energy_joules is not None
    assert other.energy_joules is not None
    return (
        bool(np.isclose(one.energy_joules, other.energy_joules, rtol=SAME, atol=0.0)),
        bool(np.isclose(one.makespan_seconds, other.makespan_seconds, rtol=SAME, atol=0.0)),
    )
