"""Column generation: a program with too many columns to write out, solved to any gap.

    min  c x    subject to    row_lower <= A x <= row_upper,    0 <= x <= u

Only some of the columns of A are in the **master**. Each round solves it and asks a **pricing oracle** two
things about its multipliers y: which columns that are not there yet would improve it (c - A'y < 0), and what
y proves about the *whole* program. The first makes the master better, the second is a bound that holds
whatever happens next: the work may stop after any round, by gap, time or signal, and what it has is true.

Multipliers of a small master jump about. So the oracle is asked at a point between them and the best ones so
far (which may come from elsewhere, such as soft prices); at the master's own only when that gives nothing.

A program with too many rows starts without most of them; a **separator** hands over those that the master's
point breaks. A bound without a row is a bound with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

import numpy as np

from lpsched.lp.program import LpSolution, LpStatus
from lpsched.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.lp.master import Columns, Master, Rows
    from lpsched.lp.program import Floats, LinearProgram, Solver

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
    """One master and its oracle; `run` may be called again after costs have changed.

    Parameters
    ----------
    program
        The master to begin with. It must have a solution.
    labels
        What its columns stand for.
    stage
        What listeners of the watch are told; nothing if it is `None`.
    mixed
        How much of the master's multipliers is in those that the oracle sees first.
    """

    solver: Solver
    program: LinearProgram
    oracle: Oracle[Label]
    labels: list[Label]
    separator: Separator | None = None
    stage: str | None = "columns"
    mixed: float = MIXED
    master: Master = field(init=False)
    size: float = field(init=False)

    def __post_init__(self) -> None:
        """Hand the program to the solver."""
        self.master = self.solver.master(self.program)
        self.size = float(np.abs(self.program.costs).max(initial=0.0)) or 1.0

    def run(
        self,
        *,
        gap: float,
        watch: Watch | None = None,
        centre: Floats | None = None,
        enough: float = np.inf,
    ) -> Generated[Label]:
        """Return an answer within the relative gap, or the best at the time when the watch is over.

        `centre` is where good multipliers are thought to be. A bound of `enough` ends the work too.

        Raises
        ------
        SolverError
            If the solver fails, or the master has no solution.
        """
        watch = watch or Watch()
        best, bound = centre, -np.inf
        if centre is not None:
            priced = self.oracle.price(centre)
            bound = priced.bound
            self._add(priced)
        was_cold = False
        for rounds in range(1, MOST_ROUNDS):
            solution = self.master.solve(watch)
            own = solution.multipliers
            optimal = solution.status is LpStatus.OPTIMAL
            if best is None:
                best = own
            if not optimal:
                return Generated(solution, self.labels, best, bound, solution.status, rounds)
            broken = self.separator.broken(solution) if self.separator is not None else None
            if broken is not None:
                self.master.add_rows(broken)
                best = np.append(best, np.zeros(len(broken.names)))
                continue
            fresh = 0
            for share in dict.fromkeys((self.mixed, 1.0)):
                asked = own if share == 1.0 else best + share * (own - best)
                priced = self.oracle.price(asked)
                if priced.bound > bound:
                    best, bound = asked, priced.bound
                fresh = self._add(priced, own)
                if fresh or self._is_closed(solution, bound, gap):
                    break
            self._tell(watch, solution.value, bound)
            if bound >= enough or self._is_closed(solution, bound, gap):
                return Generated(solution, self.labels, best, bound, LpStatus.OPTIMAL, rounds)
            if watch.is_over():
                return Generated(solution, self.labels, best, bound, LpStatus.LIMIT, rounds)
            if not fresh:
                if was_cold:  # as close as its tolerances let the solver come
                    return Generated(solution, self.labels, best, bound, LpStatus.OPTIMAL, rounds)
                was_cold = True  # a hot start may have gone wrong
                self.master = self.solver.master(self.master.program)
        raise AssertionError("column generation did not end")

    def _tell(self, watch: Watch, value: float, bound: float) -> None:
        if self.stage is not None:
            watch.tell(self.stage, value=value, bound=bound)

    def _add(self, priced: Priced[Label], multipliers: Floats | None = None) -> int:
        """Add the columns that improve at these multipliers (all, if none are given); return how many."""
        columns, labels = priced.columns, list(priced.labels)
        if multipliers is not None:
            reduced = columns.reduced_costs(multipliers)
            chosen = np.flatnonzero(reduced < -IMPROVES * self.size).astype(np.int32)
            columns, labels = columns.take(chosen), [labels[each] for each in chosen]
        if len(columns):
            self.master.add_columns(columns)
            self.labels += labels
        return len(columns)

    @staticmethod
    def _is_closed(solution: LpSolution, bound: float, gap: float) -> bool:
        return solution.value - bound <= gap * abs(solution.value)
