"""Thesis, figure 3.14: utility and completed tasks where tasks suit machines little, as usual, or much.

Each policy has its best filter or weight of those tried in each environment. The energy constraint is that
of the usual environment in all three, as in print.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.io.figure_files import write_figure
from scripts.figures.shared.arriving_days import TITLES, Case, Runs, arguments, of, tell, trials_in_words
from scripts.figures.shared.constrained_days import PLAIN, WEIGHTED, constrained, energy_constraint, weighted
from scripts.figures.shared.policy_rows import Marks, RowPanel, policy_rows_figure

if TYPE_CHECKING:
    from lpsched.generate.options import Affinity

AFFINITIES: tuple[Affinity, ...] = ("low", "example", "high")
SOME_LENIENCIES = (0.5, 0.75, 1.0, 1.5)
SOME_WEIGHTS = {"weighted-util": (0.4, 0.5, 0.6), "weighted-upt": (0.05, 0.1, 0.15), "weighted-upe": (0.05, 0.1, 0.15)}


def settings(name: str, energy: float, affinity: Affinity) -> list[Case]:
    """Return the cases of one policy in one environment, of which the best is shown."""
    if name in WEIGHTED:
        return [constrained(weighted(name, each), energy, affinity=affinity) for each in SOME_WEIGHTS[name]]
    return [constrained(name, energy, leniency=each, affinity=affinity) for each in SOME_LENIENCIES]


def main() -> None:
    """Run, draw, and print what was measured beside what was printed."""
    asked = arguments(__doc__, "thesis-3-14", trials=1)
    runs = Runs(asked)
    energy = energy_constraint(runs)
    names = (*PLAIN, *WEIGHTED)
    every = {(name, kind): settings(name, energy, kind) for kind in AFFINITIES for name in names}
    runs.run(case for several in every.values() for case in several)
    best = {key: runs.best(several) for key, several in every.items()}
    panels = [
        RowPanel(
            label,
            tuple(
                Marks(f"{kind} affinity", tuple(runs.mean(best[name, kind], quantity) for name in names))
                for kind in AFFINITIES
            ),
        )
        for label, quantity in (("utility earned", "utility"), ("completed tasks", "completed"))
    ]
    write_figure(policy_rows_figure([TITLES[name] for name in names], panels), asked.figure)
    print(f"\nUtility and completed tasks by affinity, {trials_in_words(asked)}.")
    rows = [
        (
            TITLES[name],
            *(of(runs.mean(best[name, kind])) for kind in AFFINITIES),
            *(of(runs.mean(best[name, kind], "completed")) for kind in AFFINITIES),
        )
        for name in names
    ]
    tell(("policy", *AFFINITIES, *(f"completed, {kind}" for kind in AFFINITIES)), rows)
    print("\nPrinted: low affinity earns and completes less than the usual one, high affinity more, and there")
    print("all policies are much alike.")


if __name__ == "__main__":
    main()
