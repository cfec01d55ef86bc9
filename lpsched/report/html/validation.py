"""Pages of comparisons: schedules of others against the bound, and studies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.bag.compare.result import Validation
from lpsched.online.result.validation import ClustersValidation, DayValidation
from lpsched.report.figures import comparisons
from lpsched.report.html.bag import footer_of
from lpsched.report.html.bag_sections import schedule_sections
from lpsched.report.html.page import PageFigure, Paragraph, Part, Section, Table, page
from lpsched.report.studies import FAILURE_HEADERS, detail, failure_rows, headline, overview, plainly, titled
from lpsched.studies.report import SECONDS, StudyReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.bag.model import Bag
    from lpsched.model.risk import Risk


# The page of a validation: schedulers against the bound, of a bag, of a day or of clusters.
Judged = Validation | DayValidation | ClustersValidation

MOST_BROKEN: Final = 1_000
DRAWN: Final = "What each schedule achieves, and its gap to the proved bound."
OF_DAY: Final = "'of bound' is the share of the most utility possible with the same energy, if no task ever waited."
KINDS: Final = {Validation: "bag", DayValidation: "day", ClustersValidation: "clusters"}


def validation_page(result: Judged, bag: Bag | None = None) -> str:
    """Return the page of schedulers held against the bound; of a bag with the best schedule machine by machine."""
    sections = [_answer(result)]
    risks = [] if isinstance(result, ClustersValidation) else _risks(result)
    if risks:
        sections.append(Section("If times and powers scatter", tuple(risks)))
    broken = [(entry.name, each.code, each.sentence) for entry in result.entries for each in entry.violations]
    if broken:
        first = f" The first {MOST_BROKEN:,} of {len(broken):,} are shown."
        more = first if len(broken) > MOST_BROKEN else ""
        note = Paragraph(f"A schedule that breaks a rule is not measured.{more}")
        table = Table(("schedule", "violation", "meaning"), tuple(broken[:MOST_BROKEN]))
        sections.append(Section("Violations", (note, table)))
    if bag is not None and isinstance(result, Validation):
        best = result.ranked().entries[0] if result.entries else None
        if best is not None and best.value is not None and best.schedule is not None:
            of_best = schedule_sections(bag, best.schedule)
            sections += [Section(f"{each.heading}: {best.name}", each.parts) for each in of_best]
    made = result.provenance
    return page(made.instance_name, result.headline(), sections, footer=footer_of(made, {}, KINDS[type(result)]))


def _answer(result: Judged) -> Section:
    """Show the table and the figure."""
    parts: list[Part] = []
    if result.entries:
        parts.append(
            PageFigure(comparisons.validation_figure(result), DRAWN, tooltips=comparisons.validation_tooltips(result))
        )
    parts.append(Table(result.headers(), tuple(result.rows()), numbers=True))
    if isinstance(result, DayValidation):
        parts.append(Paragraph(OF_DAY))
    return Section("Against the bound", tuple(parts))


def _risks(result: Validation | DayValidation) -> list[Part]:
    """Return how schedules fare if times and powers scatter; nothing where that was not asked for."""
    known: Sequence[tuple[str, Risk]] = [(each.name, each.risk) for each in result.entries if each.risk is not None]
    return [
        part
        for name, risk in known
        for part in (Paragraph(f"{name}: {risk.heading()}"), Table(risk.headers(), tuple(risk.rows()), numbers=True))
    ]


# The page of a study: how many runs, what they say group by group, a figure, what failed and why.
METHOD: Final = "method"
ROWS: Final = (
    "A row is a group of runs: dots are single runs, the thin line goes from the least to the most, the bar "
    "over the middle half, the tick is the median, the diamond the mean."
)
LINES: Final = "Lines are means; the band about a line is the 95 % confidence interval of the mean."
MEANINGS: Final = (
    ("runs, failed", "Runs of the group, and those of them without an outcome."),
    ("gap", "Distance of the verified value from the bound, as a share of the bound."),
    ("value", "The objective of the schedule, measured by the verifier."),
    ("bound", "No schedule is better: proved, except for facilities of more than 1,000 nodes."),
    ("seconds", "Run time on the machine that ran it; not part of the outcome."),
    ("±, 95 %", "Half the width of the 95 % confidence interval of the mean, by Student's distribution."),
)


def study_page(report: StudyReport) -> str:
    """Return the page of a study as HTML."""
    sections = [_drawn_groups(report)] if comparisons.drawn_groups(report) else []
    sections.append(Section("Groups of runs", (Table(*overview(report), numbers=True),)))
    sections += [_detail(report, quantity) for quantity in report.quantities if quantity != SECONDS]
    if report.failures:
        sections.append(Section("What failed, and why", (Table(FAILURE_HEADERS, failure_rows(report)),)))
    sections.append(Section("What the columns mean", (Table(("column", "meaning"), MEANINGS),)))
    solvers, versions = ", ".join(report.solvers), ", ".join(report.versions)
    footer = f"{report.lines}: {report.runs:,} runs, made by lpsched {versions}, {solvers}."
    return page(report.study, headline(report), sections, footer=footer)


def _drawn_groups(report: StudyReport) -> Section:
    in_rows = comparisons.swept(report) is None
    caption = ROWS if in_rows else LINES
    if in_rows and len(report.groups) > comparisons.MOST_GROUPS:
        caption += f" Drawn are the first {comparisons.MOST_GROUPS} groups; the tables have all."
    elif not in_rows and len(comparisons.lines_of(report)) > comparisons.MOST_LINES:
        caption += f" Drawn are the first {comparisons.MOST_LINES} lines; the tables have all groups."
    drawn, tooltips = comparisons.study_figure(report), comparisons.study_tooltips(report)
    return Section("Figure", (PageFigure(drawn, comparisons.described(report), caption, tooltips=tooltips),))


def _detail(report: StudyReport, quantity: str) -> Section:
    table = Table(*detail(report, quantity), numbers=True)
    note = Paragraph("Over the runs of each group that have such a number.")
    title = plainly(titled(report, quantity))
    return Section(f"{title[:1].upper()}{title[1:]}, in detail", (note, table))
