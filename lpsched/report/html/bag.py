"""The page of a solve, a front or a price curve, and the slider along its prices."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from lpsched.bag.pricing.result import PricePoint, PriceStretch
from lpsched.bag.result import KILOWATT, Point, Result, machine_heading, task_heading
from lpsched.report.figures.fronts import Frame, exact_of, front_picture, front_spots
from lpsched.report.figures.prices import price_picture, price_spots
from lpsched.report.html import bag_sections
from lpsched.report.html.page import FollowingTable, Mark, Paragraph, Picture, Reading, Section, Slider, Stretch, page
from lpsched.units import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lpsched.bag.compare.result import Overview
    from lpsched.bag.model import Bag
    from lpsched.bag.parts import TaskType
    from lpsched.model.provenance import Provenance
    from lpsched.report.html.page import Part


# What moves on a bag's page: the curve over the price, the front, and the slider whose marks move in both.
#
# Pictures stand right above the slider, so that both are seen at once. In place of a part that the bag does not
# have stands the sentence that says why.
NEAR: Final = 1.2  # times the most of the front
ABOVE_EVEN: Final = 1.2  # times the break-even price: where a slider stands if there is no price
AT_EVERY_PRICE: Final = "At every price"
FRONT_HEADING: Final = "Energy against makespan"


def price_sections(overview: Overview, *, front_first: bool = False) -> list[Section]:
    """Show curve, front and slider, or the front and the slider first; the front on its own where nothing moves."""
    front, curve = _front(overview), _curve(overview)
    slider = _slider(overview, curve)
    if slider is not None:
        if front_first:
            return [Section(FRONT_HEADING, (front, slider)), Section(AT_EVERY_PRICE, (curve,))]
        return [Section(AT_EVERY_PRICE, (curve, front, slider))]
    still = [Section(AT_EVERY_PRICE, _still_curve(overview, curve)), Section(FRONT_HEADING, (front,))]
    return still[::-1] if front_first else still


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


def _still_curve(overview: Overview, curve: Part) -> tuple[Part, ...]:
    """Return the curve and why nothing moves along it; without a curve that has been said."""
    if isinstance(overview.curve, str) or not isinstance(overview.stretches, str):
        return (curve,)
    return curve, Paragraph(f"The slider along it: {_lower(overview.stretches)}")


def _slider(overview: Overview, drawn: Picture | Paragraph) -> Slider | None:
    if isinstance(overview.stretches, str) or isinstance(drawn, Paragraph):
        return None
    frame = None if isinstance(overview.front, str) else Frame(overview.front, _room(overview))
    even = None if isinstance(overview.curve, str) else overview.curve.break_even_price
    first = overview.stretches[-1].to_price / 2.0 if even is None else ABOVE_EVEN * even
    return price_slider(
        overview.bag,
        overview.stretches,
        begins_at=first if overview.price is None else overview.price,
        frame=frame,
        panels=len(drawn.figure.axes),
    )


def _front(overview: Overview) -> Part:
    """Draw energy against makespan: what no schedule passes, and the schedules near it."""
    found = overview.front
    if isinstance(found, str):
        return Paragraph(f"The front of energy and makespan: {_lower(found)}")
    chosen = point_of(overview.result)
    star = "" if chosen is None else " The star is the answer."
    moving = "" if isinstance(overview.stretches, str) else " The diamond follows the slider."
    return Picture(
        front_picture(found, chosen=chosen, also=_room(overview)),
        "The front of energy and makespan of the linear program, which may split tasks, with "
        f"{bag_sections.corner_count(exact_of(found))}, and verified schedules.",
        f"Below the line is no schedule: proved. Whole tasks may not reach it.{star}{moving}",
        name=FRONT,
        spots=front_spots(found, _room(overview)),
    )


def _room(overview: Overview) -> list[Point]:
    """Return the answer and the slider's schedules near the front: for these there is room."""
    if isinstance(overview.front, str):
        return []
    vertices = exact_of(overview.front).vertices
    joules, seconds = NEAR * vertices[-1].energy_joules, NEAR * vertices[0].makespan_seconds
    along = () if isinstance(overview.stretches, str) else overview.stretches
    points = [point for each in along if (point := point_of(each)) is not None]
    near = [each for each in points if each.energy_joules <= joules and each.makespan_seconds <= seconds]
    chosen = point_of(overview.result)
    return near if chosen is None else [*near, chosen]


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def solve_page(overview: Overview) -> str:
    """Return the page of an answer."""
    result = overview.result
    assert result is not None, "the answer is what the page is about"
    sections = [bag_sections.answer_section(overview, result)]
    sections += [] if result.risk is None else [bag_sections.risk_section(result.risk)]
    sections += price_sections(overview)
    sections += bag_sections.schedule_sections(overview.bag, result.schedule, result)
    return _page(bag_sections.result_lead(overview, result), sections, result.provenance, result.timings)


def price_page(overview: Overview) -> str:
    """Return the page of a price curve."""
    curve = overview.curve
    assert not isinstance(curve, str), "the curve is what the page is about"
    sections = price_sections(overview)
    sections += [] if overview.sensitivity is None else bag_sections.sensitivity_sections(overview.sensitivity)
    sections.append(bag_sections.pieces_section(curve, overview.sensitivity))
    return _page(bag_sections.price_lead(curve), sections, curve.provenance, curve.timings)


def front_page(overview: Overview) -> str:
    """Return the page of a front."""
    found = overview.front
    assert not isinstance(found, str), "the front is what the page is about"
    exact = exact_of(found)
    sections = [*price_sections(overview, front_first=True), bag_sections.vertices_section(found)]
    return _page(bag_sections.front_lead(found), sections, exact.provenance, exact.timings)


def _page(lead: str, sections: Sequence[Section], made: Provenance, timings: Mapping[str, float]) -> str:
    return page(made.instance_name, lead, sections, footer=footer_of(made, timings, "bag"))


def footer_of(made: Provenance, timings: Mapping[str, float], kind: str) -> str:
    """Return who made a page of what, and how long it took."""
    took = ", ".join(f"{name} {number(seconds, 3)} s" for name, seconds in timings.items())
    found = f"; {took}" if took else ""
    return f"lpsched {made.lpsched}, {made.solver}; {kind} {made.instance_hash}{found}."


# The slider of a bag: what is best at every price, read off the schedules along its price curve.
FRONT: Final = "front"  # the picture in which a mark moves
CURVE: Final = "curve"
MOST_CELLS: Final = 30_000  # of tables that follow: some million letters
EXPLANATION: Final = (
    "Move it, or type a number: the value is what a verified schedule earns at that price, the bound what no "
    "schedule passes, proved. Nothing is drawn between samples: between two breakpoints everything is "
    "constant or a line. At the bag's own price it was searched as hard as 'lpsched solve' does; at other "
    "prices 'lpsched solve' may prove a lower bound and find a better schedule. At a breakpoint two "
    "schedules are equally good. Marginal values are derivatives of the LP bound for one more; where "
    "they bend between two breakpoints, there is a '-', and 'lpsched solve' has them."
)


def price_slider(
    bag: Bag, stretches: Sequence[PriceStretch], *, begins_at: float, frame: Frame | None = None, panels: int = 0
) -> Slider:
    """Return the slider over the profit ratio, or over the price where energy costs nothing.

    It stands at the price `begins_at` at first. A mark shows the schedule in the `frame` of the front's picture,
    and one what it earns in each of the `panels` of the curve's.
    """
    currency, unit = bag.prices.currency, f"{bag.prices.currency}/hour"
    first, last = _ends(stretches[0])[0], _ends(stretches[-1])[1]
    gamma = stretches[-1].to_price / last  # the price at the ratio 1
    rounded = float(f"{begins_at / gamma:.12g}")  # a ratio of 1.2 is 1.2, whatever rounding made of it
    capped = (KILOWATT,) if bag.site.average_power_cap_watts is not None else ()
    headers = ("machine type", "machines", "used", "tasks", "busy", machine_heading(unit))
    tables = [FollowingTable("Machine types", headers, tuple(each.name for each in bag.machine_types))]
    shown = _shown_tasks(bag, len(stretches))
    if shown:
        title = "Task types" if len(shown) == len(bag.task_types) else f"The {len(shown):,} largest task types"
        names = tuple(task.name for task in shown)
        tables.append(FollowingTable(title, ("task type", "tasks", task_heading(unit)), names))
    return Slider(
        label=f"price, {currency}" if stretches[-1].to_ratio is None else "profit ratio",
        explanation=EXPLANATION,
        begins_at=min(max(rounded, first), last),
        labels=("price", "regime", "bound", "value", "gap", "makespan", "energy", "average power", *capped),
        stretches=tuple(
            Stretch(*ends, _readings(bag, each), _tables(bag, each, shown), _marks(each, ends, frame, panels))
            for each in stretches
            if (ends := _ends(each))[0] < ends[1]
        ),
        tables=tuple(tables),
    )


def _ends(stretch: PriceStretch) -> tuple[float, float]:
    """Return where a stretch begins and ends on the slider."""
    if stretch.from_ratio is None or stretch.to_ratio is None:
        return stretch.from_price, stretch.to_price
    return stretch.from_ratio, stretch.to_ratio


def _shown_tasks(bag: Bag, stretches: int) -> list[TaskType]:
    """Return the task types that follow the slider: all, or the largest where that would fill the page."""
    left = MOST_CELLS // max(1, stretches) - 5 * len(bag.machine_types)
    sizes = [task.count for task in bag.task_types]
    largest = sorted(range(len(sizes)), key=lambda i: -sizes[i])[: max(0, left)]
    return [bag.task_types[i] for i in sorted(largest)]


def _still(value: float | str | None, unit: str = "") -> Reading:
    """Return what does not change along a stretch."""
    return Reading(value, value, unit)


def _readings(bag: Bag, stretch: PriceStretch) -> tuple[Reading, ...]:
    """Return one reading for each label; the bound does not change its sign along a stretch."""
    currency, unit = bag.prices.currency, f"{bag.prices.currency}/hour"
    measured = stretch.measured
    seconds, joules = (None, None) if measured is None else (measured.makespan_seconds, measured.energy_joules)
    bound = stretch.bound_at_from, stretch.bound_at_to
    value, gap = _still("none found"), _still("-")
    if stretch.value_at_from is not None and stretch.value_at_to is not None:
        value = Reading(stretch.value_at_from, stretch.value_at_to, unit)
        apart = abs(bound[0] - stretch.value_at_from), abs(bound[1] - stretch.value_at_to)
        gap = Reading(*apart, over=(abs(bound[0]), abs(bound[1])))
    regime = "no schedule was found that keeps the limits" if stretch.regime is None else stretch.regime.value
    if stretch.regime not in {None, stretch.bound_regime}:
        regime += f"; the bound leaves room for {stretch.bound_regime.value}"
    readings = [
        Reading(stretch.from_price, stretch.to_price, currency),
        _still(regime),
        Reading(*bound, unit, upper=True),
        value,
        gap,
        _still(seconds, "seconds"),
        _still(joules, "joules"),
        _still(joules / seconds if joules is not None and seconds else None, "watts"),
    ]
    if bag.site.average_power_cap_watts is not None:
        low, high = stretch.worth_at_from.kilowatt_per_hour, stretch.worth_at_to.kilowatt_per_hour
        readings.append(Reading(low, high, unit))
    return tuple(readings)


def _tables(bag: Bag, stretch: PriceStretch, shown: Sequence[TaskType]) -> tuple[tuple[tuple[Reading, ...], ...], ...]:
    """Return how many machines of each type work, on how many tasks, for which share of the time; and tasks."""
    used: Counter[str] = Counter()
    run: Counter[str] = Counter()
    for group in () if stretch.schedule is None else stretch.schedule.groups:
        used[group.machine_type] += group.machines
        run[group.machine_type] += group.machines * sum(each.count for each in group.runs)
    busy = bag_sections.busy_shares(bag, stretch.schedule)
    low, high = stretch.worth_at_from.machine_types, stretch.worth_at_to.machine_types
    rows = tuple(
        (
            *(_still(float(count)) for count in (each.count, used[each.name], run[each.name])),
            _still(busy[each.name], "%"),
            Reading(low[each.name], high[each.name]),
        )
        for each in bag.machine_types
    )
    low, high = stretch.worth_at_from.task_types, stretch.worth_at_to.task_types
    tasks = tuple((_still(float(task.count)), Reading(low[task.name], high[task.name])) for task in shown)
    return (rows, tasks) if shown else (rows,)


def _marks(stretch: PriceStretch, ends: tuple[float, float], frame: Frame | None, panels: int) -> tuple[Mark, ...]:
    """Return where the schedule is among the points of the front, and where its price is on the curve."""
    marks = []
    if stretch.value_at_from is not None and stretch.value_at_to is not None:
        earns = (stretch.value_at_from, stretch.value_at_to)
        marks += [Mark(CURVE, ends, earns, "", panel) for panel in range(panels)]
    point = point_of(stretch)
    if frame is not None and point is not None:
        ((x, y),) = frame.spots([point])
        told = f"the schedule at this price: {frame.words(point)}"
        marks.append(Mark(FRONT, (x, x), (y, y), told))
    return tuple(marks)


def point_of(found: Result | PriceStretch | None) -> Point | None:
    """Return energy and makespan of the schedule that was found, if anything runs and there are watts."""
    measured = None if found is None else found.measured
    if measured is None or measured.energy_joules is None or measured.makespan_seconds is None:
        return None
    return Point(measured.energy_joules, measured.makespan_seconds)
