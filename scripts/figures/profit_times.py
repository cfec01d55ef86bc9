"""Profit paper, section V-B: how long it takes to find the schedule, by the number of tasks."""

from __future__ import annotations

import statistics
import sys
from typing import TYPE_CHECKING, Final

from scripts.figures.shared.profit_figures import Runs, arguments, percent, tell

if TYPE_CHECKING:
    from lpsched.studies.study import StudyRun

PRINTED: Final = {10_000: "3.6", 100_000: "8.9", 1_000_000: "74"}  # milliseconds
MADE: Final = "instance"  # the stage that draws the bag


def main(given: list[str] | None = None) -> None:
    """Run the study one run at a time; print the least milliseconds of each size, and median gaps."""
    asked = arguments(__doc__ or "", "profit-times", ["--jobs", "1", *(given or [])])
    runs = Runs(asked)
    rows = []
    for tasks in sorted({run.source["tasks"] for run in runs.all}):
        row = [f"{tasks:,}", PRINTED.get(tasks, "-")]
        for method in ("lp", "balanced"):
            own = [run for run in runs.of(method) if run.source["tasks"] == tasks]
            gaps = [run.outcome["gap"] for run in own if run.outcome is not None]
            row += [f"{1e3 * min(map(_seconds, own)):.1f}", percent(statistics.median(gaps))]
        rows.append(row)
    tell(["tasks", "printed, ms", "lp, ms", "gap", "balanced, ms", "gap"], rows)


def _seconds(run: StudyRun) -> float:
    """Return all seconds of a run but those that drew the bag: relaxing, proving, recovering, verifying."""
    return run.timings["total"] - run.timings.get(MADE, 0.0)


if __name__ == "__main__":
    main(sys.argv[1:])
