"""All answers about one bag that a page shows: its solve, its front, its price curve with the schedules along it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from lpsched.bag.compare.result import FrontComparison, Overview
from lpsched.bag.cost import cost_model, has_price
from lpsched.bag.exact_front import front as front_of
from lpsched.bag.pricing.marginals import marginal_values
from lpsched.bag.pricing.price_curve import BEYOND, Earning, on_line, price_curve
from lpsched.bag.pricing.result import PriceCurve, PricePiece, PriceStretch, Sensitivity
from lpsched.bag.problem import PROFIT, ask, prove, with_price
from lpsched.bag.recovery.stages import choices
from lpsched.bag.relaxation import Regime, Relaxation, scales_of
from lpsched.bag.result import FrontResult, Result, Worth
from lpsched.bag.schedule import NOTHING, Schedule
from lpsched.bag.search.curves import PriceSearch
from lpsched.bag.solve import regime_of
from lpsched.bag.terms import Terms
from lpsched.bag.verify import Measurement, Tables, examine
from lpsched.errors import InstanceError, LpschedError
from lpsched.lp.solvers import default_solver
from lpsched.model.fields import FrozenDict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lpsched.bag.model import Bag
    from lpsched.lp.program import Solver


# Everything about one bag that a page shows: its answer, its front, its price curve with all schedules.
#
# The front and the curve are found unless they are given; one that the bag cannot have, or that would take
# too long, becomes a sentence.
MOST_FRONT_PAIRS: Final = 5_000  # of task types and columns: up to some ten seconds
MOST_CURVE_PAIRS: Final = 2_000  # up to some twenty, with its schedules
AS_GIVEN: Final = Terms()
FURTHER: Final = 1.25  # how far past the price asked for the curve is walked
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
    """Find what is not given yet of all that a page shows; result and sensitivity are shown as well.

    The terms are as for `solve`; the objective plays no part. Front and curve are found here if they are not known
    already, with the effort of the result, so that all parts agree. The schedules along the curve always are.
    """
    solver = solver if solver is not None else default_solver()
    asked = with_price(bag, terms, solver).applied_to(bag)
    paid = cost_model(asked).revenue if has_price(asked) else None
    tried = "auto" if result is None else result.effort.value
    pairs = bag.seconds.rows * bag.seconds.columns
    own_front = partial(front_of, asked, effort=tried, seed=seed, solver=solver)
    own_curve = partial(price_curve, asked, effort=tried, seed=seed, solver=solver)
    fronts = front if front is not None else _part(own_front, pairs, MOST_FRONT_PAIRS)
    curves = curve if curve is not None else _part(own_curve, pairs, MOST_CURVE_PAIRS)
    stretches: tuple[PriceStretch, ...] | str
    if isinstance(curves, str):
        stretches = curves
    else:
        find = partial(price_stretches, asked, curves, to_price=FURTHER * (paid or 0.0), solver=solver)
        stretches = _part(find, pairs, MOST_CURVE_PAIRS)
    return Overview(
        bag=asked, price=paid, result=result, front=fronts, curve=curves, stretches=stretches, sensitivity=sensitivity
    )


def _part(find: Callable[[], Part], pairs: int, most: int) -> Part | str:
    """Return a part, or the sentence that says why there is none."""
    if pairs > most:
        return (
            f"It is left out here, because the bag has {pairs:,} pairs of task and machine types: of more "
            f"than {most:,} it takes long."
        )
    try:
        return find()
    except InstanceError as error:
        needed = "; ".join(fault.needed for fault in error.faults)
        return f"There is none, because the bag does not tell {needed}."
    except LpschedError as error:
        return f"There is none: {error}."


# Every schedule along the price curve, and the prices between which it is the best.
#
# The schedules are those that the curve has found (`bag/pricing/price_curve.py`); of a curve that knows none, those
# that come of the relaxation: on a piece that is one corner of its program, so one schedule, at every price the
# same. A schedule that takes t and costs a earns (p - a) / t less what a second costs in any case: a line in
# the price p, and so is what waiting costs, at slope 0. The best value on the piece is the upper envelope of
# these lines; it bends where one overtakes another, and changes its regime where it passes 0.
#
# The relaxation is solved at two prices inside the piece, because at its ends two corners tie. Marginal values
# of machines and tasks are lines in p where the multipliers are unique; through the two inner points they are
# drawn to the ends. Where the program is degenerate they may bend inside the piece: a third price shows that,
# and those that do are left out. Everything else is measured by the verifier or proved:
#
#     value   measured at both ends of a stretch
#     bound   proved at both ends of a piece; being convex, it is below the line between them
#
# Where a piece has several best corners, or two meet at a breakpoint, `solve` may come to another schedule.
INSIDE: Final = (0.25, 0.75)  # where a piece is looked into
ROUNDING: Final = 1e-9  # as a share of a piece: what is no wider is no stretch
MOST_COLD: Final = 1_000  # pairs; larger programs start from the one before
STRAIGHT: Final = 1e-6  # relative: what is nearer to a line lies on it
SHARES: Final = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # of a piece, where the best schedules are looked for
SAME_SHARES: Final = 1e-9  # two relaxations this near are one


def price_stretches(
    bag: Bag, curve: PriceCurve, *, to_price: float | None = None, solver: Solver | None = None
) -> tuple[PriceStretch, ...]:
    """Return the schedules along a price curve of the bag, by rising price.

    `to_price` is where to end, if the curve has no end; by default half as far again as its last breakpoint.
    """
    solver = solver if solver is not None else default_solver()
    last = curve.pieces[-1]
    ends = ((last.to_price, last.to_ratio), (last.from_price, last.from_ratio))
    gamma = next((price / ratio for price, ratio in ends if price and ratio), None)  # the price at the ratio 1
    walk = _Walk(Terms(price=0.0).applied_to(bag), solver, gamma, curve.schedules)
    return tuple(stretch for piece in curve.pieces for stretch in walk.along(walk.ended(piece, to_price or 0.0)))


@dataclass(frozen=True, slots=True)
class _Line:
    """A schedule, and what it is measured to take and earn at both ends of a piece."""

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
        """Return where on the piece, as a share of it, both earn the same; `None` if only at its ends."""
        low, high = self.at_low - other.at_low, self.at_high - other.at_high
        share = low / (low - high) if low * high < 0 else 0.0
        return share if ROUNDING < share < 1.0 - ROUNDING else None


class _Walk:
    """Goes along the curve of one bag."""

    def __init__(self, bag: Bag, solver: Solver, gamma: float | None, known: tuple[Schedule, ...] = ()) -> None:
        self.bag, self.solver, self.gamma = bag, solver, gamma
        self.search = PriceSearch(bag, solver)
        self.tables = Tables(bag)
        self.may_wait = bag.site.deadline_seconds is None
        self.known: list[Earning] = []  # schedules of the curve that keep the limits here, too
        free = self._priced(0.0)
        for schedule in known:
            measured = examine(free, schedule, may_wait=self.may_wait, tables=self.tables).measured
            if measured is not None:
                self.known.append(Earning.of(schedule, measured, 0.0))

    def ended(self, piece: PricePiece, to_price: float) -> PricePiece:
        """Return a piece that ends, with the bound proved there."""
        if piece.to_price is not None:
            return piece
        end = max(BEYOND * max(piece.from_price, self.gamma or 0.0), to_price) or 1.0
        question = ask(self.bag, Terms("profit", end), self.solver)
        bound = prove(question, self.solver).bound
        return replace(piece, to_price=end, to_ratio=self._ratio(end), bound_at_to=bound)

    def along(self, piece: PricePiece) -> Iterator[PriceStretch]:
        """Yield the stretches of a piece."""
        low, high = piece.from_price, piece.to_price
        assert high is not None, "a piece that ends"
        runs = piece.regime is not Regime.DO_NOT_RUN
        prices = [low + share * (high - low) for share in INSIDE]
        inner = [self._relaxed(price) for price in prices] if runs else []
        free = marginal_values(self.bag, None, self.solver)
        assert free is not None
        worths = self._worths(prices, inner) if runs else (free, free)
        schedules = self._schedules(low, high, inner)
        lines = [_Line(each, self._measured(each, low), self._measured(each, high)) for each in schedules]
        if not runs:  # nothing is scarce, and only rounding moves the bound
            piece = replace(piece, bound_at_to=piece.bound_at_from)
        for start, stop, line in _envelope(lines):
            first, last = (low + share * (high - low) if share < 1.0 else high for share in (start, stop))
            if first < last:
                yield self._stretch(piece, (first, last), line, (_mixed(*worths, start), _mixed(*worths, stop)))

    def _stretch(
        self, piece: PricePiece, ends: tuple[float, float], line: _Line | None, worths: tuple[Worth, Worth]
    ) -> PriceStretch:
        start, stop = (None if line is None else self._at(piece, line, price) for price in ends)
        value = None if start is None else start.profit_per_hour
        value_at_to = None if stop is None else stop.profit_per_hour
        regime = None
        if line is not None and value is not None and value_at_to is not None:
            regime = regime_of(value + value_at_to, runs=bool(line.schedule.groups))
        return PriceStretch(
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
        )

    def _relaxed(self, price: float) -> Relaxation:
        """Relax at a price: where that is cheap just as `solve` does, which matters where prices tie."""
        if self.bag.seconds.rows * self.bag.seconds.columns <= MOST_COLD:
            return PROFIT.relax(self._priced(price), self.solver)
        return self.search.at(cost_model(self.bag).income_at(price))

    def _worths(self, prices: list[float], inner: list[Relaxation]) -> tuple[Worth, Worth]:
        """Return the marginal values at both ends, on the line through those at the two inner prices."""
        one, two = (self._worth(price, each) for price, each in zip(prices, inner, strict=True))
        if one.is_two_sided or two.is_two_sided or scales_of(self.bag).shortest:
            middle = sum(prices) / 2.0
            one = _straight(one, self._worth(middle, self._relaxed(middle)), two)
        begin, end = INSIDE
        return _mixed(one, two, begin / (begin - end)), _mixed(one, two, (1.0 - begin) / (end - begin))

    def _worth(self, price: float, relaxation: Relaxation) -> Worth:
        worth = marginal_values(self._priced(price), relaxation, self.solver)
        assert worth is not None, "the search solves its programs to the end"
        return worth

    def _schedules(self, price: float, end: float, inner: list[Relaxation]) -> list[Schedule]:
        """Return what may be best on a piece: of the curve, or of its relaxation; last, waiting."""
        found: dict[Schedule, None] = {}
        for share in SHARES if self.known else ():
            at = price + share * (end - price)
            found[max(self.known, key=lambda each: each.at(at)).schedule] = None
        if not found and inner and np.allclose(inner[0].shares, inner[1].shares, rtol=0.0, atol=SAME_SHARES):
            inner = inner[:1]
        for relaxation in () if found else inner:
            recovered = choices(self._priced(price), PROFIT, relaxation, self.solver)
            if not isinstance(recovered, str):
                found |= dict.fromkeys(each.schedule for each in recovered)
        found.pop(NOTHING, None)
        return [*found, *([NOTHING] if self.may_wait else [])]

    def _at(self, piece: PricePiece, line: _Line, price: float) -> Measurement:
        """Measure the schedule of a line at a price of the piece."""
        known = {piece.from_price: line.low, piece.to_price: line.high}
        return known[price] if price in known else self._measured(line.schedule, price)

    def _measured(self, schedule: Schedule, price: float) -> Measurement:
        examined = examine(self._priced(price), schedule, may_wait=self.may_wait, tables=self.tables)
        assert examined.measured is not None, "it was verified when it was found"
        return examined.measured

    def _priced(self, price: float) -> Bag:
        return Terms(price=price).applied_to(self.bag)

    def _ratio(self, price: float) -> float | None:
        return None if self.gamma is None else price / self.gamma


def _envelope(lines: list[_Line]) -> list[tuple[float, float, _Line | None]]:
    """Return which line is highest from where to where, as shares of the piece; cut also where it passes 0.

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
        if cut > places[-1] + ROUNDING:  # cuts this near are one: where two endings of a schedule earn nothing
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


def _mixed(one: Worth, two: Worth, share: float) -> Worth:
    """Return the marginal values at a share of the way from one to two, on their line; also beyond it."""

    def mix(first: float | None, second: float | None) -> float | None:
        if first is None or second is None or first == second:
            return first if first == second else None
        return (1.0 - share) * first + share * second

    return _joined(mix, one, two)


def _straight(one: Worth, middle: Worth, two: Worth) -> Worth:
    """Return the first of three, without what does not lie on one line."""
    line = _mixed(one, two, 0.5)

    def kept(first: float | None, found: float | None, wanted: float | None) -> float | None:
        if first is None or found is None or wanted is None:
            return None
        return first if abs(found - wanted) <= STRAIGHT * max(abs(found), abs(wanted), abs(first)) else None

    return _joined(kept, one, middle, line)


def _joined(join: Callable[..., float | None], first: Worth, *others: Worth) -> Worth:
    """Return what a function makes of the same marginal value in each."""
    machines = {
        name: join(value, *(each.machine_types[name] for each in others)) for name, value in first.machine_types.items()
    }
    tasks = {name: join(value, *(each.task_types[name] for each in others)) for name, value in first.task_types.items()}
    kilowatt = join(first.kilowatt_per_hour, *(each.kilowatt_per_hour for each in others))
    return Worth(FrozenDict(machines), kilowatt, FrozenDict(tasks))
