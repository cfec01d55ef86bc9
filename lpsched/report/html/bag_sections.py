"""Sections of pages about bags: what the terminal says, beside figures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from lpsched.bag.compare.result import HEADERS as METHOD_HEADERS
from lpsched.bag.compare.result import FrontComparison
from lpsched.bag.result import FRONT_HEADERS
from lpsched.report.figures.fronts import exact_of
from lpsched.report.figures.prices import sensitivity_figure, sensitivity_tooltips
from lpsched.report.figures.schedule import bag_loads, loads_figure, loads_tooltips, share_map, share_tooltips
from lpsched.report.html.page import PageFigure, Paragraph, Section, Table, parts_of
from lpsched.report.solution import GAP, SEGMENTS, advice, electricity_tables, machine_tables, size_text
from lpsched.units import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.bag.model import Bag
    from lpsched.bag.pricing.result import PriceCurve, PricePoint, Sensitivity
    from lpsched.bag.result import FrontResult, Result
    from lpsched.bag.schedule import Schedule
    from lpsched.report.html.page import Part

MOST_ROWS: Final = 1_000  # of a table: a page of paper is 50
VERTICES: Final = (
    "The linear program may split tasks: no schedule lies below the line through its vertices (proved), and whole "
    f"tasks may not reach them. The schedules are verified. {GAP[:1].upper()}{GAP[1:]}."
)
ABOVE: Final = (
    "The gap of a method: how much more makespan its verified schedules have than the front of the linear program "
    "at the same energy."
)


def result_summary(result: Result) -> str:
    """Return the answer of a solve, and what to change about the machines."""
    return " ".join([result.headline(), *advice(result)])


def front_summary(result: FrontResult | FrontComparison) -> str:
    """Return the summary of a front."""
    found = exact_of(result).headline().replace("\n", " ")
    return f"{found[:1].upper()}{found[1:]}"


def answer_section(result: Result, parts: dict[str, list[Part]]) -> Section:
    """Show money, makespan, energy and power, the limits reached; and how the schedule fares if times scatter."""
    return Section("The answer", (Paragraph(size_text(result)), *parts["answer"], *parts["risk"]))


def segments_section(curve: PriceCurve, current: PricePoint | None) -> Section:
    """Show all segments of the curve, and the current price among them."""
    table = _cut(curve.headers(current), curve.rows(current))
    return Section(f"All {counted(len(curve.pieces), 'segment')}", (Paragraph(f"{SEGMENTS}."), table))


def sensitivity_sections(found: Sensitivity) -> list[Section]:
    """Show what electricity may cost, and which machines are worthwhile."""
    electricity, machines = parts_of(electricity_tables(found)), parts_of(machine_tables(found, MOST_ROWS))
    sections = []
    if electricity:
        drawn = _drawn(replace(found, machines=()), "The most profit over the price of electricity.")
        sections.append(Section("What may electricity cost?", (*drawn, *electricity)))
    if machines:
        words = "The bound on profit over the number of machines of each type of which more raise it."
        drawn = _drawn(replace(found, electricity=None), words)
        sections.append(Section("How many more machines are worthwhile?", (*drawn, *machines)))
    return sections


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


def _cut(headers: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    """Return a table of numbers that does not fill the page."""
    shown = tuple(rows[:MOST_ROWS])
    if len(rows) > MOST_ROWS:
        more = f"... and {len(rows) - MOST_ROWS:,} more (--json has all)"
        shown = (*shown, (more, *("" for _ in headers[1:])))
    return Table(headers, shown, numbers=True)
