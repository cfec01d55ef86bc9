"""How many more machines of a type are worthwhile: lines of the relaxation, proved, type by type.

Each type is considered alone, with the others as they are. A line F + s v, found in doubles, is proved in exact
arithmetic at the largest v of interest (`bag/search/curves.py` has the formula); with the exact slope of its prices it
then holds for all smaller v. The bound with v more machines is the least line, concave in v.

Where the bound is highest does not matter to schedules: a smaller number may earn as much, a larger one more. But
if u machines earn V by a verified schedule, and a falling line is at V or below from some v >= u on, then more than v
cannot earn more than u do. Nor is a machine of use that could not have a task. The least such v is the limit.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Final

from lpsched.bag.certificate.bounds import Multipliers, Prover, Shortest
from lpsched.bag.cost import exact_cost_model
from lpsched.bag.model import with_machines
from lpsched.bag.pricing.one_more import (
    Marginals,
    SolveOptions,
    machine_step,
    selected_types,
    solve_options,
    useful_machines,
)
from lpsched.bag.pricing.result import MachineCurveSegment, MachineSensitivity
from lpsched.bag.problem import Problem, require_power, require_time
from lpsched.bag.result import Between, Effort, MarginalValues, Result
from lpsched.bag.search.curves import CountPrices, CountSearch, longest_task
from lpsched.cancellation import CancelToken
from lpsched.errors import InfeasibleError, SolverError
from lpsched.model.fields import MOST
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.bag.parts import MachineType
    from lpsched.lp.program import Solver

LEVEL: Final = Fraction(1, 10**9)  # of what the first machine adds: less is rounding
MANY: Final = 1_000  # pairs: with more, only the best number is computed, not every segment
FEWER, FAST_FEWER = 2, 8  # divisor of the number of machines for the next trial; for large bags
SURE: Final = 0.5  # of what machines add at most: if verified, no further trial
TANGENTS: Final = 8  # lines tried for the most that may be worthwhile
TRIED: Final = Effort.BALANCED  # milliseconds for each number of machines


@dataclass(frozen=True, slots=True)
class Baseline:
    """Bound and result with the current machines (no result if no schedule meets the deadline); LP makespan, if any."""

    bound: float
    result: Result | None
    worth: MarginalValues | None
    makespan_seconds: float | None

    @property
    def value(self) -> float | None:
        """The profit of the verified schedule."""
        return None if self.result is None else self.result.value


def machine_needs(
    question: Problem,
    now: Baseline,
    solver: Solver,
    *,
    lifetime_hours: float | None = None,
    marginals: Marginals = Marginals.TOP,
) -> tuple[MachineSensitivity, ...]:
    """Return the value of more machines of each type.

    `lifetime_hours` is for types without one; `marginals` selects the types for which one whole machine more is solved.
    """
    bag, found, search = question.bag, [], None
    if now.makespan_seconds is not None:
        search = CountSearch(bag, solver, seconds=now.makespan_seconds)
    selected: list[str] = []
    if marginals is not Marginals.LP and now.worth is not None:
        selected = selected_types(marginals, now.worth.machine_types)
    for j, machine in enumerate(bag.machine_types):
        useful = useful_machines(bag, j)
        need = partial(_machine_sensitivity, bag, machine, now.worth, machine.mean_hours_to_failure or lifetime_hours)
        step = Between(None, None)
        if machine.name in selected and now.result is not None:
            options = solve_options(bag, now.result, solver, marginals=marginals, cancel=None, seed=0)
            step = machine_step(question, now.result, machine.name, options)
        if search is None or not useful:  # if it is best not to run, it is with any number of machines
            found.append(need(step=step, most=0, bound_at_most=now.bound))
            continue
        lines, counts = _counted(bag, search, j, useful)
        if counts.next_bound is not None and now.value is not None and step.at_most is not None:
            next_adds = rounded_up(Fraction(counts.next_bound) - Fraction(now.value))
            step = Between(step.at_least, min(step.at_most, next_adds))
        trials = _trials(question, now, solver, lines, counts.best_more)
        if now.result is not None and _is_infeasible(bag, machine, counts.none_from, solver):
            useful = counts.best_more
        best = max(
            [(0, now.value), *((each.more, each.value) for each in trials)],
            key=lambda pair: (-math.inf if pair[1] is None else pair[1], -pair[0]),
        )
        far = _ProvedLines(bag, j, useful)
        for prices in counts.prices:
            far.add(prices)
        highest = rounded_up(SECONDS_PER_HOUR * far.highest())
        limit: int | None = _limit(search, far, best)
        if limit == useful and bag.machines + useful + 1 >= MOST:
            limit = None  # the largest count of a file, though more might be of use
        sure = max((each for each in trials if each.at_least > 0), key=lambda each: each.value, default=None)
        found.append(need(step=step, most=limit, bound_at_most=highest, pieces=counts.pieces, trial=sure))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Counts:
    """The number of machines with the highest bound, and the proved lines; money per hour."""

    best_more: int
    next_bound: float | None
    pieces: tuple[MachineCurveSegment, ...]
    prices: tuple[CountPrices, ...]
    none_from: int | None  # with this many more the program is infeasible


@dataclass(frozen=True, slots=True)
class _Trial:
    """A number of machines, the value with them, and what they add by a verified schedule and by the bound."""

    more: int
    value: float
    at_least: float
    at_most: float | None


@dataclass(frozen=True, slots=True)
class _ProvedLine:
    """A bound on money per second with up to `last` more machines."""

    at_last: Fraction
    slope: Fraction
    last: int

    def at(self, more: Fraction | int) -> Fraction:
        return self.at_last - self.slope * (self.last - more)

    def last_above(self, target: Fraction) -> int:
        """Return the last whole number where it is above an amount, and then no more; -1 if there is none."""
        if self.at_last > target:
            return self.last
        if self.slope >= 0:
            return -1
        return max(-1, math.ceil(self.last - (self.at_last - target) / self.slope) - 1)


class _ProvedLines:
    """Lines that hold for up to `last` more machines of type j."""

    def __init__(self, bag: Bag, j: int, last: int) -> None:
        self.machine, self.j, self.last = bag.machine_types[j], j, last
        more = with_machines(bag, {self.machine.name: self.machine.count + last})
        longest = _longest(bag)
        self._prover, self._longest = Prover(more, None, longest), Fraction(longest.seconds)
        self._income, self._own = self._prover.income(), exact_cost_model(bag).own_rate(self.machine)
        self._lines: list[_ProvedLine] = []

    def add(self, prices: CountPrices) -> _ProvedLine:
        """Prove the line of these prices, and add it."""
        machine, prover, theta = self.machine, self._prover, Fraction(prices.theta)
        slower = prover.rate(Multipliers(prices.machines, prices.cap), self._income - theta)
        slope = Fraction(prices.machines[self.j]) - Fraction(prices.cap) * Fraction(machine.idle_watts) - self._own
        self._lines.append(_ProvedLine(slower + theta / self._longest, slope, self.last))
        return self._lines[-1]

    def at(self, more: int) -> Fraction:
        """Return the least of the lines."""
        return min(line.at(more) for line in self._lines)

    def highest(self) -> Fraction:
        """Return the most that the least of the lines is at any number: it is concave."""
        low, high = 0, self.last
        while low < high:
            middle = (low + high) // 2
            if self.at(middle + 1) > self.at(middle):
                low = middle + 1
            else:
                high = middle
        return self.at(low)

    def last_above(self, target: Fraction) -> int:
        """Return the last number after which the least of the lines stays at or below an amount; or -1."""
        return min(line.last_above(target) for line in self._lines)


def is_large(bag: Bag) -> bool:
    """Return whether only the best number of machines is computed."""
    return len(bag.task_types) * len(bag.modes) > MANY


def _counted(bag: Bag, search: CountSearch, j: int, useful: int) -> tuple[_ProvedLines, _Counts]:
    """Return how many more machines of type j are best, and the lines that prove it."""
    pieces, others = [], [search.present()]
    if is_large(bag):
        end, at_end = search.best(j, most=useful)
        others.append(at_end)
    else:
        pieces = search.segments(j, most=useful)
        end = pieces[-1].to_more if pieces else 0.0
    low = min(math.floor(end), useful)
    after = search.prices_at(j, low + 1.0) if low < useful else None
    first = search.prices_at(j, 1.0) if low and not pieces else None
    others += [prices for prices in (after, first) if prices is not None]
    lines = _ProvedLines(bag, j, low + 1)
    own = [lines.add(piece.prices) for piece in pieces]
    now, *_ = [lines.add(prices) for prices in others]
    more_pays = lines.at(low + 1) - lines.at(low) > LEVEL * abs(now.slope)
    best = low + 1 if after is not None and more_pays else low
    one = lines.at(1) if low or after is not None else None
    count = bag.machine_types[j].count
    return lines, _Counts(
        best_more=best,
        next_bound=None if one is None else rounded_up(SECONDS_PER_HOUR * one),
        pieces=tuple(
            MachineCurveSegment(
                from_count=count + piece.from_more,
                to_count=count + piece.to_more,
                adds_per_hour=rounded_up(SECONDS_PER_HOUR * line.slope),
                bound_at_from=rounded_up(SECONDS_PER_HOUR * line.at(Fraction(piece.from_more))),
            )
            for piece, line in zip(pieces, own, strict=True)
        ),
        prices=(*(piece.prices for piece in pieces[-1:]), *others),
        none_from=low + 1 if low < useful and after is None else None,
    )


def _is_infeasible(bag: Bag, machine: MachineType, more: int | None, solver: Solver) -> bool:
    """Return whether it is proved that no schedule with this many more machines meets the cap.

    Nor with still more, if there is one now: the condition, g <= S t, is linear in the number of machines.
    """
    if more is None:
        return False
    prover = Prover(with_machines(bag, {machine.name: machine.count + more}))
    try:
        require_power(prover)
        require_time(prover, solver)
    except InfeasibleError:
        return True
    except SolverError:
        pass
    return False


def _limit(search: CountSearch, lines: _ProvedLines, best: tuple[int, float | None]) -> int:
    """Return the most that may be worthwhile: from there on, a falling line is below the verified value.

    `best` is a number of machines and the value with them. The bound is concave, so each tangent crosses later than
    the bound does; the next tangent is where the last one crosses (Newton's method).
    """
    more, value = best
    if value is None:
        return lines.last
    target = Fraction(value) / SECONDS_PER_HOUR
    most = lines.last_above(target)
    for _ in range(TANGENTS):
        if most <= more:
            break
        with suppress(SolverError):
            prices = search.prices_at(lines.j, float(most))
            if prices is not None:
                lines.add(prices)
        nearer = lines.last_above(target)
        if nearer >= most:
            break
        most = nearer
    return max(more, most)


def _trials(question: Problem, now: Baseline, solver: Solver, lines: _ProvedLines, best_more: int) -> list[_Trial]:
    """Return what verified schedules add with the best number of machines, or a half, a quarter... of it.

    The bound splits tasks, which matters most with most machines: fewer may earn more.
    """
    trials: list[_Trial] = []
    best, more = None, best_more
    fewer = FAST_FEWER if is_large(question.bag) else FEWER
    while more:
        bag = with_machines(question.bag, {lines.machine.name: lines.machine.count + more})
        result = SolveOptions(solver, TRIED, CancelToken()).solve(replace(question, bag=bag))
        if result is None:  # whole tasks miss the deadline
            more //= fewer
            continue
        bound = min(rounded_up(SECONDS_PER_HOUR * lines.at(more)), result.bound)
        at_most = None
        if now.value is not None:
            at_most = rounded_up(Fraction(bound) - Fraction(now.value))
        at_least = rounded_down(Fraction(result.value) - Fraction(now.bound))
        trial = _Trial(more, result.value, at_least, at_most)
        trials.append(trial)
        if best is not None and trial.value <= best.value and best.at_least > 0:
            break
        best = trial if best is None or trial.value > best.value else best
        if at_least > 0 and (at_most is None or at_least >= SURE * at_most):
            break
        more //= fewer
    return trials


def _machine_sensitivity(  # noqa: PLR0913 - what is known of a type
    bag: Bag,
    machine: MachineType,
    worth: MarginalValues | None,
    life: float | None,
    *,
    step: Between,
    most: int | None,
    bound_at_most: float,
    pieces: tuple[MachineCurveSegment, ...] = (),
    trial: _Trial | None = None,
) -> MachineSensitivity:
    """Return the result for a machine type that lasts `life` hours; `trial` is a number verified to be worthwhile."""
    lost = float(exact_cost_model(bag).depreciation(machine, per=SECONDS_PER_HOUR)) * SECONDS_PER_HOUR
    adds = None if worth is None else worth.machine_types[machine.name]
    earns = None if adds is None else max(0.0, adds + lost)
    return MachineSensitivity(
        name=machine.name,
        count=machine.count,
        purchase_price=machine.purchase_price,
        mean_hours_to_failure=life,
        adds_per_hour=adds,
        pays_back_hours=machine.purchase_price / earns if earns and machine.purchase_price else None,
        pays_up_to=None if earns is None or life is None else earns * life,
        most_more=most,
        bound_at_most=bound_at_most,
        sure_more=0 if trial is None else trial.more,
        value_at_sure=None if trial is None else trial.value,
        sure_adds_at_least=None if trial is None else trial.at_least,
        sure_adds_at_most=None if trial is None else trial.at_most,
        pieces=pieces,
        fewer_adds_per_hour=None if worth is None else (worth.one_fewer or worth).machine_types[machine.name],
        step_at_least=step.at_least,
        step_at_most=step.at_most,
    )


def _longest(bag: Bag) -> Shortest:
    """Return the proof by the longest task, for any number of machines."""
    seconds = longest_task(bag)
    longest = next(i for i, row in enumerate(bag.seconds) if all(each is None or each >= seconds for each in row))
    return Shortest(seconds, (longest,))
