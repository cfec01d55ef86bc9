"""The best profit rate, counted in the makespan of the answer.

The profit program counts time in T, a makespan of the fastest ways. Where slow and cheap ways are best, rho =
T / t may be so small that the solver's absolute tolerance hides it. Then it is solved again with T as slow as
the answer.

The row r <= 1 / L is added where the answer without it breaks it (see `weighted_cost.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from lpsched.formulations import profit
from lpsched.formulations.scales import scales_of
from lpsched.lp.program import LpStatus, require_optimal

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.lp.program import Solver
    from lpsched.relaxation import Relaxation
    from lpsched.watch import Watch

SLOW: Final = 1e-3  # as a share of 1 / T
MOST_RESCALED: Final = 3


@dataclass(frozen=True, slots=True)
class Rated:
    """A relaxation, how many bags a second it finishes, and whether its program was solved to the end."""

    relaxation: Relaxation
    bags_per_second: float
    optimal: bool


def best_rate(bag: Bag, solver: Solver, *, income: float | None = None, watch: Watch | None = None) -> Rated:
    """Return the relaxation at the bag's own income, or at another.

    Raises
    ------
    SolverError
        If the solver fails; to run out of time is no failure.
    """
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
