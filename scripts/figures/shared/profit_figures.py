"""What the scripts of the Profit paper's figures share: their study is run, and they draw from its lines.

A figure has a study file in `scripts/studies/`. Runs that have a line already are not made again, so a second
call only draws. `--study FILE` takes another study of the same shape: a smaller one, or one of your own bags.
"""

from __future__ import annotations

import argparse
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.bag.files import read_bag
from lpsched.bag.result import Point
from lpsched.studies.executors import LocalExecutor
from lpsched.studies.running import SerialExecutor, run_study
from lpsched.studies.study import lines_of, read_runs, read_study
from lpsched.units import JOULES_PER_KWH, SECONDS_PER_HOUR, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lpsched.bag.model import Bag
    from lpsched.studies.study import StudyRun

ROOT: Final = Path(__file__).parents[3]
STUDIES: Final = ROOT / "scripts" / "studies"
FIGURES: Final = ROOT / "docs" / "figures"
SAME: Final = 1e-7  # relative


class Runs:
    """The runs of a figure's study, made if need be."""

    def __init__(self, asked: argparse.Namespace) -> None:
        lines = asked.runs or lines_of(asked.study)
        executor = LocalExecutor(asked.jobs) if asked.jobs > 1 else SerialExecutor()
        summary = run_study(asked.study, lines, executor=executor, resume=True)
        if summary.failed:
            raise SystemExit(f"{summary.failed} runs failed: {summary.reasons[0][0]}")
        if summary.made:
            print(f"{summary.made:,} runs in {summary.seconds:.1f} s, {asked.jobs} at a time.\n")
        self.all = list(read_runs(lines))
        source = read_study(asked.study).instances[0]
        self.bag = read_bag(asked.study.parent / (source.file or source.options["from"]))

    def of(self, method: str, **parameters: object) -> list[StudyRun]:
        """Return the runs of a method with these parameters; `None` for one that is not given."""
        return [
            run
            for run in self.all
            if run.method == method and all(run.parameters.get(name) == value for name, value in parameters.items())
        ]

    def outcome(self, method: str, **parameters: object) -> dict[str, Any]:
        """Return what came out of the only such run."""
        (run,) = self.of(method, **parameters)
        assert run.outcome is not None, "failed runs end the script"
        return dict(run.outcome)

    def ratios(self) -> list[float]:
        """Return all profit ratios, rising."""
        return sorted({run.parameters["profit_ratio"] for run in self.all if "profit_ratio" in run.parameters})


def arguments(what: str, figure: str, given: Sequence[str] | None = None) -> argparse.Namespace:
    """Read a figure's options."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--study", type=Path, default=STUDIES / f"{figure}.yaml", help="what to run")
    parser.add_argument("--runs", type=Path, help="its lines; by default beside it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--figure", type=Path, default=FIGURES / f"{figure}.svg", help="the figure")
    return parser.parse_args(given)


def points_of(told: Iterable[dict[str, float]]) -> tuple[Point, ...]:
    """Return points as they stand in JSON."""
    return tuple(Point(each["energy_joules"], each["makespan_seconds"]) for each in told)


def schedule_of(outcome: dict[str, Any]) -> Point | None:
    """Return what the schedule of a run takes; `None` if nothing runs."""
    if outcome["makespan_seconds"] is None:
        return None
    return Point(outcome["energy_joules"], outcome["makespan_seconds"])


def is_among(point: Point, points: Iterable[Point]) -> bool:
    """Tell whether a point is one of some others, up to rounding."""
    return any(
        math.isclose(point.energy_joules, each.energy_joules, rel_tol=SAME)
        and math.isclose(point.makespan_seconds, each.makespan_seconds, rel_tol=SAME)
        for each in points
    )


class Money:
    """What the corners of a front or of a region earn, for bags without wear."""

    def __init__(self, bag: Bag, corners: Sequence[Point]) -> None:
        self.per_joule = bag.site.pue * (bag.prices.electricity_per_kwh or 0.0) / JOULES_PER_KWH
        self.overhead, self.corners = bag.prices.overhead_per_bag, corners
        self.unit = f"{bag.prices.currency}/hour"
        self._least = min(point.energy_joules for point in corners)

    def income(self, ratio: float) -> float:
        """Return what a bag brings at a ratio."""
        return ratio * self.per_joule * self._least - self.overhead

    def best(self, ratio: float) -> tuple[Point, float]:
        """Return the corner that earns most at a ratio, and how much an hour."""
        income = self.income(ratio)
        rates = [
            (each, SECONDS_PER_HOUR * (income - self.per_joule * each.energy_joules) / each.makespan_seconds)
            for each in self.corners
        ]
        return max(rates, key=lambda pair: pair[1])


def tell(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table in Markdown; the first column is text, the others numbers."""
    print(f"| {' | '.join(headers)} |\n| --- |{' ---: |' * (len(headers) - 1)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def percent(share: float) -> str:
    """Write a share in per cent."""
    return f"{number(100 * share, 3)} %"
