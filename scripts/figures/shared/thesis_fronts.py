"""Runs behind the figures of the thesis's chapters 5 and 6: what they share."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lpsched.bag.compare.fronts import compare_fronts
from lpsched.bag.compare.result import machine_points
from lpsched.evolve.nsga2 import Evolving
from lpsched.io.figure_files import write_figure
from lpsched.online.compare.day_fronts import area_ratios, compare_day_fronts
from lpsched.report.figures.day_fronts import NamedFront, Panel, populations_figure
from lpsched.report.figures.fronts import front_figure, machine_figure
from lpsched.units import number, percent

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.evolve.genes import TaskPopulation
    from lpsched.online.day import Day
    from lpsched.online.result.comparisons import DayFront

FIGURES: Final = Path(__file__).parents[3] / "docs" / "figures"
FIRST_POPULATIONS: Final = {  # by their names in the figures: what joins them
    "min-energy": "min-energy",
    "min-min": "min-min",
    "max-utility": "max-utility",
    "utility-per-energy": "utility-per-energy",
    "random": "none",
}


def arguments(what: str, figure: str, generations: str) -> argparse.Namespace:
    """Read generations (with commas), seed and the file to draw."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--generations", default=generations, help="with commas where there are several panels")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--figure", type=Path, default=FIGURES / f"{figure}.svg")
    asked = parser.parse_args()
    asked.generations = [int(each) for each in asked.generations.split(",")]
    return asked


@dataclass(slots=True)
class _Saved:
    """The last population that was kept."""

    population: TaskPopulation | None = None

    def keep(self, population: TaskPopulation) -> None:
        self.population = population


def evolved_days(day: Day, first: str, generations: list[int], seed: int) -> list[DayFront]:
    """Evolve one population of a day, and return its front after each of so many generations."""
    saved, found = _Saved(), []
    for before, after in pairwise([0, *generations]):
        evolving = Evolving(after - before, seed_with=(first,), population=saved.population, keep=saved.keep)
        found.append(compare_day_fronts(day, ["nsga2"], evolving=evolving, seed=seed))
    return found


def draw_populations(what: str, figure: str, day: Day, generations: str) -> None:
    """Draw the fronts of five first populations after so many generations, and print how far they are."""
    asked = arguments(what, figure, generations)
    counts = asked.generations
    runs = {name: evolved_days(day, first, counts, asked.seed) for name, first in FIRST_POPULATIONS.items()}
    panels = [
        Panel(
            f"{count:,} generations",
            tuple(NamedFront(name, found[place].entries[0].points) for name, found in runs.items()),
        )
        for place, count in enumerate(counts)
    ]
    envelope = next(iter(runs.values()))[0].envelope
    write_figure(populations_figure(panels, envelope), asked.figure)
    print("| first population | generations | points | hypervolume | mean below | most utility | seconds |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    every = [(name, count, found[place]) for name, found in runs.items() for place, count in enumerate(counts)]
    ratios = area_ratios(envelope, [result.entries[0].points for *_, result in every])
    for (name, count, result), ratio in zip(every, ratios, strict=True):
        entry = result.entries[0]
        below, most = percent(entry.mean_distance), number(max(point.utility for point in entry.points))
        seconds = number(entry.seconds, 3)
        print(f"| {name} | {count:,} | {len(entry.points)} | {ratio:.4f} | {below} | {most} | {seconds} |")


def draw_machines(what: str, figure: str, bag: Bag, *, falling: bool, generations: str = "3000") -> None:
    """Evolve a front of a bag, draw it with what each machine does at five points, and print the points."""
    asked = arguments(what, figure, generations)
    evolving = Evolving(asked.generations[-1])
    result = compare_fronts(bag, ["nsga2", "lp-dense"], evolving=evolving, seed=asked.seed)
    evolved = result.entries[1]
    points = machine_points(bag, evolved.points, evolved.schedules)
    write_figure(machine_figure(result, points, falling=falling), asked.figure)
    if falling:
        write_figure(front_figure(result), asked.figure.with_name(f"thesis-6-3{asked.figure.suffix}"))
    for entry in result.entries:
        mean, largest, seconds = percent(entry.mean_distance), percent(entry.largest_distance), entry.seconds
        print(f"{entry.name}: {len(entry.points)} points, hypervolume {entry.hypervolume_ratio:.4f},", end=" ")
        print(f"{mean} above the exact front on average, {largest} at most, {number(seconds, 3)} s")
    for each in points:
        idle = sum(load.machines for load in each.loads if load.completion_seconds == 0.0)
        energy, makespan = number(each.point.energy_joules), number(each.point.makespan_seconds)
        print(f"{each.letter}: {energy} J, {makespan} s, {idle} machines run nothing")
