"""The best of one objective: profit per time, or a weighted sum of energy and makespan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from lpsched.bag import front, profit
from lpsched.bag.relaxation import scales_of
from lpsched.lp.program import LpStatus, require_optimal

if TYPE_CHECKING:
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
# The row r <= 1 / L is added where the answer without it breaks it (see `objectives.py`).

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
