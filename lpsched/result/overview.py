"""All answers about one bag that a page shows; where there is none, a sentence that says why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.result.front import FrontResult
    from lpsched.result.front_comparison import FrontComparison
    from lpsched.result.price_curve import PriceCurve
    from lpsched.result.price_stretch import PriceStretch
    from lpsched.result.sensitivity import Sensitivity
    from lpsched.result.solve import Result


@dataclass(frozen=True, slots=True)
class Overview:
    """What is known of a bag under its terms.

    Attributes
    ----------
    bag
        Under the terms asked for: with their price, power cap and deadline.
    price
        What the bag sells for; `None` where nobody says.
    result
        The answer at that price, if one was asked for.
    front, curve, stretches
        The stretches are the schedules along the curve. A sentence in place of one says why there is none.
    sensitivity
        What the answer depends on, if that was asked for.
    """

    bag: Bag
    price: float | None
    result: Result | None
    front: FrontResult | FrontComparison | str
    curve: PriceCurve | str
    stretches: tuple[PriceStretch, ...] | str
    sensitivity: Sensitivity | None = None
