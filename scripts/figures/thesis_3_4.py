"""Thesis, figure 3.4: seven policies under an energy constraint, without a filter and with the best one.

Beside them the policy that plans with prices, and the bound that no schedule of the day passes. Weighted
policies have their best weight of those tried; the best filter is the best leniency of those tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.io.figure_files import write_figure
from scripts.figures.shared.arriving_days import BOUND, TITLES, Case, Runs, arguments, of, share, tell, trials_in_words
from scripts.figures.shared.constrained_days import (
    LENIENCIES,
    PLAIN,
    WEIGHTED,
    WEIGHTS,
    constrained,
    energy_constraint,
    weighted,
)
from scripts.figures.shared.policy_rows import Marks, RowPanel, policy_rows_figure

if TYPE_CHECKING:
    import argparse

    from lpsched.model.provenance import Estimate

OURS: Final = "prices"
FEW_LENIENCIES: Final = (0.75, 1.5)
FEW_WEIGHTS: Final = (0.05, 0.1, 0.45, 0.5)


def best_cases(
    runs: Runs, energy: float, grid: tuple[tuple[float, ...], tuple[float, ...]]
) -> dict[str, tuple[Case, Case]]:
    """Return the best case of each policy without a filter, and with one."""
    leniencies, weights = grid
    plain = {name: [constrained(name, energy)] for name in PLAIN}
    plain |= {name: [constrained(weighted(name, weight), energy) for weight in weights] for name in WEIGHTED}
    runs.run(case for cases in plain.values() for case in cases)
    chosen = {name: runs.best(cases) for name, cases in plain.items()}
    filtered = {
        name: [constrained(case.policy, energy, leniency=each) for each in leniencies] for name, case in chosen.items()
    }
    runs.run(case for cases in filtered.values() for case in cases)
    return {name: (chosen[name], runs.best(filtered[name])) for name in chosen}


def grid_of(asked: argparse.Namespace) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return leniencies and weights to try: few by default, all where there is time for many trials."""
    return (LENIENCIES, WEIGHTS) if asked.trials >= 8 else (FEW_LENIENCIES, FEW_WEIGHTS)  # noqa: PLR2004


def main() -> None:
    """Run, draw, and print what was measured beside what was printed."""
    asked = arguments(__doc__, "thesis-3-4", trials=1)
    runs = Runs(asked)
    energy = energy_constraint(runs)
    found = best_cases(runs, energy, grid_of(asked))
    ours, bound = constrained(OURS, energy), constrained(BOUND, energy)
    runs.run([ours, bound])
    limit = runs.mean(bound)
    names = [*found, OURS]
    without = [runs.mean(case) for case, _ in found.values()]
    best: list[Estimate | None] = [runs.mean(case) for _, case in found.values()]
    panel = RowPanel(
        "utility earned",
        (Marks("no filter", (*without, runs.mean(ours))), Marks("best filter", (*best, None))),
        limit=("bound, proved", limit.mean),
    )
    write_figure(policy_rows_figure([TITLES[name] for name in names], [panel]), asked.figure)
    print(f"\nUtility under the constraint, {trials_in_words(asked)}.")
    rows = []
    for name, (plain, filtered) in found.items():
        settings = f"{plain.policy.partition(':')[2] or '-'}, {filtered.options.energy_filter}"
        earned, of_bound = runs.mean(plain), f"{100 * runs.mean(plain).mean / limit.mean:.1f} %"
        rows.append((TITLES[name], of(earned), of_bound, of(runs.mean(filtered)), settings))
    of_bound = f"{100 * runs.mean(ours).mean / limit.mean:.1f} %"
    rows += [(TITLES[OURS], of(runs.mean(ours)), of_bound, "", ""), ("bound, proved", of(limit), "", "", "")]
    tell(("policy", "no filter", "of the bound", "best filter", "best weight, leniency"), rows)
    steps = [
        ("Weighted Util above Max-Max UPE", found["weighted-util"][0], found["max-max-upe"][0], "28 %"),
        ("Max-Max UPE above Max-Max UPT", found["max-max-upe"][0], found["max-max-upt"][0], "11 %"),
        ("prices above Weighted Util", ours, found["weighted-util"][0], ""),
        ("the bound above Max-Max UPE", bound, found["max-max-upe"][0], ""),
    ]
    tell(
        ("without a filter", "measured", "printed"),
        [(what, share(runs.over(better, other)), printed) for what, better, other, printed in steps],
    )
    print("\nPrinted: the four policies that know of energy earn more than the three that do not; the filter")
    print("helps those without a weight, and does not help those with one.")


if __name__ == "__main__":
    main()
