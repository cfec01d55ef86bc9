"""The page of a solve, a front or a price curve, and the slider along its prices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Final

from lpsched.bag.breakdown import MoneySplit
from lpsched.bag.compare.result import FrontComparison
from lpsched.bag.pricing.result import PROFITABLE, STATUS
from lpsched.bag.result import ROOM, Point, Result
from lpsched.report import solution
from lpsched.report.figures import prices
from lpsched.report.figures.fronts import Frame, exact_of, front_figure, front_tooltips
from lpsched.report.figures.schedule import bag_loads, loads_figure, loads_tooltips, share_map, share_tooltips
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
    Table,
    from_terminal,
    made_by,
    page,
)
from lpsched.units import SECONDS_PER_HOUR, counted, duration, energy_text, number, power_text

if TYPE_CHECKING:
    from lpsched.bag.breakdown import Breakdown
    from lpsched.bag.compare.result import Overview
    from lpsched.bag.model import Bag
    from lpsched.bag.parts import TaskType
    from lpsched.bag.pricing.result import PriceCurve, ScheduleSegment, Sensitivity
    from lpsched.bag.result import FrontResult
    from lpsched.bag.schedule import Schedule
    from lpsched.model.provenance import Provenance
    from lpsched.report.html.page import Part


MOST_TABLE_ROWS: Final = 1_000  # of a table: a page of paper is 50


def solve_page(overview: Overview) -> str:
    """Return the page of an answer."""
    result = overview.result
    assert result is not None, "the answer is what the page is about"
    parts = {name: from_terminal(each) for name, each in solution.result_parts(result, most=MOST_TABLE_ROWS).items()}
    answer = Section("The answer", (Paragraph(solution.size_text(result)), *parts["answer"], *parts["risk"]))
    sections = [answer, *price_sections(overview)]
    sections += schedule_sections(overview.bag, result.schedule, parts)
    return _page(" ".join([result.headline(), *solution.advice(result)]), sections, result.provenance)


def price_page(overview: Overview) -> str:
    """Return the page of a price curve."""
    curve, needs = overview.curve, overview.sensitivity
    assert not isinstance(curve, str), "the curve is what the page is about"
    assert needs is not None
    own = own_segments(curve, overview.breakpoints)
    rows = Table(own.headers(needs.current), tuple(own.rows(needs.current, most=MOST_TABLE_ROWS)), numbers=True)
    segments = Section(f"All {counted(len(own.pieces), 'segment')}", (Paragraph(f"{solution.SEGMENTS}."), rows))
    sections = [*price_sections(overview), *sensitivity_sections(needs), segments]
    sections += [Section(LEFT_OUT, tuple(map(Paragraph, needs.notes)))] if needs.notes else []
    return _page(" ".join(solution.price_sentences(curve, needs)), sections, curve.provenance)


def own_segments(curve: PriceCurve, breakpoints: Collection[float]) -> PriceCurve:
    """Return the curve with segments that begin at its breakpoints alone, not wherever another schedule is best."""
    pieces = [each for each in curve.pieces if each.from_price in breakpoints]
    ends = [*(each.from_price for each in pieces[1:]), curve.pieces[-1].to_price]
    joined = tuple(replace(piece, to_price=end) for piece, end in zip(pieces, ends, strict=True))
    return replace(curve, pieces=joined)


def front_page(overview: Overview) -> str:
    """Return the page of a front."""
    found = overview.front
    assert not isinstance(found, str), "the front is what the page is about"
    if isinstance(found, FrontComparison):
        shown = solution.comparison_tables(found, MOST_TABLE_ROWS)
    else:
        shown = solution.front_tables(found, MOST_TABLE_ROWS)
    vertices = Section("All vertices of the front", tuple(from_terminal(shown[1:])))
    sections = [*price_sections(overview, front_first=True), vertices]
    return _page(front_summary(found), sections, exact_of(found).provenance)


def _page(summary: str, sections: Sequence[Section], made: Provenance) -> str:
    return page(made.instance_name, summary, sections, footer=made_by(made, "bag"))


# The sections of a page: what the terminal says, beside figures.
def front_summary(result: FrontResult | FrontComparison) -> str:
    """Return the summary of a front."""
    found = exact_of(result).headline().replace("\n", " ")
    return f"{found[:1].upper()}{found[1:]}"


def sensitivity_sections(found: Sensitivity) -> list[Section]:
    """Show what electricity may cost, and which machines are worthwhile."""
    machines, sections = solution.machine_tables(found, MOST_TABLE_ROWS), []
    topics = {
        "What may electricity cost?": (solution.electricity_tables(found), replace(found, machines=())),
        "How many more machines are worthwhile?": (machines, replace(found, electricity=None)),
    }
    for heading, (tables, alone) in topics.items():
        figure, tooltips = prices.sensitivity_figure(alone), prices.sensitivity_tooltips(alone)
        drawn = [] if figure is None else [PageFigure(figure, f"{heading} The bound on profit.", tooltips=tooltips)]
        sections += [Section(heading, (*drawn, *from_terminal(tables)))] if tables else []
    return sections


def schedule_sections(bag: Bag, schedule: Schedule, parts: dict[str, list[Part]] | None = None) -> list[Section]:
    """Show when machines are done, what they take, and which task runs where; with the tables of the answer."""
    machines, tasks = ([], []) if parts is None else (parts["machines"], parts["tasks"])
    if not schedule.groups:
        nothing = Paragraph("Nothing runs: all machines wait.")
        return [Section("Machine by machine", (nothing, *machines)), *([Section("Tasks", (*tasks,))] if tasks else [])]
    loads = bag_loads(bag, schedule)
    left = f" The {loads.left_out:,} machine types that work least are not drawn." if loads.left_out else ""
    done = PageFigure(
        loads_figure(bag, schedule),
        f"When the machines of {len(loads.types):,} types are done, and the energy that they take.",
        f"All machines stay on until the makespan.{left}",
        tooltips=loads_tooltips(bag, schedule),
    )
    words = "Which share of each task type runs on which machine type."
    shared = PageFigure(share_map(bag, schedule), words, tooltips=share_tooltips(bag, schedule))
    return [Section("Machine by machine", (done, *machines)), Section("Which task runs where", (shared, *tasks))]


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
        prices.price_figure(overview.curve, overview.price, own),
        "The most profit at every price, and what verified schedules earn.",
        "" if isinstance(overview.stretches, str) else "The diamond follows the slider.",
        name=CURVE,
        tooltips=prices.price_tooltips(own, overview.price),
    )


def _slider(overview: Overview) -> Slider | None:
    if isinstance(overview.stretches, str) or isinstance(overview.curve, str):
        return None
    slider = price_slider(
        overview.bag,
        overview.stretches,
        current=overview.price,
        even=overview.curve.break_even_price,
        gamma=prices.ratio_of(overview.curve),
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
                (_money(each, money), heat.cells(each.breakdown), *_tables(bag, each, shown)),
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
    split = None if stretch.breakdown is None else stretch.breakdown.per_hour
    low, high = stretch.value_at_from, stretch.value_at_to
    seconds = stretch.measured and stretch.measured.makespan_seconds
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
    amounts, seconds = _amounts(stretch), None if stretch.measured is None else stretch.measured.makespan_seconds
    columns = []
    for times in (1.0, seconds and seconds / SECONDS_PER_HOUR):
        if amounts is None or times is None:
            columns.append([_still("-")] * len(words))
            continue
        column = {word: (times * low, times * high) for word, (low, high) in zip(MONEY, amounts, strict=True)}
        most = max(map(abs, column[MONEY[-1]]))  # a segment may begin at break-even
        decimals = solution.decimals_of([*(column[word][0] for word in MONEY[:-1]), most])
        columns.append([Reading(*column[word], decimals=decimals) for word in words])
    return tuple(zip(*columns, strict=True))


class _HeatMap:
    """How many tasks of each type run on each machine type; of many types, the largest have a row or a column."""

    def __init__(self, bag: Bag, stretches: Sequence[ScheduleSegment]) -> None:
        run = Counter(dict.fromkeys((machine.name for machine in bag.machine_types), 0))
        for each in stretches:
            uses = {} if each.breakdown is None else each.breakdown.machine_types
            run.update({name: use.tasks for name, use in uses.items()})
        counts = Counter({task.name: task.count for task in bag.task_types})
        self.rows, self.columns = _largest(counts, MOST_ROWS), _largest(run, MOST_COLUMNS)
        hidden = [name for name in counts if name not in self.rows]
        totals = [float(counts[name] if name else sum(counts[each] for each in hidden)) for name in self.rows]
        names = [name or f"{len(hidden):,} other task types" for name in self.rows]
        headers = ("task type", *(name or "other machine types" for name in self.columns))
        self.table = FollowingTable("Which task runs where", headers, tuple(names), tuple(totals), HEAT)

    def cells(self, found: Breakdown | None) -> tuple[tuple[Reading, ...], ...]:
        """Return the counts of a schedule."""
        counts: Counter[tuple[str, str]] = Counter()
        for task, run in ({} if found is None else found.allocation).items():
            for machine, count in run.items():
                counts[task if task in self.rows else "", machine if machine in self.columns else ""] += count
        return tuple(tuple(_still(float(counts[row, column]) or None) for column in self.columns) for row in self.rows)


def _largest(sizes: Counter[str], most: int) -> list[str]:
    """Return the names of the largest in their own order, and an empty one for the rest."""
    if len(sizes) <= most + 1:
        return list(sizes)
    largest = {name for name, _ in sizes.most_common(most)}
    return [*(name for name in sizes if name in largest), ""]


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
        earns = stretch.value_at_from, stretch.value_at_to
        marks.append(Mark(CURVE, (stretch.from_price, stretch.to_price), earns))
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
