"""The answer about a bag in one sentence: what is proved, and what a schedule reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.display import ROUNDING, gap_text, lower_text, number
from lpsched.result.front_comparison import FrontComparison

if TYPE_CHECKING:
    from lpsched.result.front import FrontResult, Point
    from lpsched.result.overview import Overview
    from lpsched.result.price_curve import PriceCurve
    from lpsched.result.solve import Result

DO_NOT_RUN: Final = "do-not-run"
LINEAR: Final = "The linear program, which may split tasks,"


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
    first, last = (_split(front.vertices[place]) for place in (0, -1))
    least = front.least_text()
    proved = f"{least[:1].upper()}{least[1:]}, proved. " if least else ""
    if len(front.vertices) == 1:
        (point,) = front.measured
        corner = f"{LINEAR} has one corner, {first}, which whole tasks may not reach."
        if point is None:
            return f"{proved}{corner}"
        both = f"{number(point.energy_joules)} joules and {number(point.makespan_seconds)} seconds"
        if _is_best(front, point):
            return (
                f"One schedule is best in both: {both}, verified; no schedule takes less of either, proved."
            )
        return f"{proved}The schedule here takes {both}, verified. {corner}"
    near = sum(point is not None for point in front.measured)
    schedules = "each corner" if near == len(front.vertices) else f"{near:,} of the corners"
    return (
        f"{proved}{LINEAR} has a front from {first} to {last}, with {corner_count(front)}: no schedule lies "
        f"below it, proved, and whole tasks may not reach it. There is a verified schedule near {schedules}."
    )


def corner_count(front: FrontResult) -> str:
    """Return how many corners a front has."""
    count = len(front.vertices)
    return f"{count:,} corner{'s' if count > 1 else ''}"


def _split(vertex: Point) -> str:
    return f"{lower_text(vertex.energy_joules)} joules in {lower_text(vertex.makespan_seconds)} seconds"


def _is_best(front: FrontResult, point: Point) -> bool:
    """Tell whether a schedule takes no more than what is proved of each criterion alone."""
    joules, seconds = front.least_joules, front.least_seconds
    if joules is None or seconds is None:
        return False
    some = 1.0 + ROUNDING
    return point.energy_joules <= some * joules and point.makespan_seconds <= some * seconds


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
