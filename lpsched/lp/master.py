"""Programs that grow: columns are added while prices find better ones, and the basis stays warm."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import SolverError
from lpsched.lp.program import Columns, LinearProgram, LpSolution, LpStatus, Rows, Solver, Sweep, require_optimal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.cancellation import Watch
    from lpsched.lp.program import Floats


# Many objectives over one program, each answer checked: hot where that works, cold where it does not.
#
# Solvers that start from an earlier basis have been seen to call a wrong answer optimal (HiGHS issues 3194
# and 3294). So every hot answer has to pass three questions: does it say that it is optimal, does its point
# keep the rows, and do its value and the bound of its own multipliers meet? If not, the program is solved
# again from cold, and that answer stands.
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
        """Return the optimal solution for these costs."""
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


# Programs that grow: columns and rows are added, and each solve may start where the last one ended.
#
#     min  offset + c x    subject to    row_lower <= A x <= row_upper,    0 <= x <= u
#
# A new column starts at 0 and leaves the last point feasible; a new row may cut it off. `ColdMaster` serves
# every solver by solving the grown program anew; HiGHS has one that keeps its basis.
class ColdMaster:
    """Solves the grown program from cold each time."""

    def __init__(self, solver: Solver, program: LinearProgram) -> None:
        self.solver, self.program = solver, program

    def add_columns(self, columns: Columns) -> None:
        """Add variables after the others."""
        self.program = with_columns(self.program, columns)

    def add_rows(self, rows: Rows) -> None:
        """Add rows after the others."""
        self.program = with_rows(self.program, rows)

    def change_cost(self, column: int, cost: float) -> None:
        """Change what one variable costs."""
        self.program = with_cost(self.program, column, cost)

    def change_limits(self, upper: Floats, row_lower: Floats, row_upper: Floats) -> None:
        """Change the limits of all variables and rows."""
        self.program = with_limits(self.program, upper, row_lower, row_upper)

    def solve(self, watch: Watch | None = None) -> LpSolution:
        """Solve from cold."""
        return self.solver.solve(self.program, watch=watch)


def with_columns(program: LinearProgram, columns: Columns) -> LinearProgram:
    """Return the program with more variables."""
    size, height = len(program.costs), len(program.row_names)
    new = size + np.repeat(np.arange(len(columns)), np.diff(columns.starts))
    rows = np.concatenate((np.repeat(np.arange(height), np.diff(program.starts)), columns.rows))
    order = np.argsort(rows, kind="stable")
    return replace(
        program,
        costs=np.append(program.costs, columns.costs),
        upper=np.append(program.upper, columns.upper),
        starts=np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=height)))).astype(np.int32),
        columns=np.append(program.columns, new)[order].astype(np.int32),
        values=np.append(program.values, columns.values)[order],
    )


def with_rows(program: LinearProgram, rows: Rows) -> LinearProgram:
    """Return the program with more rows."""
    return replace(
        program,
        row_names=program.row_names + rows.names,
        row_lower=np.append(program.row_lower, rows.lower),
        row_upper=np.append(program.row_upper, rows.upper),
        starts=np.append(program.starts, program.starts[-1] + rows.starts[1:]).astype(np.int32),
        columns=np.append(program.columns, rows.columns).astype(np.int32),
        values=np.append(program.values, rows.values),
    )


def with_cost(program: LinearProgram, column: int, cost: float) -> LinearProgram:
    """Return the program with another cost of one variable."""
    costs = program.costs.copy()
    costs[column] = cost
    return program.with_costs(costs)


def with_limits(program: LinearProgram, upper: Floats, row_lower: Floats, row_upper: Floats) -> LinearProgram:
    """Return the program with other limits of variables and rows."""
    return replace(program, upper=upper, row_lower=row_lower, row_upper=row_upper)
