"""Studies in tables: how a run of a study ended, and the report of its lines."""

from __future__ import annotations

import csv
import io
from pathlib import PurePath
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from lpsched.model.results import short_unit, without_empty
from lpsched.report.tables import fitted, table
from lpsched.studies.report import GAP, METHOD, SECONDS, Group, StudyReport
from lpsched.units import DIGITS, bound_text, counted, gap_text, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import ConsoleRenderable

    from lpsched.model.provenance import Estimate
    from lpsched.studies.study import StudySummary

MOST_FAILURES: Final = 20
UNBROKEN: Final = "\u00a0"
INSTANCES: Final = "instances"  # the column of sources
BOUND: Final = "bound"
TO_MINIMISE: Final = ("seconds", "joules")  # units of bounds from below


def run_tables(summary: StudySummary) -> list[ConsoleRenderable]:
    """Return how many runs of a study are finished, remain and failed."""
    rows = [
        ("runs", f"{summary.runs:,}", f"of the study {summary.study!r}, in {summary.lines}"),
        ("made now", f"{summary.made:,}", f"in {number(summary.seconds, 3)} seconds"),
    ]
    if summary.found:
        rows.append(("made before", f"{summary.found:,}", "and skipped"))
    if summary.left:
        rows.append(("remaining", f"{summary.left:,}", "continue with --resume"))
    if summary.failed:
        rows.append(("failed", f"{summary.failed:,}", "with the reason in the line of the run"))
    tables: list[ConsoleRenderable] = [table(("", "", ""), rows, numbers=(1,))]
    if summary.reasons:
        reasons = [(f"{runs:,}", reason) for reason, runs in summary.reasons]
        tables.append(table(("failed runs", "reason"), reasons, numbers=(0,)))
    return tables


def report_tables(report: StudyReport) -> list[ConsoleRenderable]:
    """Return the headline, means of all quantities, the first one in detail, and failures."""
    several = [overview(report), *(detail(report, quantity) for quantity in report.quantities[:1])]
    tables: list[ConsoleRenderable] = [fitted(headline(report))]
    for headers, rows in several:
        tables.append(table(headers, rows, numbers=range(len(report.by), len(headers))))
    if report.failures:
        tables.append(table(FAILURE_HEADERS, failure_rows(report), numbers=(0,)))
    return tables


FAILURE_HEADERS: Final = ("failed runs", "reason", "first")


def headline(report: StudyReport) -> str:
    """Return how many runs there are, how many failed, and the method with the smallest mean gap, if there are gaps."""
    failed = f"{report.failed:,} failed" if report.failed else "none failed"
    text, gaps = f"{report.study}: {counted(report.runs, 'run')}, {failed}", dict[str, list[float]]()
    for group in report.groups if report.quantities[:1] == (GAP,) else ():
        gaps.setdefault(str(group.by[METHOD]) if METHOD in group.by else in_words(group), []).extend(group.numbers[GAP])
    means = {name: fmean(each) for name, each in gaps.items() if each}
    if len(means) <= 1:
        return f"{text}."
    best = min(means, key=lambda name: means[name])
    return f"{text}. Smallest mean gap: {best}, {gap_text(means[best])} over {counted(len(gaps[best]), 'run')}."


def overview(report: StudyReport) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return headers, and a row for each group: how many runs, and the mean of each quantity; no empty columns."""
    headers = (*report.by, "runs", "failed", *(titled(report, name) for name in report.quantities))
    rows = []
    for group in report.groups:
        means = (_mean(name, group.mean(name), report.units.get(name)) for name in report.quantities)
        failed = f"{group.failed:,}" if report.failed else ""
        rows.append((*labels(report, group), f"{group.runs:,}", failed, *means))
    kept, full = without_empty(headers, rows, kept=report.by)
    return kept, tuple(full)


def detail(report: StudyReport, quantity: str) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return headers, and a row for each group: mean, confidence, median, least and most of one quantity."""
    rows = []
    for group in report.groups:
        numbers = group.to_dict()["quantities"][quantity] or {}
        cells = [numbers.get(name) for name in ("mean", "half_width", "median", "least", "most")]
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
    """Return the values of a group, one for each column in `by`."""
    return tuple(word(group.by[name]) for name in report.by)


def word(value: Any) -> str:  # noqa: ANN401 - a plain value of JSON
    """Write a value of a parameter."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, int | float) else str(value)


def in_words(group: Group, *, without: str | None = None) -> str:
    """Return what distinguishes a group: numbers with their names, files without their folders.

    Values have unbreakable blanks.
    """
    words = []
    for name, value in group.by.items():
        if name == INSTANCES and name != without:
            words.append(PurePath(str(value)).name)
        elif name != without and value is not None:
            words.append(word(value) if isinstance(value, str) else f"{plainly(name)} {word(value)}")
    return ", ".join(each.replace(" ", UNBROKEN) for each in words) or "all runs"


def plainly(name: str) -> str:
    """Return the name of a parameter in words.

    >>> plainly("profit_ratio")
    'profit ratio'
    """
    return name.replace("_", " ")


def titled(report: StudyReport, quantity: str) -> str:
    """Return a quantity with its unit."""
    unit = report.units.get(quantity)
    return quantity if unit is None else f"{quantity}, {short_unit(unit)}"


def shown(quantity: str, value: float | None, unit: str | None = None) -> str:
    """Write a number of a quantity; a bound is rounded to the side on which it stays true."""
    if quantity == GAP:
        return gap_text(value)
    if quantity == BOUND and unit is not None:
        return bound_text(value, upper=unit not in TO_MINIMISE, digits=DIGITS)
    return number(value, 3 if quantity == SECONDS else DIGITS)


def shown_half(quantity: str, half: float) -> str:
    """Write the half width of a confidence interval, with two digits."""
    return f"{number(100 * half, 2)} %" if quantity == GAP else number(half, 2)


def _mean(quantity: str, estimate: Estimate | None, unit: str | None) -> str:
    if estimate is None:
        return "-"
    mean = shown(quantity, estimate.mean, unit)
    if not estimate.half_width or quantity == SECONDS:  # the confidence interval of run times is in JSON and CSV
        return mean
    return f"{mean.removesuffix(' %')} ± {shown_half(quantity, estimate.half_width)}"


def csv_text(report: StudyReport) -> str:
    """Return the report as CSV: a row for each group and quantity, numbers in full precision."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = ("runs", "mean", "half_width", "median", "least", "most")
    writer.writerow((*report.by, "group_runs", "group_failed", "quantity", *columns))
    for group in report.groups:
        for name, found in group.to_dict()["quantities"].items():
            numbers = [None if found is None else found[column] for column in columns]
            writer.writerow((*_cells(group.by.values()), group.runs, group.failed, name, *_cells(numbers)))
    return out.getvalue()


def _cells(values: Sequence[Any] | Any) -> list[Any]:  # noqa: ANN401 - plain values of JSON
    return ["" if value is None else value for value in values]
