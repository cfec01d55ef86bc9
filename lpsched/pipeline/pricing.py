"""The whole profit curve over the price: for every piece a schedule, and proved bounds at its ends."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from lpsched.certificate.bounds import SECONDS_PER_HOUR, Multipliers, Prover, rounded_up
from lpsched.errors import Fault, InstanceError
from lpsched.formulations.profit import revenue_of
from lpsched.instance.frozen import FrozenDict
from lpsched.instance.terms import Terms, check_ratio, checked
from lpsched.pipeline.feasibility import require_power, require_time
from lpsched.pipeline.objectives import Profit
from lpsched.pipeline.questions import energy_cost, missing_data
from lpsched.pipeline.recovering import choices
from lpsched.pipeline.solvers import default_solver
from lpsched.pipeline.timing import timed
from lpsched.relaxation import Regime
from lpsched.result.price_curve import PriceCurve, PricePiece, PricePoint
from lpsched.result.provenance import provenance_of
from lpsched.schedule.bag import NOTHING, Schedule
from lpsched.search.price_curve import Piece, PriceSearch
from lpsched.verify.bag import examine

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.lp.program import Solver

BEYOND = 1.5  # how far past the last breakpoint points are drawn, where no end was asked for
MOST_POINTS = 100_000


def price_curve(  # noqa: PLR0913 - options are keyword-only
    bag: Bag,
    *,
    from_ratio: float | None = None,
    to_ratio: float | None = None,
    points: int = 0,
    power_cap: float | None = None,
    deadline: float | None = None,
    solver: Solver | None = None,
) -> PriceCurve:
    """Find the most that the bag can earn at every price, whatever its own price is.

    Parameters
    ----------
    from_ratio, to_ratio
        Profit ratios between which to look: prices as multiples of what the least energy costs. By default,
        all prices from 0 up.
    points
        How many points to sample, for drawing.
    power_cap, deadline
        Watts and seconds, in place of the site's own.
    solver
        Solves the linear programs; HiGHS if not given.

    Raises
    ------
    InstanceError
        If an option is not sound, or the bag lacks watts or the price of electricity.
    InfeasibleError
        If no schedule keeps the power cap or the deadline.
    SolverError
        If the solver fails.
    InvalidScheduleError
        If a schedule found does not pass verification, which is a bug of ours.
    """
    solver = solver if solver is not None else default_solver()
    start, stop = checked("from_ratio", from_ratio, check_ratio), checked("to_ratio", to_ratio, check_ratio)
    if start is not None and stop is not None and not start < stop:
        fault = Fault(
            ("to_ratio",), repr(to_ratio), f"a ratio above from_ratio ({from_ratio!r})", "correct one"
        )
        raise InstanceError("the terms", (fault,))
    if not 0 <= points <= MOST_POINTS:
        fault = Fault(("points",), repr(points), f"a number from 0 to {MOST_POINTS}", "correct it")
        raise InstanceError("the terms", (fault,))
    terms = Terms(revenue_of(bag), power_cap, deadline)
    asked = terms.applied_to(bag)
    faults = missing_data(asked, "profit")
    if faults:
        raise InstanceError(bag.name, faults)
    timings: dict[str, float] = {}
    with timed(timings, "relax"):
        prover = Prover(asked)
        require_power(prover)
        require_time(prover, solver)
        gamma = _price_of_ratio_one(bag, solver, needed=start is not None or stop is not None)
        search = PriceSearch(asked, solver)
        overhead = bag.prices.overhead_per_bag
        begin = -overhead if start is None or gamma is None else start * gamma - overhead
        end = None if stop is None or gamma is None else stop * gamma - overhead
        found = search.pieces(begin, end)
    curve = _Curve(asked, prover, search, solver, gamma)
    with timed(timings, "recover"):
        pieces = [part for piece in found for part in curve.parts(piece)]
    drawn = curve.sample(pieces, points) if points else []
    return PriceCurve(
        unit=f"{bag.prices.currency}/hour",
        pieces=tuple(pieces),
        points=tuple(drawn),
        least_price_to_run=curve.least_price(),
        break_even_price=curve.break_even(pieces),
        timings=FrozenDict(timings),
        provenance=provenance_of(bag, solver.name),
    )


def _price_of_ratio_one(bag: Bag, solver: Solver, *, needed: bool) -> float | None:
    """Return the price at the profit ratio 1; `None` if energy costs nothing, unless it is needed."""
    try:
        return energy_cost(bag, solver)
    except InstanceError:
        if needed:
            raise
        return None


@dataclass(slots=True)
class _Curve:
    """Turns pieces of the relaxation into pieces of the answer."""

    bag: Bag
    prover: Prover
    search: PriceSearch
    solver: Solver
    gamma: float | None

    def parts(self, piece: Piece) -> list[PricePiece]:
        """Return the piece, cut in two where it passes from loss to profit."""
        standing = float(self.prover.standing())
        even = None
        if piece.bags_per_second > 0:
            even = (piece.cost_per_second + standing) / piece.bags_per_second
        inside = even is not None and piece.from_income < even
        if piece.relaxation is None:
            return [self._piece(piece, piece.from_income, piece.to_income, Regime.DO_NOT_RUN)]
        if not inside:
            return [self._piece(piece, piece.from_income, piece.to_income, Regime.PROFIT)]
        if piece.to_income is not None and even is not None and piece.to_income <= even:
            return [self._piece(piece, piece.from_income, piece.to_income, Regime.LOSS)]
        return [
            self._piece(piece, piece.from_income, even, Regime.LOSS),
            self._piece(piece, even or 0.0, piece.to_income, Regime.PROFIT),
        ]

    def _piece(self, piece: Piece, start: float, stop: float | None, regime: Regime) -> PricePiece:
        schedules = self._schedules(piece)
        low, high = self._price(start), None if stop is None else self._price(stop)
        return PricePiece(
            from_ratio=self._ratio(low),
            to_ratio=None if high is None else self._ratio(high),
            from_price=low,
            to_price=high,
            regime=regime,
            bound_at_from=self._bound(low),
            bound_at_to=None if high is None else self._bound(high),
            value_at_from=self._value(schedules, low),
            value_at_to=None if high is None else self._value(schedules, high),
            schedule=schedules[0] if schedules else None,
        )

    def _schedules(self, piece: Piece) -> list[Schedule]:
        """Return the verified schedules of a piece, its own first; without a deadline, waiting is one too."""
        if piece.relaxation is None:
            return [NOTHING]
        found = choices(self.bag, Profit(), piece.relaxation, self.solver)
        return [] if isinstance(found, str) else [each.schedule for each in found]

    def _price(self, income: float) -> float:
        return max(0.0, income + self.bag.prices.overhead_per_bag)

    def _ratio(self, price: float) -> float | None:
        return None if self.gamma is None else price / self.gamma

    def _bound(self, price: float) -> float:
        """Return what is proved at a price, by the prices of the relaxation there."""
        exact = Fraction(price) - Fraction(self.bag.prices.overhead_per_bag)
        if self.bag.site.deadline_seconds is None and exact <= self.prover.least_running_cost():
            prices = Multipliers((0.0,) * len(self.bag.machine_types))
        else:
            best = self.search.at(float(exact))
            prices = Multipliers(best.machine_prices, best.cap_price)
        return rounded_up(SECONDS_PER_HOUR * self.prover.rate(prices, exact))

    def _value(self, schedules: list[Schedule], price: float) -> float | None:
        """Return the most that one of the schedules earns at a price, measured."""
        priced = Terms(price=price).applied_to(self.bag)
        may_wait = self.bag.site.deadline_seconds is None
        measured = [examine(priced, schedule, may_wait=may_wait).measured for schedule in schedules]
        values = [
            each.profit_per_hour for each in measured if each is not None and each.profit_per_hour is not None
        ]
        return max(values, default=None)

    def sample(self, pieces: list[PricePiece], count: int) -> list[PricePoint]:
        """Return evenly spaced points; the bound on the line between two proved ones holds, being convex."""
        last = pieces[-1]
        end = last.to_price if last.to_price is not None else BEYOND * max(last.from_price, self.gamma or 0.0)
        begin = pieces[0].from_price
        drawn, place = [], 0
        for k in range(count):
            price = begin + (end - begin) * k / max(1, count - 1)
            while place + 1 < len(pieces) and price >= pieces[place + 1].from_price:
                place += 1
            piece = pieces[place]
            schedules = [piece.schedule] if piece.schedule is not None else []
            if self.bag.site.deadline_seconds is None:
                schedules.append(NOTHING)
            bound = _on_line(piece, price) if piece.to_price is not None else self._bound(price)
            drawn.append(PricePoint(self._ratio(price), price, bound, self._value(schedules, price)))
        return drawn

    def least_price(self) -> float | None:
        """Return the price up to which waiting is best."""
        if self.bag.site.deadline_seconds is not None:
            return None
        return max(0.0, float(self.prover.least_running_cost() + Fraction(self.bag.prices.overhead_per_bag)))

    def break_even(self, pieces: list[PricePiece]) -> float | None:
        """Return the price from which on running pays, if it lies between the first and the last."""
        for before, after in itertools.pairwise(pieces):
            if before.regime is not Regime.PROFIT and after.regime is Regime.PROFIT:
                return after.from_price
        return None


def _on_line(piece: PricePiece, price: float) -> float:
    """Return the bound between the two proved ends of a piece, rounded up."""
    assert piece.to_price is not None
    assert piece.bound_at_to is not None
    low, high = Fraction(piece.from_price), Fraction(piece.to_price)
    if high <= low:
        return piece.bound_at_from
    share = (Fraction(price) - low) / (high - low)
    return rounded_up((1 - share) * Fraction(piece.bound_at_from) + share * Fraction(piece.bound_at_to))
