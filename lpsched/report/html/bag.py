"""The page of a solve, a front or a price curve, and the slider along its prices."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from lpsched.bag.result import KILOWATT, Point, Result, machine_heading, task_heading
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
)
from lpsched.units import SECONDS_PER_HOUR, counted, duration, energy_text, number, power_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lpsched.bag.compare.result import Overview
    from lpsched.bag.model import Bag
    from lpsched.bag.parts import TaskType
    from lpsched.bag.pricing.result import ScheduleSegment
    from lpsched.bag.schedule import Schedule
    from lpsched.model.provenance import Provenance
    from lpsched.report.html.page import Part


# The parts of a bag's page that move: the curve over the price, the front, and the slider whose marks move in both.
#
# Figures stand right above the slider, so that both are seen at once. In place of a part that the bag does not
# have stands the sentence that gives the reason.
NEAR: Final = 1.2  # times the most of the front
ABOVE_EVEN: Final = 1.2  # times the break-even price: where a slider begins if there is no price
AT_EVERY_PRICE: Final = "At every price"
FRONT_HEADING: Final = "Energy against makespan"


def price_sections(overview: Overview, *, front_first: bool = False) -> list[Section]:
    """Show curve, front and slider, or the front and the slider first; the front on its own where nothing moves."""
    front, curve = _front(overview), _curve(overview)
    slider, notes = _slider(overview, curve), Paragraph(NOTES)
    if slider is not None:
        if front_first:
            return [Section(FRONT_HEADING, (front, slider, notes)), Section(AT_EVERY_PRICE, (curve,))]
        return [Section(AT_EVERY_PRICE, (curve, front, slider, notes))]
    still = [Section(AT_EVERY_PRICE, _still_curve(overview, curve)), Section(FRONT_HEADING, (front,))]
    return still[::-1] if front_first else still


def _curve(overview: Overview) -> PageFigure | Paragraph:
    if isinstance(overview.curve, str):
        return Paragraph(f"The price curve: {_lower(overview.curve)}")
    return PageFigure(
        price_figure(overview.curve, overview.price),
        "The most profit at every price, and what verified schedules earn.",
        "" if isinstance(overview.stretches, str) else "The diamond follows the slider.",
        name=CURVE,
        tooltips=price_tooltips(overview.curve, overview.price),
    )


def _still_curve(overview: Overview, curve: Part) -> tuple[Part, ...]:
    """Return the curve and why nothing moves along it; without a curve that has been said."""
    if isinstance(overview.curve, str) or not isinstance(overview.stretches, str):
        return (curve,)
    return curve, Paragraph(f"The slider along it: {_lower(overview.stretches)}")


def _slider(overview: Overview, drawn: PageFigure | Paragraph) -> Slider | None:
    if isinstance(overview.stretches, str) or isinstance(drawn, Paragraph) or isinstance(overview.curve, str):
        return None
    return price_slider(
        overview.bag,
        overview.stretches,
        today=overview.price,
        even=overview.curve.break_even_price,
        gamma=ratio_of(overview.curve),
        frame=None if isinstance(overview.front, str) else Frame(overview.front, _room(overview)),
        panels=len(drawn.figure.axes),
    )


def _front(overview: Overview) -> Part:
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
    sections = [bag_sections.answer_section(overview, result)]
    sections += [] if result.risk is None else [bag_sections.risk_section(result.risk)]
    sections += price_sections(overview)
    sections += bag_sections.schedule_sections(overview.bag, result.schedule, result)
    return _page(bag_sections.result_summary(overview, result), sections, result.provenance, result.timings)


def price_page(overview: Overview) -> str:
    """Return the page of a price curve."""
    curve = overview.curve
    assert not isinstance(curve, str), "the curve is what the page is about"
    sections = price_sections(overview)
    sections += [] if overview.sensitivity is None else bag_sections.sensitivity_sections(overview.sensitivity)
    sections.append(bag_sections.segments_section(curve, overview.sensitivity))
    return _page(bag_sections.price_summary(curve, overview.price), sections, curve.provenance, curve.timings)


def front_page(overview: Overview) -> str:
    """Return the page of a front."""
    found = overview.front
    assert not isinstance(found, str), "the front is what the page is about"
    exact = exact_of(found)
    sections = [*price_sections(overview, front_first=True), bag_sections.vertices_section(found)]
    return _page(bag_sections.front_summary(found), sections, exact.provenance, exact.timings)


def _page(summary: str, sections: Sequence[Section], made: Provenance, timings: Mapping[str, float]) -> str:
    return page(made.instance_name, summary, sections, footer=footer_of(made, timings, "bag"))


def footer_of(made: Provenance, timings: Mapping[str, float], kind: str) -> str:
    """Return the versions and the instance of a page, and how long it took."""
    took = ", ".join(f"{name} {number(seconds, 3)} s" for name, seconds in timings.items())
    found = f"; {took}" if took else ""
    return f"lpsched {made.lpsched}, {made.solver}; {kind} {made.instance_hash}{found}."


# The slider of a bag: the best that is known at every price, read off the schedules along its price curve.
FRONT: Final = "front"  # the figure in which a mark moves
CURVE: Final = "curve"
MOST_CELLS: Final = 30_000  # of the tables of machine and task types: some million letters
MOST_ROWS, MOST_COLUMNS = 12, 8  # of the heat map: of more types, the largest and the rest
PROFIT: Final = "profit (verified)"
BOUND: Final = "at most (proved)"
REGIMES: Final = {"do-not-run": "best not to run", "loss": "at a loss", "profit": "profitable"}
MONEY: Final = ("revenue", "electricity", "wear", "depreciation", "overhead", "profit")
HEAT: Final = "Tasks by task type and machine type. The darker a cell, the larger its share of the task type."
EXPLANATION: Final = (
    "Move the slider, or type a price, a percentage of today's price, or a profit ratio (the price as a multiple of "
    "what the least energy of the bag costs). The profit is that of a verified schedule; no schedule earns more than "
    "the bound, proved."
)
NOTES: Final = (
    "Profit per hour is the right measure if one bag follows another. If you run one bag a day, look at the profit "
    "per bag instead. Between two breakpoints everything is constant or a line: nothing is interpolated between "
    "samples. At other prices than today's, 'lpsched solve' may prove a lower bound and find a better schedule. "
    "Marginal values are derivatives of the bound of the linear program; where they bend between two breakpoints, "
    "there is a '-', and 'lpsched solve' has them."
)


def price_slider(  # noqa: PLR0913 - options are keyword-only
    bag: Bag,
    stretches: Sequence[ScheduleSegment],
    *,
    today: float | None = None,
    even: float | None = None,
    gamma: float | None = None,
    frame: Frame | None = None,
    panels: int = 0,
) -> Slider:
    """Return the slider over the price, in percent of today's price and in profit ratios, too.

    `gamma` is the price at the profit ratio 1, `even` the break-even price, above which it begins where there is no
    price today. A mark shows the schedule in the `frame` of the front's figure, and its profit in each of the `panels`
    of the curve's.
    """
    currency, unit = bag.prices.currency, f"{bag.prices.currency}/hour"
    low, high = stretches[0].from_price, stretches[-1].to_price
    begins_at = today if today is not None else high / 2.0 if even is None else ABOVE_EVEN * even
    scales = [Scale(f"price, {currency}")]
    scales += [Scale("% of today's price", today / 100.0)] if today else []
    scales += [Scale("profit ratio", gamma)] if gamma else []
    capped = (KILOWATT,) if bag.site.average_power_cap_watts is not None else ()
    headers = ("machine type", "machines", "used", "tasks", "busy", machine_heading(unit))
    machines = FollowingTable("Machine types", headers, tuple(each.name for each in bag.machine_types))
    shown = _shown_tasks(bag, len(stretches))
    heat = _HeatMap(bag, stretches)
    tables = [FollowingTable("Money", ("", unit, f"{currency} per bag"), MONEY), heat.table, machines]
    if shown:
        title = "Task types" if len(shown) == len(bag.task_types) else f"The {counted(len(shown), 'largest task type')}"
        names = tuple(task.name for task in shown)
        tables.append(FollowingTable(title, ("task type", "tasks", task_heading(unit)), names))
    return Slider(
        scales=tuple(scales),
        explanation=EXPLANATION,
        begins_at=min(max(begins_at, low), high),
        today=today if today is not None and low <= today <= high else None,
        labels=(PROFIT, BOUND, "gap", "profit per bag", "regime", "makespan", "energy", "average power", *capped),
        segments=tuple(
            Segment(
                each.from_price,
                each.to_price,
                _readings(bag, each),
                (_money(each), heat.cells(each.schedule), *_tables(bag, each, shown)),
                _marks(each, frame, panels),
            )
            for each in stretches
        ),
        tables=tuple(tables),
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
    currency, unit = bag.prices.currency, f"{bag.prices.currency}/hour"
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
    regime = "no schedule was found that keeps the limits" if stretch.regime is None else REGIMES[stretch.regime]
    if stretch.regime not in {None, stretch.bound_regime}:
        regime += f" ({REGIMES[stretch.bound_regime]} not ruled out)"
    readings = [
        value,
        Reading(*bound, unit, upper=True),
        gap,
        per_bag,
        _still(regime),
        _still(duration(seconds)),
        _still(energy_text(joules)),
        _still(power_text(joules / seconds if joules is not None and seconds else None)),
    ]
    if bag.site.average_power_cap_watts is not None:
        low, high = stretch.worth_at_from.kilowatt_per_hour, stretch.worth_at_to.kilowatt_per_hour
        readings.append(Reading(low, high, unit))
    return tuple(readings)


def _money(stretch: ScheduleSegment) -> tuple[tuple[Reading, ...], ...]:
    """Return revenue, costs and profit per hour and per bag; costs are negative."""
    value = stretch.value_at_from, stretch.value_at_to
    split = None if stretch.breakdown is None else stretch.breakdown.per_hour
    if split is None or split.electricity is None or value[0] is None or value[1] is None:
        return ((_still("-"), _still("-")),) * len(MONEY)
    seconds = None if stretch.measured is None else stretch.measured.makespan_seconds
    prices, hours = (stretch.from_price, stretch.to_price), None if seconds is None else seconds / SECONDS_PER_HOUR
    sold = (0.0, 0.0) if hours is None else (prices[0] / hours, prices[1] / hours)
    kinds = split.electricity, split.wear, split.depreciation, split.overhead
    rows = [sold, *((0.0 - cost, 0.0 - cost) for cost in kinds), (value[0], value[1])]
    if hours is None:
        return tuple((Reading(*row), _still("-")) for row in rows)
    bags = [prices, *((low * hours, high * hours) for low, high in rows[1:])]
    return tuple((Reading(*row), Reading(*per_bag)) for row, per_bag in zip(rows, bags, strict=True))


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
        return tuple(tuple(_still(float(counts[row, column])) for column in self.columns) for row in self.rows)


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
        counts = (machine.count, 0, 0) if use is None else (use.count, use.used, use.tasks)
        busy = _still(0.0 if use is None else use.busy_share, "%")
        rows.append((*(_still(float(count)) for count in counts), busy, Reading(low[name], high[name])))
    low, high = stretch.worth_at_from.task_types, stretch.worth_at_to.task_types
    tasks = tuple((_still(float(task.count)), Reading(low[task.name], high[task.name])) for task in shown)
    return (tuple(rows), tasks) if shown else (tuple(rows),)


def _marks(stretch: ScheduleSegment, frame: Frame | None, panels: int) -> tuple[Mark, ...]:
    """Return where the schedule is among the points of the front, and where its price is on the curve."""
    marks = []
    if stretch.value_at_from is not None and stretch.value_at_to is not None:
        prices, earns = (stretch.from_price, stretch.to_price), (stretch.value_at_from, stretch.value_at_to)
        marks += [Mark(CURVE, prices, earns, "", panel) for panel in range(panels)]
    point = point_of(stretch)
    if frame is not None and point is not None:
        ((x, y),) = frame.dots([point])
        marks.append(Mark(FRONT, (x, x), (y, y), f"the schedule at this price: {frame.words(point)}"))
    return tuple(marks)


def point_of(found: Result | ScheduleSegment | None) -> Point | None:
    """Return energy and makespan of the schedule that was found, if anything runs and there are watts."""
    measured = None if found is None else found.measured
    if measured is None or measured.energy_joules is None or measured.makespan_seconds is None:
        return None
    return Point(measured.energy_joules, measured.makespan_seconds)
