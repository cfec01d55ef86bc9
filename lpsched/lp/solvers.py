"""Which solver: HiGHS, or one that PuLP knows; and model files."""

from __future__ import annotations

import math
import re
import tempfile
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.errors import InputIssue, InstanceError, MissingExtraError, SolverError, quote
from lpsched.lp.highs import HighsSolver
from lpsched.lp.program import Device, LinearProgram, LpSolution, LpStatus, array_module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.cancellation import CancelToken
    from lpsched.lp.program import Columns, Floats, Master, Rows, Solver, Sweep


@cache
def default_solver() -> Solver:
    """Return HiGHS."""
    return HighsSolver()


def solver_named(name: str, device: str = "cpu") -> Solver:
    """Return the solver of a name: `highs`, or `pulp:NAME` with PuLP's name for it.

    `device` is where passes over huge bags run: `cpu` or `cuda`. Raises an `InstanceError` for another name, a
    `MissingExtraError` without PuLP, or CuPy for a GPU, and a `SolverError` if PuLP does not know or find the solver.
    """
    kind, _, inner = name.partition(":")
    where = Device(device)
    array_module(where)  # raises an error at once if it is missing
    if name == "highs":
        return default_solver() if where is Device.CPU else HighsSolver(device=where)
    if kind == "pulp" and inner:
        return PulpSolver(inner, where)
    issue = InputIssue(("solver",), quote(name), "'highs' or 'pulp:NAME'", "for example pulp:COIN_CMD")
    raise InstanceError("", (issue,))


# PuLP: translates a program and its answer, and does nothing else. It is the extra `models`; 3 and 4 will do.
_STATUSES: Final = {
    1: LpStatus.OPTIMAL,
    0: LpStatus.LIMIT,  # "not solved": stopped before the end
    -1: LpStatus.INFEASIBLE,
    -2: LpStatus.UNBOUNDED,
}
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_]+")
LONGEST_NAME: Final = 60


@dataclass(frozen=True, slots=True)
class PulpSolver:
    """A solver that PuLP knows, by PuLP's name for it."""

    solver: str
    device: Device = Device.CPU

    def __post_init__(self) -> None:
        """Reject a solver that PuLP does not know, or that is not installed."""
        pulp = _pulp()
        known = list(pulp.listSolvers())
        if self.solver not in known:
            raise SolverError(f"PuLP has no solver {self.solver!r}; it knows {', '.join(sorted(set(known)))}")
        if not _named(self.solver).available():
            ready = ", ".join(pulp.listSolvers(onlyAvailable=True)) or "none"
            raise SolverError(f"the solver {self.solver} is not installed; PuLP finds {ready}")

    @property
    def name(self) -> str:
        """PuLP's version and the solver's name."""
        return f"{self.solver} by PuLP {_pulp().__version__}"

    def solve(self, program: LinearProgram, *, cancel: CancelToken | None = None) -> LpSolution:
        """Solve from cold."""
        model, x, owners = _translated(program)
        left = None if cancel is None else cancel.remaining()
        try:
            limit = {} if left is None else {"timeLimit": left}
            outcome = model.solve(_named(self.solver, **limit))
        except Exception as error:  # whatever a foreign solver raises
            raise SolverError(f"{self.name} failed on {program.name}: {error}") from error
        status = _STATUSES.get(int(getattr(outcome, "status", outcome)), LpStatus.FAILED)
        values = np.array([variable.value() or 0.0 for variable in x])
        duals = [getattr(row, "pi", None) for row in model.constraints()]
        if status is LpStatus.OPTIMAL and all(dual is None for dual in duals):
            raise SolverError(f"{self.name} returns no dual values, and without them nothing is proved")
        multipliers = np.zeros(len(program.row_names))
        np.add.at(multipliers, np.array(owners, dtype=np.int64), np.array([float(dual or 0.0) for dual in duals]))
        return LpSolution(program, status, values, multipliers, program.dual_bound(multipliers))

    def sweep(self, program: LinearProgram) -> Sweep:
        """Return what solves this program for other costs, each time from cold."""
        return _PulpSweep(self, program)

    def master(self, program: LinearProgram) -> Master:
        """Return what solves the growing program, each time from cold."""
        return ColdMaster(self, program)


@dataclass(frozen=True, slots=True)
class _PulpSweep:
    solver: PulpSolver
    program: LinearProgram

    def solve(self, costs: Floats, *, cancel: CancelToken | None = None) -> LpSolution:
        return self.solver.solve(self.program.with_costs(costs), cancel=cancel)

    def multipliers_of(self, objectives: Sequence[Floats]) -> None:
        """Return nothing: PuLP does not give the basis."""


@dataclass(slots=True)
class ColdMaster:
    """Solves the grown program from cold each time, with any solver."""

    solver: Solver
    program: LinearProgram

    def add_columns(self, columns: Columns) -> None:  # noqa: D102 - as `Master` says, and what follows
        self.program = self.program.with_columns(columns)

    def add_rows(self, rows: Rows) -> None:  # noqa: D102
        self.program = self.program.with_rows(rows)

    def change_cost(self, column: int, cost: float) -> None:  # noqa: D102
        self.program = self.program.with_cost(column, cost)

    def change_limits(self, upper: Floats, row_lower: Floats, row_upper: Floats) -> None:  # noqa: D102
        self.program = self.program.with_limits(upper, row_lower, row_upper)

    def solve(self, cancel: CancelToken | None = None) -> LpSolution:  # noqa: D102
        return self.solver.solve(self.program, cancel=cancel)


def model_text(program: LinearProgram, kind: str) -> str:
    """Return the program as other solvers read it; `kind` is `lp` or `mps`."""
    model, _, _ = _translated(program)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        if kind == "mps":
            model.writeMPS(str(path))
        else:
            model.writeLP(str(path))
        return path.read_text(encoding="utf-8")


def _translated(program: LinearProgram) -> tuple[Any, list[Any], list[int]]:
    """Return the model, its variables, and for each of its constraints the row it comes from.

    A row with two limits becomes two constraints; one without limits or without terms becomes none.
    """
    pulp = _pulp()
    model: Any = pulp.LpProblem(program.name, pulp.LpMinimize)
    names = [f"x_{column}" for column in range(len(program.costs))]
    for block, columns in program.blocks.items():
        for place, column in np.ndenumerate(columns):
            names[int(column)] = "_".join((block, *map(str, place)))
    x = [
        model.add_variable(name, lowBound=0, upBound=float(most))
        for name, most in zip(names, program.upper, strict=True)
    ]
    costs = zip(program.costs.tolist(), x, strict=True)
    total = pulp.lpSum(cost * variable for cost, variable in costs if cost)
    if program.offset:  # as a variable that is 1, since model files have no constants
        total += program.offset * model.add_variable("one", lowBound=1, upBound=1)
    model += total
    owners: list[int] = []
    for number, name in enumerate(program.row_names):
        inside = slice(program.starts[number], program.starts[number + 1])
        terms = zip(program.columns[inside].tolist(), program.values[inside].tolist(), strict=True)
        row = pulp.lpSum(value * x[column] for column, value in terms)
        low, high = float(program.row_lower[number]), float(program.row_upper[number])
        safe = f"r{number}_{_UNSAFE.sub('_', name)}"[:LONGEST_NAME]
        kept = [row == high] if low == high else []
        if low != high:
            kept += [row <= high] if high < math.inf else []
            kept += [row >= low] if low > -math.inf else []
        for which, constraint in enumerate(kept if inside.start < inside.stop else []):
            model += constraint, safe if not which else f"{safe}_low"
            owners.append(number)
    return model, x, owners


def _named(solver: str, **options: float) -> Any:  # noqa: ANN401 - PuLP has no types
    with warnings.catch_warnings():  # PuLP 4 will drop some: no reason to warn users at each solve
        warnings.simplefilter("ignore", DeprecationWarning)
        return _pulp().getSolver(solver, msg=False, **options)


def _pulp() -> Any:  # noqa: ANN401 - PuLP has no types
    """Load PuLP when it is needed; it is optional."""
    try:
        import pulp  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("another solver or a model file", "models") from error
    return pulp
