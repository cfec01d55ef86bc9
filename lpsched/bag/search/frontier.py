"""The best of one objective; every corner of a front of two; and the region of feasible energy and makespan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import numpy as np

from lpsched.bag import front, profit
from lpsched.bag.arrays import arrays_of
from lpsched.bag.relaxation import Point, Relaxation, Scales, scales_of
from lpsched.lp.program import LinearProgram, LpSolution, LpStatus, Solver, require_optimal
from lpsched.lp.sweep import CheckedSweep
from lpsched.model.fields import SMALLEST
from lpsched.model.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.bag.model import Bag
    from lpsched.cancellation import Watch
    from lpsched.model.arrays import Floats


# The best of one objective, counted in the makespan of the answer.
#
# The profit program counts time in T, a makespan of the fastest ways, the front program in the longest makespan
# that can be of use for its weights. Where far slower ways earn most, or far shorter makespans are best, rho = T / t
# or s = t / T may be so small that the solver's absolute tolerance hides it. Then the program is solved again with T
# as slow, or as short, as the answer.
#
# The row t >= L is added where the answer without it breaks it. Where the two tie, the prices are then those of the
# machines, and not of a row that no machine moves.
SLOW: Final = 1e-3  # rho: a share of 1 / T
SHORT: Final = 1e-3  # as a share of T
MOST_RESCALED: Final = 3


def best_rate(
    bag: Bag, solver: Solver, *, income: float | None = None, watch: Watch | None = None
) -> tuple[Relaxation, float]:
    """Return the relaxation at the bag's own income, or at another, and how many bags a second it finishes."""
    scales = scales_of(bag)
    money = profit.money_of(scales)
    if income is not None:
        money = replace(money, income=income, unit=max(money.unit, abs(income)))
    cheapest = scales.makespan_of(scales.to_least(money.costs))
    slowest = max(cheapest, bag.site.deadline_seconds or 0.0)  # nobody does better by being slower

    def makespan(scales: Scales, solution: LpSolution) -> float:
        return scales.seconds / max(float(solution["rho"][0]), profit.SLOWEST)

    def slower(scales: Scales, solution: LpSolution) -> float | None:
        return None if float(solution["rho"][0]) >= SLOW else min(slowest, makespan(scales, solution))

    solving = _Solving(solver, watch, lambda scales: profit.compile_lp(scales, money), makespan, slower)
    scales, solution = solving.answer(scales)
    rho = max(0.0, float(solution["rho"][0]))
    bags_per_second = rho / scales.seconds if rho > profit.SLOWEST else 0.0
    return profit.read_solution(scales, money, solution), bags_per_second


def least_cost(
    bag: Bag, weights: front.Weights, solver: Solver, *, watch: Watch | None = None, whole: bool = True
) -> tuple[Scales, LpSolution]:
    """Return the solution for these weights, and the scales to read it in; for `whole` tasks, or split ones."""

    def makespan(scales: Scales, solution: LpSolution) -> float:
        return front.point_of(scales, solution).makespan_seconds

    def shorter(scales: Scales, solution: LpSolution) -> float | None:
        seconds = makespan(scales, solution)
        return None if seconds >= SHORT * scales.seconds else seconds

    solving = _Solving(solver, watch, lambda scales: front.compile_lp(scales, weights), makespan, shorter)
    return solving.answer(front.scales_for(bag, weights, whole=whole), whole=whole)


@dataclass(frozen=True, slots=True)
class _Solving:
    """A program, the makespan that a solution of it has, and a better T, if the one it was solved with is far off."""

    solver: Solver
    watch: Watch | None
    program: Callable[[Scales], LinearProgram]
    makespan: Callable[[Scales, LpSolution], float]
    better: Callable[[Scales, LpSolution], float | None]

    def solved(self, scales: Scales) -> LpSolution:
        return self.solver.solve(self.program(scales), watch=self.watch)

    def answer(self, scales: Scales, *, whole: bool = True) -> tuple[Scales, LpSolution]:
        """Return the solution, and the scales to read it in."""
        solution = self.solved(scales.split())
        if scales.shortest and solution.status is LpStatus.OPTIMAL:
            if scales.allows(self.makespan(scales.split(), solution)):
                scales = scales.split()
            else:
                solution = self.solved(scales)
        for _ in range(MOST_RESCALED):
            if solution.status is LpStatus.LIMIT:
                break
            seconds = self.better(scales, require_optimal(solution))
            if seconds is None:
                break
            rescaled = scales_of(scales.bag, seconds=seconds, whole=whole)
            again = self.solved(rescaled)
            if again.status is not LpStatus.OPTIMAL:  # what there is will do
                break
            scales, solution = rescaled, again
        return scales, solution


# All corners of a convex chain, by dichotomic search.
#
# Two criteria are minimised over a convex set. The points that are best for some positive weights form a convex
# chain with finitely many corners. Between two known neighbours A and B, weigh the criteria so that A and B are
# equally good (the normal of the line through them) and minimise. Either nothing is better, and the line from A
# to B is an edge of the chain; or a new corner is found beyond the line, and the search goes on at both its
# sides. So V corners take 2 V - 1 programs, two for the ends included; fewer where a known corner can prove its
# own edge (`settle`): the basis of a corner has multipliers for each criterion, and their weighted sum is a
# proof.
#
# An end that only ties (as little of the first criterion, but more of the second than necessary) is found out
# on the way: its neighbour has no more of the first, so the end is dropped. What is left of the ends is
# lexicographic.
#
# Source: Aneja and Nair, Bicriteria transportation problem, 1979; Cohon, Multiobjective programming and
# planning, 1978.
SAME: Final = 1e-9  # relative: two corners this near in one criterion are told apart by the other, or not at all
FLAT: Final = 1e-7  # how flat a corner may be, where one T serves the whole chain
FINE: Final = 1e-14  # and where every program has a T of its own, because the ends are
FAR: Final = 1e6  # times apart in makespan
NOISE: Final = 1e-8  # relative: how far a solver may be off in a criterion

Payload = TypeVar("Payload")


@dataclass(frozen=True, slots=True)
class Corner(Generic[Payload]):
    """A point of the chain, and what it came from."""

    first: float
    second: float
    source: Payload


@dataclass(frozen=True, slots=True)
class CornerEdge(Generic[Payload]):
    """Two neighbours, the weights at which they tie, and the source that shows that nothing is better."""

    first_weight: float
    second_weight: float
    source: Payload


def corners(
    minimise: Callable[[float, float], Corner[Payload]],
    left: Corner[Payload],
    right: Corner[Payload],
    *,
    flat: float = FLAT,
    settle: Callable[[Corner[Payload], float, float], float | None] | None = None,
) -> tuple[list[Corner[Payload]], list[CornerEdge[Payload]]]:
    """Return all corners by rising first criterion, and the edges between them.

    `minimise` returns a point that is best for two weights; `left` has the least of the first criterion, `right` of
    the second. A corner must be `flat` beyond the line, as a share of the triangle over the pair. `settle` returns
    what a known corner proves for two weights, a bound of the weighted sum; or nothing.
    """
    found: list[Corner[Payload]] = [left]
    edges: list[CornerEdge[Payload]] = []
    ahead = [right]  # corners to the right of the last one found, nearest last
    while ahead:
        near, far = found[-1], ahead[-1]
        if _no_more(far.first, near.first):  # as little of the first, and less of the second
            found[-1] = ahead.pop()
            continue
        if _no_more(near.second, far.second):
            ahead.pop()
            continue
        width, height = far.first - near.first, near.second - far.second
        first, second = 1.0 / width, 1.0 / height
        line = near.first * first + near.second * second
        allowed = max(flat, NOISE * (abs(near.first) * first + abs(near.second) * second))
        proved = settle(near, first, second) if settle is not None else None
        if proved is not None and line - proved <= allowed:
            edges.append(CornerEdge(first, second, near.source))
            found.append(ahead.pop())
            continue
        new = minimise(first, second)
        if 1.0 - (new.first - near.first) * first - (new.second - far.second) * second <= allowed:
            edges.append(CornerEdge(first, second, new.source))
            found.append(ahead.pop())
        else:
            ahead.append(new)
    return found, edges


def _no_more(one: float, other: float) -> bool:
    return one <= other + SAME * max(abs(one), abs(other))


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
        return (joules * energy + seconds * makespan) / front.unit_of(self.scales, weights)


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
THRIFTY: Final = 1.0
WASTEFUL: Final = -1.0


@dataclass(frozen=True, slots=True)
class Region:
    """The corners, and where the region goes on for ever."""

    corners: tuple[Point, ...]  # from the fewest joules above idle to the most
    idle_watts: float  # I: from the first and from the last corner the border goes on in the direction (I, 1)


def region(bag: Bag, solver: Solver) -> Region:
    """Return the feasible region of a bag with watts; its cap and its deadline play no part."""
    scales = scales_of(bag.without_limits(), whole=False)
    chains = [frontier(_without_idling(scales.bag, sign), solver, whole=False) for sign in (THRIFTY, WASTEFUL)]
    down, up = ([scales.point(each.shares) for each in chain.corners] for chain in chains)
    kept = down[:1]
    for each in (*down[1:], *reversed(up)):
        if not _is_near(each, kept[-1]):  # the searches meet, and may repeat themselves there
            kept.append(each)
    return Region(tuple(kept), scales.idle_floor_watts)


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


def _is_near(one: Point, other: Point) -> bool:
    assert one.energy_joules is not None
    assert other.energy_joules is not None
    both = (one.energy_joules, one.makespan_seconds), (other.energy_joules, other.makespan_seconds)
    return bool(np.isclose(*both, rtol=SAME, atol=0.0).all())
