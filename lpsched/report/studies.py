"""Studies in tables: what became of one that was run, and what its lines say."""

from __future__ import annotations

import csv
import io
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from lpsched.report.tables import table
from lpsched.studies.report import GAP, SECONDS, Group, StudyReport
from lpsched.units import bound_text, gap_text, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import ConsoleRenderable

    from lpsched.model.provenance import Estimate
    from lpsched.studies.lines import StudySummary

MOST_FAILURES: Final = 20
DIGITS: Final = 5
UNBROKEN: Final = "\u00a0"
INSTANCES: Final = "instances"  # the column of sources
BOUND: Final = "bound"
TO_MINIMISE: Final = ("seconds", "joules")  # units of bounds from below


def run_tables(summary: StudySummary) -> list[ConsoleRenderable]:
    """Return what became of a study."""
    rows = [
        ("runs", f"{summary.runs:,}", f"of the study {summary.study!r}, in {summary.lines}"),
        ("made now", f"{summary.made:,}", f"in {number(summary.seconds, 3)} seconds"),
    ]
    if summary.found:
        rows.append(("made before", f"{summary.found:,}", "and not made again"))
    if summary.left:
        rows.append(("left", f"{summary.left:,}", "go on with --resume"))
    if summary.failed:
        rows.append(("failed", f"{summary.failed:,}", "each a line with its reason"))
    told: list[ConsoleRenderable] = [table(("", "", ""), rows, numbers=(1,))]
    if summary.reasons:
        reasons = [(f"{runs:,}", reason) for reason, runs in summary.reasons]
        told.append(table(("failed runs", "reason"), reasons, numbers=(0,)))
    return told


def report_tables(report: StudyReport) -> list[ConsoleRenderable]:
    """Return what the lines of a study say: means of all quantities, the first one in detail, failures."""
    several = [overview(report), *(detail(report, quantity) for quantity in report.quantities[:1])]
    tables: list[ConsoleRenderable] = [
        table(headers, rows, numbers=range(len(report.by), len(headers))) for headers, rows in several
    ]
    if report.failures:
        tables.append(table(FAILURE_HEADERS, failure_rows(report), numbers=(0,)))
    return tables


FAILURE_HEADERS: Final = ("failed runs", "reason", "first")


def overview(report: StudyReport) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return headers, and a row for each group: how many runs, and the mean of each quantity."""
    headers = (*report.by, "runs", "failed", *(titled(report, name) for name in report.quantities))
    rows = []
    for group in report.groups:
        means = (_mean(name, group.mean(name), report.units.get(name)) for name in report.quantities)
        rows.append((*labels(report, group), f"{group.runs:,}", f"{group.failed:,}", *means))
    return headers, tuple(rows)


def detail(report: StudyReport, quantity: str) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return headers, and a row for each group: mean, confidence, median, least and most of one quantity."""
    rows = []
    for group in report.groups:
        told = group.to_dict()["quantities"][quantity] or {}
        cells = [told.get(name) for name in ("mean", "half_width", "median", "least", "most")]
        half = "" if cells[1] is None else f"± {shown_half(quantity, cells[1])}"
        others = [shown(quantity, each, report.units.get(quantity)) for each in (cells[0], *cells[2:])]
        rows.append((*labels(report, group), others[0], half, *others[1:]))
    return (*report.by, f"mean {titled(report, quantity)}", "95 %", "median", "least", "most"), tuple(rows)


def failure_rows(report: StudyReport) -> tuple[tuple[str, ...], ...]:
    """Return a row for each reason."""
    rows = []
    for each in report.failures[:MOST_FAILURES]:
        first = (f"{name} {word(value)}" for name, value in each.first.items() if value is not None)
        rows.append((f"{each.runs:,}", each.reason, ", ".join(first)))
    more = report.failures[MOST_FAILURES:]
    if more:
        rows.append((f"{sum(each.runs for each in more):,}", f"{len(more):,} other reasons", ""))
    return tuple(rows)


def labels(report: StudyReport, group: Group) -> tuple[str, ...]:
    """Return the words of a group, one for each column that the report goes by."""
    return tuple(word(group.by[name]) for name in report.by)


def word(value: Any) -> str:  # noqa: ANN401 - a plain value of JSON
    """Write a value of a parameter."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, int | float) else str(value)


def in_words(group: Group, *, without: str | None = None) -> str:
    """Return what tells a group apart: numbers with their names, files without their folders.

    What belongs together has blanks at which no line ends.
    """
    told = []
    for name, value in group.by.items():
        if name == INSTANCES and name != without:
            told.append(PurePath(str(value)).name)
        elif name != without and value is not None:
            told.append(word(value) if isinstance(value, str) else f"{plainly(name)} {word(value)}")
    return ", ".join(each.replace(" ", UNBROKEN) for each in told) or "all runs"


def plainly(name: str) -> str:
    """Return a parameter's name as one would say it.

    >>> plainly("profit_ratio")
    'profit ratio'
    """
    return name.replace("_", " ")


def titled(report: StudyReport, quantity: str) -> str:
    """Return a quantity with its unit."""
    unit = report.units.get(quantity)
    return quantity if unit is None else f"{quantity}, {unit}"


def shown(quantity: str, value: float | None, unit: str | None = None) -> str:
    """Write a number of a quantity; a bound is rounded to the side on which it stays true."""
    if quantity == GAP:
        return gap_text(value)
    if quantity == BOUND and unit is not None:
        return bound_text(value, upper=unit not in TO_MINIMISE, digits=DIGITS)
    return number(value, 3 if quantity == SECONDS else DIGITS)


def shown_half(quantity: str, half: float) -> str:
    """Write how sure we are of a mean: two digits are enough for that."""
    return f"{number(100 * half, 2)} %" if quantity == GAP else number(half, 2)


def _mean(quantity: str, estimate: Estimate | None, unit: str | None) -> str:
    if estimate is None:
        return "-"
    half = f" ± {shown_half(quantity, estimate.half_width)}" if estimate.half_width else ""
    return f"{shown(quantity, estimate.mean, unit)}{half}"


def csv_text(report: StudyReport) -> str:
    """Return the report for other programs: a row for each group and quantity, numbers in full."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = ("runs", "mean", "half_width", "median", "least", "most")
    writer.writerow((*report.by, "group_runs", "group_failed", "quantity", *columns))
    for group in report.groups:
        for name, told in group.to_dict()["quantities"].items():
            numbers = [None if told is None else told[column] for column in columns]
            writer.writerow((*_cells(group.by.values()), group.runs, group.failed, name, *_cells(numbers)))
    return out.getvalue()


def _cells(values: Sequence[Any] | Any) -> list[Any]:  # noqa: ANN401 - plain values of JSON
    return ["" if value is None else value for value in values]
