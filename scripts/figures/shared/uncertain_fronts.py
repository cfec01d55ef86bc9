"""Fronts of chapter 7's system under uncertainty, for its figures: by expected values or by a percentile.

6,000 tasks of 100 types arrive in four hours at 100 machines of 13 types with three P-states. Coefficients of
variation are from 0.1 to 1.5, tasks that are expected to earn less than 0.5 are dropped, populations of 100
begin with the four two-stage heuristics of section 7.3.4 and random ones. The thesis ran 10,000 generations;
by default these are fewer.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.cancellation import CancelToken
from lpsched.evolve.nsga2 import evolve_front
from lpsched.io.figure_files import write_figure
from lpsched.model.risk import RiskOptions
from lpsched.online.compare.day_fronts import fuzzy_front
from lpsched.online.evolve import DayProblem, SampledDayScorer
from lpsched.online.heuristics import heuristic_for_days
from scripts.figures.shared.data_sets import chapter_7

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from lpsched.online.day import Day
    from lpsched.online.result.comparisons import FuzzyFront
    from lpsched.online.schedule import DaySchedule

FIGURES: Final = Path(__file__).parents[3] / "docs" / "figures"
DROP_BELOW: Final = 0.5
SEEDS: Final = (
    "max-max-utility",
    "max-max-utility-per-time",
    "max-max-utility-per-power",
    "max-max-utility-per-energy",
)


def main(
    question: str, name: str, percentiles: Sequence[float | None], draw: Callable[[list[FuzzyFront]], Figure]
) -> None:
    """Evolve a front for each percentile (`None`: by expected values), draw them, and tell how they fare."""
    parser = argparse.ArgumentParser(description=question)
    parser.add_argument("--generations", type=int, default=30)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--size", type=int, default=100, help="chromosomes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--figure", type=Path, default=FIGURES / f"{name}.svg")
    asked = parser.parse_args()
    day = chapter_7(np.random.default_rng(asked.seed))
    rng = np.random.default_rng(asked.seed)
    seeds = [heuristic_for_days(each)(day, rng, drop_below=DROP_BELOW) for each in SEEDS]
    fronts = []
    for percentile in percentiles:
        options = RiskOptions(samples=asked.samples, cov=(0.1, 1.5), percentile=percentile)
        begin = time.perf_counter()
        fronts.append(evolved(day, seeds, options, asked))
        print(f"{fronts[-1].ranked_by}: {asked.generations} generations, {time.perf_counter() - begin:.1f} s")
        tell(fronts[-1])
    write_figure(draw(fronts), asked.figure)


def evolved(day: Day, seeds: Sequence[DaySchedule], options: RiskOptions, asked: argparse.Namespace) -> FuzzyFront:
    """Return one front with its samples."""
    scored = None
    if options.percentile is not None:
        scored = SampledDayScorer(day, options, seed=asked.seed, drop_below=DROP_BELOW)
    front = evolve_front(
        DayProblem(day, DROP_BELOW),
        rng=np.random.default_rng(asked.seed),
        scorer=scored,
        seeds=seeds,
        size=asked.size,
        generations=asked.generations,
        cancel=CancelToken(),
    )
    name = "expected values" if scored is None else f"percentile {options.percentile:g}"
    return fuzzy_front(front, options, seed=asked.seed, name=name, by_percentile=scored is not None)


def tell(front: FuzzyFront) -> None:
    """Print the ends and the middle of a front: as ranked, and over the samples."""
    print("| energy, MJ | utility | mean energy, MJ | mean utility | sd energy | sd utility | dropped |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    last = len(front.points) - 1
    for place in sorted({0, last // 4, last // 2, 3 * last // 4, last}):
        point = front.points[place]
        energy, value = (point.risk.quantities[key] for key in ("energy_joules", front.value_key))
        cells = (point.energy_joules / 1e6, point.value, (energy.mean or 0.0) / 1e6, value.mean)
        deviations = ((energy.standard_deviation or 0.0) / 1e6, value.standard_deviation)
        print("| " + " | ".join(f"{cell:.5g}" for cell in (*cells, *deviations, point.mean_dropped)) + " |")
