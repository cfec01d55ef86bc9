"""Smooth programs with linear rows: an interior point of our own."""

from __future__ import annotations

import contextlib
import signal
import threading
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from lpsched.errors import MissingExtraError, SolverError, raise_signal_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from lpsched.cancellation import CancelToken
    from lpsched.lp.program import Floats, Integers


# Smooth programs by Ipopt: variables between limits, expressions of them between limits, one to maximise.
#
#   max  f(x)    subject to    l <= g(x) <= u,    x_lower <= x <= x_upper,        f and g twice differentiable
#
# CasADi writes down the expressions and differentiates them; Ipopt, an interior-point method, looks for a
# point at which no small step is better. Unless the program is convex, a better one may be elsewhere: such a
# point is `solved`, never optimal, and proves nothing.
#
# Ipopt keeps x off its limits by a barrier mu, and stops when every product of a slack and its price is within the
# tolerance. What the objective misses by then is the sum of all these products, so a program with many limits needs a
# tolerance that many times smaller than what it may miss: `MISSED` divided by their number. The last digits can take as
# many steps as all others; so it also ends when many steps gain less than `MISSED`.
#
# Needs CasADi, the extra `nlp`. It is imported nowhere else.
LOOSEST: Final = 1e-8  # tolerance, Ipopt's own
TIGHTEST: Final = 1e-9  # arithmetic ends not far below
ENOUGH: Final = 100.0  # tolerances within which a point is taken where Ipopt gets no further
NO_FURTHER: Final = 1e-6  # relative change of the objective that is none
UNLIMITED: Final = 1e9  # seconds, or steps


class SmoothStatus(Enum):
    """How a solve ended; no word for optimal, because nothing is proved."""

    SOLVED = "solved"  # no small step is better
    STALLED = "stalled"  # it keeps the limits, and many steps made it hardly better
    LIMIT = "limit"  # the time was up, or it was stopped
    FAILED = "failed"  # Ipopt found no way on


_STATUSES: Final = {
    "Solve_Succeeded": SmoothStatus.SOLVED,
    "Solved_To_Acceptable_Level": SmoothStatus.SOLVED,
    "Feasible_Point_Found": SmoothStatus.SOLVED,
    "User_Requested_Stop": SmoothStatus.LIMIT,
    "Maximum_WallTime_Exceeded": SmoothStatus.LIMIT,
    "Maximum_CpuTime_Exceeded": SmoothStatus.LIMIT,
    "Maximum_Iterations_Exceeded": SmoothStatus.LIMIT,
}


@dataclass(frozen=True, slots=True)
class SmoothSolution:
    """The last point, which keeps the limits only if it is solved or stalled, and how it was reached."""

    values: dict[str, Floats]  # of each block of variables
    status: SmoothStatus
    iterations: int

    def __getitem__(self, block: str) -> Floats:
        """Return the values of a block of variables."""
        return self.values[block]


class SmoothProgram:
    """Collects variables, limits and the objective in CasADi's expressions; `solve` hands them to Ipopt.

    The largest rectangle in a circle of radius 1 is a square with an area of 2:

    >>> program = SmoothProgram()
    >>> half = program.variables("half", np.zeros(2), np.ones(2), np.array([0.3, 0.4]))
    >>> program.at_most(half[0] ** 2 + half[1] ** 2, 1.0)
    >>> program.maximise(half[0] * half[1])
    >>> found = program.solve()
    >>> found.status.value, (found["half"] ** 2).round(6).tolist()
    ('solved', [0.5, 0.5])
    """

    def __init__(self) -> None:
        try:
            import casadi  # noqa: PLC0415 - optional
        except ImportError as exc:
            raise_signal_in(exc)
            raise MissingExtraError("the non-linear program", "nlp") from exc
        self._casadi: Any = casadi  # it ships no types
        self._blocks: dict[str, Expression] = {}
        self._limits: list[tuple[Floats, Floats, Floats]] = []  # of each block: lower and upper ones, and its start
        self._rows: list[Expression] = []
        self._row_limits: list[tuple[Floats, Floats]] = []
        self._objective: Expression = 0.0

    def variables(self, name: str, lower: Floats, upper: Floats, start: Floats) -> Expression:
        """Add a block of variables between limits, which may be infinite; return it as a column."""
        block = self._blocks[name] = self._casadi.MX.sym(name, len(start))
        self._limits.append((lower, upper, start))
        return block

    def sparse(self, rows: Integers, columns: Integers, values: Floats, shape: tuple[int, int]) -> Expression:
        """Return a constant matrix; what is given twice is added up."""
        places, own = np.unique(np.asarray(rows) * shape[1] + np.asarray(columns), return_inverse=True)
        added = np.bincount(own.ravel(), weights=values, minlength=len(places))
        cells = self._casadi.DM(added)
        return self._casadi.DM.triplet((places // shape[1]).tolist(), (places % shape[1]).tolist(), cells, *shape)

    def constant(self, values: Floats) -> Expression:
        """Return a constant column, or a full matrix."""
        return self._casadi.DM(values)

    def total(self, expression: Expression) -> Expression:
        """Return the sum of a column."""
        return self._casadi.sum1(expression)

    def at_most(self, expression: Expression, limit: Floats | float) -> None:
        """Add rows: each of the column's expressions is at most its limit."""
        self.between(expression, -np.inf, limit)

    def equal(self, expression: Expression, target: Floats | float) -> None:
        """Add rows: each of the column's expressions is its target."""
        self.between(expression, target, target)

    def between(self, expression: Expression, lower: Floats | float, upper: Floats | float) -> None:
        """Add rows: each of the column's expressions is between two limits, which may be infinite."""
        size = expression.shape[0]
        self._rows.append(expression)
        self._row_limits.append((np.full(size, lower, dtype=float), np.full(size, upper, dtype=float)))

    def maximise(self, expression: Expression) -> None:
        """Set what is maximised; it should be about 1 where it is large."""
        self._objective = expression

    def solve(self, *, cancel: CancelToken | None = None, stage: str = "") -> SmoothSolution:
        """Return a point that no small step improves, or the last one when the token has expired."""
        casadi, rows = self._casadi, self._casadi.densify(self._casadi.vertcat(*self._rows))
        program = {"x": casadi.vertcat(*self._blocks.values()), "f": -self._objective, "g": rows}
        lower, upper, start = (np.concatenate(each, dtype=float) for each in zip(*self._limits, strict=True))
        row_lower, row_upper = map(np.concatenate, zip(*self._row_limits, strict=True))
        steps = Steps(cancel, stage, row_lower, row_upper)
        look = looker(casadi, program, steps)
        left = None if cancel is None else cancel.remaining()
        limits = sum(int(np.isfinite(each).sum()) for each in (lower, upper, row_lower, row_upper))
        options = _options(UNLIMITED if left is None else max(left, 1e-3), limits) | {"iteration_callback": look}
        try:
            ipopt = casadi.nlpsol("program", "ipopt", program, options)
            with ctrl_c_stops(steps):
                answer = ipopt(x0=start, lbx=lower, ubx=upper, lbg=row_lower, ubg=row_upper)
        except RuntimeError as exc:
            raise SolverError(f"Ipopt rejected the program: {str(exc).splitlines()[-1]}") from exc
        if steps.interrupted:
            raise KeyboardInterrupt
        stats = ipopt.stats()
        status = SmoothStatus.STALLED if steps.stalled else _STATUSES.get(stats["return_status"], SmoothStatus.FAILED)
        blocks = np.split(np.array(answer["x"]).ravel(), np.cumsum([len(each) for _, _, each in self._limits])[:-1])
        return SmoothSolution(dict(zip(self._blocks, blocks, strict=True)), status, int(stats["iter_count"]))


def _options(seconds: float, limits: int) -> dict[str, Any]:
    """Return what to ask of Ipopt: how long it may take, and a tolerance by the number of limits."""
    tolerance = max(TIGHTEST, min(LOOSEST, MISSED / max(1, limits)))
    own = {
        "print_level": 0,
        "sb": "yes",  # no banner
        "linear_solver": "mumps",
        "max_wall_time": seconds,
        "max_iter": int(UNLIMITED),
        "mu_strategy": "adaptive",
        "tol": tolerance,
        "acceptable_tol": ENOUGH * tolerance,
        "acceptable_obj_change_tol": NO_FURTHER,
    }
    return {"ipopt": own, "print_time": False, "show_eval_warnings": False}


# Between the steps of Ipopt: a check of the token, of the recent gain, and of Ctrl-C.
# Ipopt runs outside of Python and calls back after each step to know whether to go on. An exception in the callback
# would be lost, and CasADi, which checks for Ctrl-C itself, would take it for a point at which nothing can be computed,
# and go on. So Ctrl-C is noted, Ipopt is stopped, and the interrupt is raised when it has.
Expression: TypeAlias = Any  # of CasADi, which ships no types

MISSED: Final = 1e-4  # of the objective, which should be about 1
PATIENCE: Final = 30  # steps that together gain less than `MISSED`, and are then the last
KEPT: Final = 1e-6  # by which a row may be broken in a point that counts


@dataclass(slots=True)
class Steps:
    """Looks at every step of Ipopt: at the token, and whether the steps still lead anywhere."""

    cancel: CancelToken | None
    stage: str
    lower: Floats  # of the rows
    upper: Floats
    count: int = 0
    best: float = -np.inf  # of the points that keep the rows
    before: float = -np.inf  # the best when it was last worth going on
    since: int = 0  # that step
    stalled: bool = False
    interrupted: bool = False

    def is_last(self, value: float, rows: Floats) -> bool:
        """Record a step to a point of this value; return whether to stop there."""
        self.count += 1
        if self.cancel is not None and self.stage:
            self.cancel.report(f"{self.stage}: step {self.count}, {value:.4f}")
        broken = max((self.lower - rows).max(initial=0.0), (rows - self.upper).max(initial=0.0))
        if broken <= KEPT:
            self.best = max(self.best, value)
        if self.best == -np.inf or self.best > self.before + MISSED * abs(self.best):
            self.before, self.since = self.best, self.count
        self.stalled = bool(broken <= KEPT and self.count - self.since >= PATIENCE)
        return self.stalled or self.interrupted or (self.cancel is not None and self.cancel.expired())


def looker(casadi: Any, program: dict[str, Expression], steps: Steps) -> Any:  # noqa: ANN401
    """Return what Ipopt calls after each step."""

    class Looker(casadi.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            casadi.Callback.__init__(self)
            self.construct("looker", {})

        def get_n_in(self) -> int:
            return int(casadi.nlpsol_n_out())

        def get_n_out(self) -> int:
            return 1

        def get_sparsity_in(self, place: int) -> Any:  # noqa: ANN401
            size = {"x": program["x"].shape, "f": (1, 1), "g": program["g"].shape}
            size |= {"lam_x": size["x"], "lam_g": size["g"]}
            return casadi.Sparsity.dense(*size.get(casadi.nlpsol_out(place), (0, 0)))

        def eval(self, given: Any) -> list[int]:  # noqa: ANN401
            try:
                return [int(steps.is_last(-float(given[1]), np.array(given[2]).ravel()))]
            except KeyboardInterrupt:  # of a listener; CasADi would swallow it
                steps.interrupted = True
                return [1]

    return Looker()


@contextlib.contextmanager
def ctrl_c_stops(steps: Steps) -> Iterator[None]:
    """Let Ctrl-C do what it did before; where that raises KeyboardInterrupt, note it instead."""
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield
        return

    def note(number: int, frame: FrameType | None) -> None:
        try:
            before(number, frame)
        except KeyboardInterrupt:
            steps.interrupted = True

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
