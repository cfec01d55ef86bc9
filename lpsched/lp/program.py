"""Linear programs as plain arrays, and the builder that writes them in the order of the maths.

    min  offset + c x    subject to    row_lower <= A x <= row_upper,    0 <= x <= u

Every variable has a finite upper bound u. That is what makes a bound out of *any* multipliers: for every
feasible x, and whatever y is,

    c x  =  y A x + (c - A'y) x  >=  sum over rows of (y_i row_lower_i if y_i > 0 else y_i row_upper_i)
                                     + sum over columns of u min(0, c - A'y),

so wrong multipliers weaken the bound and never break it (`dual_bound`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lpsched.errors import InfeasibleProgramError, SolverError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.lp.devices import Device
    from lpsched.lp.master import Master
    from lpsched.watch import Watch

Floats: TypeAlias = NDArray[np.float64]
FEW: Final = 100_000  # cells of a matrix that is kept dense

Indices: TypeAlias = NDArray[np.int32]
Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LinearProgram:
    """A minimisation; the rows of A are stored one after the other."""

    name: str
    costs: Floats
    offset: float
    upper: Floats
    row_names: tuple[str, ...]
    row_lower: Floats
    row_upper: Floats
    starts: Indices  # of each row in `columns` and `values`, and their length at the end
    columns: Indices
    values: Floats
    blocks: dict[str, Indices]  # the columns of each named block of variables, in its shape
    cache: dict[str, _Matrix] = field(default_factory=dict, init=False, repr=False, compare=False)

    def with_costs(self, costs: Floats) -> LinearProgram:
        """Return the same rows with another objective; what is known of the rows is kept."""
        other = replace(self, costs=costs)
        other.cache["matrix"] = self._matrix
        return other

    def value(self, x: Floats) -> float:
        """Return the objective at a point."""
        return self.offset + float(self.costs @ x)

    def allows_nothing(self) -> bool:
        """Tell whether all variables may be 0."""
        return bool(np.all(self.row_lower <= 0) and np.all(self.row_upper >= 0))

    def infeasibility(self, x: Floats) -> float:
        """Return by how much a point breaks its worst row or limit, relative to what the row adds up."""
        sums, sizes = self._matrix.times(x), np.maximum(self._matrix.sizes(x), 1.0)
        low = ((self.row_lower - sums) / sizes).max(initial=0.0)
        high = ((sums - self.row_upper) / sizes).max(initial=0.0)
        beyond = ((x - self.upper) / np.maximum(self.upper, 1.0)).max(initial=0.0)
        return float(max(low, high, beyond, -x.min(initial=0.0)))

    def dual_bound(self, multipliers: Floats, costs: Floats | None = None) -> float:
        """Return the lower bound that these multipliers prove, up to rounding; for other costs, if given."""
        y = np.where(np.isfinite(multipliers), multipliers, 0.0)
        sides = np.where(y > 0, self.row_lower, self.row_upper)
        endless = np.isinf(sides)
        y[endless], sides[endless] = 0.0, 0.0
        reduced = (self.costs if costs is None else costs) - self._matrix.transposed_times(y)
        return float(self.offset + y @ sides + self.upper @ np.minimum(0.0, reduced))

    def rows_by_columns(self) -> _Matrix:
        """Return what multiplies by A."""
        return self._matrix

    @property
    def _matrix(self) -> _Matrix:
        if "matrix" not in self.cache:
            self.cache["matrix"] = _Matrix(self)
        return self.cache["matrix"]


class _Matrix:
    """The rows of a program: dense where they are few, which is faster, and sparse where they are many."""

    def __init__(self, program: LinearProgram) -> None:
        self.columns, self.values, self.width = program.columns, program.values, len(program.costs)
        self.height = len(program.row_names)
        self.rows = np.repeat(np.arange(self.height), np.diff(program.starts))
        self.dense: Floats | None = None
        if self.height * self.width <= FEW:
            self.dense = np.zeros((self.height, self.width))
            np.add.at(self.dense, (self.rows, self.columns), self.values)
            self.absolute = np.abs(self.dense)

    def times(self, x: Floats) -> Floats:
        """Return A x."""
        if self.dense is not None:
            product: Floats = self.dense @ x
            return product
        terms = self.values * x[self.columns]
        return np.bincount(self.rows, weights=terms, minlength=self.height).astype(float)

    def sizes(self, x: Floats) -> Floats:
        """Return |A| |x|."""
        if self.dense is not None:
            size: Floats = self.absolute @ np.abs(x)
            return size
        terms = np.abs(self.values * x[self.columns])
        return np.bincount(self.rows, weights=terms, minlength=self.height).astype(float)

    def transposed_times(self, y: Floats) -> Floats:
        """Return A'y."""
        if self.dense is not None:
            product: Floats = y @ self.dense
            return product
        terms = self.values * y[self.rows]
        return np.bincount(self.columns, weights=terms, minlength=self.width).astype(float)


class LpStatus(Enum):
    """How a solve ended; only OPTIMAL carries an exact value."""

    OPTIMAL = "optimal"
    LIMIT = "limit"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class LpSolution:
    """What a solver answered, and the bound that its multipliers prove."""

    program: LinearProgram
    status: LpStatus
    values: Floats
    multipliers: Floats
    bound: float

    @property
    def value(self) -> float:
        """The objective at the point that the solver returned."""
        return self.program.value(self.values)

    def __getitem__(self, block: str) -> Floats:
        """Return the values of a block of variables, in its shape."""
        shaped: Floats = self.values[self.program.blocks[block]]
        return shaped


class Solver(Protocol):
    """Anything that solves a linear program."""

    @property
    def device(self) -> Device:
        """Where passes over huge programs run."""

    @property
    def name(self) -> str:
        """The solver and its version."""

    def solve(self, program: LinearProgram, *, watch: Watch | None = None) -> LpSolution:
        """Return the answer, whatever it is.

        Raises
        ------
        SolverError
            If the solver gives none.
        """

    def sweep(self, program: LinearProgram) -> Sweep:
        """Return what solves this program again and again, each time with other costs."""

    def master(self, program: LinearProgram) -> Master:
        """Return what solves this program again and again, each time with more columns or rows."""


class Sweep(Protocol):
    """One program, many objectives: each solve may start from where the last one ended."""

    def solve(self, costs: Floats, *, watch: Watch | None = None) -> LpSolution:
        """Return the answer for these costs, whatever it is.

        Raises
        ------
        SolverError
            If the solver gives none.
        """

    def multipliers_of(self, objectives: Sequence[Floats]) -> list[Floats] | None:
        """Return the multipliers that the last basis has for each of these costs, if the solver tells.

        They are linear in the costs. What they prove is for `LinearProgram.dual_bound` to say.
        """


def require_optimal(solution: LpSolution) -> LpSolution:
    """Return the solution if it is optimal.

    Raises
    ------
    InfeasibleProgramError
        If the program has no solution.
    SolverError
        If the solver did not find one.
    """
    if solution.status is not LpStatus.OPTIMAL:
        kind = InfeasibleProgramError if solution.status is LpStatus.INFEASIBLE else SolverError
        raise kind(
            f"the linear program {solution.program.name} ended as {solution.status.value}, not optimal"
        )
    return solution
