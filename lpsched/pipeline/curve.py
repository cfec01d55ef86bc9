"""From pieces of the relaxation to pieces of the answer: bounds proved and values measured at both ends."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from lpsched.certificate.bounds import SECONDS_PER_HOUR, Multipliers, Prover, rounded_down, rounded_up
from lpsched.instance.terms import Terms
from lpsched.pipeline.objectives import Profit
from lpsched.pipeline.recovering import choices
from lpsched.relaxation import Regime
from lpsched.result.price_curve import PricePiece, PricePoint
from lpsched.schedule.bag import NOTHING, Schedule
from lpsched.verify.bag import Tables, examine

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.lp.program import Solver
    from lpsched.search.price_curve import Piece, PriceSearch

ROUNDING: Final = 1e-12  # relative: breakpoints this near are one
BEYOND: Final = 1.5  # how far past the last breakpoint points are drawn, where no end was asked for


@dataclass(slots=True)
class Curve:
    """The curve of one bag; `gamma` is the price at the profit ratio 1, if energy costs anything."""

    bag: Bag
    prover: Prover
    search: PriceSearch
    solver: Solver
    gamma: float | None
    pieces: list[PricePiece] = field(default_factory=list)
    schedules: list[list[Schedule]] = field(default_factory=list)  # to choose from, for each piece
    _tables: Tables = field(init=False)
    _proved: tuple[float, float] = (math.nan, math.nan)  # the last price, and the bound there

    def __post_init__(self) -> None:
        """Read the tables once for all schedules."""
        self._tables = Tables(self.bag)

    def add(self, piece: Piece) -> None:
        """Add a piece, cut in two where it passes from loss to profit."""
        schedules = self._schedules(piece)
        start, stop = piece.from_income, piece.to_income
        if piece.relaxation is None:
            self._add(start, stop, Regime.DO_NOT_RUN, schedules)
            return
        even = (piece.cost_per_second + float(self.prover.standing())) / piece.bags_per_second
        if even <= start or math.isclose(even, start, rel_tol=ROUNDING):
            self._add(start, stop, Regime.PROFIT, schedules)
        elif stop is not None and (stop <= even or math.isclose(even, stop, rel_tol=ROUNDING)):
            self._add(start, stop, Regime.LOSS, schedules)
        else:
            self._add(start, even, Regime.LOSS, schedules)
            self._add(even, stop, Regime.PROFIT, schedules)

    def sample(self, count: int) -> list[PricePoint]:
        """Return evenly spaced points, read off the pieces: no program is solved, and nothing measured anew.

        A schedule earns on a line over the price, so it earns at least what the line between two measured
        values says; the bound is convex, so the line between two proved ones holds.
        """
        first, last = self.pieces[0], self.pieces[-1]
        beyond = BEYOND * (max(last.from_price, self.gamma or 0.0) or 1.0)  # any money, where all is free
        begin, end = first.from_price, beyond if last.to_price is None else last.to_price
        begins = [piece.from_price for piece in self.pieces]
        prices = [min(end, begin + (end - begin) * k / max(1, count - 1)) for k in range(count)]
        drawn: list[PricePoint] = []
        for place, own in itertools.groupby(prices, lambda price: bisect_right(begins, price) - 1):
            bounds, values = self._lines(place, end)
            for price in own:
                value = max((rounded_down(each.at(price)) for each in values), default=None)
                drawn.append(PricePoint(self._ratio(price), price, rounded_up(bounds.at(price)), value))
        return drawn

    def least_price(self) -> float | None:
        """Return the price up to which waiting is best."""
        if self.bag.site.deadline_seconds is not None:
            return None
        return max(0.0, float(self.prover.least_running_cost() + Fraction(self.bag.prices.overhead_per_bag)))

    def break_even(self) -> float | None:
        """Return the price from which on running pays, if it lies between the first and the last."""
        for before, after in itertools.pairwise(self.pieces):
            if before.regime is not Regime.PROFIT and after.regime is Regime.PROFIT:
                return after.from_price
        return None

    def _add(self, start: float, stop: float | None, regime: Regime, schedules: list[Schedule]) -> None:
        low, high = self._price(start), None if stop is None else self._price(stop)
        if high is not None and high <= low:  # no wider than rounding
            return
        value, schedule = self._best(schedules, low)
        self.pieces.append(
            PricePiece(
                from_ratio=self._ratio(low),
                to_ratio=None if high is None else self._ratio(high),
                from_price=low,
                to_price=high,
                regime=regime,
                bound_at_from=self._bound(low),
                bound_at_to=None if high is None else self._bound(high),
                value_at_from=value,
                value_at_to=None if high is None else self._best(schedules, high)[0],
                schedule=schedule,
            )
        )
        self.schedules.append(schedules)

    def _schedules(self, piece: Piece) -> list[Schedule]:
        """Return the verified schedules of a piece; without a deadline, waiting is one of them."""
        waits = [NOTHING] if self.bag.site.deadline_seconds is None else []
        if piece.relaxation is None:
            return waits
        found = choices(self.bag, Profit(), piece.relaxation, self.solver)
        own = [] if isinstance(found, str) else [each.schedule for each in found]
        return [each for each in own if each != NOTHING] + waits

    def _price(self, income: float) -> float:
        return max(0.0, income + self.bag.prices.overhead_per_bag)

    def _ratio(self, price: float) -> float | None:
        return None if self.gamma is None else price / self.gamma

    def _bound(self, price: float) -> float:
        """Return what is proved at a price; a piece ends where the next begins."""
        if price != self._proved[0]:
            self._proved = (price, self._newly_proved(price))
        return self._proved[1]

    def _newly_proved(self, price: float) -> float:
        """Prove it by the prices of the relaxation there."""
        exact = Fraction(price) - Fraction(self.bag.prices.overhead_per_bag)
        if self.bag.site.deadline_seconds is None and exact <= self.prover.least_running_cost():
            prices = Multipliers.zero(self.bag)
        else:
            best = self.search.at(float(exact))
            prices = Multipliers(best.machine_prices, best.cap_price)
        return rounded_up(SECONDS_PER_HOUR * self.prover.rate(prices, exact))

    def _lines(self, place: int, end: float) -> tuple[_Line, list[_Line]]:
        """Return what is proved on a piece, and what each of its schedules is measured to earn."""
        piece = self.pieces[place]
        low, high = piece.from_price, end if piece.to_price is None else piece.to_price
        bound = self._bound(high) if piece.bound_at_to is None else piece.bound_at_to
        earned = [(self._value(each, low), self._value(each, high)) for each in self.schedules[place]]
        values = [
            _Line(low, high, one, other) for one, other in earned if one is not None and other is not None
        ]
        return _Line(low, high, piece.bound_at_from, bound), values

    def _value(self, schedule: Schedule, price: float) -> float | None:
        """Return what a schedule is measured to earn at a price; `None` if it breaks a limit."""
        priced = Terms(price=price).applied_to(self.bag)
        may_wait = self.bag.site.deadline_seconds is None
        measured = examine(priced, schedule, may_wait=may_wait, tables=self._tables).measured
        return None if measured is None else measured.profit_per_hour

    def _best(self, schedules: list[Schedule], price: float) -> tuple[float | None, Schedule | None]:
        """Return the most that one of the schedules is measured to earn at a price, and which one."""
        best: tuple[float | None, Schedule | None] = (None, None)
        for schedule in schedules:
            value = self._value(schedule, price)
            if value is not None and (best[0] is None or value > best[0]):
                best = (value, schedule)
        return best


@dataclass(frozen=True, slots=True)
class _Line:
    """The line through two points; between them it says something, beyond them nothing."""

    low: float
    high: float
    at_low: float
    at_high: float

    def at(self, price: float) -> Fraction:
        """Return what it says at a price, exactly."""
        if self.high <= self.low:
            return Fraction(self.at_low)
        share = (Fraction(price) - Fraction(self.low)) / (Fraction(self.high) - Fraction(self.low))
        assert 0 <= share <= 1, "beyond its ends a line bounds nothing"
        return (1 - share) * Fraction(self.at_low) + share * Fraction(self.at_high)


def on_line(piece: PricePiece, price: float) -> float:
    """Return the bound between the two proved ends of a piece, rounded up."""
    assert piece.to_price is not None
    assert piece.bound_at_to is not None
    ends = _Line(piece.from_price, piece.to_price, piece.bound_at_from, piece.bound_at_to)
    return rounded_up(ends.at(price))
