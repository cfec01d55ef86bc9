"""The page of a solve, a front or a price curve."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from lpsched.bag.compare.result import FrontComparison
from lpsched.bag.pricing.result import PricePoint
from lpsched.bag.result import Point
from lpsched.report.figures.fronts import frame_of, front_picture, front_spots
from lpsched.report.figures.prices import price_picture, price_spots
from lpsched.report.html.bag_sections import (
    answer_section,
    corner_count,
    front_lead,
    pieces_section,
    price_lead,
    result_lead,
    risk_section,
    schedule_sections,
    sensitivity_sections,
    vertices_section,
)
from lpsched.report.html.page import Paragraph, Picture, Section, page
from lpsched.report.html.price_slider import CURVE, FRONT, point_of, price_slider
from lpsched.units import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lpsched.bag.compare.result import Overview
    from lpsched.bag.pricing.result import PriceStretch
    from lpsched.model.provenance import Provenance
    from lpsched.report.html.page import Part, Slider


# What moves on a bag's page: the curve over the price, the front, and the slider whose marks move in both.
#
# Pictures stand right above the slider, so that both are seen at once. In place of a part that the bag does not
# have stands the sentence that says why.
NEAR: Final = 1.2  # times the most of the front
ABOVE_EVEN: Final = 1.2  # times the break-even price: where a slider stands if there is no price
AT_EVERY_PRICE: Final = "At every price"
FRONT_HEADING: Final = "Energy against makespan"


def price_sections(overview: Overview) -> list[Section]:
    """Show curve, front and slider; the front on its own where nothing moves."""
    front, curve = _front(overview), _curve(overview)
    slider = _slider(overview, curve)
    if slider is None:
        return [Section(AT_EVERY_PRICE, _still(overview, curve)), Section(FRONT_HEADING, (front,))]
    return [Section(AT_EVERY_PRICE, (curve, front, slider))]


def front_sections(overview: Overview) -> list[Section]:
    """Show the front and the slider, then the curve."""
    front, curve = _front(overview), _curve(overview)
    slider = _slider(overview, curve)
    if slider is None:
        return [Section(FRONT_HEADING, (front,)), Section(AT_EVERY_PRICE, _still(overview, curve))]
    return [Section(FRONT_HEADING, (front, slider)), Section(AT_EVERY_PRICE, (curve,))]


def _curve(overview: Overview) -> Picture | Paragraph:
    """Draw the curve, until the last stretch ends where there are such."""
    if isinstance(overview.curve, str):
        return Paragraph(f"The price curve: {_lower(overview.curve)}")
    drawn, caption = overview.curve, ""
    if not isinstance(overview.stretches, str):
        last = overview.stretches[-1]
        end = PricePoint(last.to_ratio, last.to_price, last.bound_at_to, last.value_at_to)
        drawn, caption = replace(drawn, points=(end,)), "The diamond follows the slider."
    return Picture(
        price_picture(drawn),
        "The most profit at every price, and what our schedules earn.",
        caption,
        name=CURVE,
        spots=price_spots(drawn),
    )


def _still(overview: Overview, curve: Part) -> tuple[Part, ...]:
    """Return the curve and why nothing moves along it; without a curve that has been said."""
    if isinstance(overview.curve, str) or not isinstance(overview.stretches, str):
        return (curve,)
    return curve, Paragraph(f"The slider along it: {_lower(overview.stretches)}")


def _slider(overview: Overview, drawn: Picture | Paragraph) -> Slider | None:
    if isinstance(overview.stretches, str) or isinstance(drawn, Paragraph):
        return None
    frame = None if isinstance(overview.front, str) else frame_of(overview.front, _room(overview))
    return price_slider(
        overview.bag,
        overview.stretches,
        begins_at=_first_price(overview, overview.stretches),
        frame=frame,
        panels=len(drawn.figure.axes),
    )


def _front(overview: Overview) -> Part:
    """Draw energy against makespan: what no schedule passes, and the schedules near it."""
    found = overview.front
    if isinstance(found, str):
        return Paragraph(f"The front of energy and makespan: {_lower(found)}")
    chosen = _chosen(overview)
    exact = found.front if isinstance(found, FrontComparison) else found
    star = "" if chosen is None else " The star is the answer."
    moving = "" if isinstance(overview.stretches, str) else " The diamond follows the slider."
    return Picture(
        front_picture(found, chosen=chosen, also=_room(overview)),
        "The front of energy and makespan of the linear program, which may split tasks, with "
        f"{corner_count(exact)}, and verified schedules.",
        f"Below the line is no schedule: proved. Whole tasks may not reach it.{star}{moving}",
        name=FRONT,
        spots=front_spots(found, _room(overview)),
    )


def _room(overview: Overview) -> list[Point]:
    """Return the answer and the slider's schedules near the front: for these there is room."""
    if isinstance(overview.front, str):
        return []
    exact = overview.front.front if isinstance(overview.front, FrontComparison) else overview.front
    joules = NEAR * exact.vertices[-1].energy_joules
    seconds = NEAR * exact.vertices[0].makespan_seconds
    along = () if isinstance(overview.stretches, str) else overview.stretches
    points = [point for each in along if (point := point_of(each)) is not None]
    near = [each for each in points if each.energy_joules <= joules and each.makespan_seconds <= seconds]
    chosen = _chosen(overview)
    return near if chosen is None else [*near, chosen]


def _chosen(overview: Overview) -> Point | None:
    """Return energy and makespan of the answer."""
    if overview.result is None:
        return None
    measured = overview.result.measured
    joules, seconds = measured.energy_joules, measured.makespan_seconds
    return None if joules is None or seconds is None else Point(joules, seconds)


def _first_price(overview: Overview, stretches: Sequence[PriceStretch]) -> float:
    """Return where the slider stands at first: at the price there is, else where running begins to pay."""
    if overview.price is not None:
        return overview.price
    even = None if isinstance(overview.curve, str) else overview.curve.break_even_price
    return stretches[-1].to_price / 2.0 if even is None else ABOVE_EVEN * even


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def solve_page(overview: Overview) -> str:
    """Return the page of an answer."""
    result = overview.result
    assert result is not None, "the answer is what the page is about"
    sections = [answer_section(overview, result)]
    sections += [] if result.risk is None else [risk_section(result.risk)]
    sections += price_sections(overview)
    sections += schedule_sections(overview.bag, result.schedule, result)
    return _page(result_lead(overview, result), sections, result.provenance, result.timings)


def price_page(overview: Overview) -> str:
    """Return the page of a price curve."""
    curve = overview.curve
    assert not isinstance(curve, str), "the curve is what the page is about"
    sections = price_sections(overview)
    sections += [] if overview.sensitivity is None else sensitivity_sections(overview.sensitivity)
    sections.append(pieces_section(curve, overview.sensitivity))
    return _page(price_lead(curve), sections, curve.provenance, curve.timings)


def front_page(overview: Overview) -> str:
    """Return the page of a front."""
    found = overview.front
    assert not isinstance(found, str), "the front is what the page is about"
    exact = found.front if isinstance(found, FrontComparison) else found
    sections = [*front_sections(overview), vertices_section(found)]
    return _page(front_lead(found), sections, exact.provenance, exact.timings)


def _page(lead: str, sections: Sequence[Section], made: Provenance, timings: Mapping[str, float]) -> str:
    return page(made.instance_name, lead, sections, footer=footer_of(made, timings, "bag"))


def footer_of(made: Provenance, timings: Mapping[str, float], kind: str) -> str:
    """Return who made a page of what, and how long it took."""
    took = ", ".join(f"{name} {number(seconds, 3)} s" for name, seconds in timings.items())
    found = f"; {took}" if took else ""
    return f"lpsched {made.lpsched}, {made.solver}; {kind} {made.instance_hash}{found}."
