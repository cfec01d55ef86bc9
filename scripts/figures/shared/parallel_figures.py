"""Figures 7 to 10 of the Jobs paper: leniencies of one policy, and all policies beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.io.figure_files import write_figure
from lpsched.online.simulate.options import PER_RESOURCE, PER_TASK
from scripts.figures.shared.arriving_days import BOUND, Runs, arguments, best_place, of, share, tell, trials_in_words
from scripts.figures.shared.case_curves import Curve, CurvePanel, curves_figure
from scripts.figures.shared.parallel_days import (
    COMPARED,
    CONSTRAINT,
    ENERGY_AWARE,
    PLACEHOLDERS,
    SETTINGS,
    UTILITY_AWARE,
    bound_percent,
    case,
    free_cases,
    gigajoules,
    is_filtered,
    percent,
    tell_constraint,
    titles,
)
from scripts.figures.shared.policy_rows import Marks, RowPanel, policy_rows_figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from lpsched.model.provenance import Estimate
    from scripts.figures.shared.arriving_days import Case
    from scripts.figures.shared.parallel_days import Filter, Kind

SWEPT: Final = f"max-upr{PLACEHOLDERS}"
SWEPT_TASKS: Final = 5_000
SHARE: Final = "utility, % of the maximum"
ENERGY: Final = "energy, GJ"
FILTERED: Final = {PER_TASK: "energy per task", PER_RESOURCE: "energy per resource"}
NO_FILTER: Final = "no filter"
Cases = dict[tuple[str, str], "Case"]


def draw_leniencies(what: str, figure: str, kind: Kind, leniencies: Sequence[float], printed: float) -> None:
    """Run Max UPR with place-holders with every leniency of a filter, draw, and print what was measured."""
    asked = arguments(what, figure, trials=8, settings=tuple(SETTINGS))
    runs = Runs(asked)
    filters: list[Filter] = [*((kind, each) for each in leniencies), None]
    cases = [case(SWEPT_TASKS, SWEPT, each, setting=asked.setting) for each in filters]
    runs.run(cases)
    earned = tuple(percent(runs, each) for each in cases)
    taken = tuple(gigajoules(runs, each) for each in cases)
    places = (*(f"{each:g}" for each in leniencies), "none")
    label = f"leniency, {FILTERED[kind]}"
    limit = ("energy constraint", CONSTRAINT[SWEPT_TASKS] * asked.part)
    panels = [
        CurvePanel(label, SHARE, places, (Curve(titles()[SWEPT], earned),)),
        CurvePanel(label, ENERGY, places, (Curve(titles()[SWEPT], taken),), limit),
    ]
    write_figure(curves_figure(panels), asked.figure)
    print(f"{titles()[SWEPT]}, by the leniency of the {kind} filter; {trials_in_words(asked)}.")
    rows = [
        (place, of(utility), hundredths(energy)) for place, utility, energy in zip(places, earned, taken, strict=True)
    ]
    tell(("leniency", "% of the maximum", "GJ"), rows)
    print(f"\nBest leniency: {best_place(places, earned)}; printed {printed:g}.")


def draw_policies(what: str, figure: str, tasks: int, filters: dict[str, Filter]) -> None:
    """Run all policies, draw them beside the bound, print what was measured, and hold the claims against it.

    Parameters
    ----------
    filters
        Those of policies that may have one, by what they are called; others have none.
    """
    asked = arguments(what, figure, trials=8, settings=tuple(SETTINGS))
    runs = Runs(asked)
    cases = {
        (policy, name): case(tasks, policy, filters.get(name), setting=asked.setting)
        for policy in titles()
        for name in (filters if is_filtered(policy) else {NO_FILTER: None})
    }
    free = free_cases(tasks, asked.setting).values()
    runs.run([*cases.values(), *free, case(tasks, BOUND, setting=asked.setting)])
    tell_constraint(runs, tasks)
    bound = bound_percent(runs, tasks)
    write_figure(_drawn(runs, cases, bound, CONSTRAINT[tasks] * asked.part), asked.figure)
    print(f"\n{tasks:,} tasks a day, at most {CONSTRAINT[tasks]:g} GJ; {trials_in_words(asked)}.")
    rows = [
        (
            titles()[policy],
            name,
            of(percent(runs, each)),
            f"{100 * percent(runs, each).mean / bound.mean:.1f}",
            hundredths(gigajoules(runs, each)),
            of(runs.mean(each, "milliseconds_per_event")),
        )
        for (policy, name), each in cases.items()
    ]
    rows.append(("bound, proved", "", of(bound), "", "", ""))
    tell(("policy", "filter", "% of the maximum", "% of the bound", "GJ", "ms/event"), rows)
    tell_claims(runs, cases)


def hundredths(estimate: Estimate) -> str:
    """Write a mean with its interval, which may be next to nothing."""
    half = estimate.half_width
    return f"{estimate.mean:.2f}" if half is None else f"{estimate.mean:.2f} ± {half:.2f}"


def _drawn(runs: Runs, cases: Cases, bound: Estimate, gigajoules_at_most: float) -> Figure:
    """Draw policies in rows, filters as marks: shares of the maximum, and energies."""
    names = tuple(dict.fromkeys(name for _, name in cases))
    panels = []
    for label, measure, limit in (
        (SHARE, percent, ("bound (left)", bound.mean)),
        (ENERGY, gigajoules, ("constraint (right)", gigajoules_at_most)),
    ):
        found = {key: measure(runs, each) for key, each in cases.items()}
        marks = (Marks(name, tuple(found.get((policy, name)) for policy in titles())) for name in names)
        panels.append(RowPanel(label, tuple(marks), limit))
    return policy_rows_figure(list(titles().values()), panels)


def tell_claims(runs: Runs, cases: Cases) -> None:
    """Print by how much what should be better is better: the mean over the trials of each trial's share."""
    best = max(COMPARED, key=lambda policy: runs.mean(cases[policy, NO_FILTER]).mean)
    aware = {key: each for key, each in cases.items() if key[0] not in COMPARED}
    above_best = {key: (each, cases[best, NO_FILTER]) for key, each in aware.items()}
    _tell_over(runs, f"utility above {COMPARED[best]}", above_best)
    above_reservations = {
        (f"{policy}{PLACEHOLDERS}", name): (cases[f"{policy}{PLACEHOLDERS}", name], each)
        for (policy, name), each in aware.items()
        if policy in UTILITY_AWARE
    }
    _tell_over(runs, "utility above reservations", above_reservations)
    for task in dict.fromkeys(name for _, name in aware if name.startswith(PER_TASK)):
        above_task = {
            (policy, name): (each, cases[policy, task])
            for (policy, name), each in aware.items()
            if name.startswith(PER_RESOURCE)
        }
        _tell_over(runs, f"utility above {task}", above_task)
    upe = f"{ENERGY_AWARE}{PLACEHOLDERS}"
    above_others = {
        (policy, name): (cases[upe, NO_FILTER], each)
        for (policy, name), each in aware.items()
        if policy.endswith(PLACEHOLDERS) and policy != upe
    }
    _tell_over(runs, "Max UPE, place-holders: utility above", above_others)
    _tell_over(runs, "Max UPE, place-holders: energy above", above_others, "energy_joules")
    print("\nPrinted: all that know utility above all others; place-holders above reservations; energy per")
    print("resource above energy per task; Max UPE with place-holders takes less energy than others as good.")


def _tell_over(
    runs: Runs, what: str, pairs: dict[tuple[str, str], tuple[Case, Case]], quantity: str = "utility"
) -> None:
    """Print a table: a row for each policy, a column for each filter."""
    names = tuple(dict.fromkeys(name for _, name in pairs))
    rows = [
        (
            titles()[policy],
            *(share(runs.over(*pairs[policy, name], quantity)) if (policy, name) in pairs else "" for name in names),
        )
        for policy in dict.fromkeys(policy for policy, _ in pairs)
    ]
    tell((what, *names), rows)
