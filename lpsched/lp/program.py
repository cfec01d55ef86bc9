"""A linear program: built by blocks of rows, solved by whichever solver is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lpsched.errors import InfeasibleProgramError, MissingExtraError, SolverError, raise_signal_in

if TYPE_CHECKING:
    from lpsched.cancellation import CancelToken


# Linear programs as plain arrays, and the builder that writes them in the order of the maths.
#
#     min  offset + c x    subject to    row_lower <= A x <= row_upper,    0 <= x <= u
#
# Every variable has a finite upper bound u. That is what makes a bound out of *any* multipliers: for every
# feasible x, and whatever y is,
#
#     c x  =  y A x + (c - A'y) x  >=  sum over rows of (y_i row_lower_i if y_i > 0 else y_i row_upper_i)
#                                      + sum over columns of u min(0, c - A'y),
#
# so wrong multipliers weaken the bound and never break it (`dual_bound`).
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
        other.cache["matrix"] = self.matrix
        return other

    def with_columns(self, columns: Columns) -> LinearProgram:
        """Return the program with more variables, after the others."""
        size, height = len(self.costs), len(self.row_names)
        new = size + np.repeat(np.arange(len(columns)), np.diff(columns.starts))
        rows = np.concatenate((np.repeat(np.arange(height), np.diff(self.starts)), columns.rows))
        order = np.argsort(rows, kind="stable")
        return replace(
            self,
            costs=np.append(self.costs, columns.costs),
            upper=np.append(self.upper, columns.upper),
            starts=np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=height)))).astype(np.int32),
            columns=np.append(self.columns, new)[order].astype(np.int32),
            values=np.append(self.values, columns.values)[order],
        )

    def with_rows(self, rows: Rows) -> LinearProgram:
        """Return the program with more rows, after the others."""
        return replace(
            self,
            row_names=self.row_names + rows.names,
            row_lower=np.append(self.row_lower, rows.lower),
            row_upper=np.append(self.row_upper, rows.upper),
            starts=np.append(self.starts, self.starts[-1] + rows.starts[1:]).astype(np.int32),
            columns=np.append(self.columns, rows.columns).astype(np.int32),
            values=np.append(self.values, rows.values),
        )

    def with_cost(self, column: int, cost: float) -> LinearProgram:
        """Return the program with another cost of one variable."""
        costs = self.costs.copy()
        costs[column] = cost
        return self.with_costs(costs)

    def with_limits(self, upper: Floats, row_lower: Floats, row_upper: Floats) -> LinearProgram:
        """Return the program with other limits of variables and rows."""
        return replace(self, upper=upper, row_lower=row_lower, row_upper=row_upper)

    def value(self, x: Floats) -> float:
        """Return the objective at a point."""
        return self.offset + float(self.costs @ x)

    def infeasibility(self, x: Floats) -> float:
        """Return by how much a point breaks its worst row or limit, relative to what the row adds up."""
        return self._excess(x, self.matrix.times(x), self.matrix.sizes(x))

    def is_kept(self, x: Floats, most: float) -> bool:
        """Return whether the infeasibility of a point is at most this: quickly, where it is without being relative."""
        sums = self.matrix.times(x)
        broken = (self.row_lower - sums, sums - self.row_upper, x - self.upper, -x)
        plain = max(each.max(initial=0.0) for each in broken)
        return bool(plain <= most) or self._excess(x, sums, self.matrix.sizes(x)) <= most

    def infeasibilities(self, points: Floats) -> float:
        """Return by how much the worst of many points, one in a row, breaks its worst row or limit."""
        # One product for each: for all at once, linear algebra would take threads, and far more time than it needs.
        sums, sizes = (np.array([product(x) for x in points]) for product in (self.matrix.times, self.matrix.sizes))
        return self._excess(points, sums, sizes)

    def _excess(self, points: Floats, sums: Floats, sizes: Floats) -> float:
        """Return by how much a point, or the worst of many, breaks its worst row or limit; `sizes` are |A| |x|."""
        rows = np.maximum(self.row_lower - sums, sums - self.row_upper) / np.maximum(sizes, 1.0)
        beyond = (points - self.upper) / np.maximum(self.upper, 1.0)
        return float(max(rows.max(initial=0.0), beyond.max(initial=0.0), -points.min(initial=0.0)))

    def dual_bound(self, multipliers: Floats, costs: Floats | None = None) -> float:
        """Return the lower bound that these multipliers prove, up to rounding; for other costs, if given."""
        return float(self.dual_bounds(multipliers[np.newaxis], self.costs if costs is None else costs)[0])

    def dual_bounds(self, multipliers: Floats, costs: Floats) -> Floats:
        """Return the bounds that many multipliers prove, each for costs of its own: one of each in a row."""
        y = np.where(np.isfinite(multipliers), multipliers, 0.0)
        sides = np.where(y > 0, self.row_lower, self.row_upper)
        endless = np.isinf(sides)
        y[endless], sides[endless] = 0.0, 0.0
        products = [self.matrix.transposed_times(each) for each in y]
        reduced = costs - (products[0][np.newaxis] if len(products) == 1 else np.array(products))
        return np.asarray(self.offset + (y * sides).sum(axis=1) + np.minimum(0.0, reduced) @ self.upper)

    @property
    def matrix(self) -> _Matrix:
        """What multiplies by A."""
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
        return self.dense @ x if self.dense is not None else self._by_row(self.values * x[self.columns])

    def sizes(self, x: Floats) -> Floats:
        """Return |A| |x|."""
        if self.dense is not None:
            return self.absolute @ np.abs(x)
        return self._by_row(np.abs(self.values * x[self.columns]))

    def transposed_times(self, y: Floats) -> Floats:
        """Return A'y."""
        if self.dense is not None:
            return y @ self.dense
        return np.bincount(self.columns, weights=self.values * y[self.rows], minlength=self.width).astype(float)

    def _by_row(self, terms: Floats) -> Floats:
        return np.bincount(self.rows, weights=terms, minlength=self.height).astype(float)


class LpStatus(Enum):
    """How a solve ended; only OPTIMAL carries an exact value."""

    OPTIMAL = "optimal"
    LIMIT = "limit"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class LpSolution:
    """What a solver returned, and the bound that its multipliers prove."""

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
        return self.values[self.program.blocks[block]]


class Solver(Protocol):
    """Anything that solves a linear program."""

    @property
    def device(self) -> Device:
        """Where passes over huge programs run."""

    @property
    def name(self) -> str:
        """The solver and its version."""

    def solve(self, program: LinearProgram, *, cancel: CancelToken | None = None) -> LpSolution:
        """Return the solution, whatever its status."""

    def sweep(self, program: LinearProgram) -> Sweep:
        """Return what solves this program again and again, each time with other costs."""

    def master(self, program: LinearProgram) -> Master:
        """Return what solves this program again and again, each time with more columns or rows."""


class Sweep(Protocol):
    """One program, many objectives: each solve may start from where the last one ended."""

    def solve(self, costs: Floats, *, cancel: CancelToken | None = None) -> LpSolution:
        """Return the solution for these costs, whatever its status."""

    def multipliers_of(self, objectives: Sequence[Floats]) -> list[Floats] | None:
        """Return the multipliers that the last basis has for each of these costs, linear in them, if the solver can."""

    def basic(self) -> Integers | None:
        """Return the last basis, columns and (as -1 - row) rows, if the solver can."""


def require_optimal(solution: LpSolution) -> LpSolution:
    """Return the solution if it is optimal."""
    if solution.status is not LpStatus.OPTIMAL:
        kind = InfeasibleProgramError if solution.status is LpStatus.INFEASIBLE else SolverError
        raise kind(f"the linear program {solution.program.name} ended as {solution.status.value}, not optimal")
    return solution


# The builder of linear programs: variables and rows in the order of the maths, arrays at the end.
Terms: TypeAlias = Sequence[tuple[Indices, "Floats | float"]]
RowTerms: TypeAlias = Sequence[tuple["Integers | int", Indices, "Floats | float"]]


class LpBuilder:
    """Collects variables and rows; `build` hands over the program.

    >>> lp = LpBuilder("diet")
    >>> x = lp.variables("x", upper=np.array([4.0, 4.0]))
    >>> lp.objective([(x, np.array([1.0, 2.0]))])
    >>> lp.equal("enough", [(x, 1.0)], 5.0)
    >>> lp.build().row_names
    ('enough',)
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._upper: list[Floats] = []
        self._blocks: dict[str, Indices] = {}
        self._size = 0
        self._costs: list[tuple[Indices, Floats]] = []
        self._offset = 0.0
        self._names: list[str] = []
        self._limits: list[tuple[Floats, Floats]] = []
        self._cells: list[tuple[Integers, Indices, Floats]] = []  # row, column and value of each

    def variables(self, name: str, upper: Floats | float) -> Indices:
        """Add a block of variables between 0 and `upper`; return their columns, in its shape."""
        upper = np.asarray(upper, dtype=float)
        assert np.all(np.isfinite(upper)), "every variable has a finite upper bound"
        block = np.arange(self._size, self._size + upper.size, dtype=np.int32).reshape(upper.shape)
        self._upper.append(upper.ravel())
        self._blocks[name] = block
        self._size += upper.size
        return block

    def objective(self, terms: Terms, offset: float = 0.0) -> None:
        """Set what is minimised."""
        self._costs = [_flat(block, coefficients) for block, coefficients in terms]
        self._offset = offset

    def at_most(self, name: str, terms: Terms, limit: float) -> None:
        """Add the row: the sum of the terms is at most `limit`."""
        self.at_most_each([name], [(0, *term) for term in terms], limit)

    def equal(self, name: str, terms: Terms, target: float) -> None:
        """Add the row: the sum of the terms is `target`."""
        self.equal_each([name], [(0, *term) for term in terms], target)

    def between(self, name: str, terms: Terms, lower: float, upper: float) -> None:
        """Add the row: the sum of the terms is between two limits, which may be infinite."""
        self.between_each([name], [(0, *term) for term in terms], lower, upper)

    def at_most_each(self, names: Sequence[str], terms: RowTerms, limit: Floats | float) -> None:
        """Add rows, one for each name: a term has rows, variables in them (broadcast together) and coefficients."""
        self.between_each(names, terms, -np.inf, limit)

    def equal_each(self, names: Sequence[str], terms: RowTerms, target: float) -> None:
        """Add rows, one for each name, with the sum of the terms equal to `target` in each."""
        self.between_each(names, terms, target, target)

    def between_each(self, names: Sequence[str], terms: RowTerms, lower: Floats | float, upper: Floats | float) -> None:
        """Add rows, one for each name, with the sum of the terms between two limits, which may be infinite."""
        first = len(self._names)
        for rows, variables, coefficients in terms:
            places, block = np.broadcast_arrays(rows, variables)
            columns, values = _flat(block, coefficients)
            kept = values != 0
            self._cells.append((first + places.ravel()[kept], columns[kept], values[kept]))
        self._names += names
        self._limits.append((np.full(len(names), lower), np.full(len(names), upper)))

    def build(self) -> LinearProgram:
        """Return the program."""
        costs = np.zeros(self._size)
        for block, coefficients in self._costs:
            costs[block] += coefficients
        rows, columns, values = map(np.concatenate, zip(*self._cells, strict=True))
        lower, upper = map(np.concatenate, zip(*self._limits, strict=True))
        order = np.argsort(rows, kind="stable")
        lengths = np.bincount(rows, minlength=len(self._names))
        return LinearProgram(
            name=self.name,
            costs=costs,
            offset=self._offset,
            upper=np.concatenate(self._upper),
            row_names=tuple(self._names),
            row_lower=lower,
            row_upper=upper,
            starts=np.concatenate(([0], np.cumsum(lengths))).astype(np.int32),
            columns=columns[order].astype(np.int32),
            values=values[order],
            blocks=self._blocks,
        )


def _flat(block: Indices, coefficients: Floats | float) -> tuple[Indices, Floats]:
    return np.ravel(block), np.broadcast_to(np.asarray(coefficients, dtype=float), np.shape(block)).ravel()


class Device(StrEnum):
    """What the arrays live on."""

    CPU = "cpu"
    CUDA = "cuda"


def array_module(device: Device) -> Any:  # noqa: ANN401 - numpy or cupy
    """Return the module whose arrays live on the device."""
    if device is Device.CPU:
        return np
    try:
        import cupy  # noqa: PLC0415
    except ImportError as error:
        raise_signal_in(error)
        raise MissingExtraError("the device cuda", "gpu") from error
    try:
        cupy.cuda.Device().use()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise SolverError(f"the device cuda cannot be used: {error}; leave --device out") from error
    return cupy


@dataclass(frozen=True, slots=True)
class Columns:
    """New variables, one after the other: their costs, upper bounds and coefficients."""

    costs: Floats
    upper: Floats
    starts: Indices  # of each column in `rows` and `values`, and their length at the end
    rows: Indices
    values: Floats

    @classmethod
    def of(cls, costs: Sequence[float], upper: Floats, cells: Sequence[Mapping[int, float]]) -> Columns:
        """Return columns whose coefficients are given by their rows."""
        starts = np.cumsum([0, *map(len, cells)]).astype(np.int32)
        rows = np.array([row for own in cells for row in own], dtype=np.int32)
        values = np.array([value for own in cells for value in own.values()], dtype=float)
        return cls(np.array(costs, dtype=float), upper, starts, rows, values)

    @classmethod
    def alike(cls, costs: Floats, upper: Floats, cells: Sequence[tuple[Integers, Floats]]) -> Columns:
        """Return columns with as many coefficients each: the rows and the values of all first ones, second ones, ..."""
        starts = (len(cells) * np.arange(len(costs) + 1)).astype(np.int32)
        rows = np.stack([rows for rows, _ in cells], axis=1).ravel().astype(np.int32)
        return cls(costs, upper, starts, rows, np.stack([values for _, values in cells], axis=1).ravel())

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.costs)

    def reduced_costs(self, multipliers: Floats) -> Floats:
        """Return c - A'y for each column."""
        owners = np.repeat(np.arange(len(self)), np.diff(self.starts))
        terms = self.values * multipliers[self.rows]
        return self.costs - np.bincount(owners, weights=terms, minlength=len(self))

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

    def solve(self, cancel: CancelToken | None = None) -> LpSolution:
        """Return the solution of the program as it stands."""
