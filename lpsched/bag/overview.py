"""All results about one bag that a report shows: its solve, its front, its price curve with the schedules along it.

Front and curve are computed unless they are given; one that the bag cannot have, or that would take too long, becomes a
sentence.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Final, TypeVar

from lpsched.bag.breakdown import breakdown
from lpsched.bag.compare.result import FrontComparison, Overview
from lpsched.bag.cost import cost_model, has_price
from lpsched.bag.exact_front import front as front_of
from lpsched.bag.model import Bag, Terms
from lpsched.bag.pricing.marginals import marginal_values
from lpsched.bag.pricing.price_curve import BEYOND, Earning, on_line, price_curve
from lpsched.bag.pricing.result import PriceCurve, PriceCurveSegment, PricePoint, ScheduleSegment, Sensitivity
from lpsched.bag.problem import PROFIT, build_problem, prove, with_price
from lpsched.bag.relaxation import Regime, Relaxation, scaling_of
from lpsched.bag.result import FrontResult, MarginalValues, Result
from lpsched.bag.risk import bag_risk
from lpsched.bag.schedule import NOTHING, Schedule
from lpsched.bag.search.curves import PriceSearch
from lpsched.bag.solve import DEFAULT_GAP, WORTHWHILE, regime_of
from lpsched.bag.verify import Measurement, Tables, examine
from lpsched.errors import InstanceError, LpschedError
from lpsched.lp.solvers import default_solver
from lpsched.model.fields import FrozenDict
from lpsched.model.provenance import Status, relative_gap
from lpsched.model.risk import Risk, RiskOptions

if TYPE_CHECKING:
    from lpsched.lp.program import Solver


MOST_FRONT_PAIRS: Final = 5_000  # of task types and columns: up to some ten seconds
MOST_CURVE_PAIRS: Final = 2_000  # up to some twenty, with its schedules
AS_GIVEN: Final = Terms()
FURTHER: Final = 1.25  # how far past the current price the curve is followed
Part = TypeVar("Part")


def overview(  # noqa: PLR0913 - options are keyword-only
    bag: Bag,
    terms: Terms = AS_GIVEN,
    *,
    result: Result | None = None,
    front: FrontResult | FrontComparison | None = None,
    curve: PriceCurve | None = None,
    sensitivity: Sensitivity | None = None,
    seed: int = 0,
    solver: Solver | None = None,
) -> Overview:
    """Compute what a report shows beyond the results that are given.

    The terms are as for `solve`, without the objective. Front and curve have the effort of the result, so that all
    parts agree. The schedules along the curve are always computed.
    """
    solver = solver if solver is not None else default_solver()
    priced = with_price(bag, terms, solver).applied_to(bag)
    paid = cost_model(priced).revenue if has_price(priced) else None
    effort = "auto" if result is None else result.effort.value
    pairs = bag.seconds.rows * bag.seconds.columns
    own_front = partial(front_of, priced, effort=effort, seed=seed, solver=solver)
    own_curve = partial(price_curve, priced, effort=effort, seed=seed, solver=solver)
    fronts = front if front is not None else _part(own_front, pairs, MOST_FRONT_PAIRS)
    curves = curve if curve is not None else _part(own_curve, pairs, MOST_CURVE_PAIRS)
    breakpoints = () if isinstance(curves, str) else tuple(piece.from_price for piece in curves.pieces)
    stretches: tuple[ScheduleSegment, ...] | str
    if isinstance(curves, str):
        stretches = curves
    else:
        known = None if paid is None else _known(paid, result, sensitivity)
        find = partial(schedule_segments, priced, curves, to_price=FURTHER * (paid or 0.0), known=known, solver=solver)
        stretches = _part(find, pairs, MOST_CURVE_PAIRS)
        if not isinstance(stretches, str):
            curves = _along_stretches(curves, stretches)
            here = next((each for each in stretches if each.from_price == paid), None)
            if here is not None:
                result = _best_of_both(priced, result, here)
                if sensitivity is not None and sensitivity.price == paid:
                    sensitivity = replace(sensitivity, bound=here.bound_at_from, value=here.value_at_from)
    return Overview(
        bag=priced,
        price=paid,
        result=result,
        front=fronts,
        curve=curves,
        stretches=stretches,
        sensitivity=sensitivity,
        breakpoints=breakpoints,
    )


# One bound and one schedule at each price: the answer at the bag's own price and the curve are found separately, and
# both hold. The curve gets a breakpoint at that price, with the lower of the two bounds: the most that can be
# earned is convex in the price, so that it is below the lines to the neighbouring breakpoints, too. The answer's
# schedule is one of those along the curve, and the answer is what is then best at its price.
@dataclass(frozen=True, slots=True)
class Known:
    """What is known of one price beside the curve: a bound, infinite if there is none, and a schedule."""

    price: float
    bound: float = math.inf
    schedule: Schedule | None = None


def _known(price: float, result: Result | None, sensitivity: Sensitivity | None) -> Known:
    bounds = [] if result is None or result.regime is None else [result.bound]
    if sensitivity is not None and sensitivity.bound is not None and sensitivity.price == price:
        bounds.append(sensitivity.bound)
    return Known(price, min(bounds, default=math.inf), None if result is None else result.schedule)


def _along_stretches(curve: PriceCurve, stretches: tuple[ScheduleSegment, ...]) -> PriceCurve:
    """Return a curve whose pieces are the stretches, so that all parts of a page show the same breakpoints."""
    names = [each.name for each in fields(PriceCurveSegment) if each.name != "regime"]
    pieces = [
        PriceCurveSegment(regime=each.bound_regime, **{name: getattr(each, name) for name in names})
        for each in stretches
    ]
    last = stretches[-1]
    if curve.pieces[-1].to_price is None:
        pieces[-1] = replace(pieces[-1], to_price=None, to_ratio=None, bound_at_to=None, value_at_to=None)
    end = PricePoint(last.to_ratio, last.to_price, last.bound_at_to, last.value_at_to)
    return replace(curve, pieces=tuple(pieces), points=(end,))


def _best_of_both(bag: Bag, result: Result | None, here: ScheduleSegment) -> Result | None:
    """Return the answer with the bound and the schedule of the curve at its price."""
    if result is None or result.regime is None or here.measured is None or here.schedule is None:
        return result
    value, bound, risk = here.value_at_from, here.bound_at_from, result.risk
    assert value is not None
    gap = relative_gap(value, bound)
    if risk is not None and here.schedule != result.schedule:
        risk = _sampled_again(bag, here.schedule, here.measured, risk)
    return replace(
        result,
        value=value,
        bound=bound,
        gap=gap,
        regime=here.regime,
        bound_regime=here.bound_regime if bound < result.bound else result.bound_regime,
        status=Status.OPTIMAL if gap is not None and gap <= DEFAULT_GAP else result.status,
        tight_may_help=result.tight_may_help and (gap is None or gap > WORTHWHILE),
        measured=here.measured,
        schedule=here.schedule,
        breakdown=breakdown(bag, here.schedule),
        risk=risk,
    )


def _sampled_again(bag: Bag, schedule: Schedule, measured: Measurement, risk: Risk) -> Risk | None:
    """Return the risk of another schedule, with the same options."""
    if not schedule.groups:
        return None
    percentiles = "/".join(f"{each:g}" for each in next(iter(risk.quantities.values())).percentiles)
    text = f"samples={risk.samples},cov={risk.cov},power-cov={risk.power_cov},percentiles={percentiles}"
    return bag_risk(bag, schedule, measured, RiskOptions.read(text), risk.seed)


def _part(find: Callable[[], Part], pairs: int, most: int) -> Part | str:
    """Return a part, or a sentence on why there is none."""
    if pairs > most:
        return (
            f"It is left out here, because the bag has {pairs:,} pairs of task and machine types: with more "
            f"than {most:,} it takes long."
        )
    try:
        return find()
    except InstanceError as error:
        needed = "; ".join(issue.expected for issue in error.issues)
        return f"There is none, because the bag does not specify {needed}."
    except LpschedError as error:
        return f"There is none: {error}."


# Every schedule along the price curve, and the prices between which it is the best.
#
# The schedules are those of the curve (`bag/pricing/price_curve.py`). A schedule that takes t and costs a earns
# (p - a) / t less the fixed cost rate: a line in the price p, and so is the cost of waiting, at slope 0. The best
# value on a segment of the bound is the upper envelope of these lines; it bends where one overtakes another, and
# changes its regime where it passes 0.
#
# The relaxation is solved at two prices inside a segment, because at its ends two vertices tie. Marginal values
# of machines and tasks are lines in p where the multipliers are unique; through the two inner points they are
# extended to the ends. Where the program is degenerate they may bend inside the segment: a third price shows that,
# and those that do are left out. Everything else is measured by the verifier or proved:
#
#     value   measured at both ends of a schedule's range
#     bound   proved at both ends of a segment; being convex, it is below the line between them
#
# Where a segment has several best vertices, or two meet at a breakpoint, `solve` may find another schedule.
INSIDE: Final = (0.25, 0.75)  # prices inside a segment, as shares of it
ROUNDING: Final = 1e-9  # as a share of a segment: narrower ranges are none
MOST_COLD: Final = 1_000  # pairs; larger programs start from the one before
STRAIGHT: Final = 1e-6  # relative: what is nearer to a line lies on it
SHARES: Final = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # of a segment, where the best schedules are selected


def schedule_segments(
    bag: Bag,
    curve: PriceCurve,
    *,
    to_price: float | None = None,
    known: Known | None = None,
    solver: Solver | None = None,
) -> tuple[ScheduleSegment, ...]:
    """Return the schedules along a price curve of the bag, by rising price.

    `to_price` is the last price, if the curve has no end; by default 1.5 times its last breakpoint. At a `known` price
    there is a breakpoint.
    """
    solver = solver if solver is not None else default_solver()
    last = curve.pieces[-1]
    ends = ((last.to_price, last.to_ratio), (last.from_price, last.from_ratio))
    gamma = next((price / ratio for price, ratio in ends if price and ratio), None)  # the price at the ratio 1
    also = () if known is None or known.schedule is None else (known.schedule,)
    walk = _Walk(Terms(price=0.0).applied_to(bag), solver, gamma, (curve.schedules, also))
    pieces = [part for piece in curve.pieces for part in walk.parted(walk.ended(piece, to_price or 0.0), known)]
    return tuple(stretch for piece in pieces for stretch in walk.along(piece))


@dataclass(frozen=True, slots=True)
class _Line:
    """A schedule, and its measurements at both ends of a segment."""

    schedule: Schedule
    low: Measurement
    high: Measurement

    @property
    def at_low(self) -> float:
        return self.low.profit_per_hour or 0.0

    @property
    def at_high(self) -> float:
        return self.high.profit_per_hour or 0.0

    def at(self, share: float) -> float:
        return (1.0 - share) * self.at_low + share * self.at_high

    def meets(self, other: _Line) -> float | None:
        """Return where on the segment, as a share of it, both earn the same; `None` if only at its ends."""
        low, high = self.at_low - other.at_low, self.at_high - other.at_high
        share = low / (low - high) if low * high < 0 else 0.0
        return share if ROUNDING < share < 1.0 - ROUNDING else None


class _Walk:
    """Follows the curve of one bag."""

    def __init__(
        self, bag: Bag, solver: Solver, gamma: float | None, known: tuple[tuple[Schedule, ...], tuple[Schedule, ...]]
    ) -> None:
        self.bag, self.solver, self.gamma = bag, solver, gamma
        self.search = PriceSearch(bag, solver)
        self.tables = Tables(bag)
        self.may_wait = bag.site.deadline_seconds is None
        self.breakdown = cache(partial(breakdown, bag))
        # Schedules that keep the limits here, too: of the curve, and further ones.
        self.known, self.also = ([each for one in some if (each := self._earning(one))] for some in known)

    def _earning(self, schedule: Schedule) -> Earning | None:
        measured = examine(self._priced(0.0), schedule, may_wait=self.may_wait, tables=self.tables).measured
        return None if measured is None else Earning.of(schedule, measured, 0.0)

    def parted(self, piece: PriceCurveSegment, known: Known | None) -> list[PriceCurveSegment]:
        """Return a piece in two where it holds a price of which more is known, with the better bound there."""
        assert piece.to_price is not None
        if known is None or not piece.from_price <= known.price <= piece.to_price:
            return [piece]
        bound, ratio = min(known.bound, on_line(piece, known.price)), self._ratio(known.price)
        if piece.regime is Regime.DO_NOT_RUN:
            bound = piece.bound_at_from  # all along
        left = replace(piece, to_price=known.price, to_ratio=ratio, bound_at_to=bound)
        right = replace(piece, from_price=known.price, from_ratio=ratio, bound_at_from=bound)
        if piece.regime is Regime.PROFIT and max(left.bound_at_from, bound) <= 0:
            left = replace(left, regime=Regime.LOSS)
        return [each for each in (left, right) if each.to_price is not None and each.from_price < each.to_price]

    def ended(self, piece: PriceCurveSegment, to_price: float) -> PriceCurveSegment:
        """Return a segment with an end, and the bound proved there."""
        if piece.to_price is not None:
            return piece
        end = max(BEYOND * max(piece.from_price, self.gamma or 0.0), to_price) or 1.0
        question = build_problem(self.bag, Terms("profit", end), self.solver)
        bound = prove(question, self.solver).bound
        return replace(piece, to_price=end, to_ratio=self._ratio(end), bound_at_to=bound)

    def along(self, piece: PriceCurveSegment) -> Iterator[ScheduleSegment]:
        """Yield the schedules of a segment."""
        low, high = piece.from_price, piece.to_price
        assert high is not None, "a segment with an end"
        runs = piece.regime is not Regime.DO_NOT_RUN
        prices = [low + share * (high - low) for share in INSIDE]
        inner = [self._relaxed(price) for price in prices] if runs else []
        free = marginal_values(self.bag, None, self.solver)
        assert free is not None
        worths = self._worths(prices, inner) if runs else (free, free)
        schedules = self._schedules(low, high)
        lines = [_Line(each, self._measured(each, low), self._measured(each, high)) for each in schedules]
        if not runs:  # nothing is scarce, and only rounding moves the bound
            piece = replace(piece, bound_at_to=piece.bound_at_from)
        for start, stop, line in _envelope(lines):
            first, last = (low + share * (high - low) if share < 1.0 else high for share in (start, stop))
            if first < last:
                yield self._stretch(piece, (first, last), line, (_mixed(*worths, start), _mixed(*worths, stop)))

    def _stretch(
        self,
        piece: PriceCurveSegment,
        ends: tuple[float, float],
        line: _Line | None,
        worths: tuple[MarginalValues, MarginalValues],
    ) -> ScheduleSegment:
        start, stop = (None if line is None else self._measured(line.schedule, price) for price in ends)
        value = None if start is None else start.profit_per_hour
        value_at_to = None if stop is None else stop.profit_per_hour
        regime = None
        if line is not None and value is not None and value_at_to is not None:
            regime = regime_of(value + value_at_to, runs=bool(line.schedule.groups))
        return ScheduleSegment(
            from_ratio=self._ratio(ends[0]),
            to_ratio=self._ratio(ends[1]),
            from_price=ends[0],
            to_price=ends[1],
            regime=regime,
            bound_regime=piece.regime,
            bound_at_from=on_line(piece, ends[0]),
            bound_at_to=on_line(piece, ends[1]),
            value_at_from=value,
            value_at_to=value_at_to,
            measured=start,
            schedule=None if line is None else line.schedule,
            worth_at_from=worths[0],
            worth_at_to=worths[1],
            breakdown=None if line is None or start is None else self.breakdown(line.schedule),
        )

    def _relaxed(self, price: float) -> Relaxation:
        """Relax at a price: for small bags as `solve` does, which matters where prices tie."""
        if self.bag.seconds.rows * self.bag.seconds.columns <= MOST_COLD:
            return PROFIT.relax(self._priced(price), self.solver)
        return self.search.at(cost_model(self.bag).income_at(price))

    def _worths(self, prices: list[float], inner: list[Relaxation]) -> tuple[MarginalValues, MarginalValues]:
        """Return the marginal values at both ends, on the line through those at the two inner prices."""
        one, two = (self._worth(price, each) for price, each in zip(prices, inner, strict=True))
        if one.is_two_sided or two.is_two_sided or scaling_of(self.bag).shortest:
            middle = sum(prices) / 2.0
            one = _straight(one, self._worth(middle, self._relaxed(middle)), two)
        begin, end = INSIDE
        return _mixed(one, two, begin / (begin - end)), _mixed(one, two, (1.0 - begin) / (end - begin))

    def _worth(self, price: float, relaxation: Relaxation) -> MarginalValues:
        worth = marginal_values(self._priced(price), relaxation, self.solver)
        assert worth is not None, "the search solves its programs to the end"
        return worth

    def _schedules(self, price: float, end: float) -> list[Schedule]:
        """Return what may be best on a segment; last, waiting."""
        found: dict[Schedule, None] = {}
        for share in SHARES if self.known else ():
            at = price + share * (end - price)
            found[max(self.known, key=lambda each: each.at(at)).schedule] = None
        found |= dict.fromkeys(each.schedule for each in self.also)
        found.pop(NOTHING, None)
        return [*found, *([NOTHING] if self.may_wait else [])]

    def _measured(self, schedule: Schedule, price: float) -> Measurement:
        examined = examine(self._priced(price), schedule, may_wait=self.may_wait, tables=self.tables)
        assert examined.measured is not None, "it was verified when it was found"
        return examined.measured

    def _priced(self, price: float) -> Bag:
        return Terms(price=price).applied_to(self.bag)

    def _ratio(self, price: float) -> float | None:
        return None if self.gamma is None else price / self.gamma


def _envelope(lines: list[_Line]) -> list[tuple[float, float, _Line | None]]:
    """Return which line is highest from where to where, as shares of the segment; split also where it passes 0.

    >>> def earning(low: float, high: float) -> _Line:
    ...     return _Line(NOTHING, Measurement(None, None, low), Measurement(None, None, high))
    >>> up, flat = earning(-2.0, 2.0), earning(-1.0, -1.0)
    >>> [(start, stop, line.at_high) for start, stop, line in _envelope([up, flat])]
    [(0.0, 0.25, -1.0), (0.25, 0.5, 2.0), (0.5, 1.0, 2.0)]
    """
    if not lines:
        return [(0.0, 1.0, None)]
    zero = _Line(NOTHING, Measurement(None, None, 0.0), Measurement(None, None, 0.0))
    cuts = {one.meets(other) for one, other in itertools.combinations([*lines, zero], 2)}
    places = [0.0]
    for cut in sorted(cut for cut in cuts if cut is not None):
        if cut > places[-1] + ROUNDING:  # two ends of a schedule may earn nothing at the same price
            places.append(cut)
    places.append(1.0)
    found: list[tuple[float, float, _Line | None]] = []
    for start, stop in itertools.pairwise(places):
        middle = (start + stop) / 2.0
        best = max(lines, key=lambda line: line.at(middle))
        if found and found[-1][2] is best and best.at((found[-1][0] + start) / 2.0) * best.at(middle) > 0:
            found[-1] = (found[-1][0], stop, best)
        else:
            found.append((start, stop, best))
    return found


def _mixed(one: MarginalValues, two: MarginalValues, share: float) -> MarginalValues:
    """Return the marginal values at a share of the way from one to two, on their line; also beyond it."""

    def mix(first: float | None, second: float | None) -> float | None:
        if first is None or second is None or first == second:
            return first if first == second else None
        return (1.0 - share) * first + share * second

    return _joined(mix, one, two)


def _straight(one: MarginalValues, middle: MarginalValues, two: MarginalValues) -> MarginalValues:
    """Return the first of three, without what does not lie on one line."""
    line = _mixed(one, two, 0.5)

    def kept(first: float | None, found: float | None, wanted: float | None) -> float | None:
        if first is None or found is None or wanted is None:
            return None
        return first if abs(found - wanted) <= STRAIGHT * max(abs(found), abs(wanted), abs(first)) else None

    return _joined(kept, one, middle, line)


def _joined(join: Callable[..., float | None], first: MarginalValues, *others: MarginalValues) -> MarginalValues:
    """Return marginal values that a function computes from those of the same name."""
    machines = {
        name: join(value, *(each.machine_types[name] for each in others)) for name, value in first.machine_types.items()
    }
    tasks = {name: join(value, *(each.task_types[name] for each in others)) for name, value in first.task_types.items()}
    kilowatt = join(first.kilowatt_per_hour, *(each.kilowatt_per_hour for each in others))
    return MarginalValues(FrozenDict(machines), kilowatt, FrozenDict(tasks))
