"""Sections of pages about bags."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from lpsched.bag.compare.result import HEADERS as METHOD_HEADERS
from lpsched.bag.compare.result import FrontComparison, Overview, machine_loads
from lpsched.bag.result import FRONT_HEADERS, KILOWATT, TWO_SIDED, FrontResult, Result, machine_heading, task_heading
from lpsched.report.figures.fronts import exact_of
from lpsched.report.figures.prices import sensitivity_figure, sensitivity_tooltips
from lpsched.report.figures.schedule import bag_loads, loads_figure, loads_tooltips, share_map, share_tooltips
from lpsched.report.html.page import PageFigure, Paragraph, Part, Section, Table
from lpsched.report.tables import UNFINISHED
from lpsched.units import counted, duration, energy_text, lower_text, number, percent, share_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.bag.model import Bag
    from lpsched.bag.pricing.result import PriceCurve, Sensitivity
    from lpsched.bag.schedule import Schedule
    from lpsched.model.risk import Risk


# The answer about a bag in one sentence: what is proved, and what a schedule reaches.


def result_summary(overview: Overview, result: Result) -> str:
    """Return the answer of a solve."""
    currency = result.unit.removesuffix("/hour")
    priced = result.regime is not None and overview.price is not None
    at = [f"at a price of {number(overview.price)} {currency}"] if priced else []
    makespan, energy = result.measured.makespan_seconds, result.measured.energy_joules
    takes = [duration(makespan)] if makespan is not None and result.objective != "makespan" else []
    takes += [energy_text(energy)] if energy is not None and result.objective != "energy" else []
    at += [f"one bag takes {' and '.join(takes)}"] if takes else []
    more = "; ".join(at)
    return f"{result.headline()} {more[:1].upper()}{more[1:]}." if more else result.headline()


def front_summary(result: FrontResult | FrontComparison) -> str:
    """Return the summary of a front."""
    found = exact_of(result).headline().replace("\n", " ")
    return f"{found[:1].upper()}{found[1:]}"


def price_summary(curve: PriceCurve, today: float | None = None) -> str:
    """Return the summary of a price curve."""
    currency = curve.unit.removesuffix("/hour")
    run, even = curve.least_price_to_run, curve.break_even_price
    parts = []
    if even is not None:
        share = f" ({share_text(even / today)} of today's)" if today else ""
        parts.append(f"Below a price of {lower_text(even)} {currency}{share} no schedule earns anything, proved")
    if run is not None:
        most = f"{lower_text(run)} {currency}"
        alone = f"Up to a price of {most} it is best not to run this bag, proved"
        parts.append(f"up to {most} it is best not to run" if parts else alone)
    segments = counted(len(curve.pieces), "segment")
    if not parts:
        return f"The most that this bag can earn at every price, proved, in {segments}."
    return f"{'; '.join(parts)}; the whole curve has {segments}."


# The sections of a bag's page: each shows one part of its overview, or says why there is none.
FACTS: Final = ("what", "how much", "how we know")
MOST_ROWS: Final = 1_000  # of a table: a page of paper is 50
MORE: Final = (
    "More machines than the first number cannot earn more than that many or fewer do (proved); with the "
    "second number a verified schedule earns more than any without them."
)
DERIVATIVES: Final = (
    "Marginal values are derivatives of the bound of the linear program: how it begins to change with one "
    "more. They promise nothing about schedules, because whole tasks move in steps."
)
STEPS: Final = (
    "One whole machine or task more, from bounds and verified schedules with and without it. Below the first "
    "price of a task no schedule with it earns more than the best without it; at the second price a verified "
    "schedule with it earns as much as any without it."
)
SEGMENTS: Final = (
    "No schedule earns more than the bound: proved at both ends of a segment, and so on the line between them. Bound "
    "and value are those where a segment begins. On segments with a loss no schedule earns anything, proved; on those "
    "with a profit the bound does not rule it out."
)
VERTICES: Final = (
    "The linear program may split tasks: no schedule lies below the line through its vertices (proved), and whole "
    "tasks may not reach them. The schedules are verified. The last column is the gap of a schedule to its "
    "vertex, in energy or in makespan, whichever is larger."
)
ABOVE: Final = (
    "The gap of a method: how much more makespan its verified schedules have than the front of the linear program "
    "at the same energy."
)


def answer_section(overview: Overview, result: Result) -> Section:
    """Show value and bound, and how they are known."""
    bag = overview.bag
    parts: list[Part] = [Table(FACTS, tuple(result.facts()))]
    tasks = f"{counted(bag.tasks, 'task')} of {counted(len(bag.task_types), 'type')}"
    machines = f"{counted(bag.machines, 'machine')} of {counted(len(bag.machine_types), 'type')}"
    parts.append(Paragraph(f"The bag has {tasks}, for {machines}."))
    return Section("The answer", tuple(parts))


def risk_section(risk: Risk) -> Section:
    """Show how the schedule fares if tasks do not take what the tables say."""
    parts: list[Part] = [Paragraph(risk.heading()), Table(risk.headers(), tuple(risk.rows()), numbers=True)]
    if risk.chances:
        parts.append(Table(("what", "how likely", "by"), tuple(risk.chance_rows())))
    return Section("If times and powers scatter", tuple(parts))


def segments_section(curve: PriceCurve, found: Sensitivity | None) -> Section:
    """Show all segments of the curve, and of the profit over the price of electricity."""
    parts: list[Part] = [Paragraph(SEGMENTS), _cut(curve.headers(), curve.rows())]
    if found is not None and found.electricity is not None:
        parts.append(Paragraph("Likewise over the price of electricity, at today's price of the bag:"))
        parts.append(_cut(found.electricity_headers(), found.electricity_pieces()))
    return Section("All segments", tuple(parts))


def sensitivity_sections(found: Sensitivity) -> list[Section]:
    """Show which price is needed, what electricity may cost, and which machines are worthwhile."""
    sections = [Section("Which price is needed for profit?", (Table(FACTS, tuple(found.price_rows())),))]
    at = "" if found.price is None else f"At a price of {number(found.price)} {found.currency}, all else as today."
    if found.electricity is not None:
        facts = Table(FACTS, tuple(found.electricity_rows()))
        drawn = _drawn(replace(found, machines=()), "The most profit over the price of electricity.")
        sections.append(Section("What may electricity cost?", (Paragraph(at), *drawn, facts)))
    if found.machines:
        rows = _cut(found.machine_headers(), found.machine_rows())
        words = "The bound on profit over the number of machines of each type of which more raise it."
        drawn = _drawn(replace(found, electricity=None), words)
        note = Paragraph(" ".join([at, MORE, *found.machine_notes()]).strip())
        sections.append(Section("How many more machines are worthwhile?", (note, *drawn, rows)))
    last, notes = sections.pop(), map(Paragraph, found.notes)
    return [*sections, replace(last, parts=(*last.parts, *notes))]


def _drawn(found: Sensitivity, words: str) -> tuple[Part, ...]:
    """Return the figure of what a profit depends on, if there is anything to draw."""
    figure = sensitivity_figure(found)
    return () if figure is None else (PageFigure(figure, words, tooltips=sensitivity_tooltips(found)),)


def vertices_section(found: FrontResult | FrontComparison) -> Section:
    """Show every vertex of the front, and methods beside it."""
    exact = exact_of(found)
    parts: list[Part] = []
    if isinstance(found, FrontComparison):
        parts += [Paragraph(ABOVE), Table(METHOD_HEADERS, tuple(found.rows()), numbers=True)]
    parts += [Paragraph(VERTICES), _cut(("vertex", *FRONT_HEADERS[1:]), exact.rows())]
    if exact.sample:
        sampled = f"A sample of {len(exact.sample):,} evenly spaced weights"
        parts.append(Paragraph(f"{sampled} finds {exact.sampled_vertices():,} of them."))
    return Section("All vertices of the front", tuple(parts))


def schedule_sections(bag: Bag, schedule: Schedule, result: Result | None = None) -> list[Section]:
    """Show when machines are done, what they take, and which task runs where."""
    marginals = []
    if result is not None and (result.regime is not None or result.one_more is not None):
        marginals.append(_marginals(result))
    if not schedule.groups:
        return [Section("Machine by machine", (Paragraph("Nothing runs: all machines wait."),)), *marginals]
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
    return [
        Section("Machine by machine", (done, _machines(bag, schedule, result))),
        Section("Which task runs where", (shared,)),
        *marginals,
    ]


def _machines(bag: Bag, schedule: Schedule, result: Result | None) -> Table:
    """Return what the machines of each type do, in numbers."""
    drawn = bag_loads(bag, schedule, most=len(bag.machine_types))
    loads, busy = {each.name: each for each in drawn.types}, busy_shares(bag, schedule)
    energy = any(each.busy_joules is not None for each in loads.values())
    worth = None if result is None else result.worth
    headers = ["machine type", "machines", f"done after, {drawn.seconds.name}", "busy"]
    headers += [f"busy, {drawn.joules.name}", f"idle, {drawn.joules.name}"] if energy else []
    headers += [] if worth is None or result is None else [machine_heading(result.unit)]
    rows = []
    for machine in bag.machine_types:
        own = loads[machine.name]
        first, last = (number(own.loads[at].completion_seconds / drawn.seconds.size) for at in (-1, 0))
        done = last if first == last else f"{first} to {last}"
        row = [machine.name, f"{machine.count:,}", done, percent(busy[machine.name])]
        row += [number((each or 0.0) / drawn.joules.size) for each in (own.busy_joules, own.idle_joules) if energy]
        row += [] if worth is None else [worth.machine_text(machine.name)]
        rows.append(tuple(row))
    return _cut(tuple(headers), rows)


def busy_shares(bag: Bag, schedule: Schedule | None) -> dict[str, float]:
    """Return the share of the makespan for which the machines of each type work."""
    shares = dict.fromkeys((machine.name for machine in bag.machine_types), 0.0)
    if schedule is None or not schedule.groups:
        return shares
    loads = machine_loads(bag, schedule)
    makespan = schedule.makespan_seconds or max(load.completion_seconds for load in loads)
    counts = {machine.name: machine.count for machine in bag.machine_types}
    for load in loads:
        whole = counts[load.machine_type] * makespan
        shares[load.machine_type] += load.machines * load.completion_seconds / whole
    return {name: min(1.0, share) for name, share in shares.items()}


def _marginals(result: Result) -> Section:
    """Show the marginal values, and what is proved about one whole machine or task more."""
    worth, steps = result.worth, result.one_more
    parts: list[Part] = []
    if worth is not None:
        parts += [Paragraph(DERIVATIVES), *([Paragraph(TWO_SIDED)] if worth.is_two_sided else [])]
        if worth.kilowatt_per_hour is not None:
            parts.append(Paragraph(f"{KILOWATT}: {worth.kilowatt_text()} {result.unit}."))
        machines = [(name, worth.machine_text(name)) for name in worth.machine_types]
        parts.append(_cut(("machine type", machine_heading(result.unit)), machines))
        tasks = [(name, worth.task_text(name)) for name in worth.task_types]
        parts.append(_cut(("task type", task_heading(result.unit)), tasks))
    elif result.regime is not None:
        parts.append(Paragraph(UNFINISHED))
    if steps is not None:
        parts.append(Paragraph(STEPS))
        parts += [_cut(headers, rows) for headers, rows in (steps.machine_table(), steps.task_table()) if rows]
    return Section("Marginal values", tuple(parts))


def _cut(headers: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    """Return a table of numbers that does not fill the page."""
    shown = tuple(rows[:MOST_ROWS])
    if len(rows) > MOST_ROWS:
        more = f"... and {len(rows) - MOST_ROWS:,} more (--json has all)"
        shown = (*shown, (more, *("" for _ in headers[1:])))
    return Table(headers, shown, numbers=True)
