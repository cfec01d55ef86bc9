"""Profit paper, figure 2: how much profit whole tasks lose: 900 random bags, the paper's method and ours."""

from __future__ import annotations

import statistics
import sys
from typing import TYPE_CHECKING, Final

from lpsched.io.figure_files import write_figure
from lpsched.units import number
from scripts.figures.shared.distributions import Violin, ViolinPanel, distributions_figure
from scripts.figures.shared.profit_figures import Runs, arguments, percent, tell

if TYPE_CHECKING:
    from lpsched.studies.study import StudyRun

METHODS: Final = {"lp": "the paper's: rounded, longest tasks first", "balanced": "ours: loads evened out"}
SIZE: Final = "tasks_per_machine"


def main(given: list[str] | None = None) -> None:
    """Run the study, draw, and print what was found."""
    asked = arguments(__doc__ or "", "profit-2", given)
    runs = Runs(asked)
    sizes = sorted({run.source[SIZE] for run in runs.all})
    panels, rows = [], []
    for ratio in runs.ratios():
        places = []
        for size in sizes:
            found = {method: _gaps(runs.of(method, profit_ratio=ratio), size) for method in METHODS}
            places.append((number(size), tuple(Violin(METHODS[name], found[name]) for name in METHODS)))
            rows.append(_row(ratio, size, *found.values()))
        panels.append(ViolinPanel(f"profit ratio {number(ratio)}", tuple(places)))
    labels = {"x_label": "tasks a machine", "y_label": "profit below the bound"}
    write_figure(distributions_figure(panels, **labels), asked.figure)
    headers = ["ratio", "tasks a machine", "bags", "the paper's: median", "worst", "ours: median", "worst"]
    tell([*headers, "times closer", "never worse"], rows)


def _gaps(runs: list[StudyRun], size: float) -> tuple[float, ...]:
    """Return how far below its bound each bag of a size ends, in the order of their seeds."""
    own = sorted((run for run in runs if run.source[SIZE] == size), key=lambda run: run.instance_seed or 0)
    return tuple(run.outcome["gap"] for run in own if run.outcome is not None)


def _row(ratio: float, size: float, theirs: tuple[float, ...], ours: tuple[float, ...]) -> list[str]:
    better = all(one <= other for one, other in zip(ours, theirs, strict=True))
    medians = statistics.median(theirs), statistics.median(ours)
    cells = [percent(medians[0]), percent(max(theirs)), percent(medians[1]), percent(max(ours))]
    times = number(medians[0] / medians[1], 3) if medians[1] else "-"
    return [number(ratio), number(size), str(len(ours)), *cells, times, "yes" if better else "no"]


if __name__ == "__main__":
    main(sys.argv[1:])
