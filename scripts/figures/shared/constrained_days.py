"""Days of the thesis's chapter 3: seven policies under an energy constraint, with a filter or a weight.

The constraint is 70 % of what Max-Max UPT takes on average without one. All days are of 24 hours, after 24
of warm-up with the same constraint; tasks that can earn less than 0.5 are dropped.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from lpsched.io.figure_files import write_figure
from lpsched.units import GIGA
from scripts.figures.shared.arriving_days import DROPPING, Case, Runs, chapter_3, of, tell
from scripts.figures.shared.case_curves import Curve, CurvePanel, curves_figure

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lpsched.generate.options import Affinity

PRINTED_CONSTRAINT: Final = 1.11  # GJ
LENIENCIES: Final = (0.3, 0.6, 0.75, 1.0, 1.5, 2.0, 4.0)
WEIGHTS: Final = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.8)
PLAIN: Final = ("min-min", "max-max-util", "max-max-upt", "max-max-upe")
WEIGHTED: Final = ("weighted-util", "weighted-upt", "weighted-upe")
PRINTED_WEIGHT: Final = 0.5  # the best for weighted-util
PRINTED_LENIENCY: Final = {"min-min": 0.75, "max-max-util": 0.75, "max-max-upt": 0.75, "max-max-upe": 1.5}


def energy_constraint(runs: Runs) -> float:
    """Return the constraint in gigajoules, and print it beside the printed one."""
    found = runs.constraint()
    print(f"Energy constraint: {found:.4f} GJ, 70 % of Max-Max UPT's; printed {PRINTED_CONSTRAINT} GJ.")
    return found


def constrained(policy: str, energy: float, *, leniency: float | None = None, affinity: Affinity = "example") -> Case:
    """Return a policy on the constrained day."""
    return Case(chapter_3(energy, affinity), policy, replace(DROPPING, energy_filter=leniency))


def weighted(policy: str, weight: float) -> str:
    """Return the name of a policy with its weight of energy."""
    return f"{policy}:{weight:g}"


def draw_traces(runs: Runs, cases: Mapping[str, Case], energy: float, figure: Path) -> None:
    """Draw utility and energy over the hours of the day, and print when the energy was nearly spent."""
    runs.run(cases.values())
    hours = runs.trace(next(iter(cases.values())), "utility")[0]
    utility = tuple(Curve(name, runs.trace(case, "utility")[1]) for name, case in cases.items())
    joules = tuple(Curve(name, runs.trace(case, "energy_joules", GIGA)[1]) for name, case in cases.items())
    limit = energy * runs.asked.part
    panels = [
        CurvePanel("hours of the day", "utility earned so far", tuple(hours), utility),
        CurvePanel(
            "hours of the day", "energy taken so far, GJ", tuple(hours), joules, limit=("energy constraint", limit)
        ),
    ]
    write_figure(curves_figure(panels), figure)
    rows = []
    for (name, case), curve in zip(cases.items(), joules, strict=True):
        spent = [hour for hour, each in zip(hours, curve.estimates, strict=True) if each.mean >= 0.99 * limit]
        when = f"{spent[0]:.1f}" if spent else "never"
        rows.append((name, of(runs.mean(case)), f"{curve.estimates[-1].mean:.4f}", when))
    tell(("case", "utility", "energy, GJ", "hour when 99 % is spent"), rows)
