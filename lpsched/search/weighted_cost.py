"""The least weighted sum of energy and makespan, counted in the makespan of the answer.

The front program counts time in T, the longest makespan that can be of use for its weights. Where far shorter
ones are best, s = t / T may be so small that the solver's absolute tolerance hides it. Then it is solved
again with a T as short as the answer.

The row t >= L is added where the answer without it breaks it. Where the two tie, the prices are then those
of the machines, and not of a row that no machine moves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.formulations import front
from lpsched.formulations.scales import scales_of
from lpsched.lp.program import LpStatus, require_optimal

if TYPE_CHECKING:
    from lpsched.formulations.scales import Scales
    from lpsched.instance import Bag
    from lpsched.lp.program import LpSolution, Solver
    from lpsched.watch import Watch

SHORT: Final = 1e-3  # as a share of T
MOST_RESCALED: Final = 3


def least_cost(
    bag: Bag, weights: front.Weights, solver: Solver, *, watch: Watch | None = None, whole: bool = True
) -> tuple[Scales, LpSolution]:
    """Return the solution for these weights, and the scales to read it in; for `whole` tasks, or split ones.

    Raises
    ------
    SolverError
        If the solver fails; to run out of time is no failure.
    """
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
