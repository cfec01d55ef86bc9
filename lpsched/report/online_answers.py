"""Results about days and clusters in tables: validation, fronts, simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lpsched.online.result.comparisons import GAPS, HEADERS, NO_WAIT_NOTE
from lpsched.online.result.policy import OFFLINE, Judged
from lpsched.report.files import period_words
from lpsched.report.tables import (
    MOST_ROWS,
    FoldingTable,
    compared_tables,
    cut,
    cut_table,
    fitted,
    front_warnings,
    table,
)
from lpsched.units import counted, energy_text, number, share_text, upper_text

if TYPE_CHECKING:
    from rich.console import ConsoleRenderable

    from lpsched.online.result.comparisons import ClustersValidation, DayFront, DayValidation
    from lpsched.online.result.simulation import Simulation
    from lpsched.online.result.what_if import ClustersWhatIf

WEAK = 0.5  # of the least cost: a bound below that is called weak
MOST_GROUPS = 20  # clusters, task types or sizes in a table
NO_WAIT = "No-wait reference: each task starts on arrival where it is fastest, as if machines were unlimited;"


def clusters_validation_tables(result: ClustersValidation) -> list[ConsoleRenderable]:
    """Return each schedule with its gap, and the rules that the invalid ones break."""
    waiting, what = result.waiting, "cost" if result.is_cost else "utility"
    judged = what if waiting is None else f"cost of waiting ({waiting.measure}, by {waiting.weight})"
    naive = number(0.0 - result.naive_bound if result.is_cost else result.naive_bound)
    notes = [f"If no task ever waited: {what} {naive} (no-wait reference)."]
    if not result.period.is_whole:
        notes.append(f"Counted: {period_words(result.period)}.")
    return compared_tables(result, f"{result.provenance.instance_name}: {judged} of schedules", *map(fitted, notes))


def day_validation_tables(result: DayValidation) -> list[ConsoleRenderable]:
    """Return each schedule with its gap at its energy, and the rules that the invalid ones break."""
    dropped = "" if result.drop_below is None else f", tasks below {number(result.drop_below)} dropped"
    heading = f"{result.provenance.instance_name}: utility of schedules; seed {result.seed}{dropped}"
    notes = [f"{NO_WAIT_NOTE} All tasks together take at least {energy_text(result.least_joules, upper=False)}."]
    if not result.period.is_whole:
        left_out = "tasks that would start later, or exceed the energy constraint, are left out by heuristics"
        notes.append(f"Counted: {period_words(result.period)}; {left_out}.")
    return compared_tables(result, heading, *map(fitted, notes), quantities=("utility", "energy_joules"))


def day_front_tables(result: DayFront) -> list[ConsoleRenderable]:
    """Return the methods with their gaps to the proved envelope of a day, and what is wrong with some."""
    highest = upper_text(result.envelope[-1].utility)
    heading = (
        f"{result.provenance.instance_name}: utility at most {highest} at any energy (proved envelope of "
        f"{len(result.envelope):,} vertices); seed {result.seed}"
    )
    answer = FoldingTable(HEADERS, tuple(result.rows()))
    return [fitted(heading), fitted(answer), fitted(GAPS), *front_warnings(result.entries)]


# Policies on simulated days, in tables and in words.
def simulation_tables(result: Simulation, *, groups: bool = True) -> list[ConsoleRenderable]:
    """Return the headline, how the simulation was run, each policy with its gap, and why some have no result."""
    answer = FoldingTable(result.headers, tuple(result.rows()))
    reasons = [(entry.name, f"{trial}", why) for entry in result.policies for trial, why in entry.reasons]
    rows = result.worth_rows()
    few = [*rows[:MOST_ROWS], *rows[MOST_ROWS:][-1:]]
    return [
        fitted(result.headline()),
        fitted(f"{result.provenance.instance_name}: {in_words(result)}"),
        fitted(answer),
        fitted(*notes(result)),
        *(group_tables(result) if groups else []),
        *([table(worth_headers(result), few, numbers=(1,))] if rows else []),
        *(cut_table(("scheduler", "trial", "no result"), reasons) if reasons else []),
    ]


def group_tables(result: Simulation) -> list[ConsoleRenderable]:
    """Return a table of mean waits for each way to group tasks, cut after the first rows."""
    tables: list[ConsoleRenderable] = []
    costs = result.cluster_costs()
    for headers, rows in [*result.group_tables().values(), *([] if costs is None else [costs])]:
        tables.append(fitted(FoldingTable(headers, tuple(rows[:MOST_GROUPS]))))
        tables += cut(rows, MOST_GROUPS)
    return tables


def clusters_what_if_tables(result: ClustersWhatIf) -> list[ConsoleRenderable]:
    """Return two systems side by side: a table for each policy, the bounds, and what the numbers mean."""
    tables: list[ConsoleRenderable] = [fitted(result.headline())]
    for policy in result.policies:
        if policy.quantities:
            rows = [each.row() for each in policy.quantities]
            tables.append(table((policy.name, "before", "after", "change"), rows, numbers=(1, 2, 3)))
    if result.bound is not None:
        tables.append(table(("any schedule", "before", "after", "change"), [result.bound_row()], numbers=(1, 2, 3)))
    reasons = [(policy.name, policy.reason) for policy in result.policies if policy.reason is not None]
    return [*tables, *map(fitted, result.notes()), *(cut_table(("scheduler", "no result"), reasons) if reasons else [])]


def worth_headers(result: Simulation) -> tuple[str, str]:
    """Return the headers of the table of marginal values."""
    return "marginal value of one more (LP)", "cost saved" if result.judged is Judged.WAITING else "utility"


def in_words(result: Simulation) -> str:
    """Return how the simulation was run, in one line; every option that differs from its default is named."""
    options, done, trials = result.options, len(result.trials), counted(result.asked_trials, _trial_word(result))
    words = [f"{done:,} of {trials}" if done < result.asked_trials else trials, f"seed {result.seed}"]
    if result.judged is Judged.DAY:
        arrivals, every = options["every_arrivals"], []
        if options["every_seconds"] is not None:
            every.append(f"{number(options['every_seconds'])} s")
        if arrivals is not None:
            every.append("arrival" if arrivals == 1 else f"{arrivals:,} arrivals")
        words += [f"{options['machines']} machines", f"a scheduling event every {' or '.join(every)}"]
    else:
        seconds = options["every_seconds"]
        when = "at every arrival and end" if seconds is None else f"every {number(seconds)} s"
        words += [*([] if result.waiting is None else [cost_words(result.waiting)]), f"a scheduling event {when}"]
    if result.energy_constraint_joules is not None:
        words.append(f"energy at most {energy_text(result.energy_constraint_joules)}")
    if options["drop_below"]:
        words.append(f"tasks below {number(options['drop_below'])} dropped")
    if options["energy_filter"] is not None:
        of, leniency = options["energy_filter"], options.get("leniency")
        lenient = "" if leniency is None else f", leniency {number(leniency)}"
        words.append(f"energy filter {of if isinstance(of, str) else number(of)}{lenient}")
    if options.get("permute", 0) > 1:
        words.append(f"{options['permute']} tasks permuted")
    return "; ".join(words)


def cost_words(waiting: Mapping[str, Any]) -> str:
    """Return how the cost of waiting is measured, in words.

    >>> cost_words({"measure": "bounded-slowdown", "weight": "cores", "at_least_seconds": 10.0})
    'cost: bounded slowdown (runs of 10 s at least) times cores'
    """
    measure, least = waiting["measure"], number(waiting["at_least_seconds"])
    names = {
        "seconds": "seconds waited",
        "slowdown": "slowdown",
        "bounded-slowdown": f"bounded slowdown (runs of {least} s at least)",
        "points": "by the points of the file",
    }
    times = "" if waiting["weight"] == "task" else f" times {waiting['weight']}"
    return f"cost: {names[measure]}{times}"


def _trial_word(result: Simulation) -> str:
    """Return what a trial is: clusters may be simulated for months."""
    return "day" if result.judged is Judged.DAY else "trial"


def weak_bound(result: Simulation) -> list[str]:
    """Return a sentence where the bound is below half of the least cost; nothing where it is not."""
    shares = [share.mean for each in result.policies if (share := each.mean("share_of_bound")) is not None]
    if result.judged is not Judged.WAITING or not shares or max(shares) >= WEAK:
        return []
    proved = share_text(max(shares))
    rest = "the rest of the gap may be the bound's, not the schedulers'"
    narrow = "" if any(each.kind == OFFLINE for each in result.policies) else "; --offline may narrow it"
    return [f"The bound is weak here, {proved} of the least cost found: {rest}{narrow}."]


def notes(result: Simulation) -> list[str]:
    """Return what the rows and columns mean."""
    words = [f"{NO_WAIT} {'no schedule costs less' if result.judged is Judged.WAITING else 'not a bound'}."]
    if result.bound is not None:
        words.append("Gap: |bound - value| / |bound|; the bound holds for every schedule.")
    if any(each.kind == OFFLINE for each in result.policies):
        words.append("Offline: made with all tasks known beforehand, which no scheduler can know.")
    words += [*result.none_notes(), *weak_bound(result), *(entry.note for entry in result.policies if entry.note)]
    if len(result.trials) > 1:
        words.append(f"Means over the {_trial_word(result)}s, ± the 95 % confidence interval.")
    seconds = [trial.bound_seconds for trial in result.trials if trial.bound_seconds is not None]
    took = [f"The bound was found in {number(sum(seconds) / len(seconds), 3)} s."] if seconds else []
    return [" ".join(words), *took]
