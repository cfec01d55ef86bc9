"""The price curve: the most profit of a bag at every price, proved, with verified schedules."""

from __future__ import annotations

import heapq
import itertools
import math
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from lpsched.bag.certificate.bounds import Multipliers, Prover
from lpsched.bag.cost import cost_model, exact_cost_model, has_price
from lpsched.bag.model import Bag, Terms, check_ratio
from lpsched.bag.pricing.result import PriceCurve, PriceCurveSegment, PricePoint
from lpsched.bag.problem import (
    PROFIT,
    Problem,
    build_problem,
    energy_cost,
    missing_data,
    near_cheapest,
    prover_of,
    require_power,
    require_time,
    with_price,
)
from lpsched.bag.recovery.stages import Memory, Recovered, candidates, verified_schedules
from lpsched.bag.recovery.tighten import balance
from lpsched.bag.relaxation import Regime
from lpsched.bag.result import Effort
from lpsched.bag.schedule import NOTHING, Schedule
from lpsched.bag.search.curves import PriceSearch, PriceSegment
from lpsched.bag.search.makespan_intervals import PackingProver, scoring_of
from lpsched.bag.solve import AUTO, DEFAULT_GAP, WORTHWHILE, effort_named, find
from lpsched.bag.verify import Earnings, Measurement, examine
from lpsched.cancellation import CancelToken, timed
from lpsched.errors import InfeasibleError, InputIssue, InstanceError, NotFoundError
from lpsched.lp.solvers import default_solver
from lpsched.model.fields import FrozenDict, check_money
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.model.problems import checked
from lpsched.model.provenance import provenance_of
from lpsched.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lpsched.lp.program import Solver


# From segments of the relaxation to segments of the result: bounds proved and values measured at both ends.
#
# A schedule that takes t and costs a earns (p - a) / t less the fixed cost rate, at every price p. So all
# schedules of a curve are one pool, and each price has the best of them: those of the segments, with balanced
# loads, and those of searches at a few prices (`find` in `bag/solve.py`), the bag's own price first. What
# such a search proves of the makespans of an interval, cost >= A - t B, holds at every price as well:
#
#     rate  <=  B + max over both ends t of (N - A) / t  -  K,        N = p - overhead.
#
# The least of these and of the relaxation's own bound is the bound at a price. The most that any schedule can
# earn is convex in the price, so the line between two proved bounds is one, too. Where a search has improved the
# bound at the bag's own price, the segment is split there: the curve then has the bound of `solve`.
#
# No schedule earns less at a higher price. So where a bound is not above 0, no schedule earns at that price
# nor below it, and the highest such price, by the relaxation or by a search, separates loss from profit:
#
#     rate - K  <=  0   where   N  <=  A + t (K - B)   for both ends t of all intervals.
ROUNDING: Final = 1e-12  # relative: breakpoints this near are one
BETTER: Final = 1e-6  # relative: smaller improvements by a search do not split a segment
MOST_BALANCED: Final = 20  # segments whose schedules are balanced
ANCHORS: Final = 2  # prices to search at, besides the own one
ANCHOR_WORK: Final = 0.2  # seconds of counted work for each
MEASURED: Final = 2  # of the schedules that are best in doubles
SHARES: Final = (0.0, 0.5, 1.0)  # of a segment, where the best schedules are selected
NO_MEASURE: Final = Measurement(None, None)
BEYOND: Final = 1.5  # times the last breakpoint: the last point, where no end is specified
_Best: TypeAlias = tuple[float | None, Schedule | None]  # the most measured profit, and its schedule


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
    pieces: list[PriceCurveSegment] = field(default_factory=list)
    pool: list[Earning] = field(default_factory=list)
    searched: list[_Searched] = field(default_factory=list)
    _own: dict[float, tuple[float, float | None, Schedule]] = field(default_factory=dict)  # the result of `solve`
    _last: float = 0.0  # breakpoint
    _even: float = math.inf  # the income up to which no schedule earns, in doubles
    _no_profit_below: float | None = None  # that as a price, proved
    _least_cost: Fraction = field(init=False)  # of running the bag at all
    _asked: float = math.nan  # the last price whose bound was asked for
    _relaxed: dict[float, Multipliers] = field(default_factory=dict)  # at prices whose bounds are not proved yet
    _bounds: dict[float, float] = field(default_factory=dict)  # by prices
    _spans: list[tuple[float, float | None, Regime]] = field(default_factory=list)  # of the segments to come
    _measured: tuple[float, _Best] = (math.nan, (None, None))  # the last price, and what is best there

    def __post_init__(self) -> None:
        """Work out once what every bound needs."""
        self._least_cost = self.prover.least_running_cost()

    def collect(self, pieces: list[PriceSegment], own_price: float | None) -> None:
        """Fill the pool, search at some prices and find where profit begins, before segments are added."""
        if self.bag.site.deadline_seconds is None:
            self._take(Recovered(NOTHING, examine(self.bag, NOTHING, may_wait=True).measured or NO_MEASURE), 0.0)
        step, found = max(1, len(pieces) // MOST_BALANCED), self._recovered(pieces)
        for place, piece in enumerate(pieces):
            if piece.relaxation is not None:
                balanced = self.effort is not Effort.FAST and place % step == 0
                self._collect(next(found), self._price(piece.from_income) if balanced else None)
        if self.effort in {Effort.AUTO, Effort.TIGHT}:  # at the own price, and where the gap is largest
            if own_price is not None:
                self._search(own_price, None, own=True)
            starts = [self._price(piece.from_income) for piece in pieces if piece.relaxation is not None]
            for price in sorted(starts, key=lambda price: (-self._gap(price), price))[:ANCHORS]:
                if self._gap(price) > WORTHWHILE:
                    self._search(price, ANCHOR_WORK if self.effort is Effort.AUTO else AUTO)
        self._find_even(pieces)

    def add(self, piece: PriceSegment, own_price: float | None = None) -> None:
        """Add a segment, split where profit is no longer ruled out, and at the own price if it bends there."""
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
        """Return the income at the own price, if it is inside and a search has improved the bound there."""
        if own_price is None or own_price not in self._own:
            return None
        own, plain = cost_model(self.bag).income_at(own_price), self._plainly_proved(own_price)
        better = self._own[own_price][0] < plain - BETTER * abs(plain)
        return own if better and start < own < end else None

    def _find_even(self, pieces: list[PriceSegment]) -> None:
        """Find up to which income no schedule earns: by the relaxation, by what searches have proved."""
        standing = self.prover.fixed_rate()
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
        proofs.append(self.prover.break_even(self.search.prices_at(min(evens))))
        self._no_profit_below = max(0.0, rounded_down(costs.price_at(max(proofs))))

    def sample(self, count: int) -> list[PricePoint]:
        """Return evenly spaced points, interpolated on the segments.

        The profit of a schedule is linear in the price; the bound is convex, so the line between two bounds is one.
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
        """Return the price below which no schedule earns, proved, if it is in the range."""
        regimes = [piece.regime for piece in self.pieces]
        changes = Regime.PROFIT in regimes and regimes[0] is not Regime.PROFIT
        return self._no_profit_below if changes else None

    def _add(self, start: float, stop: float | None, regime: Regime) -> None:
        low, high = self._price(start), None if stop is None else self._price(stop)
        if high is not None and high <= low:  # no wider than rounding
            return
        self._last = low
        self._spans.append((low, high, regime))
        for price in (low,) if high is None else (low, high):
            self._ask(price)

    def finish(self) -> None:
        """Make the segments that were added: with bounds, proved together, and values."""
        self._prove()
        for low, high, regime in self._spans:
            value, schedule = self._best(low)
            self.pieces.append(
                PriceCurveSegment(
                    from_ratio=self._ratio(low),
                    to_ratio=None if high is None else self._ratio(high),
                    from_price=low,
                    to_price=high,
                    regime=regime,
                    bound_at_from=self._known_bound(low),
                    bound_at_to=None if high is None else self._known_bound(high),
                    value_at_from=value,
                    value_at_to=None if high is None else self._best(high)[0],
                    schedule=schedule,
                )
            )

    def _recovered(self, pieces: list[PriceSegment]) -> Iterator[list[Recovered]]:
        """Return verified schedules of each segment that runs something."""
        relaxations = [piece.relaxation for piece in pieces if piece.relaxation is not None]
        if self.bag.site.deadline_seconds is None:
            for one in verified_schedules(self.bag, relaxations, Memory(self.bag)):
                yield [] if isinstance(one, str) else [one]
            return
        for relaxation in relaxations:
            some = candidates(self.bag, PROFIT, relaxation, self.solver)
            yield [] if isinstance(some, str) else some

    def _collect(self, own: list[Recovered], balanced_at: float | None) -> None:
        """Add the verified schedules of a segment to the pool; also one with balanced loads, if a price is given."""
        for each in own:
            self._take(each, 0.0)
        if balanced_at is not None and own:
            question = self._question(balanced_at)
            first = examine(question.bag, own[0].schedule).measured
            if first is not None:
                bound = self._bound(balanced_at)
                even = balance(question, Recovered(own[0].schedule, first), bound, DEFAULT_GAP, CancelToken())
                self._take(even, balanced_at)

    def _take(self, found: Recovered, price: float) -> None:
        """Add a schedule that was measured at a price to the pool."""
        if found.measured.profit_per_hour is None:
            return
        earning = Earning.of(found.schedule, found.measured, price)
        if all(each.slope != earning.slope or each.schedule != earning.schedule for each in self.pool):  # quickly
            self.pool.append(earning)
            self._measured = (math.nan, (None, None))

    def _search(self, price: float, work: float | None, *, own: bool = False) -> None:
        """Search for a bound and a schedule at a price."""
        question = self._question(price)
        try:
            best = find(
                question,
                self.solver,
                gap=DEFAULT_GAP,
                cancel=CancelToken(),
                effort=self.effort,
                seed=self.seed,
                work=work,
            )
        except (InfeasibleError, NotFoundError):
            return
        self._take(best.found, price)
        if own:  # nothing better from elsewhere: the curve has the result of `solve`
            self._own[price] = (best.bound, best.found.measured.profit_per_hour, best.found.schedule)
        if best.search is not None:
            prover, leaves = scoring_of(question).prover, best.search.all_leaves()
            self.searched.append(_Searched(prover, [(leaf.start, leaf.end, *leaf.proof.line) for leaf in leaves]))
            self._asked = math.nan

    def _question(self, price: float) -> Problem:
        return build_problem(self.bag, Terms("profit", price), self.solver)

    def _gap(self, price: float) -> float:
        """Return the relative gap at a price; infinite without a schedule."""
        value, bound = self._best(price)[0], self._bound(price)
        return math.inf if value is None or not bound else abs(bound - value) / abs(bound)

    def _price(self, income: float) -> float:
        return max(0.0, cost_model(self.bag).price_at(income))

    def _ratio(self, price: float) -> float | None:
        return None if self.gamma is None else price / self.gamma

    def _bound(self, price: float) -> float:
        """Return the bound at a price."""
        self._ask(price)
        self._prove()
        return self._known_bound(price)

    def _known_bound(self, price: float) -> float:
        return self._own[price][0] if price in self._own else self._bounds[price]

    def _ask(self, price: float) -> None:
        """Solve the relaxation at a price; the bound is proved later, together with others."""
        if price != self._asked and price not in self._own:
            self._asked = price
            self._relaxed[price] = self._prices_at(price)

    def _prove(self) -> None:
        """Prove the bounds that were asked for."""
        nears: Iterable[list[list[int]] | None] = itertools.repeat(None)
        if len(self._relaxed) > 1 and self.prover.screen is None and self.bag.watts is not None:
            weights = [float(self.prover.per_joule)] * len(self._relaxed)
            nears = near_cheapest(self.bag, list(self._relaxed.values()), weights, wear=True)
        costs, standing = exact_cost_model(self.bag), self.prover.fixed_rate()
        for (price, prices), near in zip(self._relaxed.items(), nears, strict=False):
            income = costs.income_at(Fraction(price))
            rates = [
                self.prover.rate(prices, income, near=near),
                *(each.rate(income) - standing for each in self.searched),
            ]
            self._bounds[price] = rounded_up(SECONDS_PER_HOUR * min(rates))
        self._relaxed.clear()

    def _plainly_proved(self, price: float) -> float:
        """Return the bound by the multipliers of the relaxation there."""
        income = exact_cost_model(self.bag).income_at(Fraction(price))
        return rounded_up(SECONDS_PER_HOUR * self.prover.rate(self._prices_at(price), income))

    def _prices_at(self, price: float) -> Multipliers:
        """Return the multipliers of the relaxation at a price."""
        income = exact_cost_model(self.bag).income_at(Fraction(price))
        if self.bag.site.deadline_seconds is None and income <= self._least_cost:
            return Multipliers.zero(self.bag)
        return self.search.prices_at(float(income))

    def _lines(self, place: int, end: float) -> tuple[_Line, list[_Line]]:
        """Return the bound on a segment, and the profits of its best schedules."""
        piece = self.pieces[place]
        low, high = piece.from_price, end if piece.to_price is None else piece.to_price
        bound = self._bound(high) if piece.bound_at_to is None else piece.bound_at_to
        near = {id(each): each for share in SHARES for each in self._near(low + share * (high - low))}
        values = [_Line(low, high, each.measured_at(low), each.measured_at(high)) for each in near.values()]
        return _Line(low, high, piece.bound_at_from, bound), values

    def _near(self, price: float) -> list[Earning]:
        """Return the schedules of most profit at a price, in doubles."""
        return heapq.nlargest(MEASURED, self.pool, key=lambda each: each.at_nothing + each.slope * price)

    def _best(self, price: float) -> _Best:
        """Return the most measured profit at a price, and its schedule."""
        if price in self._own:
            return self._own[price][1:]
        if price != self._measured[0]:
            measured = [(each.measured_at(price), each.schedule) for each in self._near(price)]
            best = max(measured, key=lambda each: each[0], default=(None, None))  # of equally good ones the first
            self._measured = (price, best)
        return self._measured[1]


@dataclass(frozen=True, slots=True)
class Earning:
    """A verified schedule, its profit at a price of 0 and per unit of money more; in doubles, and as measured."""

    schedule: Schedule
    at_nothing: float
    slope: float
    exact: Earnings

    @classmethod
    def of(cls, schedule: Schedule, measured: Measurement, price: float) -> Earning:
        """Return the profit at any price of a schedule that was measured at one."""
        seconds = measured.makespan_seconds
        slope = SECONDS_PER_HOUR / seconds if seconds else 0.0
        assert measured.earnings is not None, "what it costs is known"
        return cls(schedule, (measured.profit_per_hour or 0.0) - slope * price, slope, measured.earnings)

    def at(self, price: float) -> float:
        """Return the profit at a price."""
        return self.at_nothing + self.slope * price

    def measured_at(self, price: float) -> float:
        """Return the profit at a price as the verifier measures it."""
        checked("price", price, check_money)
        return self.exact.at(price)


@dataclass(frozen=True, slots=True)
class _Searched:
    """The proof of a search: A and B of intervals that cover all makespans."""

    prover: PackingProver
    lines: list[tuple[float, float, Fraction, Fraction]]

    def rate(self, income: Fraction) -> Fraction:
        """Return the bound on money per second, before the fixed cost rate."""
        scores = [self.prover.score(a, b, start, end, income) for start, end, a, b in self.lines]
        return max(score for score in scores if score is not None)

    def break_even(self, standing: Fraction) -> Fraction | None:
        """Return the income up to which the rate is at most the fixed cost rate; `None` if it never is."""
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
    """The line between two points."""

    low: float
    high: float
    at_low: float
    at_high: float

    def at(self, price: float) -> Fraction:
        """Return the value at a price, exactly."""
        if self.high <= self.low:
            return Fraction(self.at_low)
        share = (Fraction(price) - Fraction(self.low)) / (Fraction(self.high) - Fraction(self.low))
        assert 0 <= share <= 1, "beyond its ends a line bounds nothing"
        return (1 - share) * Fraction(self.at_low) + share * Fraction(self.at_high)


def least_price(bag: Bag, prover: Prover) -> float | None:
    """Return the price up to which it is best not to run; `None` if a deadline forces the work."""
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
    """Return the prover of a bag that is not proved infeasible by its power cap or deadline."""
    prover = prover_of(bag)
    require_power(prover)
    require_time(prover, solver)
    return prover


def on_line(piece: PriceCurveSegment, price: float) -> float:
    """Return the bound between the two proved ends of a segment, rounded up."""
    assert piece.to_price is not None
    assert piece.bound_at_to is not None
    ends = _Line(piece.from_price, piece.to_price, piece.bound_at_from, piece.bound_at_to)
    return rounded_up(ends.at(price))


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
    """Return the most profit of a bag at every price.

    Parameters
    ----------
    bag
        A bag, or the path of its file.
    from_ratio, to_ratio
        Range of profit ratios: prices as multiples of the cost of the least energy. By default, all prices from 0 up.
    points
        Number of evenly spaced points to return, for figures.
    price, profit_ratio, power_cap, deadline, solver
        As in `solve`; the price is where to search.
    effort, seed
        As in `solve`. `auto` and `tight` search at the bag's own price, where it has one, and briefly at up to two
        others; what they find and prove is used at all prices.

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
        raise InstanceError("", (InputIssue(("to_ratio",), repr(to_ratio), needed, "correct one"),))
    if not 0 <= points <= MOST_POINTS:
        issue = InputIssue(("points",), repr(points), f"a number from 0 to {MOST_POINTS}", "correct it")
        raise InstanceError("", (issue,))
    terms = Terms(None, price, profit_ratio, power_cap, deadline)
    free = replace(terms, price=0.0, profit_ratio=None).applied_to(bag)  # for all prices
    issues = missing_data(free, "profit")
    if issues:
        raise InstanceError(bag.name, issues)
    timings: dict[str, float] = {}
    with timed(timings, "relax"):
        prover = feasible_prover(free, solver)
        gamma = price_of_ratio_one(bag, solver, needed=start is not None or stop is not None)
        search = PriceSearch(free, solver)
        income_at = cost_model(bag).income_at
        begin = income_at(0.0 if start is None or gamma is None else start * gamma)
        end = None if stop is None or gamma is None else income_at(stop * gamma)
        found = search.segments(begin, end)
    curve = Curve(free, prover, search, solver, gamma, effort_named(effort), seed)
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
        curve.finish()
    if not curve.pieces:  # in doubles the ends of the range are the same, next to an overhead of the bag
        lost, needed = f"{stop!r}, whose price is lost in the rounding of overhead_per_bag", "a range wider than that"
        raise InstanceError(bag.name, (InputIssue(("to_ratio",), lost, needed, "raise it, or lower the overhead"),))
    return PriceCurve(
        unit=PROFIT.unit(bag),
        pieces=tuple(curve.pieces),
        points=tuple(curve.sample(points)),
        schedules=tuple(each.schedule for each in curve.pool),
        least_price_to_run=least_price(free, prover),
        break_even_price=curve.break_even(),
        timings=FrozenDict(timings),
        provenance=provenance_of(bag, solver.name),
    )
