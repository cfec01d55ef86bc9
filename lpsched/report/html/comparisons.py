"""Pages of comparisons: simulations, utility over energy, schedules of others against the bound, studies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from lpsched.bag.compare.result import Validation
from lpsched.online.day import Day
from lpsched.online.result.comparisons import ClustersValidation, DayFront, DayValidation, most_utility_of
from lpsched.online.result.groups import CLUSTER
from lpsched.online.result.policy import COLUMNS, LOG, Judged, PolicyEntry
from lpsched.online.schedule import ClustersSchedule, DaySchedule
from lpsched.report import online_answers as answers
from lpsched.report.answers import validation_tables
from lpsched.report.figures import comparisons, simulation, timeline
from lpsched.report.figures.day_fronts import day_front_figure, day_front_tooltips
from lpsched.report.html.bag import schedule_sections
from lpsched.report.html.page import PageFigure, Paragraph, Section, Table, from_terminal, made_by, page
from lpsched.report.studies import FAILURE_HEADERS, detail, failure_rows, headline, overview, plainly, titled
from lpsched.report.tables import FoldingTable
from lpsched.studies.report import GAP, SECONDS, StudyReport
from lpsched.units import JOULES_PER_KWH, lower_text, number, percent, upper_text

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.online.clusters import Clusters
    from lpsched.online.result.simulation import Simulation


# The page of a simulation: what the terminal shows, utility and energy over the period, priorities, waits, what ran.
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
    shown = from_terminal(answers.simulation_tables(result, groups=False)[1:])
    sections = [Section("Policies side by side", tuple(shown))]
    if result.answered:
        sections.append(_over_time(result))
        if result.judged is not Judged.WAITING:
            sections.append(_by_priority(result))
        if result.judged is not Judged.DAY:
            sections.append(_waits(result))
            sections += _by_group(result)
    shown_runs = (result.logged, result.best)
    sections += [_busy(instance, each) for each in shown_runs if each is not None and each.schedule is not None]
    meanings = [(column.header, column.meaning) for column in COLUMNS[result.judged] if column.header in result.headers]
    if result.worth_rows():
        meanings.append((answers.worth_headers(result)[0], LOWERED if result.judged is Judged.WAITING else RAISED))
    sections.append(Section("What the columns mean", (Table(("column", "meaning"), tuple(meanings)),)))
    footer = made_by(result.provenance, "day" if result.judged is Judged.DAY else "clusters")
    return page(result.provenance.instance_name, result.headline(), sections, footer=footer)


def _over_time(result: Simulation) -> Section:
    """Show utility and energy as the period goes on, or cost, in a figure and in numbers."""
    drawn = simulation.drawn_policies(result)
    costs = result.judged is Judged.WAITING
    left = sum(1 for entry in result.policies if entry.answers) - len(drawn)
    caption = f"{left} more policies, which {'cost more' if costs else 'earn less'}, are not drawn." if left else ""
    title = "Cost over time" if costs else "Utility and energy over the period"
    figure = PageFigure(simulation.traces_figure(result), f"{title}, of {_named(drawn)}.", caption)
    traces = [(entry.name, entry.traces) for entry in drawn if entry.traces is not None]
    steps = len(traces[0][1].seconds) if traces else 0
    places, sign = range(EVERY, steps, EVERY), -1.0 if costs else 1.0
    rows = tuple((name, *(number(sign * each.utility[place] + 0.0, 4) for place in places)) for name, each in traces)
    headers = (f"{'cost' if costs else 'utility earned'} after", *(f"{100 * at / (steps - 1):.0f} %" for at in places))
    return Section(title, (figure, Table(headers, rows, numbers=True)))


def _named(entries: Sequence[PolicyEntry]) -> str:
    """Name the policies of a figure; the table below it has their numbers."""
    return ", ".join(entry.name for entry in entries)


def _by_priority(result: Simulation) -> Section:
    """Show what tasks of each priority earned."""
    headers, rows = simulation.priority_rows(result)
    caption = (
        "Of what the tasks of each priority would earn if each began on arrival where it is quickest; "
        "those of the warm-up that run in the period come on top."
    )
    words = f"Share of utility earned by priority, of {_named(simulation.lanes_of(result))}."
    figure = PageFigure(simulation.priorities_figure(result), words, caption)
    return Section("Utility by priority", (figure, Table(headers, tuple(rows), numbers=True)))


def _waits(result: Simulation) -> Section:
    """Show how long tasks waited."""
    headers, rows = simulation.wait_rows(result)
    caption = "Of tasks that arrive in the period and start."
    words = f"How long tasks waited under {_named(simulation.lanes_of(result))}."
    figure = PageFigure(simulation.waits_figure(result), words, caption)
    return Section("How long tasks waited", (figure, Table(headers, tuple(rows), numbers=True)))


def _by_group(result: Simulation) -> list[Section]:
    """Show how long the tasks of each cluster, task type and size waited."""
    sections = []
    for by, (headers, rows) in result.group_tables().items():
        words = f"Mean wait by {by}, of {_named(result.policies)}."
        figure = PageFigure(simulation.groups_figure(result, by), words)
        shown = FoldingTable(headers, tuple(rows)).shortened(MOST_ROWS)
        if by == CLUSTER and (costs := result.cluster_costs()) is not None:
            shown += FoldingTable(costs[0], tuple(costs[1])).shortened(MOST_ROWS)
        sections.append(Section(f"Mean wait by {by}", (figure, *from_terminal(shown))))
    return sections


def _busy(instance: Day | Clusters, entry: PolicyEntry) -> Section:
    """Show what the machines or nodes ran under one policy, in the first trial, and how busy they were."""
    if isinstance(instance, Day):
        assert isinstance(entry.schedule, DaySchedule), "of a day"
        machines = timeline.timeline_of(instance, entry.schedule)
        shown, what = len(machines.machines), "machines"
        caption = (
            "The taller a bar, the higher the priority of its tasks; blank is idle. Tasks too short to see are joined "
            "with their neighbours."
        )
        caption += "" if shown == instance.machines else f" {shown} of {instance.machines:,} machines are drawn."
        counts = {machine.name: machine.count for machine in instance.machine_types}
        headers, figure = ("machine type", "machines", "busy"), timeline.timeline_figure(machines, entry.name)
    else:
        assert isinstance(entry.schedule, ClustersSchedule), "of clusters"
        times = timeline.node_times(instance, entry.schedule)
        shown, what = len(times.clusters), f"{times.unit}s"
        caption = f"A rectangle is a task on some {what}; blank is idle."
        caption += "" if times.is_exact else " Tasks too small to see are joined with their neighbours."
        caption += "" if shown == len(instance.clusters) else f" The {shown} largest clusters are drawn."
        counts = {cluster.name: cluster.nodes for cluster in instance.clusters}
        headers, figure = ("cluster", what, "busy"), timeline.node_figure(times, entry.name)
    rows = tuple((name, f"{counts[name]:,}", percent(share)) for name, share in entry.busy)
    title = f"What the {what} ran, as logged" if entry.kind == LOG else f"What the {what} run under {entry.name}"
    busiest = ", ".join(f"{name} {share}" for name, _, share in rows[:10])
    return Section(
        title, (PageFigure(figure, f"{title}. Busy: {busiest}.", caption), Table(headers, rows, numbers=True))
    )


# The page of fronts of a day: utility against energy, and the line above which no schedule is.
MOST_ROWS: Final = 1_000
LINE: Final = "the line, proved"
DRAWN: Final = "Utility against energy of each method's schedules, and the line above which no schedule is."
PROVED: Final = "Above the line is no schedule: proved."


def day_front_page(result: DayFront) -> str:
    """Return the page of methods on a day, held against its envelope."""
    figure = PageFigure(day_front_figure(result), DRAWN, PROVED, tooltips=day_front_tooltips(result))
    shown = from_terminal(answers.day_front_tables(result)[1:])
    sections = [Section("Utility against energy", (figure, *shown)), _points(result)]
    most = {entry.name: most_utility_of(entry) or 0.0 for entry in result.entries if entry.points}
    best = max(most, key=most.__getitem__, default=None)
    found = "no method found a schedule" if best is None else f"{best} earns most, {number(most[best])}"
    proved = f"No schedule of this day earns more than {upper_text(result.envelope[-1].utility)}, proved"
    return page(
        result.provenance.instance_name, f"{proved}; {found}.", sections, footer=made_by(result.provenance, "day")
    )


def _points(result: DayFront) -> Section:
    """List every point of the figure."""
    points = [(entry.name, each) for entry in result.entries for each in entry.points]
    rows = [(name, number(each.energy_joules / JOULES_PER_KWH), number(each.utility)) for name, each in points]
    rows += [(LINE, lower_text(x.energy_joules / JOULES_PER_KWH), upper_text(x.utility)) for x in result.envelope]
    table = FoldingTable(("method", "energy, kWh", "utility"), tuple(rows))
    return Section("All points", tuple(from_terminal(table.shortened(MOST_ROWS))))


# The page of a validation: schedulers against the bound, of a bag, of a day or of clusters.
AnyValidation = Validation | DayValidation | ClustersValidation

VALIDATED: Final = "What each schedule achieves, and its gap to the proved bound."
KINDS: Final[dict[type, tuple[str, Any]]] = {  # the word in the footer, and what the terminal shows
    Validation: ("bag", validation_tables),
    DayValidation: ("day", answers.day_validation_tables),
    ClustersValidation: ("clusters", answers.clusters_validation_tables),
}


def validation_page(result: AnyValidation, bag: Bag | None = None) -> str:
    """Return the page of schedulers held against the bound; of a bag with the best schedule machine by machine."""
    kind, tables = KINDS[type(result)]
    drawn = []
    if result.entries:
        tooltips = comparisons.validation_tooltips(result)
        drawn.append(PageFigure(comparisons.validation_figure(result), VALIDATED, tooltips=tooltips))
    sections = [Section("Against the bound", (*drawn, *from_terminal(tables(result)[1:])))]
    if bag is not None and isinstance(result, Validation):
        best = result.ranked().entries[0] if result.entries else None
        if best is not None and best.value is not None and best.schedule is not None:
            of_best = schedule_sections(bag, best.schedule)
            sections += [Section(f"{each.heading}: {best.name}", each.parts) for each in of_best]
    made = result.provenance
    return page(made.instance_name, result.headline(), sections, footer=made_by(made, kind))


# The page of a study: how many runs, what they say group by group, a figure, what failed and why.
ROWS: Final = (
    "A row is a group of runs: dots are single runs, the thin line goes from the least to the most, the bar "
    "over the middle half, the tick is the median, the diamond the mean."
)
LINES: Final = "Lines are means; the band about a line is the 95 % confidence interval of the mean."
OVER: Final = "Over the runs of each group that have such a number."
HALF: Final = "±, 95 %"
MEANINGS: Final = (
    ("runs", "Runs of the group."),
    ("failed", "Those of them without an outcome."),
    (GAP, "Distance of the verified value from the bound, as a share of the bound."),
    ("value", "The objective of the schedule, measured by the verifier."),
    ("bound", "No schedule is better: proved, except for facilities of more than 1,000 nodes."),
    (SECONDS, "Run time on the machine that ran it; not part of the outcome."),
    (HALF, "Half the width of the 95 % confidence interval of the mean, by Student's distribution."),
)


def study_page(report: StudyReport) -> str:
    """Return the page of a study as HTML."""
    sections = [_drawn_groups(report)] if comparisons.drawn_groups(report) else []
    sections.append(Section("Groups of runs", (Table(*overview(report), numbers=True),)))
    for quantity in (each for each in report.quantities if each != SECONDS):
        parts = (Paragraph(OVER), Table(*detail(report, quantity), numbers=True))
        sections.append(Section(f"{_title(report, quantity)}, in detail", parts))
    if report.failures:
        sections.append(Section("What failed, and why", (Table(FAILURE_HEADERS, failure_rows(report)),)))
    names = {"runs", *(["failed"] if report.failed else []), *report.quantities, HALF}
    meanings = tuple(each for each in MEANINGS if each[0] in names)
    sections.append(Section("What the columns mean", (Table(("column", "meaning"), meanings),)))
    solvers, versions = ", ".join(report.solvers), ", ".join(report.versions)
    footer = f"{PurePath(report.lines).name}: {report.runs:,} runs, made by lpsched {versions}, {solvers}."
    return page(report.study, headline(report), sections, footer=footer)


def _drawn_groups(report: StudyReport) -> Section:
    parameter = comparisons.swept(report)
    caption, along = (ROWS, "by group") if parameter is None else (LINES, f"along {plainly(parameter)}")
    if parameter is None and len(report.groups) > comparisons.MOST_GROUPS:
        caption += f" Drawn are the first {comparisons.MOST_GROUPS} groups; the tables have all."
    elif parameter is not None and len(comparisons.lines_of(report)) > comparisons.MOST_LINES:
        caption += f" Drawn are the first {comparisons.MOST_LINES} lines; the tables have all groups."
    drawn, tooltips = comparisons.study_figure(report), comparisons.study_tooltips(report)
    figure = PageFigure(drawn, comparisons.described(report), caption, tooltips=tooltips)
    return Section(f"{_title(report, report.quantities[0])} {along}", (figure,))


def _title(report: StudyReport, quantity: str) -> str:
    title = plainly(titled(report, quantity))
    return f"{title[:1].upper()}{title[1:]}"
