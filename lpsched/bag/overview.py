"""All answers about one bag that a page shows: its solve, its front, its price curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from lpsched.bag.compare.result import Overview
from lpsched.bag.cost import cost_model, has_price
from lpsched.bag.exact_front import front as front_of
from lpsched.bag.pricing.price_curve import price_curve
from lpsched.bag.pricing.segments import price_stretches
from lpsched.bag.problem import with_price
from lpsched.bag.terms import Terms
from lpsched.errors import InstanceError, LpschedError
from lpsched.lp.solvers import default_solver

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.bag.compare.result import FrontComparison
    from lpsched.bag.model import Bag
    from lpsched.bag.pricing.result import PriceCurve, PriceStretch, Sensitivity
    from lpsched.bag.result import FrontResult, Result
    from lpsched.lp.program import Solver


# Everything about one bag that a page shows: its answer, its front, its price curve with all schedules.
#
# The front and the curve are found unless they are given; one that the bag cannot have, or that would take
# too long, becomes a sentence.
MOST_FRONT_PAIRS: Final = 5_000  # of task types and columns: up to some ten seconds
MOST_CURVE_PAIRS: Final = 2_000  # up to some twenty, with its schedules
AS_GIVEN: Final = Terms()
BEYOND: Final = 1.25  # how far past the price asked for the curve is walked

Part = TypeVar("Part")


def overview(  # noqa: PLR0913 - options are keyword-only
    bag: Bag,
    terms: Terms = AS_GIVEN,
    *,
    result: Result | None = None,
    front: FrontResult | FrontComparison | None = None,
    curve: PriceCurve | None = None,
    sensitivity: Sensitivity | None = None,
    effort: str | None = None,
    seed: int = 0,
    solver: Solver | None = None,
) -> Overview:
    """Find what is not given yet of all that a page shows.

    Parameters
    ----------
    terms
        As for `solve`; the objective plays no part.
    result, sensitivity
        What to show as well.
    front, curve
        Found here if they are not known already; the schedules along the curve always are.
    effort, seed
        Of what is found here, as in `solve`: by default the effort of the result, so that all parts agree.
    """
    solver = solver if solver is not None else default_solver()
    asked = with_price(bag, terms, solver).applied_to(bag)
    paid = cost_model(asked).revenue if has_price(asked) else None
    tried = effort if effort is not None else "auto" if result is None else result.effort.value
    pairs = bag.seconds.rows * bag.seconds.columns

    def own_front() -> FrontResult | FrontComparison:
        return front if front is not None else front_of(asked, effort=tried, seed=seed, solver=solver)

    def own_curve() -> PriceCurve:
        return curve if curve is not None else price_curve(asked, effort=tried, seed=seed, solver=solver)

    def own_stretches() -> tuple[PriceStretch, ...]:
        assert not isinstance(curves, str), "asked only along a curve"
        return price_stretches(asked, curves, to_price=BEYOND * (paid or 0.0), solver=solver)

    fronts = _part(own_front, pairs, MOST_FRONT_PAIRS, given=front is not None)
    curves = _part(own_curve, pairs, MOST_CURVE_PAIRS, given=curve is not None)
    stretches = curves if isinstance(curves, str) else _part(own_stretches, pairs, MOST_CURVE_PAIRS, given=False)
    return Overview(
        bag=asked, price=paid, result=result, front=fronts, curve=curves, stretches=stretches, sensitivity=sensitivity
    )


def _part(find: Callable[[], Part], pairs: int, most: int, *, given: bool) -> Part | str:
    """Return a part, or the sentence that says why there is none."""
    if pairs > most and not given:
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
