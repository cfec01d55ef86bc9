"""Prices between which one schedule stays best: everything about it is a line in the price.

Finer than a piece of the bound: within one, rounding may make another schedule better. The bound is proved
at both ends and, being convex, below the line between them; marginal values of machines and tasks are lines
too (`None` where they are not).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lpsched.relaxation import Regime
    from lpsched.result.marginals import Worth
    from lpsched.schedule.bag import Schedule
    from lpsched.verify.bag import Measurement


@dataclass(frozen=True, slots=True)
class PriceStretch:
    """One schedule and the prices for which it is the best that was found; money per hour at both ends.

    Value, its regime, measurement and schedule are `None` where no schedule was found that keeps the limits;
    ratios if energy costs nothing.
    """

    from_ratio: float | None
    to_ratio: float | None
    from_price: float
    to_price: float
    regime: Regime | None  # of the value
    bound_regime: Regime
    bound_at_from: float
    bound_at_to: float
    value_at_from: float | None
    value_at_to: float | None
    measured: Measurement | None  # makespan and energy; its profit is that at the first price
    schedule: Schedule | None
    worth_at_from: Worth
    worth_at_to: Worth
