"""How long NSGA-II takes against the exact front, and how far it stays away; scores against the verifier.

The exact front is `lpsched.front`: all vertices, a recovered and verified schedule at each, a proof for each
edge; the median of some rounds, and its parts. NSGA-II runs twice, from a random population and from one with
the thesis's seeds in it; its code is compiled before the clock starts, and all is measured in one process.
Hypervolumes and distances are those of `lpsched front --scheduler`; hypervolumes of one run have one reference.
The scores are those of one generation, compiled, against the verifiers' plain loops on the same schedules; a
verifier is timed on every tenth of them, and the making of schedules is not counted.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag import verify as verify_bag
from lpsched.bag.compare.fronts import compare_fronts as compared
from lpsched.bag.evolve import BagProblem, BagScorer, to_schedule
from lpsched.bag.exact_front import front
from lpsched.bag.files import read_bag
from lpsched.evolve.genes import random_genes
from lpsched.evolve.nsga2 import SEEDS, SIZE, Evolving, warm_up
from lpsched.generate.bags import cov_bag
from lpsched.generate.options import CovOptions
from lpsched.online.evolve import DayProblem, DayScorer, to_day_schedule
from lpsched.online.files import read_day
from lpsched.online.verify import day as verify_day

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.bag.model import Bag
    from lpsched.bag.result import Point
    from lpsched.bag.schedule import Schedule
    from lpsched.evolve.fronts import FrontEntry

INSTANCES: Final = Path(__file__).parents[2] / "instances"
DAY: Final = INSTANCES / "utility-4000.yaml"
ROUNDS: Final = 20
TASKS: Final = 4000
EVERY: Final = 10
STARTS: Final = {"NSGA-II, random": ("none",), "NSGA-II, seeded": SEEDS}
COLUMNS: Final = {"seconds": 9, "times": 7, "points": 8, "hypervolume": 13, "mean above": 12, "largest": 9}


def seconds_of(work: Callable[[], object], rounds: int) -> float:
    """Return the median time of some work."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def compare_fronts(bag: Bag, generations: int, seed: int) -> None:
    """Print how long both ways to a front take, and how far apart they are."""
    print(f"{bag.name}: {bag.tasks:,} tasks, {len(bag.machine_types)} machine types, {bag.machines} machines")
    exact_seconds = seconds_of(lambda: front(bag), ROUNDS)
    exact = front(bag)
    print(f"exact front with schedules and proofs: {len(exact.vertices)} vertices, {exact_seconds:.3f} s")
    print("   ".join(f"{part} {seconds:.3f} s" for part, seconds in exact.timings.items()))
    print(f"NSGA-II: {generations:,} generations of {SIZE} chromosomes\n")
    print(f"{'':24}" + "".join(f"{word:>{width}}" for word, width in COLUMNS.items()))
    for name, seeds in STARTS.items():
        evolving = Evolving(generations=generations, seed_with=seeds)
        ours, evolved = compared(bag, ["nsga2"], evolving=evolving, seed=seed).entries
        tell("our schedules", ours, exact_seconds, exact_seconds)
        tell(name, evolved, evolved.seconds or 0.0, exact_seconds)


def tell(name: str, entry: FrontEntry[Point, Schedule], seconds: float, exact_seconds: float) -> None:
    """Print one row: how long it took, and how far it is from the exact front."""
    times, points = f"{seconds / exact_seconds:,.0f}", len(entry.points)
    far = f"{entry.hypervolume_ratio or 0.0:13.4f}{entry.mean_distance:12.2%}{entry.largest_distance:9.2%}"
    print(f"{name:24}{seconds:9.2f}{times:>7}{points:8}{far}")


def compare_scores(seed: int) -> None:
    """Print how long it takes to score one generation, compiled and by the verifiers."""
    print(f"\n{f'{SIZE} chromosomes of {TASKS:,} tasks':34}{'compiled':>12}{'verifier':>12}{'faster':>9}")
    rng = np.random.default_rng(seed)
    bag = cov_bag("bench", rng, CovOptions(task_types=30, machines=(4,) * 9, tasks=TASKS))
    genes, of_bag = random_genes(BagProblem(bag).pairs(), SIZE, rng), BagScorer(bag)
    schedules = [to_schedule(bag, genes.take(s)) for s in range(0, SIZE, EVERY)]
    compiled = seconds_of(lambda: of_bag(genes), ROUNDS)
    plain = seconds_of(lambda: [verify_bag.measure(bag, each) for each in schedules], 3)
    _tell_scores("makespan and energy of a bag", compiled, EVERY * plain)
    day = read_day(DAY)
    genes, of_day = random_genes(DayProblem(day).pairs(), SIZE, rng), DayScorer(day)
    some = [genes.take(s) for s in range(0, SIZE, EVERY)]
    day_schedules = [to_day_schedule(day, each, of_day.starts(each)) for each in some]
    compiled = seconds_of(lambda: of_day(genes), ROUNDS)
    plain = seconds_of(lambda: [verify_day.measure(day, each) for each in day_schedules], 3)
    _tell_scores("utility and energy of a day", compiled, EVERY * plain)


def _tell_scores(name: str, compiled: float, plain: float) -> None:
    print(f"{name:34}{compiled * 1e3:9.2f} ms{plain * 1e3:9.0f} ms{plain / compiled:9,.0f}")


def main(arguments: list[str] | None = None) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--generations", type=int, default=10_000)
    parser.add_argument("--bag", type=Path, default=INSTANCES / "front-30x9.yaml")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    warm_up(BagProblem.of_one_task())
    warm_up(DayProblem.of_one_task())
    compare_fronts(read_bag(given.bag), given.generations, given.seed)
    compare_scores(given.seed)


if __name__ == "__main__":
    main()
