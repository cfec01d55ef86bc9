"""The page of a plan over a horizon, with sliders along trade-offs where some are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from lpsched.bag.horizon.result import mass_text
from lpsched.report import horizon as answers
from lpsched.report.figures.horizon import plan_curves, plan_figure, plan_tooltips
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
    Tiles,
    from_terminal,
    made_by,
    page,
)
from lpsched.report.tables import FoldingTable
from lpsched.units import counted, energy_text, gap_text, money_text, number, power_text

if TYPE_CHECKING:
    from lpsched.bag.horizon.result import PlanResult
    from lpsched.report.html.page import Part

MOST_TABLE_ROWS: Final = 1_000
DRAWN: Final = "Task types are stacked in the order of the legend, from the one that takes most energy."
CAPPED: Final = "The power cap holds for the average of each slot: at single moments power may be higher."
WORTH: Final = "What more would be worth"
CHECKED: Final = (
    "The plan is verified and measured by exact sums; no code is shared with the search that found it. The bound "
    "follows from multipliers, which its certificate holds: it is checked in exact arithmetic, without a solver."
)


# A trade-off: plans along a scale, such as a carbon price, a deadline or a reduction of power.
@dataclass(frozen=True, slots=True)
class TradeOffPoint:
    """From which position on it holds, a text for each label, and where it is in the figure."""

    position: float
    texts: tuple[str, ...]
    dot: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class TradeOff:
    """Points by rising position, each of which holds until the next one, the last one until the end."""

    heading: str
    explanation: str  # what is measured, and what is proved
    scale: str  # the name of the position with its unit, such as "carbon price, USD/kg"
    labels: tuple[str, ...]
    points: tuple[TradeOffPoint, ...]
    end: float | None = None
    figure: PageFigure | None = None  # in which a mark moves where points have dots

    def __post_init__(self) -> None:
        """Hold the points against each other and against the labels."""
        assert self.points, "a trade-off has a point"
        assert all(one.position < two.position for one, two in pairwise(self.points)), "by rising position"
        assert all(len(each.texts) == len(self.labels) for each in self.points), "a text for each label"
        assert self.end is None or self.end > self.points[-1].position, "the last one holds until a later end"


def trade_off_section(found: TradeOff) -> Section:
    """Show a trade-off: a slider with its figure, and all points in a table."""
    rows = tuple((number(each.position, 6), *each.texts) for each in found.points)
    table = Table((found.scale, *found.labels), rows, numbers=True)
    slider = _slider(found)
    figure = [found.figure] if found.figure is not None and slider is None else []
    first: tuple[Part, ...] = (Paragraph(found.explanation), *figure) if slider is None else (slider,)
    return Section(found.heading, (*first, table))


def _slider(found: TradeOff) -> Slider | None:
    """Return the slider from point to point; none of a single point without an end."""
    starts = [each.position for each in found.points]
    end = found.end
    if end is None:
        if len(starts) == 1:
            return None
        end = starts[-1] + (starts[-1] - starts[0]) / (len(starts) - 1)  # as long as the others are on average
    name = "trade-off" if found.figure is None else found.figure.name or Scale(found.scale).key
    segments = []
    for point, stop in zip(found.points, [*starts[1:], end], strict=True):
        marks = () if point.dot is None else (Mark(name, (point.dot[0],) * 2, (point.dot[1],) * 2),)
        readings = tuple(Reading(text, text) for text in point.texts)
        segments.append(Segment(point.position, stop, readings, marks=marks))
    return Slider(
        (Scale(found.scale),),
        found.explanation,
        starts[0],
        found.labels,
        tuple(segments),
        figures=() if found.figure is None else (replace(found.figure, name=name),),
    )


def plan_page(
    result: PlanResult,
    *,
    front: TradeOff | None = None,
    offers: TradeOff | None = None,
    extra: Sequence[Section] = (),
    commands: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the page of a plan as HTML.

    Parameters
    ----------
    result
        The plan.
    front, offers
        A trade-off such as cost against carbon or deadline, and an offer curve; each becomes a section with a slider.
    extra
        Further sections, before how to check the answer.
    commands
        Commands that make and check the answer, each with what it does.
    """
    parts = {name: from_terminal(each) for name, each in answers.plan_parts(result, most=MOST_TABLE_ROWS).items()}
    answer = Section("The answer", (Tiles(tiles_of(result)), Paragraph(answers.size_text(result)), *parts["answer"]))
    sections = [answer, _drawn(result)]
    topics = {
        "What it pays for": parts["costs"],
        "Compared with other plans": parts["compared"],
        WORTH: [*parts["machines"], *parts["hours"], *parts["kilowatts"]],
    }
    sections += [Section(heading, tuple(shown)) for heading, shown in topics.items() if shown]
    sections += [trade_off_section(each) for each in (front, offers) if each is not None]
    sections += [*extra, _slots(result), _check(commands)]
    made = result.provenance
    return page(made.instance_name, result.headline(), sections, footer=made_by(made, "bag"))


def tiles_of(result: PlanResult) -> tuple[tuple[str, str], ...]:
    """Return the numbers that matter most."""
    value, bound = result.texts()
    costs, side = result.costs, "at most" if result.is_profit else "at least"
    tiles = [(f"{result.objective} (verified)", value), (f"{side} (proved)", bound), ("gap", gap_text(result.gap))]
    better = answers.BETTER[result.objective]
    tiles += [
        (f"{better}, compared with '{each.name}'", answers.saves_text(result, each))
        for each in result.baselines
        if each.value is not None
    ]
    tiles.append(("energy", energy_text(costs.energy_kwh * 3.6e6)))
    if result.objective != "carbon" and costs.carbon_grams is not None:
        tiles.append(("carbon", mass_text(costs.carbon_grams)))
    if result.objective != "cost":
        tiles.append(("cost", f"{number(costs.cost)} {result.bag.prices.currency}"))
    return (*tiles, ("peak power, average of a slot", power_text(costs.peak_watts)))


def _drawn(result: PlanResult) -> Section:
    """Show power, tariff and carbon intensity over time."""
    drawn = plan_curves(result)
    curves = "the tariff" + (
        " and the carbon intensity" if any(site.carbon is not None for site in drawn.sites) else ""
    )
    steps = drawn.means or counted(len(drawn.edges) - 1, "slot")
    left = f" {counted(drawn.left_out, 'site')} that draw less are not drawn." if drawn.left_out else ""
    capped = f" {CAPPED}" if any(site.cap is not None for site in drawn.sites) else ""
    words = f"Power at the machines by task type over {result.when()}, in {steps}, above {curves}."
    figure = PageFigure(plan_figure(result), words, f"{DRAWN}{capped}{left}", tooltips=plan_tooltips(result))
    return Section("Power over time", (figure,))


def _slots(result: PlanResult) -> Section:
    """List all slots: what is given, what is drawn, and what a kilowatt more would be worth."""
    rows, calendar, money = result.slot_rows, answers.calendar_of(result), result.bag.prices.currency
    columns = {calendar.header: [calendar.span(row.start_seconds, row.end_seconds) for row in rows]}
    if len(result.slots.sites) > 1:
        columns["site"] = [row.site for row in rows]
    columns[f"tariff,\n{money}/kWh"] = [money_text(number(row.tariff)) for row in rows]
    if any(row.carbon is not None for row in rows):
        columns["carbon,\ng/kWh"] = [number(row.carbon) for row in rows]
    columns["average power\nat the machines"] = [power_text(row.average_watts) for row in rows]
    if any(row.cap_watts is not None for row in rows):
        columns["power cap"] = [power_text(row.cap_watts) for row in rows]
        columns[f"one more kW\n(LP), {result.unit}"] = [money_text(number(row.kilowatt)) for row in rows]
    table = FoldingTable(tuple(columns), tuple(zip(*columns.values(), strict=True)))
    return Section("All slots", tuple(from_terminal(table.shortened(MOST_TABLE_ROWS))))


def _check(commands: Sequence[tuple[str, str]]) -> Section:
    """Say how to check the answer."""
    rows = tuple((what, command) for command, what in commands)
    return Section("How to check", (Paragraph(CHECKED), *([Table(("", ""), rows)] if rows else [])))
