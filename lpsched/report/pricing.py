"""Fronts, price curves, sensitivities and what-ifs in tables, at most 100 columns wide for names of usual length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.text import Text

from lpsched.bag.compare import result as front_comparison
from lpsched.bag.pricing.result import WHAT_IF_HEADERS
from lpsched.bag.result import FRONT_HEADERS, FrontResult
from lpsched.model.results import along
from lpsched.report.tables import MOST_ROWS, FoldingTable, cut, cut_table, fitted, front_remarks, table
from lpsched.units import counted, duration, energy_text, number, upper_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import ConsoleRenderable

    from lpsched.bag.compare.result import FrontComparison
    from lpsched.bag.pricing.result import PriceCurve, Sensitivity, TableOfTexts, WhatIf

MOST_SEGMENTS: Final = 12  # rows of tables in a terminal
MOST_VERTICES: Final = 24
MOST_TASKS: Final = 12
GAP: Final = "gap: how far the schedule is above the vertex, in energy or makespan, whichever is more"
SEGMENTS: Final = (
    "bound: no schedule earns more at the first price of the segment (proved); value: a verified schedule earns it"
)
BY_PROGRAM: Final = "(LP): of the linear program, which may split tasks; no promise about schedules"
WORTHWHILE: Final = "More than the first number cannot pay for themselves (proved); the second number do (verified)."
NOT_ONE: Final = "No number of further machines of any one type pays for itself (proved)."


def front_tables(result: FrontResult) -> list[ConsoleRenderable]:
    """Return the ends of a front, every vertex with the schedule near it, and what is proved."""
    vertices, rows = counted(len(result.vertices), "vertex", "vertices"), result.rows()
    tables: list[ConsoleRenderable] = [
        fitted(f"{result.provenance.instance_name}: {result.headline()}"),
        table(FRONT_HEADERS, [rows[place] for place in along(len(rows), MOST_VERTICES)], numbers=range(6)),
        *cut(rows, MOST_VERTICES),
        fitted(GAP),
    ]
    if result.sample:
        found = f"{result.sampled_vertices():,} of the {vertices}"
        tables.append(Text(f"a sample of {counted(len(result.sample), 'evenly spaced weight')} finds {found}"))
    return tables


def comparison_tables(result: FrontComparison) -> list[ConsoleRenderable]:
    """Return the exact front of a bag, the methods compared with it, and their warnings."""
    energy, makespan = energy_text(result.reference.energy_joules), duration(result.reference.makespan_seconds)
    heading = Text(
        f"compared with the front of the linear program; hypervolume up to {energy} and {makespan}, seed {result.seed}"
    )
    answer = table(front_comparison.HEADERS, result.rows(), numbers=range(1, 7))
    return [*front_tables(result.front), heading, answer, *front_remarks(result.entries)]


def price_tables(curve: PriceCurve, needs: Sensitivity) -> list[ConsoleRenderable]:
    """Return the break-even price, the current one, the segments of the curve; electricity and machines."""
    currency, current = curve.currency, needs.current
    lines = [needs.headline(proved=curve.break_even_price), needs.current_text()]
    if curve.least_price_to_run is not None:
        amount, _ = needs.not_run()
        lines.append(f"Best not to run {amount} (proved).")
    headers = curve.headers(current)
    numbers = [place for place, header in enumerate(headers) if header != "status"]
    segments = counted(len(curve.pieces), "segment")
    tables: list[ConsoleRenderable] = [
        fitted(f"{curve.provenance.instance_name}: " + "\n".join(filter(None, lines))),
        Text(f"Profit over the price, {segments}:"),
        table(headers, curve.rows(current, most=MOST_SEGMENTS), numbers=numbers),
        *cut(curve.pieces, MOST_SEGMENTS),
        fitted(SEGMENTS),
    ]
    if curve.points:
        sampled = [
            (number(each.price), number(each.ratio), upper_text(each.bound), number(each.value))
            for each in curve.points
        ]
        tables.append(
            table(
                (f"price, {currency}", "profit ratio", f"bound, {currency}/h", f"value, {currency}/h"),
                sampled,
                numbers=range(4),
            )
        )
    return [*tables, *sensitivity_tables(needs)]


def sensitivity_tables(result: Sensitivity) -> list[ConsoleRenderable]:
    """Return what electricity may cost, and how many more machines are worthwhile."""
    answer: list[ConsoleRenderable] = []
    if result.electricity is not None:
        answer += [Text(f"Price of electricity, {_at(result)}:"), table(("", "", ""), result.electricity_rows())]
    if result.machines:
        answer += [Text(f"One more machine of a type, {_at(result)}:"), *_cut(result.one_more_table())]
        answer += [Text(note) for note in (*result.machine_notes(), BY_PROGRAM)]
        if any(need.most_more != 0 for need in result.machines):
            answer += [Text("How many more machines of a type are worthwhile:"), *_cut(result.how_many_table())]
            answer.append(Text(WORTHWHILE))
        else:
            answer.append(Text(NOT_ONE))
    return [*answer, *(Text(note) for note in result.notes)]


def _at(result: Sensitivity) -> str:
    return f"at the bag's price of {number(result.price)} {result.currency}, all else as it is"


def _cut(texts: TableOfTexts) -> list[ConsoleRenderable]:
    headers, rows = texts
    return [FoldingTable(headers, tuple(rows[:MOST_ROWS])), *cut(rows)]


def what_if_tables(result: WhatIf) -> list[ConsoleRenderable]:
    """Return two results side by side, and the marginal values of machines and tasks in both."""
    name, unit = result.before.provenance.instance_name, result.before.unit.replace("/hour", "/h")
    tables: list[ConsoleRenderable] = [
        fitted(f"{name}: {result.sentence()}"),
        table(WHAT_IF_HEADERS, result.facts(), numbers=(1, 2, 3)),
    ]
    headers: Sequence[str] = ("machine type", "machines\nbefore", "\nafter")
    rows, prices = result.machines(), result.tasks()
    if result.before.worth is None and result.after.worth is None:
        return [*tables, table(headers, [row[:3] for row in rows], numbers=(1, 2))]
    headers = (*headers, f"marginal value of one more\n(LP), {unit}: before", "\nafter")
    tables += [table(headers, rows, numbers=(1, 2, 3, 4))]
    if prices:
        first = f"minimum price for one more\n(LP), {unit.removesuffix('/h')}: before"
        tables += cut_table(("task type", first, "\nafter", "\nchange"), prices, numbers=(1, 2, 3), most=MOST_TASKS)
    return [*tables, Text(BY_PROGRAM)]
