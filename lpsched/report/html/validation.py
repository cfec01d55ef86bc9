"""Pages of comparisons: schedules of others against the bound, and studies."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Final

from lpsched.bag.compare.result import Entry, Validation
from lpsched.online.result.validation import ClustersValidation, DayValidation
from lpsched.report.figures import comparisons
from lpsched.report.html.bag import footer_of
from lpsched.report.html.bag_sections import schedule_sections
from lpsched.report.html.page import Paragraph, Part, Picture, Section, Table, page
from lpsched.report.studies import FAILURE_HEADERS, detail, failure_rows, in_words, overview, plainly, shown, titled
from lpsched.studies.report import GAP, SECONDS, StudyReport
from lpsched.units import ROUNDING, gap_text, number, share_text, upper_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.bag.model import Bag
    from lpsched.model.risk import Risk


# The page of a validation: schedulers against the bound, of a bag, of a day or of clusters.
Judged = Validation | DayValidation | ClustersValidation

MOST_BROKEN: Final = 1_000
DRAWN: Final = "What each schedule achieves, and how far it is from the bound that none can pass."
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
        told = Paragraph(f"A schedule that breaks a rule is not measured.{more}")
        table = Table(("schedule", "violation", "what it says"), tuple(broken[:MOST_BROKEN]))
        sections.append(Section("Rules that are broken", (told, table)))
    if bag is not None and isinstance(result, Validation):
        best = _best(result)
        if best is not None and best.schedule is not None:
            of_best = schedule_sections(bag, best.schedule)
            sections += [Section(f"{each.heading}: {best.name}", each.parts) for each in of_best]
    made = result.provenance
    return page(made.instance_name, _lead(result), sections, footer=footer_of(made, {}, KINDS[type(result)]))


def _answer(result: Judged) -> Section:
    """Show the table and the picture."""
    parts: list[Part] = []
    if result.entries:
        parts.append(Picture(comparisons.validation_picture(result), DRAWN, spots=comparisons.validation_spots(result)))
    parts.append(Table(result.headers(), tuple(result.rows()), numbers=True))
    if isinstance(result, DayValidation):
        parts.append(Paragraph(OF_DAY))
    return Section("Against the bound", tuple(parts))


def _risks(result: Validation | DayValidation) -> list[Part]:
    """Return how schedules fare if times and powers scatter; nothing where nobody asked."""
    known: Sequence[tuple[str, Risk]] = [(each.name, each.risk) for each in result.entries if each.risk is not None]
    return [
        part
        for name, risk in known
        for part in (Paragraph(f"{name}: {risk.heading()}"), Table(risk.headers(), tuple(risk.rows()), numbers=True))
    ]


def _lead(result: Judged) -> str:
    """Return the bound and who comes nearest to it, in one sentence."""
    if isinstance(result, Validation):
        return _lead_of_bag(result)
    valid = [entry.name for entry in result.entries if entry.measured is not None]
    if isinstance(result, DayValidation):
        most = upper_text(result.naive_bound)
        bound = f"No schedule of this day earns more than {most} utility, proved"
        shares = {each.name: each.share_of_bound for each in result.entries if each.measured is not None}
    else:
        amount = result.limit_text(result.bound)
        bound = f"No schedule earns more than {amount} utility, proved"
        if result.is_cost:
            bound = f"Waiting costs every schedule at least {amount}, proved"
        shares = {each.name: result.share_of_bound(each) for each in result.entries if each.measured is not None}
    if not valid:
        return f"{bound}; none of these is valid."
    best = max(valid, key=lambda name: shares[name] or 0.0)
    if isinstance(result, ClustersValidation) and result.is_cost:
        return f"{bound}: that is {share_text(shares[best])} of what it costs {best}, which comes nearest."
    energy = " possible with its energy" if isinstance(result, DayValidation) else ""
    return f"{bound}; {best} comes nearest, with {share_text(shares[best])} of the most{energy}."


def _lead_of_bag(result: Validation) -> str:
    most = "earns more than" if result.objective == "profit" else f"has a smaller {result.objective} than"
    bound = f"No schedule {most} {result.bound_text()} {result.unit}, proved"
    best = _best(result)
    if best is None:
        return f"{bound}; none of these is valid."
    if best.gap is not None and best.gap <= ROUNDING:
        return f"{bound}; {best.name} reaches it."
    return f"{bound}; {best.name} comes nearest, with {number(best.value)}: {gap_text(best.gap)} away."


def _best(result: Validation) -> Entry | None:
    """Return the best valid schedule; of equally good ones the first."""
    known = [(each.value, each) for each in result.entries if each.valid and each.value is not None]
    if not known:
        return None
    sign = 1.0 if result.objective == "profit" else -1.0
    return max(known, key=lambda pair: sign * pair[0])[1]


# The page of a study: how many runs, what they say group by group, a picture, what failed and why.
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
    sections = [_picture(report)] if comparisons.drawn_groups(report) else []
    sections.append(Section("Groups of runs", (Table(*overview(report), numbers=True),)))
    sections += [_detail(report, quantity) for quantity in report.quantities if quantity != SECONDS]
    if report.failures:
        sections.append(Section("What failed, and why", (Table(FAILURE_HEADERS, failure_rows(report)),)))
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


def _picture(report: StudyReport) -> Section:
    in_rows = comparisons.swept(report) is None
    caption = ROWS if in_rows else LINES
    if in_rows and len(report.groups) > comparisons.MOST_GROUPS:
        caption += f" Drawn are the first {comparisons.MOST_GROUPS} groups; the tables have all."
    elif not in_rows and len(comparisons.lines_of(report)) > comparisons.MOST_LINES:
        caption += f" Drawn are the first {comparisons.MOST_LINES} lines; the tables have all groups."
    drawn, spots = comparisons.study_picture(report), comparisons.study_spots(report)
    return Section("In a picture", (Picture(drawn, comparisons.described(report), caption, spots=spots),))


def _detail(report: StudyReport, quantity: str) -> Section:
    table = Table(*detail(report, quantity), numbers=True)
    note = Paragraph("Over the runs of each group that have such a number.")
    title = plainly(titled(report, quantity))
    return Section(f"{title[:1].upper()}{title[1:]}, in detail", (note, table))
