"""The page of a simulation: the answer, utility and energy over the period, priorities, what machines ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.display import number, percent
from lpsched.reports.page import Paragraph, Picture, Section, Table, page
from lpsched.reports.simulation import WORTH_HEADERS, in_words, lead_of, notes, reason_rows
from lpsched.reports.simulation_priorities import priorities_picture, priority_rows
from lpsched.reports.simulation_traces import drawn_policies, traces_picture
from lpsched.reports.timeline import timeline_of, timeline_picture
from lpsched.result.policy_entry import HEADERS

if TYPE_CHECKING:
    from lpsched.instance.day import Day
    from lpsched.result.policy_entry import PolicyEntry
    from lpsched.result.simulation import Simulation

COLUMNS: Final = (
    ("utility", "what the tasks earned in the period that counts, measured from the schedule"),
    ("of naive", "divided by what they would earn if each began on arrival where it is quickest"),
    ("of bound", "divided by what no schedule of the day can pass, proved"),
    ("energy", "what machines took in the period while they were busy"),
    ("completed", "tasks that ended within the period"),
    ("dropped", "tasks given up for good within the period"),
    ("waiting", "tasks that had arrived, and neither begun nor been dropped, when the period ended"),
    ("events", "mapping events, at which the policy was asked, of the warm-up too"),
    ("ms/event", "mean milliseconds that a mapping event took: the policy, dropping and energy filter"),
)
WORTHS: Final = (
    "The prices that prove the bound: an hour of one more machine, on average over the period, or a kWh more "
    "raises the bound by this at most."
)
EVERY: Final = 6  # of the steps of a trace: two hours of a day


def simulation_page(day: Day, result: Simulation) -> str:
    """Return the page of a simulation as HTML.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    sections = [_answer(result)]
    if result.answered:
        sections += [_over_time(result), _by_priority(result)]
    best = result.best
    if best is not None and best.schedule is not None:
        sections.append(_machines(day, best))
    if result.worth_rows():
        worths = Table(WORTH_HEADERS, tuple(result.worth_rows()), numbers=True)
        sections.append(Section("What one more is worth", (Paragraph(WORTHS), worths)))
    sections.append(Section("What the columns mean", (Table(("column", "meaning"), COLUMNS),)))
    made = result.provenance
    footer = f"{in_words(result)}. lpsched {made.lpsched}, day {made.instance_hash}."
    return page(made.instance_name, lead_of(result), sections, footer=footer)


def _answer(result: Simulation) -> Section:
    told = Paragraph(" ".join(notes(result)))
    reasons = tuple(reason_rows(result))
    why = (Table(("policy", "trial", "no answer, because"), reasons),) if reasons else ()
    return Section("Policies side by side", (Table(HEADERS, tuple(result.rows()), numbers=True), told, *why))


def _over_time(result: Simulation) -> Section:
    """Show utility and energy as the period goes on, in a picture and in numbers."""
    drawn = drawn_policies(result)
    left = sum(1 for entry in result.policies if entry.answers) - len(drawn)
    caption = "Lines end where the table says." + (
        f" {left} more policies, which earn less, are not drawn." if left else ""
    )
    last = [(entry.name, entry.traces) for entry in drawn]
    words = "; ".join(
        f"{name} ends with {number(each.utility[-1], 4)} for {number(each.energy_joules[-1] / 1e6, 4)} MJ"
        for name, each in last
        if each is not None
    )
    picture = Picture(traces_picture(result), f"Utility and energy over the period: {words}.", caption)
    return Section("Utility and energy over the period", (picture, _trace_table(drawn)))


def _trace_table(drawn: tuple[PolicyEntry, ...]) -> Table:
    """Return the utility that each policy had earned by some times."""
    traces = [(entry.name, entry.traces) for entry in drawn]
    first = next((each for _, each in traces if each is not None), None)
    places = [] if first is None else range(EVERY, len(first.seconds), EVERY)
    headers = tuple(f"{100 * place / (len(first.seconds) - 1):.0f} %" for place in places) if first else ()
    rows = tuple(
        (name, *(number(each.utility[place], 4) for place in places))
        for name, each in traces
        if each is not None
    )
    return Table(("utility earned after", *headers), rows, numbers=True)


def _by_priority(result: Simulation) -> Section:
    """Show what tasks of each priority earned."""
    headers, rows = priority_rows(result)
    caption = (
        "Of what the tasks of each priority would earn if each began on arrival where it is quickest; "
        "those of the warm-up that run in the period come on top."
    )
    described = "; ".join(
        f"{row[0]}: " + ", ".join(f"{name} {share}" for name, share in zip(headers[1:], row[1:], strict=True))
        for row in rows
    )
    picture = Picture(priorities_picture(result), f"Share earned by priority. {described}.", caption)
    return Section("Utility by priority", (picture, Table(headers, tuple(rows), numbers=True)))


def _machines(day: Day, entry: PolicyEntry) -> Section:
    """Show what the machines ran under one policy, in the first trial."""
    assert entry.schedule is not None, "asked only where there is one"
    timeline = timeline_of(day, entry.schedule)
    shown = len(timeline.machines)
    some = "" if shown == day.machines else f" {shown} of {day.machines:,} machines are drawn."
    caption = (
        "The darker and taller a bar, the more its tasks are worth; white is idle. Tasks too short to see "
        f"are joined with their neighbours.{some}"
    )
    counts = {machine.name: machine.count for machine in day.machine_types}
    rows = tuple((name, f"{counts[name]:,}", percent(share)) for name, share in entry.busy)
    busiest = ", ".join(f"{name} {share}" for name, _, share in rows[:10])
    picture = Picture(
        timeline_picture(timeline, entry.name),
        f"What each machine runs under {entry.name}. Busy: {busiest}.",
        caption,
    )
    table = Table(("machine type", "machines", "busy"), rows, numbers=True)
    return Section(f"What the machines run under {entry.name}", (picture, table))
