"""Many objectives over one program, each answer checked: hot where that works, cold where it does not.

Solvers that start from an earlier basis have been seen to call a wrong answer optimal (HiGHS issues 3194 and
3294). So every hot answer has to pass three questions: does it say that it is optimal, does its point keep
the rows, and do its value and the bound of its own multipliers meet? If not, the program is solved again from
cold, and that answer stands.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import SolverError
from lpsched.lp.program import LinearProgram, LpSolution, LpStatus, Solver, Sweep, require_optimal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.lp.program import Floats

AGREEMENT: Final = 1e-7  # of value and bound, relative to the terms that the value adds up
KEPT: Final = 1e-7  # how far a point may leave its rows


@dataclass(slots=True)
class CheckedSweep:
    """Solves one program for one objective after the other; counts how often it had to start from cold."""

    solver: Solver
    program: LinearProgram
    solves: int = 0
    colds: int = 0
    _sweep: Sweep = field(init=False)
    _is_hot: bool = False

    def __post_init__(self) -> None:
        """Hand the program to the solver."""
        self._sweep = self.solver.sweep(self.program)

    def solve(self, costs: Floats) -> LpSolution:
        """Return the optimal solution for these costs.

        Raises
        ------
        SolverError
            If there is none even from cold.
        """
        self.solves += 1
        try:
            hot = self._sweep.solve(costs)
            self._is_hot = is_sound(hot)
            if self._is_hot:
                return hot
        except SolverError:
            self._is_hot = False  # whatever it was, a cold start is the answer
        self.colds += 1
        self._sweep = self.solver.sweep(self.program)  # the old one may go on to be wrong
        return require_optimal(self.solver.solve(self.program.with_costs(costs)))

    def multipliers_of(self, objectives: Sequence[Floats]) -> list[Floats] | None:
        """Return the multipliers that the last solve's basis has for each of these costs, if known."""
        return self._sweep.multipliers_of(objectives) if self._is_hot else None


def is_sound(solution: LpSolution) -> bool:
    """Tell whether an answer proves itself: optimal, feasible, and as good as its own bound."""
    if solution.status is not LpStatus.OPTIMAL or not np.all(np.isfinite(solution.values)):
        return False
    program = solution.program
    size = abs(program.offset) + float(np.abs(program.costs) @ np.abs(solution.values))
    apart = abs(solution.value - solution.bound)
    return apart <= AGREEMENT * size and program.infeasibility(solution.values) <= KEPT
