"""The best of one objective; every vertex of a front of two; and the region of feasible energy and makespan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import numpy as np

from lpsched.bag import front, profit
from lpsched.bag.arrays import arrays_of
from lpsched.bag.relaxation import ROUNDING, Point, Relaxation, Scaling, scaling_of
from lpsched.lp.program import LpSolution, LpStatus, Solver, require_optimal
from lpsched.lp.sweep import CheckedSweep
from lpsched.model.fields import SMALLEST
from lpsched.model.table import Table

if TYPE_CHECKING:
    from lpsched.bag.certificate.bounds import Multipliers
    from lpsched.bag.model import Bag
    from lpsched.cancellation import CancelToken
    from lpsched.model.table import Floats


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
    bag: Bag, solver: Solver, *, income: float | None = None, cancel: CancelToken | None = None
) -> tuple[Relaxation, float]:
    """Return the relaxation at the bag's own income, or at another, and how many bags a second it finishes."""
    scaling = scaling_of(bag)
    money = profit.profit_model(scaling)
    if income is not None:
        money = replace(money, income=income, unit=max(money.unit, abs(income)))
    cheapest = scaling.makespan_of(scaling.to_least(money.costs))
    slowest = max(cheapest, bag.site.deadline_seconds or 0.0)  # no slower schedule is better

    scaling, solution = _rescaled(
        scaling,
        lambda scaling: solver.solve(profit.compile_lp(scaling, money), cancel=cancel),
        lambda scaling, solution: min(slowest, scaling.seconds / max(float(solution["rho"][0]), profit.SLOWEST)),
        lambda _, solution: float(solution["rho"][0]) < SLOW,
    )
    rho = max(0.0, float(solution["rho"][0]))
    bags_per_second = rho / scaling.seconds if rho > profit.SLOWEST else 0.0
    return profit.read_solution(scaling, money, solution), bags_per_second


def least_cost(
    bag: Bag, weights: front.Weights, solver: Solver, *, cancel: CancelToken | None = None, whole: bool = True
) -> tuple[Scaling, LpSolution]:
    """Return the solution for these weights, and its scaling; for `whole` tasks, or split ones."""
    return _rescaled(
        front.scaling_for(bag, weights, whole=whole),
        lambda scaling: solver.solve(front.compile_lp(scaling, weights), cancel=cancel),
        lambda scaling, solution: front.point_of(scaling, solution).makespan_seconds,
        lambda scaling, solution: front.point_of(scaling, solution).makespan_seconds < SHORT * scaling.seconds,
        whole=whole,
    )


def _rescaled(
    scaling: Scaling,
    solve: Callable[[Scaling], LpSolution],
    makespan: Callable[[Scaling, LpSolution], float],
    is_far: Callable[[Scaling, LpSolution], bool],
    *,
    whole: bool = True,
) -> tuple[Scaling, LpSolution]:
    """Return the solution and its scaling; where T is far off, solved again with the makespan as T."""
    split = scaling.split()
    solution = solve(split)
    if scaling.shortest and solution.status is LpStatus.OPTIMAL:
        if makespan(split, solution) >= scaling.shortest * (1.0 - ROUNDING):
            scaling = split
        else:
            solution = solve(scaling)
    for _ in range(MOST_RESCALED):
        if solution.status is LpStatus.LIMIT:
            break
        if not is_far(scaling, require_optimal(solution)):
            break
        rescaled = scaling_of(scaling.bag, seconds=makespan(scaling, solution), whole=whole)
        again = solve(rescaled)
        if again.status is not LpStatus.OPTIMAL:  # the solution so far is kept
            break
        scaling, solution = rescaled, again
    return scaling, solution


# All vertices of a convex chain, by dichotomic search.
#
# Two criteria are minimised over a convex set. The points that are best for some positive weights form a convex chain
# with finitely many vertices. Between two known neighbours A and B, weigh the criteria so that A and B are equally good
# (the normal of the line through them) and minimise. Either nothing is better, and the line from A to B is an edge of
# the chain; or a new vertex is found beyond the line, and the search goes on at both its sides. So V vertices take 2 V
# - 1 programs, two for the ends included; fewer where a known vertex can prove its own edge (`settle`): the basis of a
# vertex has multipliers for each criterion, and their weighted sum is a proof.
#
# An end that only ties (as little of the first criterion, but more of the second than necessary) is found out on the
# way: its neighbour has no more of the first, so the end is dropped. What is left of the ends is lexicographic.
#
# Source: Aneja and Nair, Bicriteria transportation problem, 1979; Cohon, Multiobjective programming and planning, 1978.
SAME: Final = 1e-9  # relative: two vertices this near in one criterion differ in the other, or not at all
FLAT: Final = 1e-7  # how flat a vertex may be, where one T serves the whole chain
FINE: Final = 1e-14  # and where every program has a T of its own, because the ends are
FAR: Final = 1e6  # times apart in makespan
NOISE: Final = 1e-8  # relative: how far a solver may be off in a criterion

Payload = TypeVar("Payload")


@dataclass(frozen=True, slots=True)
class Vertex(Generic[Payload]):
    """A point of the chain, and what it came from."""

    first: float
    second: float
    source: Payload


@dataclass(frozen=True, slots=True)
class VertexEdge(Generic[Payload]):
    """Two neighbours, the weights at which they tie, and the source that shows that nothing is better."""

    first_weight: float
    second_weight: float
    source: Payload


def vertices(
    minimise: Callable[[float, float], Vertex[Payload]],
    left: Vertex[Payload],
    right: Vertex[Payload],
    *,
    flat: float = FLAT,
    settle: Callable[[Vertex[Payload], float, float], float | None] | None = None,
) -> tuple[list[Vertex[Payload]], list[VertexEdge[Payload]]]:
    """Return all vertices by rising first criterion, and the edges between them.

    `minimise` returns a point that is best for two weights; `left` has the least of the first criterion, `right` of
    the second. A vertex must be `flat` beyond the line, as a share of the triangle over the pair. `settle` returns
    what a known vertex proves for two weights, a bound of the weighted sum; or nothing.
    """
    found: list[Vertex[Payload]] = [left]
    edges: list[VertexEdge[Payload]] = []
    ahead = [right]  # vertices to the right of the last one found, nearest last
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
            edges.append(VertexEdge(first, second, near.source))
            found.append(ahead.pop())
            continue
        new = minimise(first, second)
        if 1.0 - (new.first - near.first) * first - (new.second - far.second) * second <= allowed:
            edges.append(VertexEdge(first, second, new.source))
            found.append(ahead.pop())
        else:
            ahead.append(new)
    return found, edges


def _no_more(one: float, other: float) -> bool:
    return one <= other + SAME * max(abs(one), abs(other))


# Every vertex of the energy/makespan front, exactly: no weights are sampled.
# The front is the convex chain of non-dominated (E, t) of `bag/front.py`; all its weights share one set of rows. So the
# parametric simplex method finds it in one go, from the basis with the least energy to that with the least makespan.
# Its points go through the search above, as if each were asked for, and every edge is checked: its basis has to prove
# that nothing lies beyond it. If one does not, if a point breaks its rows, or if the method gets stuck, the solver is
# asked for one pair of weights after the other; each program then starts from the basis of the one before.
@dataclass(frozen=True, slots=True)
class Edge:
    """The weights at which two neighbouring vertices, or one criterion alone, are best, and the proof."""

    weights: front.Weights
    multipliers: Callable[[], Multipliers]  # the prices that prove it; read when they are needed


@dataclass(frozen=True, slots=True)
class Frontier:
    """The vertices by rising energy, and the edges: left of the first, between them, and below the last."""

    vertices: tuple[Point, ...]
    edges: tuple[Edge, ...]
    solves: int
    colds: int
    pivots: int = 0  # of the parametric simplex method; 0 where it was of no use


def frontier(bag: Bag, solver: Solver, *, whole: bool = True) -> Frontier:
    """Return all vertices of the front of a bag with watts, under its cap and deadline; of `whole` or split tasks."""
    search = _FrontSearch(bag, solver, whole=whole)
    least_energy = search.minimise(1.0, 0.0)
    along = search.along(least_energy)
    if along is not None:
        return along
    fastest = search.minimise(0.0, 1.0)
    flat = FINE if search.apart else FLAT
    found, edges = vertices(search.minimise, least_energy, fastest, flat=flat, settle=search.settle)
    between = [VertexEdge(1.0, 0.0, least_energy.source), *edges, VertexEdge(0.0, 1.0, fastest.source)]
    return Frontier(
        vertices=tuple(each.source.point for each in found),
        edges=tuple(
            Edge(front.Weights(each.first_weight, each.second_weight), partial(search.multipliers, each))
            for each in between
        ),
        solves=search.sweep.solves,
        colds=search.sweep.colds,
    )


def sampled(bag: Bag, solver: Solver, count: int) -> tuple[Point, ...]:
    """Return what is best for `count` evenly spaced weights: the usual way to a front, for comparison."""
    search = _FrontSearch(bag, solver)
    least_energy, fastest = search.minimise(1.0, 0.0), search.minimise(0.0, 1.0)
    width = abs(fastest.first - least_energy.first) or 1.0
    height = abs(least_energy.second - fastest.second) or 1.0
    shares = [(k + 1) / (count + 1) for k in range(count)]
    found = (search.minimise((1.0 - share) / width, share / height) for share in shares)
    return tuple(vertex.source.point for vertex in found)


@dataclass(frozen=True, slots=True)
class _Found:
    """A vertex: its point, the solution that found it, and its basis's multipliers of energy and makespan."""

    point: Point
    scaling: Scaling
    weights: front.Weights
    solution: LpSolution
    multipliers: list[Floats] | None


class _FrontSearch:
    """Solves the front program of one bag for one pair of weights after the other."""

    def __init__(self, bag: Bag, solver: Solver, *, whole: bool = True) -> None:
        self.bag, self.solver, self.whole = bag, solver, whole
        self.scaling = scaling_of(bag, whole=whole)
        program = front.compile_lp(self.scaling, front.Weights(1.0, 1.0), for_all_weights=True)
        self.sweep = CheckedSweep(solver, program)
        self.apart = front.longest_useful(self.scaling) > FAR * self.scaling.seconds
        self.ends = (front.all_costs(self.scaling, front.ENERGY), front.all_costs(self.scaling, front.MAKESPAN))

    def minimise(self, joules_weight: float, seconds_weight: float) -> Vertex[_Found]:
        """Return what is best for these weights."""
        weights, scaling, multipliers = front.Weights(joules_weight, seconds_weight), self.scaling, None
        if self.apart:
            scaling, solution = least_cost(self.bag, weights, self.solver, whole=self.whole)
        else:
            solution = self.sweep.solve(front.all_costs(scaling, weights))
            multipliers = self.sweep.multipliers_of(self.ends)
        point = front.point_of(scaling, solution)
        assert point.energy_joules is not None, "a front needs watts"
        found = _Found(point, scaling, weights, solution, multipliers)
        return Vertex(point.energy_joules, point.makespan_seconds, found)

    def settle(self, vertex: Vertex[_Found], joules_weight: float, seconds_weight: float) -> float | None:
        """Return what the basis of a vertex proves for other weights than it was found for."""
        if vertex.source.multipliers is None:
            return None
        weights = front.Weights(joules_weight, seconds_weight)
        mixed = self._mixed(vertex.source.multipliers, weights)
        bound = self.sweep.program.dual_bound(mixed, front.all_costs(self.scaling, weights))
        return bound * front.unit_of(self.scaling, weights)

    def along(self, least_energy: Vertex[_Found]) -> Frontier | None:
        """Return the front by the parametric simplex method, from the last solve on; `None` unless all is proved."""
        path = None if self.apart else self.sweep.path(least_energy.source.solution, self.ends[1])
        if path is None:
            return None
        scaling, program = self.scaling, self.sweep.program
        points = [scaling.point(shares) for shares in scaling.shares_of(path.points[:, program.blocks["y"]])]
        both = np.array([(point.energy_joules, point.makespan_seconds) for point in points])

        chain = [Vertex(joules, seconds, point) for (joules, seconds), point in zip(both.tolist(), points, strict=True)]

        def best(joules_weight: float, seconds_weight: float) -> Vertex[Point]:
            return chain[int((both @ (joules_weight, seconds_weight)).argmin())]

        found, edges = vertices(best, chain[0], chain[-1])
        weights = np.array([(1.0, 0.0), *((each.first_weight, each.second_weight) for each in edges), (0.0, 1.0)])
        units = np.array([front.unit_of(scaling, each) for each in (front.ENERGY, front.MAKESPAN)])
        parts = weights * units  # of both criteria, counted as the programs do
        with np.errstate(divide="ignore"):
            bases = np.searchsorted(path.ends, parts[:, 1] / parts[:, 0])
        mixed = parts[:, :1] * path.first[bases] + parts[:, 1:] * path.second[bases]
        proved = program.dual_bounds(mixed, parts @ self.ends)
        near = np.array([(each.first, each.second) for each in (found[0], *found)])
        values = (weights * near).sum(axis=1)
        allowed = np.maximum(NOISE * values, np.where(weights.all(axis=1), FLAT, 0.0))
        if not np.all(values - proved <= allowed):  # NaN fails as well
            return None
        return Frontier(
            vertices=tuple(each.source for each in found),
            edges=tuple(
                Edge(each, partial(self._multipliers, each, multipliers / front.unit_of(scaling, each)))
                for each, multipliers in zip((front.Weights(*pair) for pair in weights.tolist()), mixed, strict=True)
            ),
            solves=self.sweep.solves,
            colds=self.sweep.colds,
            pivots=path.pivots,
        )

    def multipliers(self, edge: VertexEdge[_Found]) -> Multipliers:
        """Return the prices at an edge: of the solution there, or of a vertex's basis."""
        found, weights = edge.source, front.Weights(edge.first_weight, edge.second_weight)
        if found.weights == weights or found.multipliers is None:
            return front.read_solution(found.scaling, weights, found.solution).multipliers
        return self._multipliers(weights, self._mixed(found.multipliers, weights))

    def _multipliers(self, weights: front.Weights, multipliers: Floats) -> Multipliers:
        p, q = front.prices_of(self.scaling, weights, multipliers)
        return self.scaling.multipliers(p, q, front.unit_of(self.scaling, weights))

    def _mixed(self, multipliers: list[Floats], weights: front.Weights) -> Floats:
        energy, makespan = multipliers
        joules = weights.joules * front.unit_of(self.scaling, front.ENERGY)
        seconds = weights.seconds * front.unit_of(self.scaling, front.MAKESPAN)
        return (joules * energy + seconds * makespan) / front.unit_of(self.scaling, weights)


# Everything that a bag can take: all pairs of energy and makespan that some way to run it has, exactly.
#
# With x and t as in `bag/front.py`, and tasks that may be split, the feasible region is a polyhedron
# projected on the plane:
#
#     R  =  { (E, t) :  E = D(x) + I t,  x meets the demand,  load_j(x) <= t for each machine type j }
#
# D(x) are the joules above idle and I the watts of all machines when idle. For a given x, t has no upper limit,
# and nothing else is unbounded; so R is unbounded in the direction (I, 1) alone: upwards without idle power. In the
# coordinates (D, t) it is the epigraph of a convex function,
#
#     R  =  { (D, t) :  D_min <= D <= D_max,  t >= f(D) },     f(D) = min { max_j load_j(x) : D(x) = D },
#
# so all its vertices are on the chain of f. Each is best for some direction (a, b), min a D + b t with b >= 0:
#
#     a >= 0   from D_min down to the least makespan: the front of the bag if idling took nothing
#     a <= 0   from there up to D_max: the same search, with the joules of each task type turned upside down
#
# Adding the same joules to every task of a type, wherever it runs, moves all of R and changes no
# vertex. So both searches are fronts of bags without idle power, whose tasks take d_ij - min_j d_ij and
# max_j d_ij - d_ij joules, in a unit that makes the largest power 1 W. What a vertex takes follows from its x.
#
# A power cap E <= P t and a deadline t <= T are half-planes of the plane itself: the region under limits is
# what they leave of R, so R is given without them. The largest profit (N - c E) / t, being a ratio of lines,
# is at a vertex of R or, if nothing pays, at infinity, where idling costs c I.
#
# Source: Tarplee, Maciejewski and Siegel, 2014, section V-C, who find the projection by hulls of points.
LEAST_ENERGY: Final = 1.0
MOST_ENERGY: Final = -1.0


def region(bag: Bag, solver: Solver) -> tuple[list[Point], float]:
    """Return the vertices, from the fewest joules above idle to the most, and I; cap and deadline play no part.

    From the first and from the last vertex the border goes on in the direction (I, 1).
    """
    scaling = scaling_of(bag.without_limits(), whole=False)
    chains = [frontier(_without_idling(scaling.bag, sign), solver, whole=False) for sign in (LEAST_ENERGY, MOST_ENERGY)]
    down, up = ([scaling.point(each.shares) for each in chain.vertices] for chain in chains)
    kept = down[:1]
    for each in (*down[1:], *reversed(up)):
        one, two = (np.array([at.energy_joules, at.makespan_seconds], dtype=float) for at in (each, kept[-1]))
        if not np.isclose(one, two, rtol=SAME, atol=0.0).all():  # the searches meet, and may repeat themselves there
            kept.append(each)
    return kept, scaling.idle_floor_watts


def _without_idling(bag: Bag, sign: float) -> Bag:
    """Return a bag whose tasks take what they take above idle, or its negative, and as little as may be."""
    arrays = arrays_of(bag)
    assert arrays.watts is not None, "a region needs watts"
    joules = sign * arrays.seconds * (arrays.watts - arrays.idle_watts[arrays.machine_of])
    least = np.where(arrays.can_run, joules, np.inf).min(axis=1, keepdims=True)
    watts = np.where(arrays.can_run, (joules - least) / np.where(arrays.can_run, arrays.seconds, 1.0), 0.0)
    watts /= watts.max() or 1.0
    written = np.where(arrays.can_run, np.where(watts < SMALLEST, 0.0, watts), np.nan)
    machines = (each.model_copy(update={"idle_watts": 0.0}) for each in bag.machine_types)
    return bag.model_copy(update={"machine_types": tuple(machines), "watts": Table.of(written.tolist())})
