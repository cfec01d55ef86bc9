"""Studies in tables: how a run of a study ended, and the report of its lines."""

from __future__ import annotations

from pathlib import PurePath
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from lpsched.io.content import csv_bytes
from lpsched.model.results import run_time, short_unit, without_empty
from lpsched.report.tables import FoldingTable, fitted, table
from lpsched.studies.report import GAP, IN_UNITS, METHOD, SECONDS, Group, StudyReport
from lpsched.text import printable
from lpsched.units import (
    ENERGIES,
    TIMES,
    are_equal,
    bound_text,
    counted,
    duration,
    energy_text,
    gap_text,
    number,
    paired,
    plain_text,
)

if TYPE_CHECKING:
    from rich.console import ConsoleRenderable

    from lpsched.studies.study import StudySummary
    from lpsched.units import Writer

MOST_FAILURES: Final = 20
UNBROKEN: Final = "\u00a0"
INSTANCES: Final = "instances"  # the column of sources
VALUE, BOUND = IN_UNITS
TO_MINIMISE: Final = ("seconds", "joules")  # units of bounds from below


def run_tables(summary: StudySummary) -> list[ConsoleRenderable]:
    """Return in a sentence how many runs of a study are done and failed, why, and what to do next."""
    done, failed = summary.runs - summary.left, f"{summary.failed:,} failed" if summary.failed else "none failed"
    all_of = f"{done:,} of {counted(summary.runs, 'run')}" if summary.left else counted(summary.runs, "run")
    made = [f"{summary.made:,} now in {duration(summary.seconds)}"] if summary.made else []
    made += [f"{summary.found:,} before"] if summary.found else []
    when = f" ({', '.join(made)})" if made else ""
    tables: list[ConsoleRenderable] = [fitted(f"{summary.study}: {all_of} done, {failed}{when}.")]
    if summary.reasons:
        reasons = [(f"{runs:,}", reason) for reason, runs in summary.reasons]
        tables.append(table(("failed runs", "reason"), reasons, numbers=(0,)))
    steps = ["'lpsched study run' with --resume makes the others"] if summary.left else []
    steps += [f"'lpsched study report {summary.lines}' shows the results"] if done else []
    return [*tables, fitted(f"Next: {'; '.join(steps)}.")]


def report_tables(report: StudyReport) -> list[ConsoleRenderable]:
    """Return the headline, means of all quantities, the first one in detail, what they mean, and failures."""
    labels, several = len(report.by), [overview(report)]
    for first in report.quantities[:1]:
        headers, rows = detail(report, first)
        spread = (
            *headers[:labels],
            f"{titled(report, first)}: ±",
            *headers[labels + 2 :],
        )  # its mean is in the table above
        several.append((spread, tuple((*row[:labels], *row[labels + 1 :]) for row in rows)))
    tables: list[ConsoleRenderable] = [fitted(headline(report))]
    tables += [fitted(FoldingTable(headers, rows, labels)) for headers, rows in several]
    tables.append(fitted(MEANS))
    if report.failures:
        tables.append(table(FAILURE_HEADERS, failure_rows(report), numbers=(0,)))
    return tables


MEANS: Final = "Means over the runs of each group; ±: half the 95 % confidence interval of the mean."
FAILURE_HEADERS: Final = ("failed runs", "reason", "first")


def headline(report: StudyReport) -> str:
    """Return how many runs there are, how many failed, and the method with the smallest mean gap, if there are gaps.

    Gaps of different objectives are not comparable, and have no mean together: each objective has its own.
    """
    failed = f"{report.failed:,} failed" if report.failed else "none failed"
    text, gaps = f"{report.study}: {counted(report.runs, 'run')}, {failed}", dict[str, dict[str, list[float]]]()
    for group in report.groups if report.quantities[:1] == (GAP,) else ():
        name = str(group.by[METHOD]) if METHOD in group.by else in_words(group).replace(UNBROKEN, " ")
        for objective, several in group.gaps.items():
            gaps.setdefault(objective, {}).setdefault(name, []).extend(several)
    words = []
    for objective, by_name in gaps.items():
        means = {name: fmean(each) for name, each in by_name.items()}
        best = min(means, key=means.__getitem__)
        mean = f"{shown(GAP, means[best])} over {counted(len(by_name[best]), 'run')}"
        if len(means) > 1:
            words.append(f"for {objective} {best} ({mean})" if len(gaps) > 1 else f"{best}, {mean}")
    return f"{text}. Smallest mean gap: {', '.join(words)}." if words else f"{text}."


def overview(report: StudyReport) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return headers, and a row for each group: how many runs, and the mean of each quantity; no empty columns."""
    titles = (titled(report, name) for name in report.quantities)
    headers = tuple(map(printable, (*report.by, "runs", "failed", *titles)))
    rows = []
    for group, names in zip(report.groups, labels(report), strict=True):
        estimates = ((name, group.mean(name)) for name in report.quantities)
        texts = {name: shown(name, mean.mean if mean else None, group.unit) for name, mean in estimates}
        value, bound = (group.mean(name) if name in texts else None for name in IN_UNITS)
        if value and bound and are_equal(value.mean, bound.mean):
            pair = paired(value.mean, bound.mean, upper=group.unit not in TO_MINIMISE, write=_writer(group.unit))
            texts |= dict(zip(IN_UNITS, pair, strict=True))
        means = {name: _with_unit(report, group, name, text) for name, text in texts.items()}
        failed = f"{group.failed:,}" if report.failed else ""
        rows.append((*names, f"{group.runs:,}", failed, *means.values()))
    kept, full = without_empty(headers, rows, kept=report.by)
    return kept, tuple(full)


def detail(report: StudyReport, quantity: str) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return headers, and a row for each group: mean, confidence, median, least and most of one quantity."""
    rows = []
    for group, names in zip(report.groups, labels(report), strict=True):
        numbers = group.to_dict()["quantities"][quantity] or {}
        cells = [numbers.get(name) for name in ("mean", "half_width", "median", "least", "most")]
        half = "" if cells[1] is None else f"± {shown_half(quantity, cells[1], group.unit)}"
        texts = [shown(quantity, each, group.unit) for each in (cells[0], *cells[2:])]
        others = [_with_unit(report, group, quantity, each) for each in texts]
        rows.append((*names, others[0], half, *others[1:]))
    headers = (*report.by, f"mean {titled(report, quantity)}", "95 %", "median", "least", "most")
    return tuple(map(printable, headers)), tuple(rows)


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


def labels(report: StudyReport) -> list[tuple[str, ...]]:
    """Return the values of each group, for each column in `by`; files without their folders, where that is clear."""
    files = {str(each.by[INSTANCES]) for each in report.groups} if INSTANCES in report.by else set()
    clear = len({PurePath(each).name for each in files}) == len(files)
    return [
        tuple(
            PurePath(str(group.by[name])).name if name == INSTANCES and clear else word(group.by[name])
            for name in report.by
        )
        for group in report.groups
    ]


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
    """Return a quantity as a heading: with its unit, but for times and energies, whose cells have it."""
    return quantity if _measure(quantity, report.units.get(quantity)) else titled_axis(report, quantity)


def titled_axis(report: StudyReport, quantity: str) -> str:
    """Return a quantity with its unit, as the numbers along an axis have it."""
    unit = report.units.get(quantity)
    return quantity if unit is None else f"{quantity}, {short_unit(unit)}"


def shown(quantity: str, value: float | None, unit: str | None = None) -> str:
    """Write a number of a quantity, `unit` being that of values; a bound is rounded to the side on which it stays true.

    >>> shown("gap", 0.25), shown("value", 14_702.0, "seconds"), shown("bound", 28_069_748.0, "joules")
    ('25 %', '4 h 5 min', '7.797 kWh')
    >>> shown("value", 2.5, "USD/hour"), shown("energy_joules", 8400.0), shown("seconds", 0.0123456)
    ('2.5', '2.333 Wh', '0.012')
    """
    upper = unit not in TO_MINIMISE if quantity == BOUND else None
    measure = _measure(quantity, unit)
    if quantity == GAP:
        return gap_text(value)
    if measure:
        return (duration if measure == "seconds" else energy_text)(value, upper=upper)
    if upper is not None:
        return bound_text(value, upper=upper)
    return run_time(value) if quantity == SECONDS else number(value)


def shown_half(quantity: str, half: float, unit: str | None = None) -> str:
    """Write the half width of a confidence interval, with two digits.

    >>> shown_half("gap", 0.0123), shown_half("value", 1339.0, "seconds"), shown_half("value", 2_040_562.0, "joules")
    ('1.2 %', '22 min', '567 Wh')
    """
    measure = _measure(quantity, unit)
    if quantity == GAP:
        return f"{number(100 * half, 2)} %"
    if not measure:
        return number(half, 2)
    sizes = TIMES if measure == "seconds" else ENERGIES
    size, name = next((each for each in sizes if half >= each[0]), sizes[-1])
    return f"{number(half / size, 2)} {name}"


def _measure(quantity: str, unit: str | None) -> str:
    """Return which of `TO_MINIMISE` a quantity is shown as: a time, an energy, or nothing of the kind."""
    if quantity in IN_UNITS:
        return unit if unit in TO_MINIMISE else ""
    return next((each for each in TO_MINIMISE if quantity.endswith(f"_{each}")), "")


def _writer(unit: str | None) -> Writer:
    return {"seconds": duration, "joules": energy_text}.get(unit or "", plain_text)


def _with_unit(report: StudyReport, group: Group, quantity: str, text: str) -> str:
    """Return the text of a number, with its unit where the heading cannot have it, because groups differ in it."""
    if quantity not in IN_UNITS or quantity in report.units or group.unit is None or _measure(quantity, group.unit):
        return text
    return f"{text} {short_unit(group.unit)}"


def report_csv(report: StudyReport) -> bytes:
    """Return the report as CSV: a row for each group and quantity, numbers in full precision."""
    columns = ("runs", "mean", "half_width", "median", "least", "most")
    rows = (
        (*group.by.values(), group.runs, group.failed, name, *map((found or {}).get, columns))
        for group in report.groups
        for name, found in group.to_dict()["quantities"].items()
    )
    header = (*report.by, "group_runs", "group_failed", "quantity", *columns)
    return csv_bytes(header, rows, for_people=True)
