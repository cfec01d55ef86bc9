"""The answer about a bag in one sentence: what is proved, and what a schedule reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.display import ROUNDING, gap_text, lower_text, number
from lpsched.result.front_comparison import FrontComparison

if TYPE_CHECKING:
    from lpsched.result.front import FrontResult
    from lpsched.result.overview import Overview
    from lpsched.result.price_curve import PriceCurve
    from lpsched.result.solve import Result

DO_NOT_RUN: Final = "do-not-run"


def result_lead(overview: Overview, result: Result) -> str:
    """Return the answer of a solve."""
    if result.regime is None:
        return _least(result)
    at = "" if overview.price is None else f" at a price of {number(overview.price)} {_currency(result)}"
    if result.regime == DO_NOT_RUN:
        return _not_run(result, at)
    takes = _takes(result)
    if result.regime == "profit":
        return (
            f"This bag can earn at most {result.bound_text()} {result.unit}{at}, proved; here is a schedule "
            f"that earns {number(result.value)}, {_apart(result)}{takes}."
        )
    why = (
        "the deadline forces the work"
        if overview.bag.site.deadline_seconds is not None
        else "running loses less than waiting"
    )
    most = (
        f"loses at least {lower_text(0.0 - result.bound)} {result.unit}"
        if result.bound < 0
        else f"can earn at most {result.bound_text()} {result.unit}"
    )
    loses = f"loses {number(0.0 - result.value)}{takes}"
    return f"This bag {most}{at}, proved; here is a schedule that {loses}: {why}."


def _least(result: Result) -> str:
    """Return the answer where less is better."""
    energy = result.measured.energy_joules
    if result.objective == "makespan":
        takes = "" if energy is None else f", with {number(energy / 3.6e6)} kWh"
        return (
            f"This bag takes at least {result.bound_text()} seconds, proved; here is a schedule that takes "
            f"{number(result.value)}, {_apart(result)}{takes}."
        )
    makespan = result.measured.makespan_seconds
    takes = "" if makespan is None else f", in {number(makespan)} seconds"
    return (
        f"This bag takes at least {result.bound_text()} joules, proved; here is a schedule that takes "
        f"{number(result.value)}, {_apart(result)}{takes}."
    )


def _not_run(result: Result, at: str) -> str:
    loss = (
        f"waiting costs {number(0.0 - result.value)} {result.unit}"
        if result.value
        else "waiting costs nothing"
    )
    if result.bound_regime == DO_NOT_RUN:
        return f"Better not run{at}: {loss}, and every schedule loses more, proved."
    return (
        f"Better not run{at}: {loss}, and our best schedule would lose more; no schedule can earn more than "
        f"{result.bound_text()} {result.unit}, proved."
    )


def _apart(result: Result) -> str:
    if result.gap is not None and result.gap <= ROUNDING:
        return "which is the best possible"
    if result.gap is None:
        return "near it"
    return f"{gap_text(result.gap)} {'below' if result.regime is not None else 'above'}"


def _takes(result: Result) -> str:
    makespan, energy = result.measured.makespan_seconds, result.measured.energy_joules
    if makespan is None:
        return ""
    joules = "" if energy is None else f" with {number(energy / 3.6e6)} kWh"
    return f", in {number(makespan)} seconds{joules}"


def _currency(result: Result) -> str:
    return result.unit.removesuffix("/hour")


def front_lead(result: FrontResult | FrontComparison) -> str:
    """Return what a front says."""
    front = result.front if isinstance(result, FrontComparison) else result
    first, last = front.vertices[0], front.vertices[-1]
    if len(front.vertices) == 1:
        return (
            f"One schedule is best in both: {lower_text(first.energy_joules)} joules and "
            f"{lower_text(first.makespan_seconds)} seconds; proved: no schedule takes less of either."
        )
    return (
        f"No schedule lies below this front, proved: from {lower_text(first.energy_joules)} joules in "
        f"{lower_text(first.makespan_seconds)} seconds to {lower_text(last.energy_joules)} joules in "
        f"{lower_text(last.makespan_seconds)} seconds, with {len(front.vertices):,} corners and a verified "
        "schedule near each."
    )


def price_lead(curve: PriceCurve) -> str:
    """Return what a price curve says."""
    currency = curve.unit.removesuffix("/hour")
    run, even = curve.least_price_to_run, curve.break_even_price
    told = []
    if even is not None:
        told.append(
            f"Below a price of {lower_text(even)} {currency} no schedule of this bag earns anything, proved"
        )
    if run is not None:
        told.append(
            f"up to {lower_text(run)} {currency} it is better not run"
            if told
            else f"Up to a price of {lower_text(run)} {currency} this bag is better not run, proved"
        )
    pieces = f"{len(curve.pieces):,} piece{'s' if len(curve.pieces) > 1 else ''}"
    if not told:
        return f"The most that this bag can earn at every price, proved, in {pieces}."
    return f"{'; '.join(told)}; the whole curve has {pieces}."
