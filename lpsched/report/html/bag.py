"""The page of a solve, a front or a price curve, and the slider along its prices."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Final

from lpsched.bag.breakdown import MoneySplit
from lpsched.bag.pricing.result import PROFITABLE, STATUS
from lpsched.bag.result import ROOM, Point, Result
from lpsched.report.figures.fronts import Frame, exact_of, front_figure, front_tooltips
from lpsched.report.figures.prices import price_figure, price_tooltips, ratio_of
from lpsched.report.html import bag_sections
from lpsched.report.html.page import (
    FollowingTable,
    Mark,
    PageFigure,
    Paragraph,
    Reading,
    Scale,
    Section,
    Segment,
    Slider,
    page,
    parts_of,
)
from lpsched.report.solution import decimals_of, price_sentences, result_parts
from lpsched.units import SECONDS_PER_HOUR, counted, duration, energy_text, number, power_text

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from lpsched.bag.compare.result import Overview
    from lpsched.bag.model import Bag
    from lpsched.bag.parts import TaskType
    from lpsched.bag.pricing.result import PriceCurve, ScheduleSegment
    from lpsched.bag.schedule import Schedule
    from lpsched.model.provenance import Provenance


# The parts of a bag's page that move: the slider, and the marks in the curve over the price and in the front below it.
# In place of a part that the bag does not have stands the sentence that gives the reason.
NEAR: Final = 1.2  # times the most of the front
ABOVE_EVEN: Final = 1.2  # times the break-even price: where a slider begins if there is no price
AT_EVERY_PRICE: Final = "At every price"
FRONT_HEADING: Final = "Energy against makespan"
LEFT_OUT: Final = "What is left out"


def price_sections(overview: Overview, *, front_first: bool = False) -> list[Section]:
    """Show the slider with curve and front, or those of them that there are; and what there is not."""
    shown = [(AT_EVERY_PRICE, _curve(overview)), (FRONT_HEADING, _front(overview))]
    shown = shown[::-1] if front_first else shown
    drawn = [(heading, part) for heading, part in shown if isinstance(part, PageFigure)]
    said = [part for _, part in shown if isinstance(part, Paragraph)]
    slider = _slider(overview)
    if slider is not None:
        moving = replace(slider, figures=tuple(part for _, part in drawn))
        sections = [Section(drawn[0][0], (moving, Paragraph(NOTES)))]
    else:
        sections = [Section(heading, (part,)) for heading, part in drawn]
        if isinstance(overview.stretches, str) and not isinstance(overview.curve, str):
            said.insert(0, Paragraph(f"The slider along the price curve: {_lower(overview.stretches)}"))
    return [*sections, *([Section(LEFT_OUT, tuple(said))] if said else [])]


def _curve(overview: Overview) -> PageFigure | Paragraph:
    if isinstance(overview.curve, str):
        return Paragraph(f"The price curve: {_lower(overview.curve)}")
    own = own_segments(overview.curve, overview.breakpoints)
    return PageFigure(
        price_figure(overview.curve, overview.price, own),
        "The most profit at every price, and what verified schedules earn.",
        "" if isinstance(overview.stretches, str) else "The diamond follows the slider.",
        name=CURVE,
        tooltips=price_tooltips(own, overview.price),
    )


def _slider(overview: Overview) -> Slider | None:
    if isinstance(overview.stretches, str) or isinstance(overview.curve, str):
        return None
    slider = price_slider(
        overview.bag,
        overview.stretches,
        current=overview.price,
        even=overview.curve.break_even_price,
        gamma=ratio_of(overview.curve),
        frame=None if isinstance(overview.front, str) else Frame(overview.front, _room(overview)),
        breakpoints=overview.breakpoints,
    )
    result = overview.result
    if result is None or result.regime is not None:
        return slider
    other = f"Its schedules are those for profit: the answer above, for {result.objective}, is another."
    return replace(slider, explanation=f"{slider.explanation} {other}")


def _front(overview: Overview) -> PageFigure | Paragraph:
    """Draw energy against makespan: the line below which no schedule is, and the schedules near it."""
    found = overview.front
    if isinstance(found, str):
        return Paragraph(f"The front of energy and makespan: {_lower(found)}")
    chosen = point_of(overview.result)
    star = "" if chosen is None else " The star is the answer."
    moving = "" if isinstance(overview.stretches, str) else " The diamond follows the slider."
    return PageFigure(
        front_figure(found, chosen=chosen, also=_room(overview)),
        "The front of energy and makespan of the linear program, which may split tasks, with "
        f"{counted(len(exact_of(found).vertices), 'vertex', 'vertices')}, and verified schedules.",
        f"Below the line is no schedule: proved. Whole tasks may not reach it.{star}{moving}",
        name=FRONT,
        tooltips=front_tooltips(found, _room(overview)),
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
    parts = {name: parts_of(each) for name, each in result_parts(result, most=bag_sections.MOST_ROWS).items()}
    sections = [bag_sections.answer_section(result, parts), *price_sections(overview)]
    sections += bag_sections.schedule_sections(overview.bag, result.schedule, parts)
    return _page(bag_sections.result_summary(result), sections, result.provenance)


def price_page(overview: Overview) -> str:
    """Return the page of a price curve."""
    curve, needs = overview.curve, overview.sensitivity
    assert not isinstance(curve, str), "the curve is what the page is about"
    assert needs is not None
    sections = [*price_sections(overview), *bag_sections.sensitivity_sections(needs)]
    sections.append(bag_sections.segments_section(own_segments(curve, overview.breakpoints), needs.current))
    sections += [Section(LEFT_OUT, tuple(map(Paragraph, needs.notes)))] if needs.notes else []
    return _page(" ".join(price_sentences(curve, needs)), sections, curve.provenance)


def own_segments(curve: PriceCurve, breakpoints: Collection[float]) -> PriceCurve:
    """Return the curve with segments that begin at its breakpoints alone, not wherever another schedule is best."""
    pieces = [each for each in curve.pieces if each.from_price in breakpoints]
    prices = [*(each.from_price for each in pieces[1:]), curve.pieces[-1].to_price]
    return replace(
        curve, pieces=tuple(replace(piece, to_price=price) for piece, price in zip(pieces, prices, strict=True))
    )


def front_page(overview: Overview) -> str:
    """Return the page of a front."""
    found = overview.front
    assert not isinstance(found, str), "the front is what the page is about"
    sections = [*price_sections(overview, front_first=True), bag_sections.vertices_section(found)]
    return _page(bag_sections.front_summary(found), sections, exact_of(found).provenance)


def _page(summary: str, sections: Sequence[Section], made: Provenance) -> str:
    return page(made.instance_name, summary, sections, footer=footer_of(made, "bag"))


def footer_of(made: Provenance, kind: str) -> str:
    """Return the versions and the instance of a page."""
    solver = "" if made.solver == "none" else f", {made.solver}"
    return f"lpsched {made.lpsched}{solver}; {kind} {made.instance_hash}."


# The slider of a bag: the best that is known at every price, read off the schedules along its price curve.
FRONT: Final = "front"  # the figure in which a mark moves
CURVE: Final = "curve"
MOST_CELLS: Final = 30_000  # of the tables of machine and task types: some million letters
MOST_ROWS, MOST_COLUMNS = 12, 8  # of the heat map: of more types, the largest and the rest
PROFIT: Final = "profit (verified)"
BOUND: Final = "at most (proved)"
STATUSES: Final = STATUS | {"profit": PROFITABLE}  # of a schedule
MONEY: Final = tuple(each.name for each in fields(MoneySplit))  # revenue, costs, profit
HEAT: Final = "Tasks by task type and machine type. The stronger the colour, the larger the share of the task type."
PROVED: Final = "The profit is that of a verified schedule; no schedule earns more than the bound, proved."
RATIO: Final = "a profit ratio (the price as a multiple of what the least energy of the bag costs)"
NOTES: Final = (
    "Profit per hour is the right measure if one bag follows another. If you run one bag a day, look at the profit "
    "per bag instead. Between two prices at which anything bends everything is constant or a line: nothing is "
    "interpolated between samples. At other prices than the current one, 'lpsched solve' may prove a lower bound and "
    "find a better schedule. Marginal values are derivatives of the bound of the linear program; where they bend "
    "inside a segment, there is a '-', and 'lpsched solve' has them."
)


def price_slider(  # noqa: PLR0913 - options are keyword-only
    bag: Bag,
    stretches: Sequence[ScheduleSegment],
    *,
    current: float | None = None,
    even: float | None = None,
    gamma: float | None = None,
    frame: Frame | None = None,
    breakpoints: Collection[float] = (),
) -> Slider:
    """Return the slider over the price, in percent of the current price and in profit ratios, too.

    `gamma` is the price at the profit ratio 1, `even` the break-even price, above which it begins where there is no
    current price. A mark shows the schedule in the `frame` of the front's figure, and its profit in the panels of the
    curve's. The `breakpoints` are those of the curve; schedules change at further prices.
    """
    currency, low, high = bag.prices.currency, stretches[0].from_price, stretches[-1].to_price
    begins_at = current if current is not None else high / 2.0 if even is None else ABOVE_EVEN * even
    scales, ways = [Scale(f"price, {currency}")], ["a price"]
    if current:
        scales.append(Scale("% of current price", current / 100.0))
        ways.append("a percentage of the current price")
    if gamma:
        scales.append(Scale("profit ratio", gamma))
        ways.append(RATIO)
    typed = f"{', '.join(ways[:-1])} or {ways[-1]}" if len(ways) > 1 else ways[0]
    explanation = f"Move the slider, or type {typed}. {PROVED}"
    if current is None:
        times = "" if even is None else f", {number(ABOVE_EVEN)} times the break-even price"
        explanation += f" The bag has no price: the slider begins at {number(begins_at)} {currency}{times}."
    capped = ("one more kW under the cap (LP)",) if bag.site.average_power_cap_watts is not None else ()
    headers = ("machine type", "count", "used", "busy", "tasks", f"marginal value\n(LP), {currency}/h")
    machines = FollowingTable("Machine types", headers, tuple(each.name for each in bag.machine_types))
    shown = _shown_tasks(bag, len(stretches))
    heat, money = _HeatMap(bag, stretches), _paid(stretches)
    tables = [FollowingTable("Money", ("", f"{currency}/h", f"{currency}/bag"), money), heat.table, machines]
    if shown:
        title = "Task types" if len(shown) == len(bag.task_types) else f"The {counted(len(shown), 'largest task type')}"
        names = tuple(task.name for task in shown)
        tables.append(FollowingTable(title, ("task type", "tasks", f"min. price\n(LP), {currency}"), names))
    return Slider(
        scales=tuple(scales),
        explanation=explanation,
        begins_at=min(max(begins_at, low), high),
        current=current if current is not None and low <= current <= high else None,
        labels=(PROFIT, BOUND, "gap", "profit per bag", "status", "makespan", "energy", "average power", *capped),
        segments=tuple(
            Segment(
                each.from_price,
                each.to_price,
                _readings(bag, each),
                (_money(each, money), heat.cells(each.schedule), *_tables(bag, each, shown)),
                _marks(each, frame),
            )
            for each in stretches
        ),
        tables=tuple(tables),
        breakpoints=tuple(each.from_price for each in stretches if each.from_price in breakpoints),
    )


def _shown_tasks(bag: Bag, segments: int) -> list[TaskType]:
    """Return the task types that follow the slider: all, or the largest where that would fill the page."""
    left = MOST_CELLS // max(1, segments) - 5 * len(bag.machine_types)
    sizes = [task.count for task in bag.task_types]
    largest = sorted(range(len(sizes)), key=lambda i: -sizes[i])[: max(0, left)]
    return [bag.task_types[i] for i in sorted(largest)]


def _still(value: float | str | None, unit: str = "") -> Reading:
    """Return a reading that does not change along a segment."""
    return Reading(value, value, unit)


def _readings(bag: Bag, stretch: ScheduleSegment) -> tuple[Reading, ...]:
    """Return one reading for each label; the bound does not change its sign along a segment."""
    currency, unit = bag.prices.currency, f"{bag.prices.currency}/h"
    measured = stretch.measured
    seconds, joules = (None, None) if measured is None else (measured.makespan_seconds, measured.energy_joules)
    bound = stretch.bound_at_from, stretch.bound_at_to
    value, gap, per_bag = _still("none found"), _still("-"), _still("-")
    if stretch.value_at_from is not None and stretch.value_at_to is not None:
        value = Reading(stretch.value_at_from, stretch.value_at_to, unit)
        apart = abs(bound[0] - stretch.value_at_from), abs(bound[1] - stretch.value_at_to)
        gap = Reading(*apart, over=(abs(bound[0]), abs(bound[1])))
        if seconds is not None:
            hours = seconds / SECONDS_PER_HOUR
            per_bag = Reading(stretch.value_at_from * hours, stretch.value_at_to * hours, currency)
    status = "no schedule was found that keeps the limits" if stretch.regime is None else STATUSES[stretch.regime]
    if stretch.regime not in {None, stretch.bound_regime}:
        status += f"; the bound leaves room for {ROOM[stretch.bound_regime]}"
    readings = [
        value,
        Reading(*bound, unit, upper=True),
        gap,
        per_bag,
        _still(status),
        _still(duration(seconds)),
        _still(energy_text(joules)),
        _still(power_text(joules / seconds if joules is not None and seconds else None)),
    ]
    if bag.site.average_power_cap_watts is not None:
        low, high = stretch.worth_at_from.kilowatt_per_hour, stretch.worth_at_to.kilowatt_per_hour
        readings.append(Reading(low, high, unit))
    return tuple(readings)


def _amounts(stretch: ScheduleSegment) -> list[tuple[float, float]] | None:
    """Return revenue, costs and profit per hour at both ends, if they are known; costs are negative."""
    split, seconds = (
        stretch.breakdown and stretch.breakdown.per_hour,
        stretch.measured and stretch.measured.makespan_seconds,
    )
    low, high = stretch.value_at_from, stretch.value_at_to
    if split is None or split.electricity is None or low is None or high is None:
        return None
    rate = SECONDS_PER_HOUR / seconds if seconds else 0.0
    costs = [0.0 - getattr(split, word) for word in MONEY[1:-1]]
    return [(rate * stretch.from_price, rate * stretch.to_price), *((cost, cost) for cost in costs), (low, high)]


def _paid(stretches: Sequence[ScheduleSegment]) -> tuple[str, ...]:
    """Return what some schedule earns or pays, and the profit: the rows of the money."""
    known = [amounts for each in stretches if (amounts := _amounts(each)) is not None]
    return tuple(word for at, word in enumerate(MONEY) if word == MONEY[-1] or any(any(each[at]) for each in known))


def _money(stretch: ScheduleSegment, words: Sequence[str]) -> tuple[tuple[Reading, ...], ...]:
    """Return revenue, costs and profit per hour and per bag, with as many decimals as at the first price."""
    amounts = _amounts(stretch)
    if amounts is None:
        return ((_still("-"), _still("-")),) * len(words)
    seconds = None if stretch.measured is None else stretch.measured.makespan_seconds
    bags = None if seconds is None else [tuple(seconds / SECONDS_PER_HOUR * x for x in each) for each in amounts]
    columns = []
    for column in (amounts, bags):
        places = None if column is None else decimals_of([start for start, _ in column])
        columns.append(
            [_still("-") if column is None else Reading(*column[MONEY.index(word)], decimals=places) for word in words]
        )
    return tuple(zip(*columns, strict=True))


class _HeatMap:
    """How many tasks of each type run on each machine type; of many types, the largest have a row or a column."""

    def __init__(self, bag: Bag, stretches: Sequence[ScheduleSegment]) -> None:
        run = Counter(dict.fromkeys((machine.name for machine in bag.machine_types), 0))
        for each in stretches:
            run.update(_tasks_run(each.schedule))
        counts = Counter({task.name: task.count for task in bag.task_types})
        self.rows, self.columns = _largest(counts, MOST_ROWS), _largest(run, MOST_COLUMNS)
        hidden = Counter(name not in self.rows for name in counts)[True]
        names = [*(name or f"{hidden:,} other task types" for name in self.rows)]
        totals = [float(counts[name]) for name in self.rows]
        if hidden:
            totals[-1] = float(bag.tasks) - sum(totals)
        headers = ("task type", *(name or "other machine types" for name in self.columns))
        self.table = FollowingTable("Which task runs where", headers, tuple(names), tuple(totals), HEAT)

    def cells(self, schedule: Schedule | None) -> tuple[tuple[Reading, ...], ...]:
        """Return the counts of a schedule."""
        counts: Counter[tuple[str, str]] = Counter()
        for group in () if schedule is None else schedule.groups:
            column = group.machine_type if group.machine_type in self.columns else ""
            for run in group.runs:
                counts[run.task_type if run.task_type in self.rows else "", column] += group.machines * run.count
        return tuple(tuple(_still(float(counts[row, column]) or None) for column in self.columns) for row in self.rows)


def _largest(sizes: Counter[str], most: int) -> list[str]:
    """Return the names of the largest in their own order, and an empty one for the rest."""
    if len(sizes) <= most + 1:
        return list(sizes)
    largest = {name for name, _ in sizes.most_common(most)}
    return [*(name for name in sizes if name in largest), ""]


def _tasks_run(schedule: Schedule | None) -> Counter[str]:
    """Return how many tasks each machine type runs."""
    run: Counter[str] = Counter()
    for group in () if schedule is None else schedule.groups:
        run[group.machine_type] += group.machines * sum(each.count for each in group.runs)
    return run


def _tables(
    bag: Bag, stretch: ScheduleSegment, shown: Sequence[TaskType]
) -> tuple[tuple[tuple[Reading, ...], ...], ...]:
    """Return how many machines of each type work, on how many tasks, for which share of the time; and tasks."""
    uses = {} if stretch.breakdown is None else stretch.breakdown.machine_types
    low, high = stretch.worth_at_from.machine_types, stretch.worth_at_to.machine_types
    rows = []
    for machine in bag.machine_types:
        name, use = machine.name, uses.get(machine.name)
        count, used, tasks = (machine.count, 0, 0) if use is None else (use.count, use.used, use.tasks)
        busy = _still(0.0 if use is None else use.busy_share, "%")
        known = _still(float(count)), _still(float(used)), busy, _still(float(tasks))
        rows.append((*known, Reading(low[name], high[name])))
    low, high = stretch.worth_at_from.task_types, stretch.worth_at_to.task_types
    priced = tuple((_still(float(task.count)), Reading(low[task.name], high[task.name])) for task in shown)
    return (tuple(rows), priced) if shown else (tuple(rows),)


def _marks(stretch: ScheduleSegment, frame: Frame | None) -> tuple[Mark, ...]:
    """Return where the schedule is among the points of the front, and where its price is on the curve."""
    marks = []
    if stretch.value_at_from is not None and stretch.value_at_to is not None:
        prices, earns = (stretch.from_price, stretch.to_price), (stretch.value_at_from, stretch.value_at_to)
        marks += [Mark(CURVE, prices, earns)]
    point = point_of(stretch)
    if frame is not None and point is not None:
        ((x, y),) = frame.dots([point])
        marks.append(Mark(FRONT, (x, x), (y, y)))
    return tuple(marks)


def point_of(found: Result | ScheduleSegment | None) -> Point | None:
    """Return energy and makespan of the schedule that was found, if anything runs and there are watts."""
    measured = None if found is None else found.measured
    if measured is None or measured.energy_joules is None or measured.makespan_seconds is None:
        return None
    return Point(measured.energy_joules, measured.makespan_seconds)
