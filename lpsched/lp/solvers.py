"""Solvers of linear programs: HiGHS with hot starts and integer programs, those that PuLP knows; model files."""

from __future__ import annotations

import math
import re
import tempfile
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import highspy
import numpy as np

from lpsched.errors import InputIssue, InstanceError, MissingExtraError, SolverError, quote, raise_signal_in
from lpsched.lp.program import (
    Columns,
    Device,
    Floats,
    Indices,
    Integers,
    LinearProgram,
    LpSolution,
    LpStatus,
    Rows,
    array_module,
)

if TYPE_CHECKING:
    from lpsched.cancellation import CancelToken
    from lpsched.lp.program import Master, Solver, Sweep


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


# HiGHS, by arrays: translates a program and its solution, and does nothing else.
# A program that may take long can be stopped (`run_highs`). A small one takes milliseconds, and
# is solved without presolve, which would cost more than it saves. The primal simplex method is used where its start is
# feasible: when all variables may be 0, and after a solve, when only costs have changed.
SMALL: Final = 5_000  # coefficients: some milliseconds
SMALLEST: Final = 1e-12  # HiGHS takes smaller coefficients for 0, and cannot be asked to keep them
_DUAL: Final = 1
_PRIMAL: Final = 4
_ROW_WISE: Final = int(highspy.MatrixFormat.kRowwise)
_STATUSES: Final = {
    highspy.HighsModelStatus.kOptimal: LpStatus.OPTIMAL,
    highspy.HighsModelStatus.kInfeasible: LpStatus.INFEASIBLE,
    highspy.HighsModelStatus.kUnboundedOrInfeasible: LpStatus.INFEASIBLE,
    highspy.HighsModelStatus.kUnbounded: LpStatus.UNBOUNDED,
    highspy.HighsModelStatus.kTimeLimit: LpStatus.LIMIT,
    highspy.HighsModelStatus.kIterationLimit: LpStatus.LIMIT,
    highspy.HighsModelStatus.kInterrupt: LpStatus.LIMIT,
}


@dataclass(frozen=True, slots=True)
class HighsSolver:
    """The solver that comes with lpsched."""

    name: str = field(default_factory=lambda: f"HiGHS {highspy.Highs().version()}")
    tolerance: float = 1e-10  # of primal and dual feasibility; HiGHS's own is 1e-7
    device: Device = Device.CPU

    def solve(self, program: LinearProgram, *, cancel: CancelToken | None = None) -> LpSolution:
        """Solve from cold."""
        return self.sweep(program).solve(program.costs, cancel=cancel)

    def sweep(self, program: LinearProgram) -> Sweep:
        """Return a solver of this one program that starts each solve from the basis of the last."""
        columns = np.arange(len(program.costs), dtype=np.int32)
        return _HighsSweep(self._loaded(program, grows=False), program, columns)

    def master(self, program: LinearProgram) -> Master:
        """Return a solver of this program as it grows, each time from the basis of the last solve."""
        return _HighsMaster(self._loaded(program, grows=True), program)

    def _loaded(self, program: LinearProgram, *, grows: bool) -> highspy.Highs:
        """Return HiGHS with the program and our options in it; one that grows can be stopped, small as it is now."""
        highs = highspy.Highs()
        small = len(program.values) <= SMALL
        options: dict[str, bool | float | str] = {
            "output_flag": False,
            "primal_feasibility_tolerance": self.tolerance,
            "dual_feasibility_tolerance": self.tolerance,
            "small_matrix_value": SMALLEST,
        }
        if small:
            options |= {"presolve": "off", "simplex_scale_strategy": 0, "parallel": "off"}
        if small and np.all(program.row_lower <= 0) and np.all(program.row_upper >= 0):  # all may be 0
            options["simplex_strategy"] = _PRIMAL
        for option, value in options.items():
            check(highs.setOptionValue(option, value), program, option)
        check(pass_program(highs, program), program, "the program")
        highs.HandleUserInterrupt = grows or not small
        return highs


@dataclass(slots=True)
class _HighsSweep:
    """One program in HiGHS, and the basis of its last solve."""

    highs: highspy.Highs
    program: LinearProgram
    columns: Indices

    def solve(self, costs: Floats, *, cancel: CancelToken | None = None) -> LpSolution:
        highs = self.highs
        if costs is not self.program.costs:
            self.program = self.program.with_costs(costs)
            check(highs.changeColsCost(len(costs), self.columns, costs), self.program, "the costs")
        run_highs(highs, self.program, cancel)
        highs.setOptionValue("simplex_strategy", _PRIMAL)  # other costs leave the basis feasible
        try:
            return _answer(highs, self.program)
        except SolverError:  # the simplex has been seen to give up where presolve leaves it nothing to do
            highs.clearSolver()
            highs.setOptionValue("presolve", "on")
            run_highs(highs, self.program, cancel)
            return _answer(highs, self.program)

    def basic(self) -> Integers | None:
        highs: Any = self.highs  # its types leave out the basis
        status, basic = highs.getBasicVariables()
        return np.array(basic, dtype=np.int64) if status == highspy.HighsStatus.kOk else None

    def multipliers_of(self, objectives: Sequence[Floats]) -> list[Floats] | None:
        highs: Any = self.highs  # these are the y with B'y = c_B
        basic = self.basic()
        if basic is None:
            return None
        column, is_row = np.maximum(basic, 0), basic < 0
        found = []
        for costs in objectives:
            own = costs[column]
            own[is_row] = 0.0  # what a row lacks costs nothing
            status, multipliers = highs.getBasisTransposeSolve(own)
            if status != highspy.HighsStatus.kOk:
                return None
            found.append(np.array(multipliers))
        return found


@dataclass(slots=True)
class _HighsMaster:
    """A growing program in HiGHS, and the basis of its last solve."""

    highs: highspy.Highs
    program: LinearProgram

    def add_columns(self, columns: Columns) -> None:
        size = len(columns)
        cells = (len(columns.values), columns.starts[:-1], columns.rows, columns.values)
        status = self.highs.addCols(size, columns.costs, np.zeros(size), columns.upper, *cells)
        check(status, self.program, "new columns")
        self.program = self.program.with_columns(columns)

    def add_rows(self, rows: Rows) -> None:
        cells = (len(rows.values), rows.starts[:-1], rows.columns, rows.values)
        check(self.highs.addRows(len(rows.names), rows.lower, rows.upper, *cells), self.program, "new rows")
        self.program = self.program.with_rows(rows)
        self.highs.setOptionValue("simplex_strategy", _DUAL)  # the last point may break them

    def change_cost(self, column: int, cost: float) -> None:
        self.highs.changeColCost(column, cost)
        self.program = self.program.with_cost(column, cost)

    def change_limits(self, upper: Floats, row_lower: Floats, row_upper: Floats) -> None:
        highs: Any = self.highs  # its types leave out the rows
        size, height = len(upper), len(row_lower)
        columns, rows = np.arange(size, dtype=np.int32), np.arange(height, dtype=np.int32)
        check(highs.changeColsBounds(size, columns, np.zeros(size), upper), self.program, "the limits")
        check(highs.changeRowsBounds(height, rows, row_lower, row_upper), self.program, "the limits")
        self.program = self.program.with_limits(upper, row_lower, row_upper)
        self.highs.setOptionValue("simplex_strategy", _DUAL)  # the last point may break them

    def solve(self, cancel: CancelToken | None = None) -> LpSolution:
        run_highs(self.highs, self.program, cancel)
        self.highs.setOptionValue("simplex_strategy", _PRIMAL)  # new columns leave the basis feasible
        return _answer(self.highs, self.program)


def _answer(highs: highspy.Highs, program: LinearProgram) -> LpSolution:
    status = _STATUSES.get(highs.getModelStatus(), LpStatus.FAILED)
    solution = highs.getSolution()
    rows, size = len(program.row_names), len(program.costs)
    if not solution.dual_valid and status is LpStatus.FAILED:
        raise SolverError(f"HiGHS has no answer to {program.name}: {highs.modelStatusToString(highs.getModelStatus())}")
    multipliers = np.array(solution.row_dual) if solution.dual_valid else np.zeros(rows)
    return LpSolution(
        program=program,
        status=status,
        values=np.array(solution.col_value) if solution.value_valid else np.zeros(size),
        multipliers=multipliers,
        bound=program.dual_bound(multipliers),
    )


def pass_program(highs: highspy.Highs, program: LinearProgram) -> highspy.HighsStatus:
    """Hand a program to HiGHS as arrays."""
    size, rows = len(program.costs), len(program.row_names)
    sizes = (size, rows, len(program.values), _ROW_WISE, int(highspy.ObjSense.kMinimize))
    limits = (np.zeros(size), program.upper, program.row_lower, program.row_upper)
    cells = (program.starts[:-1], program.columns, program.values)
    return highs.passModel(*sizes, program.offset, program.costs, *limits, *cells, np.zeros(size, dtype=np.int32))


# Run HiGHS until it is done, the token has expired, or Ctrl-C. A program that may take long runs in a thread of its
# own, because HiGHS ignores signals: Ctrl-C is noticed here, and HiGHS is stopped.
POLL_SECONDS: Final = 0.05
RUN: Final = 3e-4  # seconds of work counted for each run,
ITERATION: Final = 4e-6  # for each iteration of the simplex method,
CELL: Final = 4e-9  # and for each iteration and coefficient


def check(status: highspy.HighsStatus, program: LinearProgram, what: str) -> None:
    """Raise an error if HiGHS rejected a call."""
    if status == highspy.HighsStatus.kError:
        raise SolverError(f"HiGHS rejected {what} of {program.name}")


def run_highs(highs: highspy.Highs, program: LinearProgram, cancel: CancelToken | None) -> None:
    """Run to the end, or until the time is up; work is counted afterwards."""
    left = None if cancel is None else cancel.remaining()
    until = np.inf if left is None else highs.getRunTime() + left  # counts from its creation
    check(highs.setOptionValue("time_limit", until), program, "the time limit")
    if highs.HandleUserInterrupt:
        _run_in_thread(highs, cancel)
    else:
        highs.run()
    if cancel is not None:
        iterations = max(0, highs.getInfo().simplex_iteration_count)
        cancel.count(RUN + iterations * (ITERATION + CELL * len(program.values)))


def _run_in_thread(highs: highspy.Highs, cancel: CancelToken | None) -> None:
    """Run to the end, or stop when the token has expired, or at Ctrl-C; return only after HiGHS has stopped."""
    # However often Ctrl-C is pressed: to end the process while HiGHS works would abort it.
    done = threading.Event()  # Thread.join, once interrupted, takes a running thread for a stopped one
    first = threading.Lock()  # the first to take it decides: HiGHS runs, or an interrupt came before

    def work() -> None:
        try:
            if first.acquire(blocking=False):
                highs.run()
        finally:
            done.set()

    interrupted = False
    try:
        threading.Thread(target=work, daemon=True).start()
    except KeyboardInterrupt:
        if first.acquire(blocking=False):
            raise
        interrupted = True
    while True:
        try:
            while not done.is_set():
                if interrupted or (cancel is not None and cancel.is_cut()):  # not by counted work
                    highs.cancelSolve()
                done.wait(POLL_SECONDS)
            break
        except KeyboardInterrupt:
            interrupted = True
    if interrupted:
        raise KeyboardInterrupt


# Programs whose variables must be whole, for a short time: a good point, or none.
# HiGHS is given a start, if there is one, and stopped after a budget of counted work: it looks at its limits at the
# same steps in every run, so looks are counted. Nothing that it returns is taken as proved: the caller has to check the
# point, and bounds come from elsewhere.
NEARLY_WHOLE: Final = 1e-6
LOOK: Final = 2e-3  # seconds of work counted for each look of HiGHS at its limits,
INTEGER_CELL: Final = 2e-6  # and for each coefficient
FEWEST_LOOKS: Final = 3


def whole_point(
    program: LinearProgram,
    *,
    cancel: CancelToken,
    whole: Floats | None = None,
    start: Floats | None = None,
    gap: float = 1e-4,
) -> Floats | None:
    """Return the best point found with whole variables, those marked 1 in `whole` or all; `None` if there is none."""
    highs = highspy.Highs()
    options: dict[str, bool | float | str] = {"output_flag": False, "mip_rel_gap": gap, "random_seed": 0}
    options |= {"parallel": "off", "threads": 1}  # the same steps, however many cores there are
    for option, value in options.items():
        highs.setOptionValue(option, value)
    pass_program(highs, program)
    size = len(program.costs)
    marks = np.ones(size) if whole is None else whole
    columns = np.flatnonzero(marks).astype(np.int32)
    kinds = np.full(len(columns), int(highspy.HighsVarType.kInteger), dtype=np.uint8)
    highs.changeColsIntegrality(len(columns), columns, kinds)
    if start is not None:
        given = highspy.HighsSolution()
        given.col_value = start.tolist()
        highs.setSolution(given)
    highs.HandleUserInterrupt = True
    look, looks, left = LOOK + INTEGER_CELL * len(program.values), 0, cancel.work_left()

    def interrupt(event: Any) -> None:  # noqa: ANN401 - highspy does not export its type
        nonlocal looks
        looks += 1
        if looks >= max(FEWEST_LOOKS, left / look):
            event.interrupt()

    highs.cbMipInterrupt += interrupt
    run_highs(highs, program, cancel)
    cancel.count(looks * look)
    solution = highs.getSolution()
    values = np.array(solution.col_value)
    if not solution.value_valid or len(values) != size or not np.all(np.isfinite(values)):
        return None
    rounded = np.where(marks > 0, np.rint(values), values)
    return rounded if np.abs(rounded - values).max(initial=0.0) <= NEARLY_WHOLE else None


# PuLP: translates a program and its answer, and does nothing else. It is the extra `models`; 3 and 4 will do.
_PULP_STATUSES: Final = {
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
        status = _PULP_STATUSES.get(int(getattr(outcome, "status", outcome)), LpStatus.FAILED)
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

    def basic(self) -> None:
        """Return nothing either."""


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
        raise_signal_in(error)
        raise MissingExtraError("another solver or a model file", "models") from error
    return pulp
