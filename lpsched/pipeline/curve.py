"""From pieces of the relaxation to pieces of the answer: bounds proved and values measured at both ends.

A schedule that takes t and costs a earns (p - a) / t less what a second costs in any case, at every price p.
So all schedules of a curve are one pool, and each price has the best of them: those of the pieces, with even
loads, and those of searches at a few prices (`find` in `solving.py`), the bag's own price first. What such a
search proves of the makespans of an interval, cost >= A - t B, holds at every price as well:

    rate  <=  B + max over both ends t of (N - A) / t  -  K,        N = p - overhead.

The least of these and of the relaxation's own bound is the bound at a price. The most that any schedule can
earn is convex in the price, so the line between two proved bounds is one, too. Where a search has made the
bound at the bag's own price better, the piece is cut there: the curve then says there what `solve` says.
"""

from __future__ import annotations

import heapq
import itertools
import math
from bisect import bisect_right
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from lpsched.certificate.bounds import SECONDS_PER_HOUR, Multipliers, Prover, rounded_down, rounded_up
from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.instance.terms import Terms
from lpsched.pipeline.balancing import balance
from lpsched.pipeline.objectives import Profit
from lpsched.pipeline.questions import ask
from lpsched.pipeline.recovering import Recovered, choices
from lpsched.pipeline.scoring import scoring_of
from lpsched.pipeline.solving import DEFAULT_GAP, find
from lpsched.pipeline.trying import AUTO, WORTHWHILE
from lpsched.relaxation import Regime
from lpsched.result.price_curve import PricePiece, PricePoint
from lpsched.result.solve import Effort
from lpsched.schedule.bag import NOTHING, Schedule
from lpsched.verify.bag import Measurement, Tables, examine
from lpsched.watch import Watch

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.lp.program import Solver
    from lpsched.pipeline.packing_proofs import PackingProver
    from lpsched.pipeline.questions import Question
    from lpsched.search.price_curve import Piece, PriceSearch

ROUNDING: Final = 1e-12  # relative: breakpoints this near are one
BETTER: Final = 1e-6  # relative: by so much a search must better a bound for a cut
MOST_BALANCED: Final = 20  # pieces whose schedules are balanced
ANCHORS: Final = 2  # prices at which is searched, beside the own one
ANCHOR_WORK: Final = 0.2  # seconds of counted work for each
MEASURED: Final = 2  # of the schedules that are best in doubles
SHARES: Final = (0.0, 0.5, 1.0)  # of a piece, where the best schedules are looked for
NO_MEASURE: Final = Measurement(None, None)
BEYOND: Final = 1.5  # how far past the last breakpoint points are drawn, where no end was asked for


@dataclass(slots=True)
class Curve:
    """The curve of one bag; `gamma` is the price at the profit ratio 1, if energy costs anything."""

    bag: Bag
    prover: Prover
    search: PriceSearch
    solver: Solver
    gamma: float | None
    effort: Effort = Effort.FAST
    seed: int = 0
    pieces: list[PricePiece] = field(default_factory=list)
    pool: list[Earning] = field(default_factory=list)
    searched: list[_Searched] = field(default_factory=list)
    _own: dict[float, tuple[float, float | None, Schedule]] = field(default_factory=dict)  # what `solve` says
    _last: float = 0.0  # breakpoint
    _tables: Tables = field(init=False)
    _proved: tuple[float, float] = (math.nan, math.nan)  # the last price, and the bound there

    def __post_init__(self) -> None:
        """Read the tables once for all schedules."""
        self._tables = Tables(self.bag)

    def collect(self, pieces: list[Piece], own_price: float | None) -> None:
        """Fill the pool and search at some prices, before pieces are added."""
        if self.bag.site.deadline_seconds is None:
            self._take(
                Recovered(NOTHING, examine(self.bag, NOTHING, may_wait=True).measured or NO_MEASURE), 0.0
            )
        step = max(1, len(pieces) // MOST_BALANCED)
        for place, piece in enumerate(pieces):
            self._collect(piece, balanced=self.effort is not Effort.FAST and place % step == 0)
        if self.effort not in {Effort.AUTO, Effort.TIGHT}:
            return
        if own_price is not None:
            self._search(own_price, None, own=True)
        starts = [self._price(piece.from_income) for piece in pieces if piece.relaxation is not None]
        for price in sorted(starts, key=lambda price: (-self._gap(price), price))[:ANCHORS]:
            if self._gap(price) > WORTHWHILE:
                self._search(price, ANCHOR_WORK if self.effort is Effort.AUTO else AUTO)

    def add(self, piece: Piece, own_price: float | None = None) -> None:
        """Add a piece, cut where it passes from loss to profit, and at the own price if it bends there."""
        start, stop = piece.from_income, piece.to_income
        if piece.relaxation is None:
            self._add(start, stop, Regime.DO_NOT_RUN)
            return
        even = (piece.cost_per_second + float(self.prover.standing())) / piece.bags_per_second
        if even <= start or math.isclose(even, start, rel_tol=ROUNDING):
            self._cut(start, stop, Regime.PROFIT, own_price)
        elif stop is not None and (stop <= even or math.isclose(even, stop, rel_tol=ROUNDING)):
            self._cut(start, stop, Regime.LOSS, own_price)
        else:
            self._cut(start, even, Regime.LOSS, own_price)
            self._cut(even, stop, Regime.PROFIT, own_price)

    def _cut(self, start: float, stop: float | None, regime: Regime, own_price: float | None) -> None:
        """Add a part of a piece, in two where a search has made the bound at the own price better."""
        own = None if own_price is None else own_price - self.bag.prices.overhead_per_bag
        if own is not None and own_price is not None and start < own and (stop is None or own < stop):
            known = self._own.get(own_price)
            if known is not None and known[0] < (1 - BETTER) * self._plainly_proved(own_price):
                self._add(start, own, regime)
                self._add(own, stop, regime)
                self._last = self._price(start)  # the own price is no breakpoint
                return
        self._add(start, stop, regime)

    def sample(self, count: int) -> list[PricePoint]:
        """Return evenly spaced points, read off the pieces: no program is solved, and nothing measured anew.

        A schedule earns on a line over the price, so it earns at least what the line between two measured
        values says; the bound is convex, so the line between two proved ones holds.
        """
        first, last = self.pieces[0], self.pieces[-1]
        beyond = BEYOND * (max(self._last, self.gamma or 0.0) or 1.0)  # any money, where all is free
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

    def _add(self, start: float, stop: float | None, regime: Regime) -> None:
        low, high = self._price(start), None if stop is None else self._price(stop)
        if high is not None and high <= low:  # no wider than rounding
            return
        value, schedule = self._best(low)
        self._last = low
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
                value_at_to=None if high is None else self._best(high)[0],
                schedule=schedule,
            )
        )

    def _collect(self, piece: Piece, *, balanced: bool) -> None:
        """Take the verified schedules of a piece; with even loads, if asked for."""
        if piece.relaxation is None:
            return
        found = choices(self.bag, Profit(), piece.relaxation, self.solver)
        own = [] if isinstance(found, str) else [each for each in found if each.schedule != NOTHING]
        for each in own:
            self._take(each, 0.0)
        if balanced and own:
            question = self._question(self._price(piece.from_income))
            first = examine(question.bag, own[0].schedule, tables=self._tables).measured
            if first is not None:
                bound = self._bound(self._price(piece.from_income))
                even = balance(question, Recovered(own[0].schedule, first), bound, DEFAULT_GAP, Watch())
                self._take(even, self._price(piece.from_income))

    def _take(self, found: Recovered, price: float) -> None:
        """Put a schedule that was measured at a price into the pool."""
        is_new = all(each.schedule != found.schedule for each in self.pool)
        if is_new and found.measured.profit_per_hour is not None:
            self.pool.append(Earning.of(found.schedule, found.measured, price))

    def _search(self, price: float, work: float | None, *, own: bool = False) -> None:
        """Search for a bound and a schedule at a price."""
        question = self._question(price)
        try:
            best = find(
                question,
                self.solver,
                gap=DEFAULT_GAP,
                watch=Watch(),
                effort=self.effort,
                seed=self.seed,
                work=work,
            )
        except (InfeasibleError, NotFoundError):
            return
        self._take(best.found, price)
        if own:  # and nothing better from elsewhere: so the curve says what `solve` says
            self._own[price] = (best.bound, best.found.measured.profit_per_hour, best.found.schedule)
        if best.search is not None:
            prover, leaves = scoring_of(question).prover, best.search.all_leaves()
            self.searched.append(
                _Searched(prover, [(leaf.start, leaf.end, *leaf.proof.line) for leaf in leaves])
            )
            self._proved = (math.nan, math.nan)

    def _question(self, price: float) -> Question:
        return ask(self.bag, solver=self.solver, objective="profit", price=price)

    def _gap(self, price: float) -> float:
        """Return the relative gap at a price; infinite without a schedule."""
        value, bound = self._best(price)[0], self._bound(price)
        return math.inf if value is None or not bound else abs(bound - value) / abs(bound)

    def _price(self, income: float) -> float:
        return max(0.0, income + self.bag.prices.overhead_per_bag)

    def _ratio(self, price: float) -> float | None:
        return None if self.gamma is None else price / self.gamma

    def _bound(self, price: float) -> float:
        """Return what is proved at a price; a piece ends where the next begins."""
        if price in self._own:
            return self._own[price][0]
        if price != self._proved[0]:
            self._proved = (price, self._newly_proved(price))
        return self._proved[1]

    def _newly_proved(self, price: float) -> float:
        """Prove it by the prices of the relaxation there, and by what searches have shown."""
        exact = Fraction(price) - Fraction(self.bag.prices.overhead_per_bag)
        standing = self.prover.standing()
        rates = [each.rate(exact) - standing for each in self.searched]
        return min([self._plainly_proved(price), *(rounded_up(SECONDS_PER_HOUR * rate) for rate in rates)])

    def _plainly_proved(self, price: float) -> float:
        exact = Fraction(price) - Fraction(self.bag.prices.overhead_per_bag)
        if self.bag.site.deadline_seconds is None and exact <= self.prover.least_running_cost():
            prices = Multipliers.zero(self.bag)
        else:
            best = self.search.at(float(exact))
            prices = Multipliers(best.machine_prices, best.cap_price)
        return rounded_up(SECONDS_PER_HOUR * self.prover.rate(prices, exact))

    def _lines(self, place: int, end: float) -> tuple[_Line, list[_Line]]:
        """Return what is proved on a piece, and what its best schedules are measured to earn."""
        piece = self.pieces[place]
        low, high = piece.from_price, end if piece.to_price is None else piece.to_price
        bound = self._bound(high) if piece.bound_at_to is None else piece.bound_at_to
        near = {id(each): each for share in SHARES for each in self._near(low + share * (high - low))}
        schedules = [each.schedule for each in near.values()]
        earned = [(self._value(each, low), self._value(each, high)) for each in schedules]
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

    def _near(self, price: float) -> list[Earning]:
        """Return the schedules that earn most at a price, in doubles."""
        return heapq.nlargest(MEASURED, self.pool, key=lambda each: each.at(price))

    def _best(self, price: float) -> tuple[float | None, Schedule | None]:
        """Return the most that a schedule is measured to earn at a price, and which one."""
        if price in self._own:
            return self._own[price][1:]
        best: tuple[float | None, Schedule | None] = (None, None)
        for each in self._near(price):
            value = self._value(each.schedule, price)
            if value is not None and (best[0] is None or value > best[0]):
                best = (value, each.schedule)
        return best


@dataclass(frozen=True, slots=True)
class Earning:
    """A verified schedule, and what it earns at a price of 0 and for each unit of money more; in doubles."""

    schedule: Schedule
    at_nothing: float
    slope: float

    @classmethod
    def of(cls, schedule: Schedule, measured: Measurement, price: float) -> Earning:
        """Return what a schedule that was measured at a price earns at any."""
        seconds = measured.makespan_seconds
        slope = SECONDS_PER_HOUR / seconds if seconds else 0.0
        return cls(schedule, (measured.profit_per_hour or 0.0) - slope * price, slope)

    def at(self, price: float) -> float:
        """Return what it earns at a price."""
        return self.at_nothing + self.slope * price


@dataclass(frozen=True, slots=True)
class _Searched:
    """What a search proves: A and B of intervals that cover all makespans."""

    prover: PackingProver
    lines: list[tuple[float, float, Fraction, Fraction]]

    def rate(self, income: Fraction) -> Fraction:
        """Return the money per second, before what a second costs, that no schedule exceeds."""
        scores = [self.prover.score(a, b, start, end, income) for start, end, a, b in self.lines]
        return max(score for score in scores if score is not None)


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
