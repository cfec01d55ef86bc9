"""Programs that grow: columns and rows are added, and each solve may start where the last one ended.

    min  offset + c x    subject to    row_lower <= A x <= row_upper,    0 <= x <= u

A new column starts at 0 and leaves the last point feasible; a new row may cut it off. `ColdMaster` serves
every solver by solving the grown program anew; HiGHS has one that keeps its basis.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from lpsched.lp.program import Floats, Indices, LinearProgram, LpSolution, Solver
    from lpsched.watch import Watch


@dataclass(frozen=True, slots=True)
class Columns:
    """New variables, one after the other: their costs, upper bounds and coefficients."""

    costs: Floats
    upper: Floats
    starts: Indices  # of each column in `rows` and `values`, and their length at the end
    rows: Indices
    values: Floats

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.costs)

    def reduced_costs(self, multipliers: Floats) -> Floats:
        """Return c - A'y for each column."""
        owners = np.repeat(np.arange(len(self)), np.diff(self.starts))
        terms = self.values * multipliers[self.rows]
        reduced: Floats = self.costs - np.bincount(owners, weights=terms, minlength=len(self))
        return reduced

    def take(self, chosen: Indices) -> Columns:
        """Return some of the columns."""
        lengths = np.diff(self.starts)[chosen]
        starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
        cells = np.arange(starts[-1]) - np.repeat(starts[:-1] - self.starts[chosen], lengths)
        return Columns(self.costs[chosen], self.upper[chosen], starts, self.rows[cells], self.values[cells])


@dataclass(frozen=True, slots=True)
class Rows:
    """New rows, one after the other, over the columns that are there."""

    names: tuple[str, ...]
    lower: Floats
    upper: Floats
    starts: Indices
    columns: Indices
    values: Floats


class Master(Protocol):
    """A program that grows between solves."""

    program: LinearProgram  # as grown so far

    def add_columns(self, columns: Columns) -> None:
        """Add variables after the others."""

    def add_rows(self, rows: Rows) -> None:
        """Add rows after the others."""

    def change_cost(self, column: int, cost: float) -> None:
        """Change what one variable costs."""

    def change_limits(self, upper: Floats, row_lower: Floats, row_upper: Floats) -> None:
        """Change the limits of all variables and rows."""

    def solve(self, watch: Watch | None = None) -> LpSolution:
        """Return the answer for the program as it stands.

        Raises
        ------
        SolverError
            If the solver gives none.
        """


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
