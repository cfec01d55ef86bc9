"""The best of one objective (profit per time, or weighted energy and makespan), and vertices of a front."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from lpsched.bag import front, profit
from lpsched.bag.relaxation import scales_of
from lpsched.lp.program import LpStatus, require_optimal

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.bag.model import Bag
    from lpsched.bag.relaxation import Relaxation, Scales
    from lpsched.cancellation import Watch
    from lpsched.lp.program import LpSolution, Solver


# The best profit rate, counted in the makespan of the answer.
#
# The profit program counts time in T, a makespan of the fastest ways. Where slow and cheap ways are best, rho
# = T / t may be so small that the solver's absolute tolerance hides it. Then it is solved again with T as
# slow as the answer.
#
# The row r <= 1 / L is added where the answer without it breaks it.
SLOW: Final = 1e-3  # as a share of 1 / T
MOST_RESCALED: Final = 3


@dataclass(frozen=True, slots=True)
class Rated:
    """A relaxation, how many bags a second it finishes, and whether its program was solved to the end."""

    relaxation: Relaxation
    bags_per_second: float
    optimal: bool


def best_rate(bag: Bag, solver: Solver, *, income: float | None = None, watch: Watch | None = None) -> Rated:
    """Return the relaxation at the bag's own income, or at another."""
    scales = scales_of(bag)
    money = profit.money_of(scales)
    if income is not None:
        money = replace(money, income=income, unit=max(money.unit, abs(income)))
    cheapest = scales.makespan_of(scales.to_least(money.costs))
    slowest = max(cheapest, bag.site.deadline_seconds or 0.0)  # nobody does better by being slower
    solution = solver.solve(profit.compile_lp(scales.split(), money), watch=watch)
    if scales.shortest and solution.status is LpStatus.OPTIMAL:
        if scales.allows(scales.seconds / max(float(solution["rho"][0]), profit.SLOWEST)):
            scales = scales.split()
        else:
            solution = solver.solve(profit.compile_lp(scales, money), watch=watch)
    for _ in range(MOST_RESCALED):
        if solution.status is LpStatus.LIMIT:
            break
        rho = float(require_optimal(solution)["rho"][0])
        if rho >= SLOW:
            break
        slower = scales_of(bag, seconds=min(slowest, scales.seconds / max(rho, profit.SLOWEST)))
        again = solver.solve(profit.compile_lp(slower, money), watch=watch)
        if again.status is not LpStatus.OPTIMAL:  # what there is will do
            break
        scales, solution = slower, again
    rho = max(0.0, float(solution["rho"][0]))
    return Rated(
        relaxation=profit.read_solution(scales, money, solution),
        bags_per_second=rho / scales.seconds if rho > profit.SLOWEST else 0.0,
        optimal=solution.status is LpStatus.OPTIMAL,
    )


# The least weighted sum of energy and makespan, counted in the makespan of the answer.
#
# The front program counts time in T, the longest makespan that can be of use for its weights. Where far
# shorter ones are best, s = t / T may be so small that the solver's absolute tolerance hides it. Then it is
# solved again with a T as short as the answer.
#
# The row t >= L is added where the answer without it breaks it. Where the two tie, the prices are then those
# of the machines, and not of a row that no machine moves.
SHORT: Final = 1e-3  # as a share of T


def least_cost(
    bag: Bag, weights: front.Weights, solver: Solver, *, watch: Watch | None = None, whole: bool = True
) -> tuple[Scales, LpSolution]:
    """Return the solution for these weights, and the scales to read it in; for `whole` tasks, or split ones."""
    scales = front.scales_for(bag, weights, whole=whole)
    solution = solver.solve(front.compile_lp(scales.split(), weights), watch=watch)
    if scales.shortest and solution.status is LpStatus.OPTIMAL:
        if scales.allows(front.point_of(scales.split(), solution).makespan_seconds):
            scales = scales.split()
        else:
            solution = solver.solve(front.compile_lp(scales, weights), watch=watch)
    for _ in range(MOST_RESCALED):
        if solution.status is LpStatus.LIMIT:
            break
        makespan = front.point_of(scales, require_optimal(solution)).makespan_seconds
        if makespan >= SHORT * scales.seconds:
            break
        shorter = scales_of(bag, seconds=makespan, whole=whole)
        again = solver.solve(front.compile_lp(shorter, weights), watch=watch)
        if again.status is not LpStatus.OPTIMAL:  # what there is will do
            break
        scales, solution = shorter, again
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
SAME: Final = 1e-9  # relative: two corners this near in one criterion are told apart by the other
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
class Edge(Generic[Payload]):
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
) -> tuple[list[Corner[Payload]], list[Edge[Payload]]]:
    """Return all corners by rising first criterion, and the edges between them.

    Parameters
    ----------
    minimise
        Returns a point that is best for the two weights given.
    left, right
        A point with the least of the first criterion, and one with the least of the second.
    flat
        How far beyond the line a corner must be, as a share of the triangle over the pair.
    settle
        Returns what a known corner proves for two weights, a bound of the weighted sum; or nothing.

    >>> points = [(0.0, 9.0), (1.0, 4.0), (3.0, 2.0), (7.0, 1.0), (4.0, 4.0)]
    >>> def best(a, b):
    ...     return Corner(*min(points, key=lambda point: a * point[0] + b * point[1]), None)
    >>> found, edges = corners(best, best(1, 0), best(0, 1))
    >>> [(each.first, each.second) for each in found], len(edges)
    ([(0.0, 9.0), (1.0, 4.0), (3.0, 2.0), (7.0, 1.0)], 3)
    """
    found: list[Corner[Payload]] = [left]
    edges: list[Edge[Payload]] = []
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
            edges.append(Edge(first, second, near.source))
            found.append(ahead.pop())
            continue
        new = minimise(first, second)
        if 1.0 - (new.first - near.first) * first - (new.second - far.second) * second <= allowed:
            edges.append(Edge(first, second, new.source))
            found.append(ahead.pop())
        else:
            ahead.append(new)
    return found, edges


def _no_more(one: float, other: float) -> bool:
    return one <= other + SAME * max(abs(one), abs(other))
