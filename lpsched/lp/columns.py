"""Column generation: a program with too many columns to write out, solved to any gap.

    min  c x    subject to    row_lower <= A x <= row_upper,    0 <= x <= u

Only some of the columns of A are in the **master**. Each round solves it and asks a **pricing oracle** two
things about its multipliers y: which columns that are not there yet would improve it (c - A'y < 0), and what
y proves about the *whole* program. The first improves the master, the second is a valid bound: the work may stop after
any round, by gap, time or signal.

Multipliers of a small master jump about. So the oracle is asked at a point between them and the best ones so
far (which may come from elsewhere, such as soft prices); at the master's own only where that brings nothing.

A program with too many rows starts without most of them; a **separator** hands over those that the master's
point breaks. A bound without a row is a bound with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol, TypeVar

import numpy as np

from lpsched.cancellation import CancelToken
from lpsched.errors import SolverError
from lpsched.lp.program import Columns, Floats, Integers, LinearProgram, LpSolution, LpStatus, Master, Rows, Solver

Label = TypeVar("Label")
IMPROVES: Final = 1e-11  # of the largest cost: a reduced cost above minus this does not
MIXED: Final = 0.5  # how much of the master's multipliers is in those that the oracle sees
MOST_ROUNDS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Priced(Generic[Label]):
    """What an oracle says: columns that may improve, what each stands for, and the bound it proves."""

    columns: Columns
    labels: Sequence[Label]
    bound: float
    work: float = 0.0  # what it took, in counted seconds


class Oracle(Protocol[Label]):
    """Knows all columns without writing them out."""

    def price(self, multipliers: Floats) -> Priced[Label]:
        """Return columns whose cost less their multipliers is low, and a bound of the whole program.

        The bound holds for *any* multipliers. If no column improves at these, none of the whole program does.
        """


class Separator(Protocol):
    """Knows all rows without writing them out."""

    def broken(self, solution: LpSolution) -> Rows | None:
        """Return rows that this point breaks, `None` if it breaks none."""


@dataclass(slots=True)
class Generated(Generic[Label]):
    """The best that is known: a point of the master, its columns' labels, and the proved bound."""

    solution: LpSolution
    labels: list[Label]
    multipliers: Floats  # those that prove the bound
    bound: float
    status: LpStatus  # OPTIMAL within the gap, LIMIT when stopped before
    rounds: int


@dataclass(slots=True)
class ColumnGeneration(Generic[Label]):
    """One master and its oracle; `run` may be called again after costs have changed."""

    solver: Solver
    program: LinearProgram  # the master to begin with; it must have a solution
    oracle: Oracle[Label]
    labels: list[Label]  # what its columns stand for
    separator: Separator | None = None
    stage: str | None = "columns"  # the name under which progress is reported; `None`: not at all
    mixed: float = MIXED  # how much of the master's multipliers is in those that the oracle sees first
    master: Master = field(init=False)
    size: float = field(init=False)
    seen: dict[bytes, int] = field(init=False, default_factory=dict)  # columns that were added, and where

    def __post_init__(self) -> None:
        """Hand the program to the solver."""
        self.master = self.solver.master(self.program)
        self.size = float(np.abs(self.program.costs).max(initial=0.0)) or 1.0

    def run(  # noqa: PLR0913 - when to begin and when to stop
        self,
        *,
        gap: float,
        cancel: CancelToken | None = None,
        centre: Floats | None = None,
        enough: float = np.inf,
        slack: float = 0.0,
        most: int = MOST_ROUNDS,
    ) -> Generated[Label]:
        """Return an answer within the relative gap, or the best at the time when the token has expired.

        `centre` is where good multipliers are thought to be. A bound of `enough` ends the work too, and so
        does a difference of `slack` between value and bound, or the oracle's answer number `most`.
        """
        cancel = cancel or CancelToken()
        best = _Best()
        if centre is not None:
            priced = self.oracle.price(centre)
            best.note(centre, priced.bound)
            self._add(priced)
        was_cold, asked, last = False, 0, None
        for rounds in range(1, MOST_ROUNDS):
            solution = self._solved(cancel)
            status = solution.status
            optimal = status is LpStatus.OPTIMAL
            broken = self.separator.broken(solution) if optimal and self.separator is not None else None
            if broken is not None:
                self.master.add_rows(broken)
                if best.multipliers is not None:
                    best.multipliers = np.append(best.multipliers, np.zeros(len(broken.names)))
                continue
            fresh = self._improve(solution, best, gap, cancel) if optimal else 0
            asked += 1
            if status is LpStatus.LIMIT and last is not None:
                solution = last  # where the solver was stopped may be no point of the program
            last = solution
            if self.stage is not None:
                cancel.report(self.stage, (solution.value - best.bound) / (abs(solution.value) or 1.0))
            met = best.bound >= enough or _is_closed(solution, best.bound, gap)
            met |= solution.value - best.bound <= slack
            closed = met or (was_cold and not fresh)  # no closer, as the solver's tolerances let us come
            if not optimal or closed or asked >= most or cancel.expired():
                ended = LpStatus.LIMIT if optimal and not closed else status
                multipliers = solution.multipliers if best.multipliers is None else best.multipliers
                labels = self.labels[: len(solution.values)]  # without columns that came after it
                return Generated(solution, labels, multipliers, best.bound, ended, rounds)
            if not fresh:  # a hot start may have gone wrong
                was_cold = True
                self.master = self.solver.master(self.master.program)
        raise AssertionError("column generation did not end")

    def forget(self, labels: Integers) -> None:
        """Allow columns again, by the places of their labels: their present copies may not be used any more."""
        gone = set(labels.tolist())
        self.seen = {key: place for key, place in self.seen.items() if place not in gone}

    def _solved(self, cancel: CancelToken) -> LpSolution:
        """Solve the master; once more from cold if a hot start fails."""
        try:
            solution = self.master.solve(cancel)
            if solution.status in {LpStatus.OPTIMAL, LpStatus.LIMIT}:
                return solution
        except SolverError:
            pass  # HiGHS has been seen to give up at the first step of a hot start
        self.master = self.solver.master(self.master.program)
        return self.master.solve(cancel)

    def _improve(self, solution: LpSolution, best: _Best, gap: float, cancel: CancelToken) -> int:
        """Price columns, first between the master's multipliers and the best; return how many came."""
        own = solution.multipliers
        for share in (1.0,) if best.multipliers is None else dict.fromkeys((self.mixed, 1.0)):
            asked = own if best.multipliers is None else best.multipliers + share * (own - best.multipliers)
            priced = self.oracle.price(asked)
            cancel.count(priced.work)
            best.note(asked, priced.bound)
            fresh = self._add(priced, own)
            if fresh or _is_closed(solution, best.bound, gap):
                return fresh
        return 0

    def _add(self, priced: Priced[Label], multipliers: Floats | None = None) -> int:
        """Add the columns that improve at these multipliers (all, if none are given); return how many."""
        columns, labels = priced.columns, list(priced.labels)
        if multipliers is not None:
            reduced = columns.reduced_costs(multipliers)
            new: list[int] = []
            for each in np.flatnonzero(reduced < -IMPROVES * self.size).tolist():
                cells = slice(columns.starts[each], columns.starts[each + 1])
                parts = columns.costs[each], columns.rows[cells], columns.values[cells]
                key = b"".join(part.tobytes() for part in parts)
                if key not in self.seen:  # within its tolerances the master may ask for a column again
                    self.seen[key] = len(self.labels) + len(new)
                    new.append(each)
            columns, labels = columns.take(np.array(new, dtype=np.int32)), [labels[each] for each in new]
        if len(columns):
            self.master.add_columns(columns)
            self.labels += labels
        return len(columns)


@dataclass(slots=True)
class _Best:
    """The multipliers that prove most so far."""

    multipliers: Floats | None = None
    bound: float = -np.inf

    def note(self, multipliers: Floats, bound: float) -> None:
        if bound > self.bound or self.multipliers is None:
            self.multipliers, self.bound = multipliers, max(bound, self.bound)


def _is_closed(solution: LpSolution, bound: float, gap: float) -> bool:
    return solution.value - bound <= gap * abs(solution.value)
