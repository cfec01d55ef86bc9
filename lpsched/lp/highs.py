"""HiGHS, fed with arrays: translates a program and its answer, and does nothing else.

The solve runs in a thread of its own, because HiGHS does not look at signals: Ctrl-C is noticed here,
and HiGHS is told to stop.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Final

import highspy
import numpy as np

from lpsched.errors import SolverError
from lpsched.lp.program import LinearProgram, LpSolution, LpStatus

POLL_SECONDS: Final = 0.05
_ROW_WISE: Final = int(highspy.MatrixFormat.kRowwise)
_STATUSES: Final = {
    highspy.HighsModelStatus.kOptimal: LpStatus.OPTIMAL,
    highspy.HighsModelStatus.kInfeasible: LpStatus.INFEASIBLE,
    highspy.HighsModelStatus.kUnboundedOrInfeasible: LpStatus.FAILED,
    highspy.HighsModelStatus.kUnbounded: LpStatus.UNBOUNDED,
    highspy.HighsModelStatus.kTimeLimit: LpStatus.LIMIT,
    highspy.HighsModelStatus.kIterationLimit: LpStatus.LIMIT,
}


@dataclass(frozen=True, slots=True)
class HighsSolver:
    """The solver that comes with lpsched."""

    name: str = field(default_factory=lambda: f"HiGHS {highspy.Highs().version()}")
    tolerance: float = 1e-9  # of primal and dual feasibility; HiGHS's own is 1e-7

    def solve(self, program: LinearProgram, *, time_limit: float | None = None) -> LpSolution:
        """Solve from cold.

        Raises
        ------
        SolverError
            If HiGHS refuses the program or an option, or returns no solution.
        """
        highs = highspy.Highs()
        highs.HandleUserInterrupt = True
        _check(highs.setOptionValue("output_flag", "false"), program, "an option")
        for option in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            _check(highs.setOptionValue(option, self.tolerance), program, option)
        if time_limit is not None:
            _check(highs.setOptionValue("time_limit", float(time_limit)), program, "the time limit")
        _check(_pass(highs, program), program, "the program")
        _run(highs)
        status = _STATUSES.get(highs.getModelStatus(), LpStatus.FAILED)
        solution = highs.getSolution()
        if not solution.dual_valid:
            raise SolverError(
                f"HiGHS has no answer to {program.name}: {highs.modelStatusToString(highs.getModelStatus())}"
            )
        multipliers = np.array(solution.row_dual)
        return LpSolution(
            program=program,
            status=status,
            values=np.array(solution.col_value),
            multipliers=multipliers,
            bound=program.dual_bound(multipliers),
        )


def _pass(highs: highspy.Highs, program: LinearProgram) -> highspy.HighsStatus:
    size, rows = len(program.costs), len(program.row_names)
    return highs.passModel(
        size,
        rows,
        len(program.values),
        _ROW_WISE,
        int(highspy.ObjSense.kMinimize),
        program.offset,
        program.costs,
        np.zeros(size),
        program.upper,
        program.row_lower,
        program.row_upper,
        program.starts[:-1],
        program.columns,
        program.values,
        np.zeros(size, dtype=np.int32),
    )


def _check(status: highspy.HighsStatus, program: LinearProgram, what: str) -> None:
    if status == highspy.HighsStatus.kError:
        raise SolverError(f"HiGHS refused {what} of {program.name}")


def _run(highs: highspy.Highs) -> None:
    """Run to the end, or stop at Ctrl-C.

    However often it is pressed, we leave only after HiGHS has stopped: to end the process while it works
    would abort it.
    """
    done = threading.Event()  # Thread.join, once interrupted, takes a running thread for a stopped one

    def work() -> None:
        try:
            highs.run()
        finally:
            done.set()

    threading.Thread(target=work, daemon=True).start()
    interrupted = False
    while not done.is_set():
        try:
            if interrupted:
                highs.cancelSolve()
            done.wait(POLL_SECONDS)
        except KeyboardInterrupt:
            interrupted = True
    if interrupted:
        raise KeyboardInterrupt
