"""Static heuristics on the Braun instances: makespans against the bound, and against what others found.

    python scripts/benches/heuristics.py FOLDER [--only NAME ...]
    python scripts/benches/heuristics.py --counts

The folder holds the files `u_*.0.gz` and `known.csv`, with the bound of the linear program and the
makespans of min-min and of sufferage; ours must be those to the printed digit. Every schedule is verified.
With `--counts`, the time that each heuristic takes for 10^4, 10^8 and 10^12 tasks of 30 types on 90
machines of 9 types.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.heuristics import heuristic
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, TaskType
from lpsched.bag.schedule import Schedule
from lpsched.bag.verify import measure
from lpsched.errors import InstanceError
from lpsched.model.table import Table
from lpsched.traces.etc import read_etc

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES: Final = ("min-min", "max-min", "sufferage", "met", "mct", "olb", "k-percent-best", "random")
PUBLISHED: Final = {"min-min": "min_min", "sufferage": "sufferage"}  # columns of known.csv
TASKS: Final = (10**4, 10**8, 10**12)
TASK_TYPES, MACHINE_TYPES, MACHINES, REPEATS = 30, 9, 10, 5


@dataclass(frozen=True, slots=True)
class Mapped:
    """What a heuristic found, verified, and the CPU time that it took."""

    makespan: float
    seconds: float


def mapped(name: str, bag: Bag) -> Mapped:
    """Run a heuristic; the clock stops before its schedule is verified."""
    rng, begin = np.random.default_rng(0), time.process_time()
    schedule = heuristic(name)(bag, rng)
    seconds = time.process_time() - begin
    assert isinstance(schedule, Schedule)
    makespan = measure(bag, schedule).makespan_seconds
    assert makespan is not None
    return Mapped(makespan, seconds)


def braun(folder: Path, only: Sequence[str] | None) -> bool:
    """Print how far above the bound each heuristic is; return whether the published makespans are met."""
    print("per cent above the bound of the linear program; makespans of min-min and sufferage as published")
    print(f"{'instance':9}" + "".join(f"{name:>15}" for name in NAMES) + "  as published")
    seconds: dict[str, list[float]] = {name: [] for name in NAMES}
    met = True
    with (folder / "known.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if not only or row["instance"] in only]
    for row in rows:
        bag, found = read_etc(folder / f"{row['instance']}.0.gz"), {}
        for name in NAMES:
            found[name] = mapped(name, bag)
            seconds[name].append(found[name].seconds)
        wrong = [
            f"{name} {found[name].makespan:.1f}, published {row[column]}"
            for name, column in PUBLISHED.items()
            if f"{found[name].makespan:.1f}" != row[column]
        ]
        met = met and not wrong
        above = [100 * (found[name].makespan / float(row["lp_bound"]) - 1) for name in NAMES]
        told = "; ".join(wrong) if wrong else "yes"
        print(f"{row['instance']:9}" + "".join(f"{each:15.2f}" for each in above) + f"  {told}", flush=True)
    median = (1000 * statistics.median(seconds[name]) for name in NAMES)
    print(f"{'median ms':9}" + "".join(f"{each:15.1f}" for each in median))
    return met and bool(rows)


def counted(tasks: int) -> Bag:
    """Return a bag of so many tasks; times and powers are the same for all numbers."""
    rng = np.random.default_rng(1)
    seconds, watts = (rng.gamma(4.0, 25.0, (TASK_TYPES, MACHINE_TYPES)) for _ in range(2))
    counts = [tasks // TASK_TYPES + (i < tasks % TASK_TYPES) for i in range(TASK_TYPES)]
    return Bag(
        "counts",
        tuple(MachineType(name=f"m{j}", count=MACHINES) for j in range(MACHINE_TYPES)),
        tuple(TaskType(name=f"t{i}", count=count) for i, count in enumerate(counts)),
        Table.of(seconds.tolist()),
        Table.of(watts.tolist()),
    )


def counts() -> None:
    """Print the milliseconds of each heuristic for more and more tasks."""
    bags = [counted(tasks) for tasks in TASKS]
    heads = "".join(f"{f'{tasks:.0e} tasks':>16}" for tasks in TASKS)
    print(f"{'milliseconds':15}{heads}{'ratio':>8}")
    for name in (*NAMES, "min-energy"):
        took = [_milliseconds(name, bag) for bag in bags]
        ratio = "" if took[-1] is None or took[0] is None else f"{took[-1] / took[0]:.2f}"
        cells = "".join(f"{'refused' if each is None else f'{each:.2f}':>16}" for each in took)
        print(f"{name:15}{cells}{ratio:>8}", flush=True)


def _milliseconds(name: str, bag: Bag) -> float | None:
    """Return the best time of a few; none where the heuristic refuses so many tasks."""
    try:
        return 1000 * min(mapped(name, bag).seconds for _ in range(REPEATS))
    except InstanceError:
        return None


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table that was asked for; fail if a published makespan is missed."""
    parser = argparse.ArgumentParser(description="Static heuristics on bags.")
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--only", nargs="*", help="names of instances; all if not given")
    parser.add_argument("--counts", action="store_true", help="times for more and more tasks")
    options = parser.parse_args(arguments)
    if options.folder is None and not options.counts:
        parser.error("needs the folder of the Braun instances, or --counts")
    if options.counts:
        counts()
    if options.folder is not None and not braun(options.folder, options.only):
        sys.exit("a makespan is not the published one")


if __name__ == "__main__":
    main()
