"""The whole profit curve over the price: every piece, proved and with a schedule."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lpsched.errors import Fault, InstanceError
from lpsched.formulations.profit import revenue_of
from lpsched.instance.frozen import FrozenDict
from lpsched.instance.terms import Terms, check_ratio, checked
from lpsched.pipeline.curve import Curve
from lpsched.pipeline.feasibility import require_power, require_time
from lpsched.pipeline.objectives import Profit
from lpsched.pipeline.proving import prover_of
from lpsched.pipeline.questions import energy_cost, missing_data, price_at_ratio
from lpsched.pipeline.solvers import default_solver
from lpsched.pipeline.timing import timed
from lpsched.pipeline.trying import effort_named
from lpsched.result.price_curve import PriceCurve
from lpsched.result.provenance import provenance_of
from lpsched.search.price_curve import PriceSearch

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.lp.program import Solver
    from lpsched.search.price_curve import Piece

MOST_POINTS: Final = 100_000


def price_curve(  # noqa: PLR0913 - options are keyword-only
    bag: Bag,
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
    if stop is not None and not (start or 0.0) < stop:
        needed = f"a ratio above {start or 0.0:g}, the first"
        raise InstanceError("the terms", (Fault(("to_ratio",), repr(to_ratio), needed, "correct one"),))
    if not 0 <= points <= MOST_POINTS:
        fault = Fault(("points",), repr(points), f"a number from 0 to {MOST_POINTS}", "correct it")
        raise InstanceError("the terms", (fault,))
    asked = Terms(0.0, power_cap, deadline).applied_to(bag)  # its own price plays no part
    faults = missing_data(asked, "profit")
    if faults:
        raise InstanceError(bag.name, faults)
    timings: dict[str, float] = {}
    with timed(timings, "relax"):
        prover = prover_of(asked)
        require_power(prover)
        require_time(prover, solver)
        gamma = _price_of_ratio_one(bag, solver, needed=start is not None or stop is not None)
        search = PriceSearch(asked, solver)
        overhead = bag.prices.overhead_per_bag
        begin = -overhead if start is None or gamma is None else start * gamma - overhead
        end = None if stop is None or gamma is None else stop * gamma - overhead
        found = search.pieces(begin, end)
    curve = Curve(asked, prover, search, solver, gamma, effort_named(effort), seed)
    if profit_ratio is not None:
        price = price_at_ratio(bag, profit_ratio, solver)
    own = _own_price(Terms(price).applied_to(bag), found)
    with timed(timings, "recover"):
        curve.collect(found, own)
    with timed(timings, "prove"):
        for piece in found:
            curve.add(piece, own)
    return PriceCurve(
        unit=Profit().unit(bag),
        pieces=tuple(curve.pieces),
        points=tuple(curve.sample(points)),
        schedules=tuple(each.schedule for each in curve.pool),
        least_price_to_run=curve.least_price(),
        break_even_price=curve.break_even(),
        timings=FrozenDict(timings),
        provenance=provenance_of(bag, solver.name),
    )


def _own_price(bag: Bag, pieces: list[Piece]) -> float | None:
    """Return the price of a bag, if it has one that lies on the curve."""
    if bag.prices.per_bag is None and not bag.prices.per_task:
        return None
    price, last = revenue_of(bag), pieces[-1].to_income
    overhead = bag.prices.overhead_per_bag
    begin, end = pieces[0].from_income + overhead, math.inf if last is None else last + overhead
    return price if begin <= price <= end else None


def _price_of_ratio_one(bag: Bag, solver: Solver, *, needed: bool) -> float | None:
    """Return the price at the profit ratio 1; `None` if energy costs nothing, unless it is needed."""
    try:
        return energy_cost(bag, solver)
    except InstanceError:
        if needed:
            raise
        return None
