"""The page of a study: how many runs, what they say group by group, a picture, what failed and why."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Final

from lpsched.report.figures.studies import (
    MOST_LINES,
    MOST_ROWS,
    described,
    drawn_groups,
    lines_of,
    study_picture,
    study_spots,
    swept,
)
from lpsched.report.html.page import Paragraph, Picture, Section, Table, page
from lpsched.report.studies import (
    FAILURE_HEADERS,
    detail_headers,
    detail_rows,
    failure_rows,
    in_words,
    overview_headers,
    overview_rows,
    plainly,
    shown,
    titled,
)
from lpsched.studies.report import GAP, SECONDS

if TYPE_CHECKING:
    from lpsched.studies.report import StudyReport

METHOD: Final = "method"
ROWS: Final = (
    "A row is a group of runs: dots are single runs, the thin line goes from the least to the most, the bar "
    "over the middle half, the tick is the median, the diamond the mean."
)
LINES: Final = "Lines are means; the band about a line is the 95 % confidence interval of the mean."
MEANINGS: Final = (
    ("runs, failed", "Runs of the group, and those of them that have a reason instead of an outcome."),
    ("gap", "Distance of the verified value from the bound, as a share of the bound."),
    ("value", "What the schedule was measured to bring or take, by the verifier."),
    ("bound", "What no schedule can pass: proved, but for facilities of more than 1,000 nodes."),
    ("seconds", "That a whole run took where it was made; not part of its outcome."),
    ("±, 95 %", "Half the width of the 95 % confidence interval of the mean, by Student's distribution."),
)


def study_page(report: StudyReport) -> str:
    """Return the page of a study as HTML."""
    sections = [_picture(report)] if drawn_groups(report) else []
    sections.append(_groups(report))
    sections += [_detail(report, quantity) for quantity in report.quantities if quantity != SECONDS]
    if report.failures:
        failures = Table(FAILURE_HEADERS, failure_rows(report))
        sections.append(Section("What failed, and why", (failures,)))
    sections.append(Section("What the columns mean", (Table(("column", "meaning"), MEANINGS),)))
    solvers, versions = ", ".join(report.solvers), ", ".join(report.versions)
    footer = f"{report.lines}: {report.runs:,} runs, made by lpsched {versions}, {solvers}."
    return page(report.study, lead_of(report), sections, footer=footer)


def lead_of(report: StudyReport) -> str:
    """Return the answer in one sentence: which method, or group, is best, by its gap where there is one."""
    failed = f"{report.failed:,} of them failed" if report.failed else "none of them failed"
    if not report.quantities:
        return f"{report.runs:,} runs, {failed}."
    quantity = report.quantities[0]
    numbers: dict[str, list[float]] = {}
    for group in report.groups:  # methods are compared over all that varies besides
        name = str(group.by[METHOD]) if METHOD in group.by else in_words(group)
        numbers.setdefault(name, []).extend(group.numbers[quantity])
    means = {name: fmean(each) for name, each in numbers.items() if each}
    if len(means) <= 1 or quantity not in (GAP, SECONDS):
        return f"{report.runs:,} runs in {len(report.groups):,} groups; {failed}."
    name = min(means, key=lambda name: means[name])
    runs, how = f"{report.runs:,} runs, {failed}; on average, {name} is", shown(quantity, means[name])
    if quantity == GAP:
        return f"{runs} closest to its bound: {how} away."
    return f"{runs} quickest: {how} seconds."


def _groups(report: StudyReport) -> Section:
    overview = Table(overview_headers(report), overview_rows(report), numbers=True)
    return Section("Groups of runs", (overview,))


def _picture(report: StudyReport) -> Section:
    caption = ROWS if swept(report) is None else LINES
    if swept(report) is None and len(report.groups) > MOST_ROWS:
        caption += f" Drawn are the first {MOST_ROWS} groups; the tables have all."
    elif swept(report) is not None and len(lines_of(report)) > MOST_LINES:
        caption += f" Drawn are the first {MOST_LINES} lines; the tables have all groups."
    drawn = Picture(study_picture(report), described(report), caption, spots=study_spots(report))
    return Section("In a picture", (drawn,))


def _detail(report: StudyReport, quantity: str) -> Section:
    table = Table(detail_headers(report, quantity), detail_rows(report, quantity), numbers=True)
    note = Paragraph("Over the runs of each group that have such a number.")
    title = plainly(titled(report, quantity))
    return Section(f"{title[:1].upper()}{title[1:]}, in detail", (note, table))
