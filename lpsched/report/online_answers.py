"""Results about days and clusters in tables: validation, simulation."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from rich.text import Text

from lpsched.model.provenance import Estimate
from lpsched.online.result import fronts as day_front
from lpsched.online.result.policy import OFFLINE, Judged, shown, shown_share
from lpsched.report.files import period_words
from lpsched.report.tables import MOST_ROWS, FoldingTable, compared_tables, cut_table, front_remarks, table
from lpsched.units import GIGA, MEGA, lower_text, number, upper_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import ConsoleRenderable
    from rich.table import Table

    from lpsched.online.result.fronts import DayFront
    from lpsched.online.result.simulation import Simulation
    from lpsched.online.result.validation import ClustersValidation, DayValidation


def clusters_validation_tables(result: ClustersValidation) -> list[Table | Text]:
    """Return each schedule beside what no schedule can pass, and the rules that the invalid ones break."""
    name, waiting = result.provenance.instance_name, result.waiting
    judged = "utility" if waiting is None else f"cost of waiting ({waiting.measure}, by {waiting.weight})"
    heading = f"{name}: {judged} of schedules against the bound"
    share = "cost that no schedule avoids / cost" if result.is_cost else "utility / what no schedule passes"
    naive = number(0.0 - result.naive_bound if result.is_cost else result.naive_bound)
    quantity = "cost" if result.is_cost else "utility"
    note = f"of bound: {share}. If no task ever waited: {quantity} {naive}."
    if not result.period.is_whole:
        note += f"\ncounted: {period_words(result.period)}."
    return compared_tables(result, heading, Text(note))


def day_validation_tables(result: DayValidation) -> list[Table | Text]:
    """Return each schedule beside the bound at its energy, and the rules that the invalid ones break."""
    dropped = "" if result.drop_below is None else f", tasks below {number(result.drop_below)} dropped"
    name = result.provenance.instance_name
    heading = f"{name}: utility of schedules against the bound without waiting; seed {result.seed}{dropped}"
    note = (
        "of bound: of the most utility possible with the same energy, if no task ever waited. "
        f"All tasks together take at least {lower_text(Fraction(result.least_joules) / MEGA)} MJ."
    )
    if not result.period.is_whole:
        left_out = "what would start later, or break the energy constraint, is left out of a heuristic's schedule"
        note += f"\ncounted: {period_words(result.period)}; {left_out}."
    return compared_tables(result, heading, Text(note), quantities=("utility", "energy_joules"))


def day_front_tables(result: DayFront) -> list[Table | Text]:
    """Return the methods beside the envelope of a day, and what is wrong with some."""
    name, highest = result.provenance.instance_name, result.envelope[-1]
    heading = Text(
        f"{name}: no schedule earns more than {upper_text(highest.utility)}, and none as much with "
        f"less energy than the envelope says (proved, {len(result.envelope):,} corners); seed {result.seed}"
    )
    answer = table(day_front.HEADERS, result.rows(), numbers=range(1, 10))
    return [heading, answer, *front_remarks(result.entries)]


# Policies on simulated days, in tables and in words.
def simulation_tables(result: Simulation) -> list[ConsoleRenderable]:
    """Return each policy beside the naive figure and the bound, and why some have no answer."""
    heading = Text(f"{result.provenance.instance_name}: {in_words(result)}")
    answer = FoldingTable(result.headers, tuple(result.rows()))
    reasons, rows = reason_rows(result), result.worth_rows()
    few = [*rows[:MOST_ROWS], *rows[MOST_ROWS:][-1:]]
    worths = [table(worth_headers(result), few, numbers=(1,))] if rows else []
    why = cut_table(("policy", "trial", "no answer"), reasons) if reasons else []
    return [heading, answer, *map(Text, notes(result)), *worths, *why]


def worth_headers(result: Simulation) -> tuple[str, str]:
    """Return what the table of worths says above its columns."""
    return "one more", "saves at most, cost" if result.judged is Judged.WAITING else "adds at most, utility"


def in_words(result: Simulation) -> str:
    """Return how the days were run, in one line.

    Every option that is not as usual is named.
    """
    options = result.options
    told = [trials_in_words(result), f"seed {result.seed}"]
    told += _day_words(options) if result.judged is Judged.DAY else _cluster_words(result)
    if result.energy_constraint_joules is not None:
        told.append(f"at most {number(result.energy_constraint_joules / GIGA)} GJ")
    if options["drop_below"]:
        told.append(f"tasks below {number(options['drop_below'])} dropped")
    if options["energy_filter"] is not None:
        of, leniency = options["energy_filter"], options.get("leniency")
        of = of if isinstance(of, str) else number(of)
        lenient = "" if leniency is None else f", leniency {number(leniency)}"
        told.append(f"energy filter {of}{lenient}")
    if options.get("permute", 0) > 1:
        told.append(f"{options['permute']} tasks permuted")
    return "; ".join(told)


def _day_words(options: Mapping[str, Any]) -> list[str]:
    """Tell what days alone have: queues, and arrivals that make mapping events."""
    every = []
    if options["every_seconds"] is not None:
        every.append(f"{number(options['every_seconds'])} s")
    if options["every_arrivals"] is not None:
        arrivals = options["every_arrivals"]
        every.append("arrival" if arrivals == 1 else f"{arrivals:,} arrivals")
    return [f"{options['machines']} machines", f"a mapping event every {' or '.join(every)}"]


def _cluster_words(result: Simulation) -> list[str]:
    """Tell what clusters alone have: costs of waiting, and ends that make mapping events."""
    told = [] if result.waiting is None else [cost_words(result.waiting)]
    seconds = result.options["every_seconds"]
    when = "at every arrival and end" if seconds is None else f"every {number(seconds)} s"
    return [*told, f"a mapping event {when}"]


def cost_words(waiting: Mapping[str, Any]) -> str:
    """Return what waiting costs, in words.

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


def trials_in_words(result: Simulation) -> str:
    """Return how many days there were."""
    done, asked, what = len(result.trials), result.asked_trials, _trial_word(result)
    if done < asked:
        return f"{done:,} of {asked:,} {what}s"
    return f"one {what}" if asked == 1 else f"{asked:,} {what}s"


def _trial_word(result: Simulation) -> str:
    """Return what a trial is: clusters may be simulated for months."""
    return "day" if result.judged is Judged.DAY else "trial"


def notes(result: Simulation) -> list[str]:
    """Return what the rows and columns mean."""
    costs = result.judged is Judged.WAITING
    told = ["naive: every task begins on arrival where it is quickest."]
    if result.bound is not None:
        seconds = [trial.bound_seconds for trial in result.trials if trial.bound_seconds is not None]
        took = f"; found in {number(sum(seconds) / len(seconds), 3)} s" if seconds else ""
        of_day = " of the day" if result.judged is Judged.DAY else ""
        what = "no schedule below: none costs less" if costs else f"bound: no schedule{of_day} earns more"
        told.append(f"{what}, whoever makes it{took}.")
        if costs:
            told.append("unavoidable: that part of the cost.")
    if len(result.trials) > 1:
        told.append(f"Means over the {_trial_word(result)}s, ± the 95 % confidence interval.")
    return [" ".join(told)]


def reason_rows(result: Simulation) -> list[tuple[str, str, str]]:
    """Return the policies without an answer: name, trial, why."""
    return [(entry.name, f"{trial}", why) for entry in result.policies for trial, why in entry.reasons]


def lead_of(result: Simulation) -> str:
    """Return the answer in one sentence."""
    best = result.best
    if best is None:
        return "No policy has an answer."
    costs = result.judged is Judged.WAITING
    several = sum(1 for entry in result.policies if entry.answers and entry.kind != OFFLINE)
    most = f", the {'least' if costs else 'most'} of {several} policies" if several > 1 else ""
    done = f"costs {shown(best.mean('cost'))}" if costs else f"earns {shown(best.mean('utility'))}"
    done = f"{best.name} {done}{most}"
    of_bound, bound = best.mean("share_of_bound"), result.bound
    if of_bound is None or bound is None:
        return f"{done}."
    share = shown_share(Estimate(of_bound.mean), upper=False)
    if costs:
        below = shown(Estimate(0.0 - bound.mean, bound.half_width), upper=False)
        return f"{done}; {share} of it no schedule can avoid: none costs less than {below}, proved."
    return f"{done}: {share} of the bound; no schedule can earn more than {shown(bound, upper=True)}, proved."
