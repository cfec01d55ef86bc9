"""Which price does a bag need? What it costs at least, proved; and what a verified schedule costs.

The best rate at an income N is f(N) = max over (x, t) of (N - kappa x) / t - K: convex, and rising where
anything runs. It is 0 where N is what the cheapest way costs, kappa x + K t, the break-even income. From the
way that is best at some income to the income at which that way breaks even is a Newton step, and after the
first all of them come down to the answer. (Dinkelbach's rule.)
"""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.certificate.bounds import Multipliers
from lpsched.certificate.fixed_point import rounded_down
from lpsched.errors import InstanceError
from lpsched.formulations import profit
from lpsched.formulations.scales import scales_of
from lpsched.instance.terms import Terms
from lpsched.pipeline.nearby import nearby
from lpsched.pipeline.objectives import Profit
from lpsched.pipeline.questions import energy_cost
from lpsched.pipeline.recovering import choices
from lpsched.result.sensitivity import PriceNeed
from lpsched.schedule.bag import NOTHING
from lpsched.search.price_curve import PriceSearch
from lpsched.verify.bag import examine

if TYPE_CHECKING:
    from lpsched.certificate.bounds import Prover
    from lpsched.instance import Bag
    from lpsched.instance.array_types import Floats
    from lpsched.lp.program import Solver
    from lpsched.relaxation import Relaxation
    from lpsched.schedule.bag import Schedule

HOUR: Final = 3600.0
MOST_STEPS: Final = 100
SAME: Final = 1e-13  # relative: a step no longer than that is none


def price_need(bag: Bag, prover: Prover, solver: Solver, *, price: float | None) -> PriceNeed:
    """Return which price the bag needs; `price` is what it has, if anything.

    Raises
    ------
    SolverError
        If the solver fails.
    InvalidScheduleError
        If a schedule found does not pass verification, which is a bug of ours.
    """
    overhead = Fraction(bag.prices.overhead_per_bag)
    cheapest = _cheapest_way(bag, solver)
    prices = Multipliers(cheapest.machine_prices, cheapest.cap_price)
    needed = max(0.0, rounded_down(overhead + prover.break_even(prices)))
    ratio = None
    with suppress(InstanceError):  # energy that costs nothing
        ratio = needed / energy_cost(bag, solver)
    waits = bag.site.deadline_seconds is None
    return PriceNeed(
        needed=needed,
        needed_ratio=ratio,
        needed_factor=needed / price if price else None,
        enough=_enough(bag, cheapest, needed, solver),
        least_to_run=max(0.0, float(prover.least_running_cost() + overhead)) if waits else None,
    )


def _cheapest_way(bag: Bag, solver: Solver) -> Relaxation:
    """Return the way that is best at the income where it breaks even."""
    search, scales = PriceSearch(bag, solver), scales_of(bag)
    money = profit.money_of(scales)
    used = np.where(np.isfinite(money.costs), money.costs, 0.0)

    def breaks_even_at(shares: Floats, seconds: float) -> float:
        return float((used * shares).sum()) + money.standing * seconds

    soonest = scales.to_least(scales.loads)
    income = breaks_even_at(soonest, scales.makespan_of(soonest))
    best = search.at(income)
    for _ in range(MOST_STEPS):
        lower = breaks_even_at(best.shares, best.makespan_seconds)
        if math.isclose(lower, income, rel_tol=SAME):
            break
        income = lower
        best = search.at(income)
    return best


def _enough(bag: Bag, way: Relaxation, needed: float, solver: Solver) -> float | None:
    """Return the least price at which a verified schedule of this way loses nothing."""
    priced = _priced(bag, needed)
    if priced is None:
        return None
    found = choices(priced, Profit(), way, solver)
    if isinstance(found, str):
        return None
    enough = []
    for each in found:
        seconds, earned = each.measured.makespan_seconds, each.measured.profit_per_hour
        if each.schedule == NOTHING:
            continue
        assert seconds is not None
        assert earned is not None
        price = max(0.0, needed - earned * seconds / HOUR)
        enough.append(nearby(price, partial(_loses_nothing_at, bag, each.schedule)))
    return min((price for price in enough if price is not None), default=None)


def _loses_nothing_at(bag: Bag, schedule: Schedule, price: float) -> bool:
    """Tell whether the verifier finds that a schedule loses nothing at a price."""
    priced = _priced(bag, price)
    measured = None if priced is None else examine(priced, schedule).measured
    return measured is not None and (measured.profit_per_hour or 0.0) >= 0


def _priced(bag: Bag, price: float) -> Bag | None:
    """Return the bag at a price; `None` if that is smaller or larger than any bag can say."""
    try:
        return Terms(price=price).applied_to(bag)
    except InstanceError:
        return None
