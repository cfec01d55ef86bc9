"""Trade-offs over a horizon on a page: a slider over the carbon price, the deadline or the reduction of power.

Every number of a slider says what it is: verified, of a plan that was measured; proved, of all plans; or of the linear
program (LP), which promises nothing. What holds between two points follows from what is proved at them:

- carbon price: cost + price * CO2 of a plan is a line in the price, so between two prices the line between their bounds
  is proved too, and of several verified plans the cheapest is known at every price;
- deadline: nothing; the numbers are those of the last deadline up to the slider, which is named;
- reduction: a bound for less holds for more, and a plan for more is a plan for less.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from lpsched.bag.horizon.curves import KG_PER_TONNE, best_at_prices
from lpsched.bag.horizon.result import mass_text
from lpsched.model.series import zone_named
from lpsched.report import horizon_curves as answers
from lpsched.report.figures import horizon_curves as figures
from lpsched.report.figures import style
from lpsched.report.horizon import Calendar
from lpsched.report.html.page import (
    Mark,
    PageFigure,
    Paragraph,
    Reading,
    Scale,
    Section,
    Segment,
    Slider,
    Table,
    from_terminal,
    made_by,
    page,
)
from lpsched.units import SECONDS_PER_HOUR, duration, lower_text, money_text, number, upper_text

if TYPE_CHECKING:
    from lpsched.bag.horizon.curves import DeadlineCurve, HorizonFront, OfferCurve, OfferPoint
    from lpsched.bag.horizon.result import PlanCosts
    from lpsched.model.provenance import Provenance
    from lpsched.report.html.page import Part

Commands = Sequence[tuple[str, str]]  # each with what it does

DIGITS: Final = 6  # of a cost beside its bound
LEFT: Final = 0.02  # of the carbon between both ends of a front, above the least: there the slider ends
BEYOND: Final = 1.25  # times the price at which that is reached
MOST_TABLE_ROWS: Final = 1_000
VERIFIED: Final = "Plans are verified and measured by exact sums; no code is shared with the search that found them."
PROVED: Final = "Bounds follow from multipliers, in exact arithmetic, and hold for every plan there is."
LP: Final = "Numbers of the linear program (LP), which may split tasks, promise nothing about plans."


@dataclass(frozen=True, slots=True)
class TradeOffPoint:
    """From which position on it holds, a word or a line for each label, and where it is in the figure."""

    position: float
    readings: tuple[Reading | str, ...]
    dot: tuple[tuple[float, float], tuple[float, float]] | None = None  # x and y, at both ends
    is_breakpoint: bool = True  # a button goes there


@dataclass(frozen=True, slots=True)
class TradeOff:
    """Points by rising position, each of which holds until the next one, the last one until the end or just there."""

    heading: str
    moving: str  # how to use the slider, and what it shows
    explanation: str  # what is measured, and what is proved
    scales: tuple[Scale, ...]  # the first is that of the position
    labels: tuple[str, ...]
    points: tuple[TradeOffPoint, ...]
    end: float | None = None
    figure: PageFigure | None = None  # in which a mark moves where points have dots
    begins_at: float | None = None

    def __post_init__(self) -> None:
        """Hold the points against each other and against the labels."""
        assert self.points, "a trade-off has a point"
        assert all(one.position < two.position for one, two in pairwise(self.points)), "by rising position"
        assert all(len(each.readings) == len(self.labels) for each in self.points), "a reading for each label"
        assert self.end is None or self.end > self.points[-1].position, "the last one holds until a later end"


def trade_off_section(found: TradeOff, *tables: Part) -> Section:
    """Show a trade-off: a slider with its figure, and tables."""
    slider = _slider(found)
    if slider is not None:
        return Section(found.heading, (slider, *tables))
    drawn = [] if found.figure is None else [replace(found.figure, caption="")]
    return Section(found.heading, (Paragraph(found.explanation), *drawn, *tables))


def _slider(found: TradeOff) -> Slider | None:
    """Return the slider from point to point; none of a single point without an end."""
    starts = [each.position for each in found.points]
    breakpoints = [each.position for each in found.points if each.is_breakpoint]
    end = found.end
    if end is None:
        if len(starts) == 1:
            return None
        end = starts[-1]
        starts[-1] = math.nextafter(end, -math.inf)  # a segment has a length
        breakpoints = breakpoints[:-1]  # the end of a slider is one
    name = "" if found.figure is None else found.figure.name or found.scales[0].key
    segments = []
    for point, start, stop in zip(found.points, starts, [*starts[1:], end], strict=True):
        marks = () if point.dot is None or not name else (Mark(name, *point.dot, axes=0),)
        readings = tuple(each if isinstance(each, Reading) else Reading(each, each) for each in point.readings)
        segments.append(Segment(start, stop, readings, marks=marks))
    return Slider(
        found.scales,
        f"{found.moving} {found.explanation}",
        starts[0] if found.begins_at is None else found.begins_at,
        found.labels,
        tuple(segments),
        breakpoints=tuple(breakpoints),
        figures=() if found.figure is None else (replace(found.figure, name=name),),
    )


def check_section(said: str, commands: Commands) -> Section:
    """Say how to check the answer."""
    rows = tuple((what, command) for command, what in commands)
    return Section("How to check", (Paragraph(said), *([Table(("", ""), rows)] if rows else [])))


# Cost against carbon.
MOVE_PRICE: Final = "Move the slider, or type a price of a tonne of CO2."
BETWEEN: Final = "Between two prices at which a bound is proved, the line between both bounds is proved, too."


def carbon_trade_off(front: HorizonFront) -> TradeOff:
    """Return the slider over the carbon price, along the verified plans of a front."""
    labels = ("cost (verified)", "CO2 (verified)", "cost + price x CO2 (verified)", "at least (proved)", "gap")
    moving = (
        f"{MOVE_PRICE} It ends a little above the price at which all but {100 * LEFT:g} % of the possible reduction of "
        "CO2 is reached (LP); the table has all vertices. The plan is the best of the verified ones at that price."
    )
    said = f"No plan has a smaller cost + price x CO2 than the bound: proved. {BETWEEN}"
    figure = PageFigure(
        figures.front_figure(front),
        "Cost over CO2: the proved line below which no plan lies, and verified plans.",
        "The diamond follows the slider: the verified plan that is best at that carbon price.",
        tooltips=figures.front_tooltips(front),
    )
    return _over_prices(front, front.measured(), ("Cost against carbon", moving, said), labels, figure)


def plan_carbon_trade_off(front: HorizonFront, own: PlanCosts, price: float) -> TradeOff:
    """Return the slider over the carbon price, for one plan made at a price per kg and bounds of all plans."""
    labels = (
        *("this plan: cost (verified)", "this plan: CO2 (verified)", "this plan: cost + price x CO2 (verified)"),
        *("proved bound, of any plan", "gap"),
    )
    said = (
        f"This plan was made for {number(price * KG_PER_TONNE)} {front.currency} per tonne of CO2; at other prices "
        "other plans may be better, but none has a smaller cost + price x CO2 than the proved bound, which need not be "
        f"reached. {BETWEEN}"
    )
    figure = PageFigure(
        figures.front_figure(front, own),
        "Cost over CO2: the proved line below which no plan lies, and this plan.",
        "No plan lies below the line: proved, at a few carbon prices; 'lpsched front --axes cost,carbon' proves more.",
    )
    words = ("At other carbon prices", MOVE_PRICE, said)
    found = _over_prices(front, [own], words, labels, figure, begins_at=price)
    return replace(found, points=tuple(replace(each, dot=None) for each in found.points))  # the plan does not move


def _over_prices(  # noqa: PLR0913, PLR0917 - the words of both sliders
    front: HorizonFront,
    plans: Sequence[PlanCosts],
    words: tuple[str, str, str],
    labels: tuple[str, ...],
    figure: PageFigure,
    begins_at: float | None = None,
) -> TradeOff:
    money, best = front.currency, best_at_prices(plans)
    end = max(_last_price(front), BEYOND * (begins_at or 0.0))
    starts = {0.0, *(price for price, _ in best), *(price for price, _ in front.price_bounds())}
    starts = {each for each in starts if each < end} or {0.0}
    unit = style.fitting(figures.MASSES, figures.most_grams(front, plans))
    points = []
    for low, high in pairwise([*sorted(starts), end]) if end else [(0.0, 0.0)]:
        plan = next((each for price, each in reversed(best) if price <= low), None)
        bounds = front.price_bound(low), front.price_bound(high)
        proved = Reading(*bounds, money, DIGITS, upper=False)
        if plan is None:
            points.append(TradeOffPoint(low * KG_PER_TONNE, ("-", "-", "none found", proved, "-")))
            continue
        grams = plan.carbon_grams or 0.0
        values = tuple(plan.cost + price * grams / KG_PER_TONNE for price in (low, high))
        apart = (max(0.0, values[0] - bounds[0]), max(0.0, values[1] - bounds[1]))
        readings = (
            f"{number(plan.cost, DIGITS)} {money}",
            mass_text(grams, finer=2),
            Reading(values[0], values[1], money, DIGITS, upper=True),
            proved,
            Reading(*apart, over=(abs(bounds[0]), abs(bounds[1]))),
        )
        dot = (grams / unit.size,) * 2, (plan.cost,) * 2
        points.append(TradeOffPoint(low * KG_PER_TONNE, readings, dot))
    return TradeOff(
        *words,
        (Scale(f"carbon price, {money}/t"),),
        labels,
        tuple(points),
        end * KG_PER_TONNE or None,
        figure,
        None if begins_at is None or not end else begins_at * KG_PER_TONNE,
    )


def _last_price(front: HorizonFront) -> float:
    """Return a price of a kg beyond which little CO2 is left to save; 0 where one vertex is best at all prices."""
    most, least = front.vertices[0].carbon_grams, front.vertices[-1].carbon_grams
    near = next(each for each in front.vertices if each.carbon_grams - least <= LEFT * (most - least))
    return BEYOND * near.best_from_per_kg


def carbon_front_page(front: HorizonFront, commands: Commands = ()) -> str:
    """Return the page of the front between cost and carbon."""
    shown = trade_off_section(carbon_trade_off(front))
    vertices = Section("All vertices", tuple(from_terminal(answers.front_tables(front, MOST_TABLE_ROWS)[1:])))
    said = f"{VERIFIED} {PROVED} {LP}"
    return _page(front.headline(), (shown, vertices, check_section(said, commands)), front.provenance)


# Cost against the deadline.
DEADLINE: Final = (
    "Move the slider, or type a deadline. The numbers are those of the last deadline in the table until then."
)


def deadline_trade_off(curve: DeadlineCurve, *, own: bool = False) -> TradeOff:
    """Return the slider over the deadline; `own`: bounds beside a plan, which alone is verified."""
    unit, money = style.fitting(style.SECONDS, curve.points[-1].deadline_seconds), curve.currency
    labels = ["deadline", "proved bound: any plan costs at least" if own else "costs at least (proved)"]
    labels += [] if own else ["a verified plan costs", "linear program (LP)"]
    points, earlier = [], ""
    for each in curve.points:
        end = duration(each.deadline_seconds)
        texts = [end, f"{lower_text(each.bound, DIGITS)} {money}"]
        if each.value is not None:
            made = f"{upper_text(each.value, DIGITS)} {money}"
            earlier = f"{made}, by {end}"
        else:  # where machines may be off, a plan that ends earlier costs the same
            made = earlier if curve.never_rises and earlier else "none was looked for or found"
        texts += [] if own else [made, f"{number(each.lp_cost, DIGITS)} {money}"]
        x, y = each.deadline_seconds / unit.size, each.bound if own or each.value is None else each.value
        points.append(TradeOffPoint(x, tuple(texts), ((x, x), (y, y))))
    bound = "No plan that ends by a deadline costs less than its proved bound, which need not be reached."
    said = bound + (" For a plan at another deadline, solve with that --horizon." if own else "")
    falls = " Machines that must stay on are paid for until the deadline." if not curve.never_rises else ""
    figure = PageFigure(
        figures.deadline_figure(curve),
        "The least cost over the deadline: proved bounds, and verified plans at some deadlines.",
        "The diamond follows the slider: "
        + ("the proved bound. The ring is this plan." if own else "a verified plan, else the proved bound."),
        tooltips=figures.deadline_tooltips(curve),
    )
    scales = [Scale(f"deadline, {unit.name}")]
    scales += [] if unit.name == "hours" else [Scale("hours after the start", SECONDS_PER_HOUR / unit.size)]
    heading = "With other deadlines" if own else "Cost against the deadline"
    return TradeOff(
        heading,
        DEADLINE,
        f"{said}{falls}",
        tuple(scales),
        tuple(labels),
        tuple(points),
        figure=figure,
        begins_at=points[-1].position if len(points) > 1 else None,
    )


def deadline_page(curve: DeadlineCurve, commands: Commands = ()) -> str:
    """Return the page of the least cost over the deadline."""
    shown = trade_off_section(deadline_trade_off(curve))
    rows = Section("All deadlines", tuple(from_terminal(answers.deadline_tables(curve, MOST_TABLE_ROWS)[1:])))
    said = f"{VERIFIED} {PROVED} {LP}"
    return _page(curve.headline(), (shown, rows, check_section(said, commands)), curve.provenance)


# Offers of less power.
def offer_trade_off(offers: OfferCurve) -> TradeOff:
    """Return the slider over the reduction."""
    money, unit = offers.currency, style.fitting(figures.POWERS, offers.points[-1].kw)
    labels = (
        *("delivered on average, at least", "extra cost at least (proved)", "at most (verified plan)"),
        *("extra cost (LP)", f"price of another kW (LP), {money}"),
    )
    points = [TradeOffPoint(each.kw, *_offered(offers, each, each, unit)) for each in offers.points]
    for one, two in pairwise(offers.points):  # between both
        if (at := math.nextafter(one.kw, math.inf)) < two.kw:
            points.append(TradeOffPoint(at, *_offered(offers, one, two, unit), is_breakpoint=False))
    points.sort(key=lambda each: each.position)
    moving = "Move the slider, or type how many kW less are drawn in each chosen slot."
    said = (
        "The best plan with the reduction costs more than the best one without it: at least what is proved, at most "
        "what a verified plan shows. What is proved for less holds for more, and a plan for more is a plan for less."
    )
    figure = PageFigure(
        figures.offer_figure(offers),
        "The extra cost over the reduction, between what is proved and what plans achieve, and the price of a kW.",
        "The diamond follows the slider along the linear program.",
        tooltips=figures.offer_tooltips(offers),
    )
    scale = Scale("reduction, kW less than the baseline")
    shown = figure if len(points) > 1 else None
    return TradeOff("Offers of less power", moving, said, (scale,), labels, tuple(points), figure=shown)


def _offered(
    offers: OfferCurve, one: OfferPoint, two: OfferPoint, unit: style.Unit
) -> tuple[tuple[Reading | str, ...], tuple[tuple[float, float], tuple[float, float]]]:
    """Return what is known from one point to the next, or at one; and where it is in the figure."""
    money = offers.currency
    readings = (
        Reading(one.delivered_kw, two.delivered_kw, "kW", upper=False),  # concave: the line is not above it
        f"{money_text(lower_text(one.at_least))} {money}",
        "no plan was found" if two.at_most is None else f"{offers.at_most_text(two)} {money}",
        Reading(one.lp_extra, two.lp_extra, money),
        money_text(number(one.marginal)),
    )
    return readings, ((one.kw / unit.size, two.kw / unit.size), (one.lp_extra, two.lp_extra))


def offer_page(offers: OfferCurve, time_zone: str | None, commands: Commands = ()) -> str:
    """Return the page of offers; the chosen slots are written in the time zone."""
    shown = trade_off_section(offer_trade_off(offers))
    rows = Section("All breakpoints", tuple(from_terminal(answers.offer_tables(offers, MOST_TABLE_ROWS)[1:])))
    calendar = Calendar(offers.start, zone_named(time_zone) or UTC, time_zone or "UTC")
    slots = tuple(
        (calendar.span(each.start_seconds, each.end_seconds), number(each.baseline_kw), number(each.idle_kw))
        for each in offers.slots
    )
    table = Table((calendar.header, "baseline, kW\nat the meter", "idle power, kW\nat the meter"), slots, numbers=True)
    chosen = Section("The chosen slots", (Paragraph(f"The baseline is {offers.baseline}."), table))
    said = f"{VERIFIED} {PROVED} {LP}"
    return _page(offers.headline(), (shown, rows, chosen, check_section(said, commands)), offers.provenance)


def _page(summary: str, sections: Sequence[Section], made: Provenance) -> str:
    return page(made.instance_name, summary.replace("\n", " "), sections, footer=made_by(made, "bag"))
