"""Pages of comparisons: simulations, utility over energy, schedules of others against the bound, studies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.bag.compare.result import Validation
from lpsched.online.day import Day
from lpsched.online.result.comparisons import HEADERS, ClustersValidation, DayFront, DayValidation
from lpsched.online.result.policy import COLUMNS, Judged, PolicyEntry
from lpsched.online.schedule import ClustersSchedule, DaySchedule
from lpsched.report.figures import comparisons, simulation
from lpsched.report.figures.day_fronts import day_front_figure, day_front_tooltips
from lpsched.report.figures.timeline import node_figure, node_times, timeline_figure, timeline_of
from lpsched.report.html.bag import schedule_sections
from lpsched.report.html.page import UNBROKEN, PageFigure, Paragraph, Part, Section, Table, made_by, page
from lpsched.report.online_answers import in_words, lead_of, notes, reason_rows, worth_headers
from lpsched.report.studies import FAILURE_HEADERS, detail, failure_rows, headline, overview, plainly, titled
from lpsched.studies.report import SECONDS, StudyReport
from lpsched.units import energy_text, lower_text, number, percent, upper_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from lpsched.bag.model import Bag
    from lpsched.model.risk import Risk
    from lpsched.online.clusters import Clusters
    from lpsched.online.result.simulation import Simulation


# The page of a simulation: the answer, utility and energy over the period, priorities, waits, what ran.
RAISED: Final = (
    "The dual prices that prove the bound: an hour of one more machine, on average over the period, or one more kWh "
    "raises it by at most this."
)
LOWERED: Final = (
    "The dual prices that prove the lower bound: an hour of one more node, on average over all time, lowers it by at "
    "most this."
)
EVERY: Final = 6  # of the steps of a trace: two hours of a day


def simulation_page(instance: Day | Clusters, result: Simulation) -> str:
    """Return the page of a simulation as HTML."""
    sections = [_answer(result)]
    if result.answered:
        sections.append(_over_time(result))
        if result.judged is not Judged.WAITING:
            sections.append(_by_priority(result))
        if result.judged is not Judged.DAY:
            sections.append(_waits(result))
    best = result.best
    if best is not None and best.schedule is not None:
        sections.append(_machines(instance, best) if isinstance(instance, Day) else _nodes(instance, best))
    if result.worth_rows():
        values = Table(worth_headers(result), tuple(result.worth_rows()), numbers=True)
        note = Paragraph(LOWERED if result.judged is Judged.WAITING else RAISED)
        sections.append(Section("Marginal values", (note, values)))
    meanings = tuple((column.header, column.meaning) for column in COLUMNS[result.judged])
    sections.append(Section("What the columns mean", (Table(("column", "meaning"), meanings),)))
    made = result.provenance
    what = "day" if result.judged is Judged.DAY else "clusters"
    footer = f"{in_words(result)}. lpsched {made.lpsched}, {what} {made.instance_hash}."
    return page(made.instance_name, lead_of(result), sections, footer=footer)


def _answer(result: Simulation) -> Section:
    note = Paragraph(" ".join(notes(result)))
    rows = tuple((row[0], *(cell.replace(" ", UNBROKEN) for cell in row[1:])) for row in result.rows())
    reasons = tuple(reason_rows(result))
    why = (Table(("policy", "trial", "why there is no result"), reasons),) if reasons else ()
    return Section("Policies side by side", (Table(result.headers, rows, numbers=True), note, *why))


def _over_time(result: Simulation) -> Section:
    """Show utility and energy as the period goes on, or cost, in a figure and in numbers."""
    drawn = simulation.drawn_policies(result)
    costs = result.judged is Judged.WAITING
    left = sum(1 for entry in result.policies if entry.answers) - len(drawn)
    worse = "cost more" if costs else "earn less"
    more = f" {left} more policies, which {worse}, are not drawn." if left else ""
    caption = f"Lines end where the table says.{more}"
    ends = []
    for entry in drawn:
        if entry.traces is not None:
            utility, energy = entry.traces.utility[-1], energy_text(entry.traces.energy_joules[-1])
            end = f"a cost of {number(0.0 - utility)}" if costs else f"{number(utility)} for {energy}"
            ends.append(f"{entry.name} ends with {end}")
    title = "Cost over time" if costs else "Utility and energy over the period"
    figure = PageFigure(simulation.traces_figure(result), f"{title}: {'; '.join(ends)}.", caption)
    return Section(title, (figure, _trace_table(drawn, costs=costs)))


def _trace_table(drawn: tuple[PolicyEntry, ...], *, costs: bool) -> Table:
    """Return the utility that each policy had earned by some times, or the cost."""
    traces = [(entry.name, entry.traces) for entry in drawn]
    first = next((each for _, each in traces if each is not None), None)
    places = [] if first is None else range(EVERY, len(first.seconds), EVERY)
    headers = tuple(f"{100 * place / (len(first.seconds) - 1):.0f} %" for place in places) if first else ()
    sign = -1.0 if costs else 1.0
    rows = tuple(
        (name, *(number(sign * each.utility[place] + 0.0, 4) for place in places))
        for name, each in traces
        if each is not None
    )
    return Table((f"{'cost' if costs else 'utility earned'} after", *headers), rows, numbers=True)


def _by_priority(result: Simulation) -> Section:
    """Show what tasks of each priority earned."""
    headers, rows = simulation.priority_rows(result)
    caption = (
        "Of what the tasks of each priority would earn if each began on arrival where it is quickest; "
        "those of the warm-up that run in the period come on top."
    )
    described = "; ".join(
        f"{row[0]}: " + ", ".join(f"{name} {share}" for name, share in zip(headers[1:], row[1:], strict=True))
        for row in rows
    )
    figure = PageFigure(simulation.priorities_figure(result), f"Share earned by priority. {described}.", caption)
    return Section("Utility by priority", (figure, Table(headers, tuple(rows), numbers=True)))


def _waits(result: Simulation) -> Section:
    """Show how long tasks waited."""
    headers, rows = simulation.wait_rows(result)
    caption = "Of tasks that arrive in the period and start."
    figure = PageFigure(simulation.waits_figure(result), f"Waits: {simulation.waits_in_words(result)}.", caption)
    return Section("How long tasks waited", (figure, Table(headers, tuple(rows), numbers=True)))


def _nodes(clusters: Clusters, entry: PolicyEntry) -> Section:
    """Show what the nodes ran under one policy, in the first trial."""
    assert isinstance(entry.schedule, ClustersSchedule), "called only where there is one"
    times = node_times(clusters, entry.schedule)
    shown = len(times.clusters)
    some = "" if shown == len(clusters.clusters) else f" The {shown} largest clusters are drawn."
    small = "" if times.is_exact else " Tasks too small to see are joined with their neighbours."
    caption = f"A rectangle is a task on some nodes; white is idle.{small}{some}"
    nodes = {cluster.name: cluster.nodes for cluster in clusters.clusters}
    words = "What nodes run", "What the nodes run", caption
    return _busy(node_figure(times, entry.name), entry, ("cluster", "nodes", "busy"), nodes, words)


def _machines(day: Day, entry: PolicyEntry) -> Section:
    """Show what the machines ran under one policy, in the first trial."""
    assert isinstance(entry.schedule, DaySchedule), "called only where there is one"
    timeline = timeline_of(day, entry.schedule)
    shown = len(timeline.machines)
    some = "" if shown == day.machines else f" {shown} of {day.machines:,} machines are drawn."
    caption = (
        "The darker and taller a bar, the higher the priority of its tasks; white is idle. Tasks too short to see "
        f"are joined with their neighbours.{some}"
    )
    counts = {machine.name: machine.count for machine in day.machine_types}
    words = "What each machine runs", "What the machines run", caption
    headers = ("machine type", "machines", "busy")
    return _busy(timeline_figure(timeline, entry.name), entry, headers, counts, words)


def _busy(
    figure: Figure, entry: PolicyEntry, headers: tuple[str, ...], counts: dict[str, int], words: tuple[str, str, str]
) -> Section:
    """Show a figure of what ran, and how busy each cluster or machine type was."""
    described, title, caption = words
    rows = tuple((name, f"{counts[name]:,}", percent(share)) for name, share in entry.busy)
    busiest = ", ".join(f"{name} {share}" for name, _, share in rows[:10])
    drawn = PageFigure(figure, f"{described} under {entry.name}. Busy: {busiest}.", caption)
    return Section(f"{title} under {entry.name}", (drawn, Table(headers, rows, numbers=True)))


# The page of fronts of a day: utility against energy, and the line above which no schedule is.
MOST_ROWS: Final = 1_000
LINE: Final = "the line, proved"
DRAWN: Final = "Utility against energy of each method's schedules, and the line above which no schedule is."
PROVED: Final = "Above the line is no schedule: proved."


def day_front_page(result: DayFront) -> str:
    """Return the page of methods on a day, held against its envelope."""
    figure = PageFigure(day_front_figure(result), DRAWN, PROVED, tooltips=day_front_tooltips(result))
    methods = Table(HEADERS, tuple(result.rows()), numbers=True)
    sections = [Section("Utility against energy", (figure, methods)), _points(result)]
    broken = [(entry.name, each.code, each.sentence) for entry in result.entries for each in entry.violations]
    if broken:
        table = Table(("method", "violation", "meaning"), tuple(broken[:MOST_ROWS]))
        sections.append(Section("Violations", (table,)))
    made = result.provenance
    return page(made.instance_name, _summary(result), sections, footer=made_by(made, "day"))


def _summary(result: DayFront) -> str:
    """Return what is proved, and the method that earns most, in one sentence."""
    highest = upper_text(result.envelope[-1].utility)
    proved = f"No schedule of this day earns more than {highest}, proved"
    found = [entry for entry in result.entries if entry.points]
    if not found:
        return f"{proved}; no method found a schedule."
    most = {entry.name: max(point.utility for point in entry.points) for entry in found}
    best = max(most, key=most.__getitem__)
    return f"{proved}; {best} earns most, {number(most[best])}."


def _points(result: DayFront) -> Section:
    """List every point of the figure."""
    points = [(entry.name, each) for entry in result.entries for each in entry.points]
    rows = [(name, number(each.energy_joules), number(each.utility)) for name, each in points]
    rows += [(LINE, lower_text(each.energy_joules), upper_text(each.utility)) for each in result.envelope]
    left = len(rows) - MOST_ROWS
    more = (Paragraph(f"{left:,} more are not shown."),) if left > 0 else ()
    table = Table(("method", "energy, joules", "utility"), tuple(rows[:MOST_ROWS]), numbers=True)
    return Section("All points", (table, *more))


# The page of a validation: schedulers against the bound, of a bag, of a day or of clusters.
AnyValidation = Validation | DayValidation | ClustersValidation

MOST_BROKEN: Final = 1_000
VALIDATED: Final = "What each schedule achieves, and its gap to the proved bound."
OF_DAY: Final = "'of bound' is the share of the most utility possible with the same energy, if no task ever waited."
KINDS: Final = {Validation: "bag", DayValidation: "day", ClustersValidation: "clusters"}


def validation_page(result: AnyValidation, bag: Bag | None = None) -> str:
    """Return the page of schedulers held against the bound; of a bag with the best schedule machine by machine."""
    sections = [_validation_answer(result)]
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
    return page(made.instance_name, result.headline(), sections, footer=made_by(made, KINDS[type(result)]))


def _validation_answer(result: AnyValidation) -> Section:
    """Show the table and the figure."""
    parts: list[Part] = []
    if result.entries:
        parts.append(
            PageFigure(
                comparisons.validation_figure(result), VALIDATED, tooltips=comparisons.validation_tooltips(result)
            )
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
