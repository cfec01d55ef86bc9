"""The price curve: which price makes the bag pay, and how it should then be run."""

from __future__ import annotations

import heapq
import itertools
import math
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from lpsched.bag.certificate.bounds import Multipliers, Prover
from lpsched.bag.cost import cost_model, exact_cost_model, has_price
from lpsched.bag.model import Bag
from lpsched.bag.pricing.result import PriceCurve, PricePiece, PricePoint
from lpsched.bag.problem import (
    PROFIT,
    Question,
    ask,
    energy_cost,
    missing_data,
    prover_of,
    require_power,
    require_time,
    with_price,
)
from lpsched.bag.recovery.stages import Recovered, choices
from lpsched.bag.recovery.tighten import balance
from lpsched.bag.relaxation import Regime
from lpsched.bag.result import Effort
from lpsched.bag.schedule import NOTHING, Schedule
from lpsched.bag.search.curves import Piece, PriceSearch
from lpsched.bag.search.makespan_intervals import PackingProver, scoring_of
from lpsched.bag.solve import AUTO, DEFAULT_GAP, WORTHWHILE, effort_named, find
from lpsched.bag.terms import Terms, check_ratio, checked
from lpsched.bag.verify import Measurement, Tables, examine
from lpsched.cancellation import Watch, timed
from lpsched.errors import Fault, InfeasibleError, InstanceError, NotFoundError
from lpsched.lp.solvers import default_solver
from lpsched.model.fields import FrozenDict
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.model.provenance import provenance_of
from lpsched.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from pathlib import Path

    from lpsched.lp.program import Solver


# From pieces of the relaxation to pieces of the answer: bounds proved and values measured at both ends.
#
# A schedule that takes t and costs a earns (p - a) / t less what a second costs in any case, at every price
# p. So all schedules of a curve are one pool, and each price has the best of them: those of the pieces, with
# even loads, and those of searches at a few prices (`find` in `bag/solve.py`), the bag's own price first. What
# such a search proves of the makespans of an interval, cost >= A - t B, holds at every price as well:
#
#     rate  <=  B + max over both ends t of (N - A) / t  -  K,        N = p - overhead.
#
# The least of these and of the relaxation's own bound is the bound at a price. The most that any schedule can
# earn is convex in the price, so the line between two proved bounds is one, too. Where a search has made the
# bound at the bag's own price better, the piece is cut there: the curve then says there what `solve` says.
#
# No schedule earns less at a higher price. So where a bound is not above 0, no schedule earns at that price
# nor below it, and the highest such price, by the relaxation or by a search, cuts the curve into loss and
# profit:
#
#     rate - K  <=  0   where   N  <=  A + t (K - B)   for both ends t of all intervals.
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
    _even: float = math.inf  # the income up to which no schedule earns, in doubles
    _no_profit_below: float | None = None  # that as a price, proved
    _tables: Tables = field(init=False)
    _proved: tuple[float, float] = (math.nan, math.nan)  # the last price, and the bound there

    def __post_init__(self) -> None:
        """Read the tables once for all schedules."""
        self._tables = Tables(self.bag)

    def collect(self, pieces: list[Piece], own_price: float | None) -> None:
        """Fill the pool, search at some prices and find where profit begins, before pieces are added."""
        if self.bag.site.deadline_seconds is None:
            self._take(Recovered(NOTHING, examine(self.bag, NOTHING, may_wait=True).measured or NO_MEASURE), 0.0)
        step = max(1, len(pieces) // MOST_BALANCED)
        for place, piece in enumerate(pieces):
            self._collect(piece, balanced=self.effort is not Effort.FAST and place % step == 0)
        if self.effort in {Effort.AUTO, Effort.TIGHT}:  # at the own price, and where the gap is largest
            if own_price is not None:
                self._search(own_price, None, own=True)
            starts = [self._price(piece.from_income) for piece in pieces if piece.relaxation is not None]
            for price in sorted(starts, key=lambda price: (-self._gap(price), price))[:ANCHORS]:
                if self._gap(price) > WORTHWHILE:
                    self._search(price, ANCHOR_WORK if self.effort is Effort.AUTO else AUTO)
        self._find_even(pieces)

    def add(self, piece: Piece, own_price: float | None = None) -> None:
        """Add a piece, cut where profit is not ruled out any more, and at the own price if it bends there."""
        start, stop, even = piece.from_income, piece.to_income, self._even
        if piece.relaxation is None:
            self._add(start, stop, Regime.DO_NOT_RUN)
            return
        places, end = [start], math.inf if stop is None else stop
        if start < even < end and not any(math.isclose(even, each, rel_tol=ROUNDING) for each in (start, end)):
            places.append(even)
        own = self._bend(start, end, own_price)
        if own is not None and not math.isclose(own, even, rel_tol=ROUNDING):
            places.append(own)
        places.sort()
        for low, high in zip(places, [*places[1:], stop], strict=True):
            loses = low < even and not math.isclose(low, even, rel_tol=ROUNDING)
            self._add(low, high, Regime.LOSS if loses else Regime.PROFIT)
        self._last = self._price(max(place for place in places if place != own))  # that is no breakpoint

    def _bend(self, start: float, end: float, own_price: float | None) -> float | None:
        """Return the income at the own price, if it is inside and a search has bettered the bound there."""
        if own_price is None or own_price not in self._own:
            return None
        own, plain = cost_model(self.bag).income_at(own_price), self._plainly_proved(own_price)
        better = self._own[own_price][0] < plain - BETTER * abs(plain)
        return own if better and start < own < end else None

    def _find_even(self, pieces: list[Piece]) -> None:
        """Find up to which income no schedule earns: by the relaxation, by what searches have proved."""
        standing = self.prover.standing()
        evens = [
            (each.cost_per_second + float(standing)) / each.bags_per_second
            for each in pieces
            if each.relaxation is not None
        ]
        if not evens:
            return
        costs = exact_cost_model(self.bag)
        proofs = [even for each in self.searched if (even := each.break_even(standing)) is not None]
        proofs += [costs.income_at(Fraction(price)) for price, own in self._own.items() if own[0] <= 0]
        self._even = max([min(evens), *(rounded_down(each) for each in proofs)])
        proofs.append(self.prover.break_even(self.search.at(min(evens)).multipliers))
        self._no_profit_below = max(0.0, rounded_down(costs.price_at(max(proofs))))

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

    def break_even(self) -> float | None:
        """Return the price below which no schedule earns, proved, if it is among those asked for."""
        regimes = [piece.regime for piece in self.pieces]
        changes = Regime.PROFIT in regimes and regimes[0] is not Regime.PROFIT
        return self._no_profit_below if changes else None

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
        found = choices(self.bag, PROFIT, piece.relaxation, self.solver)
        own = [] if isinstance(found, str) else [each for each in found if each.schedule != NOTHING]
        for each in own:
            self._take(each, 0.0)
        if balanced and own:
            price = self._price(piece.from_income)
            question = self._question(price)
            first = examine(question.bag, own[0].schedule, tables=self._tables).measured
            if first is not None:
                even = balance(question, Recovered(own[0].schedule, first), self._bound(price), DEFAULT_GAP, Watch())
                self._take(even, price)

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
                question, self.solver, gap=DEFAULT_GAP, watch=Watch(), effort=self.effort, seed=self.seed, work=work
            )
        except (InfeasibleError, NotFoundError):
            return
        self._take(best.found, price)
        if own:  # and nothing better from elsewhere: so the curve says what `solve` says
            self._own[price] = (best.bound, best.found.measured.profit_per_hour, best.found.schedule)
        if best.search is not None:
            prover, leaves = scoring_of(question).prover, best.search.all_leaves()
            self.searched.append(_Searched(prover, [(leaf.start, leaf.end, *leaf.proof.line) for leaf in leaves]))
            self._proved = (math.nan, math.nan)

    def _question(self, price: float) -> Question:
        return ask(self.bag, Terms("profit", price), self.solver)

    def _gap(self, price: float) -> float:
        """Return the relative gap at a price; infinite without a schedule."""
        value, bound = self._best(price)[0], self._bound(price)
        return math.inf if value is None or not bound else abs(bound - value) / abs(bound)

    def _price(self, income: float) -> float:
        return max(0.0, cost_model(self.bag).price_at(income))

    def _ratio(self, price: float) -> float | None:
        return None if self.gamma is None else price / self.gamma

    def _bound(self, price: float) -> float:
        """Return what is proved at a price; a piece ends where the next begins."""
        if price in self._own:
            return self._own[price][0]
        if price != self._proved[0]:
            exact, standing = exact_cost_model(self.bag).income_at(Fraction(price)), self.prover.standing()
            searched = (rounded_up(SECONDS_PER_HOUR * (each.rate(exact) - standing)) for each in self.searched)
            self._proved = (price, min([self._plainly_proved(price), *searched]))
        return self._proved[1]

    def _plainly_proved(self, price: float) -> float:
        """Prove it by the prices of the relaxation there."""
        exact = exact_cost_model(self.bag).income_at(Fraction(price))
        if self.bag.site.deadline_seconds is None and exact <= self.prover.least_running_cost():
            prices = Multipliers.zero(self.bag)
        else:
            prices = self.search.at(float(exact)).multipliers
        return rounded_up(SECONDS_PER_HOUR * self.prover.rate(prices, exact))

    def _lines(self, place: int, end: float) -> tuple[_Line, list[_Line]]:
        """Return what is proved on a piece, and what its best schedules are measured to earn."""
        piece = self.pieces[place]
        low, high = piece.from_price, end if piece.to_price is None else piece.to_price
        bound = self._bound(high) if piece.bound_at_to is None else piece.bound_at_to
        near = {id(each): each for share in SHARES for each in self._near(low + share * (high - low))}
        schedules = [each.schedule for each in near.values()]
        earned = [(self._value(each, low), self._value(each, high)) for each in schedules]
        values = [_Line(low, high, one, other) for one, other in earned if one is not None and other is not None]
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

    def break_even(self, standing: Fraction) -> Fraction | None:
        """Return the income up to which the rate is not above what a second costs; `None` if it always is."""
        if any(math.isinf(end) and b > standing for _, end, _, b in self.lines):
            return None
        return min(
            a + Fraction(t) * (standing - b)
            for start, end, a, b in self.lines
            for t in (start, end)
            if not math.isinf(t)
        )


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


def least_price(bag: Bag, prover: Prover) -> float | None:
    """Return the price up to which waiting is best; `None` if a deadline forces the work."""
    if bag.site.deadline_seconds is not None:
        return None
    return max(0.0, float(exact_cost_model(bag).price_at(prover.least_running_cost())))


def price_of_ratio_one(bag: Bag, solver: Solver, *, needed: bool = False) -> float | None:
    """Return the price at the profit ratio 1; `None` if energy costs nothing, unless it is needed."""
    try:
        return energy_cost(bag, solver)
    except InstanceError:
        if needed:
            raise
        return None


def feasible_prover(bag: Bag, solver: Solver) -> Prover:
    """Return the prover of a bag of which it is not proved that no schedule keeps the power cap and the deadline."""
    prover = prover_of(bag)
    require_power(prover)
    require_time(prover, solver)
    return prover


def on_line(piece: PricePiece, price: float) -> float:
    """Return the bound between the two proved ends of a piece, rounded up."""
    assert piece.to_price is not None
    assert piece.bound_at_to is not None
    ends = _Line(piece.from_price, piece.to_price, piece.bound_at_from, piece.bound_at_to)
    return rounded_up(ends.at(price))


# The whole profit curve over the price: every piece, proved and with a schedule.
MOST_POINTS: Final = 100_000


def price_curve(  # noqa: PLR0913 - options are keyword-only
    bag: Bag | Path | str,
    *,
    from_ratio: float | None = None,
    to_ratio: float | None = None,
    points: int = 0,
    price: float | None = None,
    profit_ratio: float | None = None,
    power_cap: float | None = None,
    deadline: float | None = None,
    effort: str = "auto",
    seed: int = 0,
    solver: Solver | None = None,
) -> PriceCurve:
    """Find the most that the bag can earn at every price, whatever its own price is.

    Parameters
    ----------
    bag
        A bag, or the path of its file.
    from_ratio, to_ratio
        Profit ratios between which to look: prices as multiples of what the least energy costs. By default,
        all prices from 0 up.
    points
        How many points to sample, for drawing.
    price, profit_ratio
        Where to search, in place of the bag's own price.
    power_cap, deadline
        Watts and seconds, in place of the site's own.
    effort, seed
        As in `solve`. The search of `auto` and `tight` is made at the bag's own price, where it has one, and
        briefly at up to two others; what it finds and proves is used at all prices.
    solver
        Solves the linear programs; HiGHS if not given.

    Raises
    ------
    InstanceError, InfeasibleError, SolverError, InvalidScheduleError
        As `solve` does; also if the bag lacks watts or the price of electricity.
    """
    bag = Bag.given(bag)
    solver = solver if solver is not None else default_solver()
    start, stop = checked("from_ratio", from_ratio, check_ratio), checked("to_ratio", to_ratio, check_ratio)
    if stop is not None and not (start or 0.0) < stop:
        needed = f"a ratio above {start or 0.0:g}, the first"
        raise InstanceError("the terms", (Fault(("to_ratio",), repr(to_ratio), needed, "correct one"),))
    if not 0 <= points <= MOST_POINTS:
        fault = Fault(("points",), repr(points), f"a number from 0 to {MOST_POINTS}", "correct it")
        raise InstanceError("the terms", (fault,))
    terms = Terms(None, price, profit_ratio, power_cap, deadline)
    asked = replace(terms, price=0.0, profit_ratio=None).applied_to(bag)  # its own price plays no part
    faults = missing_data(asked, "profit")
    if faults:
        raise InstanceError(bag.name, faults)
    timings: dict[str, float] = {}
    with timed(timings, "relax"):
        prover = feasible_prover(asked, solver)
        gamma = price_of_ratio_one(bag, solver, needed=start is not None or stop is not None)
        search = PriceSearch(asked, solver)
        income_at = cost_model(bag).income_at
        begin = income_at(0.0 if start is None or gamma is None else start * gamma)
        end = None if stop is None or gamma is None else income_at(stop * gamma)
        found = search.pieces(begin, end)
    curve = Curve(asked, prover, search, solver, gamma, effort_named(effort), seed)
    own, priced = None, with_price(bag, terms, solver).applied_to(bag)
    if has_price(priced):  # that lies on the curve
        costs, last = cost_model(priced), found[-1].to_income
        limit = math.inf if last is None else costs.price_at(last)
        own = costs.revenue if costs.price_at(found[0].from_income) <= costs.revenue <= limit else None
    with timed(timings, "recover"):
        curve.collect(found, own)
    with timed(timings, "prove"):
        for piece in found:
            curve.add(piece, own)
    return PriceCurve(
        unit=PROFIT.unit(bag),
        pieces=tuple(curve.pieces),
        points=tuple(curve.sample(points)),
        schedules=tuple(each.schedule for each in curve.pool),
        least_price_to_run=least_price(asked, prover),
        break_even_price=curve.break_even(),
        timings=FrozenDict(timings),
        provenance=provenance_of(bag, solver.name),
    )
