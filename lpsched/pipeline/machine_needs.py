"""How many more machines of which type pay for themselves? Lines of the relaxation, proved, type by type.

Each type is asked alone, with the others as they are. A line F + s v, found in doubles, is proved in exact
arithmetic at the largest v of interest (`formulations/machine_counts.py` has the formula); with the exact
slope of its prices it then holds for all smaller v. What v more machines bring at most is the least line; the
best whole v is one of the two around the best number. No machine is of use that could not have a task.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from lpsched.certificate.bounds import (
    SECONDS_PER_HOUR,
    Multipliers,
    Prover,
    Shortest,
    rounded_down,
    rounded_up,
)
from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.formulations.machine_counts import longest_task, own_cost
from lpsched.instance.fields import MOST
from lpsched.instance.machine_sets import with_machines
from lpsched.pipeline.solving import DEFAULT_GAP, answer
from lpsched.result.sensitivity import MachineNeed, MachinePiece
from lpsched.search.machine_counts import CountSearch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance import Bag, MachineType
    from lpsched.lp.program import Solver
    from lpsched.pipeline.questions import Question
    from lpsched.search.machine_counts import CountPrices

LEVEL: Final = Fraction(1, 10**9)  # of what the first machine adds: less is rounding


MANY: Final = 1_000  # pairs: with more, only the best number is looked for, not every piece
FEWER, FAST_FEWER = 2, 8  # by what the number of machines is divided for the next try; for large bags
SURE: Final = 0.5  # of what they add at most: so many verified machines need no further try


@dataclass(frozen=True, slots=True)
class Present:
    """What the machines there are earn: proved and verified; and the relaxation's makespan, if any runs."""

    bound: float
    value: float | None
    makespan_seconds: float | None


def machine_needs(
    question: Question, present: Present, solver: Solver, *, lifetime_hours: float | None = None
) -> tuple[MachineNeed, ...]:
    """Return what more machines of each type are worth.

    `lifetime_hours` is how long machines last whose type does not say.

    Raises
    ------
    SolverError
        If the solver fails.
    InvalidScheduleError
        If a schedule found does not pass verification, which is a bug of ours.
    """
    bag, found, search = question.bag, [], None
    if present.makespan_seconds is not None:
        search = CountSearch(bag, solver, seconds=present.makespan_seconds)
    for j, machine in enumerate(bag.machine_types):
        useful = _useful(bag, j)
        if search is None or not useful:  # where waiting is best, it is with any number of machines
            own = SECONDS_PER_HOUR * own_cost(bag, machine)
            found.append(_told(machine, _Counts(0, 0.0 - own, present.bound), None, lifetime_hours))
            continue
        lines, counts = _counted(bag, search, j, useful)
        tried = _tried(question, present, solver, lines, counts.best_more)
        found.append(_told(machine, counts, tried, lifetime_hours))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Counts:
    """How many more are best, and what the proved lines say; money per hour."""

    best_more: int
    next_adds: float | None
    bound_at_best: float
    pieces: tuple[MachinePiece, ...] = ()


@dataclass(frozen=True, slots=True)
class _Tried:
    """How many more were tried, and what they add by a verified schedule, and by the bound."""

    more: int
    value: float
    at_least: float
    at_most: float | None

    @property
    def is_sure(self) -> bool:
        return self.at_least > 0 and (self.at_most is None or self.at_least >= SURE * self.at_most)


@dataclass(frozen=True, slots=True)
class _ProvedLine:
    """A bound of money per second with up to `last` more machines."""

    at_last: Fraction
    slope: Fraction
    last: int

    def at(self, more: Fraction | int) -> Fraction:
        return self.at_last - self.slope * (self.last - more)


class _ProvedLines:
    """Lines that hold for up to `last` more machines of type j."""

    def __init__(self, bag: Bag, j: int, last: int) -> None:
        self.machine, self.j, self.last = bag.machine_types[j], j, last
        more = with_machines(bag, {self.machine.name: self.machine.count + last})
        longest = _longest(bag)
        self._prover, self._longest = Prover(more, None, longest), Fraction(longest.seconds)
        self._income = self._prover.income()
        self._lines: list[_ProvedLine] = []

    def add(self, prices: CountPrices) -> _ProvedLine:
        """Prove the line of these prices, and keep it."""
        machine, prover, theta = self.machine, self._prover, Fraction(prices.theta)
        slower = prover.rate(Multipliers(prices.machines, prices.cap), self._income - theta)
        watts = (prover.per_joule + Fraction(prices.cap)) * Fraction(machine.idle_watts)
        slope = Fraction(prices.machines[self.j]) - watts - _depreciation(machine)
        self._lines.append(_ProvedLine(slower + theta / self._longest, slope, self.last))
        return self._lines[-1]

    def at(self, more: int) -> Fraction:
        """Return the least of the lines."""
        return min(line.at(more) for line in self._lines)


def is_large(bag: Bag) -> bool:
    """Tell whether only the best number of machines is looked for."""
    return len(bag.task_types) * len(bag.modes) > MANY


def _counted(bag: Bag, search: CountSearch, j: int, useful: int) -> tuple[_ProvedLines, _Counts]:
    """Return how many more machines of type j are best, and the lines that prove it."""
    pieces, others = [], [search.present()]
    if is_large(bag):
        end, at_end = search.best(j, most=useful)
        others.append(at_end)
    else:
        pieces = search.pieces(j, most=useful)
        end = pieces[-1].to_more if pieces else 0.0
    low = min(math.floor(end), useful)
    after = search.prices_at(j, low + 1.0) if low < useful else None
    others += [] if after is None else [after]
    if low and not pieces:
        first = search.prices_at(j, 1.0)
        others += [] if first is None else [first]
    lines = _ProvedLines(bag, j, low + 1)
    own = [lines.add(piece.prices) for piece in pieces]
    now, *_ = [lines.add(prices) for prices in others]
    more_pays = lines.at(low + 1) - lines.at(low) > LEVEL * abs(now.slope)
    best = low + 1 if after is not None and more_pays else low
    adds = lines.at(1) - lines.at(0) if low or after is not None else None
    count = bag.machine_types[j].count
    return lines, _Counts(
        best_more=best,
        next_adds=None if adds is None else rounded_up(SECONDS_PER_HOUR * adds),
        bound_at_best=rounded_up(SECONDS_PER_HOUR * lines.at(best)),
        pieces=tuple(
            MachinePiece(
                from_count=count + piece.from_more,
                to_count=count + piece.to_more,
                adds_per_hour=rounded_up(SECONDS_PER_HOUR * line.slope),
                bound_at_from=rounded_up(SECONDS_PER_HOUR * line.at(Fraction(piece.from_more))),
            )
            for piece, line in zip(pieces, own, strict=True)
        ),
    )


def _tried(
    question: Question, present: Present, solver: Solver, lines: _ProvedLines, best_more: int
) -> _Tried | None:
    """Return what verified schedules add with the best number of machines, or a half, a quarter... of it.

    The bound trusts that tasks can be split, which means most with most machines: so fewer may earn more.
    """
    best, more = None, best_more
    fewer = FAST_FEWER if is_large(question.bag) else FEWER
    while more:
        bag = with_machines(question.bag, {lines.machine.name: lines.machine.count + more})
        try:
            result = answer(replace(question, bag=bag), solver, gap=DEFAULT_GAP)
        except (InfeasibleError, NotFoundError):  # whole tasks miss the deadline
            more //= fewer
            continue
        bound = min(rounded_up(SECONDS_PER_HOUR * lines.at(more)), result.bound)
        at_least = rounded_down(Fraction(result.value) - Fraction(present.bound))
        at_most = None if present.value is None else rounded_up(Fraction(bound) - Fraction(present.value))
        tried = _Tried(more, result.value, at_least, at_most)
        if best is not None and tried.value <= best.value and best.at_least > 0:
            break
        best = tried if best is None or tried.value > best.value else best
        if tried.is_sure:
            break
        more //= fewer
    return best if best is not None and best.at_least > 0 else None


def _told(
    machine: MachineType, counts: _Counts, tried: _Tried | None, lifetime_hours: float | None
) -> MachineNeed:
    """Return the answer for a machine type."""
    lost = float(_depreciation(machine)) * SECONDS_PER_HOUR
    life = machine.mean_hours_to_failure or lifetime_hours
    earns = None if counts.next_adds is None else max(0.0, counts.next_adds + lost)
    return MachineNeed(
        name=machine.name,
        count=machine.count,
        purchase_price=machine.purchase_price,
        mean_hours_to_failure=life,
        adds_per_hour=counts.next_adds,
        pays_back_hours=machine.purchase_price / earns if earns and machine.purchase_price else None,
        pays_up_to=None if earns is None or life is None else earns * life,
        most_more=counts.best_more,
        bound_at_most=counts.bound_at_best,
        sure_more=0 if tried is None else tried.more,
        value_at_sure=None if tried is None else tried.value,
        sure_adds_at_least=None if tried is None else tried.at_least,
        sure_adds_at_most=None if tried is None else tried.at_most,
        pieces=counts.pieces,
    )


def _longest(bag: Bag) -> Shortest:
    """Return what the longest task proves, whatever the number of machines."""
    seconds = longest_task(bag)
    longest = next(
        i for i, row in enumerate(bag.seconds) if all(each is None or each >= seconds for each in row)
    )
    return Shortest(seconds, (longest,))


def _useful(bag: Bag, j: int) -> int:
    """Return how many more machines of type j could have a task each."""
    columns = [column for column, (owner, _) in enumerate(bag.modes) if owner == j]
    tasks = sum(task.count for i, task in enumerate(bag.task_types) if _runs(bag.seconds.row(i), columns))
    return max(0, min(tasks - bag.machine_types[j].count, MOST - bag.machines - 1))


def _runs(seconds: Sequence[float | None], columns: list[int]) -> bool:
    return any(seconds[column] is not None for column in columns)


def _depreciation(machine: MachineType) -> Fraction:
    """Return what a machine loses in a second."""
    if machine.mean_hours_to_failure is None:
        return Fraction(0)
    return Fraction(machine.purchase_price) / Fraction(machine.mean_hours_to_failure) / SECONDS_PER_HOUR
