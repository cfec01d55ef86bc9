"""Policies on simulated days, in tables and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.text import Text

from lpsched.display import number
from lpsched.reports.tables import FoldingTable, table
from lpsched.result.policy_entry import HEADERS, OFFLINE, shown

if TYPE_CHECKING:
    from rich.console import ConsoleRenderable
    from rich.table import Table

    from lpsched.result.simulation import Simulation

MOST_REASONS: Final = 40
GIGA: Final = 1e9
WORTH_HEADERS: Final = ("one more", "adds at most, utility")


def simulation_tables(result: Simulation) -> list[ConsoleRenderable]:
    """Return each policy beside the naive figure and the bound, and why some have no answer."""
    name = result.provenance.instance_name
    heading = Text(f"{name}: {in_words(result)}")
    answer = FoldingTable(HEADERS, tuple(result.rows()))
    reasons = reason_rows(result)
    cut = [Text(f"... and {len(reasons) - MOST_REASONS:,} more (--json has all)")]
    return [
        heading,
        answer,
        *(Text(line) for line in notes(result)),
        *_worths(result),
        *([table(("policy", "trial", "no answer"), reasons[:MOST_REASONS])] if reasons else []),
        *(cut if len(reasons) > MOST_REASONS else []),
    ]


def _worths(result: Simulation) -> list[Table | Text]:
    rows = result.worth_rows()
    if not rows:
        return []
    return [table(WORTH_HEADERS, [*rows[:MOST_REASONS], *rows[MOST_REASONS:][-1:]], numbers=(1,))]


def in_words(result: Simulation) -> str:
    """Return how the days were run, in one line.

    Every option that is not as usual is named.
    """
    options = result.options
    told = [trials_in_words(result), f"seed {result.seed}", f"{options['machines']} machines"]
    every = []
    if options["every_seconds"] is not None:
        every.append(f"{number(options['every_seconds'])} s")
    if options["every_arrivals"] is not None:
        arrivals = options["every_arrivals"]
        every.append("arrival" if arrivals == 1 else f"{arrivals:,} arrivals")
    told.append(f"a mapping event every {' or '.join(every)}")
    if result.energy_constraint_joules is not None:
        told.append(f"at most {number(result.energy_constraint_joules / GIGA)} GJ")
    if options["drop_below"]:
        told.append(f"tasks below {number(options['drop_below'])} dropped")
    if options["energy_filter"] is not None:
        leniency = options["energy_filter"]
        told.append(f"energy filter {leniency if isinstance(leniency, str) else number(leniency)}")
    if options["permute"] > 1:
        told.append(f"{options['permute']} tasks permuted")
    return "; ".join(told)


def trials_in_words(result: Simulation) -> str:
    """Return how many days there were."""
    done, asked = len(result.trials), result.asked_trials
    if done < asked:
        return f"{done:,} of {asked:,} days"
    return "one day" if asked == 1 else f"{asked:,} days"


def notes(result: Simulation) -> list[str]:
    """Return what the rows and columns mean."""
    told = ["naive: every task begins on arrival where it is quickest."]
    if result.bound is not None:
        seconds = [trial.bound_seconds for trial in result.trials if trial.bound_seconds is not None]
        took = f"; found in {number(sum(seconds) / len(seconds), 3)} s" if seconds else ""
        told.append(f"bound: no schedule of the day earns more, whoever makes it{took}.")
    if len(result.trials) > 1:
        told.append("Means over the days, ± the 95 % confidence interval.")
    return [" ".join(told)]


def reason_rows(result: Simulation) -> list[tuple[str, str, str]]:
    """Return the policies without an answer: name, trial, why."""
    return [(entry.name, f"{trial}", why) for entry in result.policies for trial, why in entry.reasons]


def lead_of(result: Simulation) -> str:
    """Return the answer in one sentence."""
    best = result.best
    if best is None:
        return "No policy has an answer."
    several = sum(1 for entry in result.policies if entry.answers and entry.kind != OFFLINE)
    most = f", the most of {several} policies" if several > 1 else ""
    earned = f"{best.name} earns {shown(best.mean('utility'))}{most}"
    of_bound, bound = best.mean("share_of_bound"), result.bound
    if of_bound is None or bound is None:
        return f"{earned}."
    proved = f"no schedule can earn more than {shown(bound)}, proved"
    return f"{earned}: {100 * of_bound.mean:.3g} % of the bound; {proved}."
