"""How near the best known makespans the Braun instances come, in a few seconds each.

    python scripts/benches/braun.py FOLDER [--limit SECONDS] [--seed SEED] [--only NAME ...]

The folder holds the twelve files `u_*.0.gz` of 512 tasks and 16 machines, and `known.csv` with the bound of
the linear program and the best makespan that anybody has published. Every schedule is verified. Two cores are
used if they are free: the last column is the CPU time that there was.
"""

from __future__ import annotations

import argparse
import csv
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.problem import MAKESPAN
from lpsched.bag.recovery.makespan import shorten
from lpsched.bag.recovery.rounding import place, round_shares
from lpsched.bag.verify import examine
from lpsched.cancellation import CancelToken
from lpsched.lp.solvers import HighsSolver
from lpsched.traces.etc import read_etc

if TYPE_CHECKING:
    from collections.abc import Sequence

NEAR: Final = 1e-6
HEADER: Final = "instance       LP bound as known     makespan      above     took      CPU"


@dataclass(frozen=True, slots=True)
class Known:
    """What others have found."""

    name: str
    bound: float
    makespan: float


@dataclass(frozen=True, slots=True)
class Found:
    """What we find."""

    bound: float
    makespan: float
    seconds: float
    cpu_seconds: float


def read_known(folder: Path) -> list[Known]:
    """Return the rows of `known.csv`."""
    with (folder / "known.csv").open(encoding="utf-8", newline="") as file:
        return [
            Known(row["instance"], float(row["lp_bound"]), float(row["best_known_makespan"]))
            for row in csv.DictReader(file)
        ]


def found_in(path: Path, limit: float, seed: int) -> Found:
    """Relax, round, place and shorten; the clock starts when the file is read."""
    bag = read_etc(path)
    start, cpu_start = time.perf_counter(), time.process_time()
    cancel = CancelToken(limit)
    relaxation = MAKESPAN.relax(bag, HighsSolver(), cancel)
    placed = place(bag, round_shares(relaxation.shares, [task.count for task in bag.task_types]))
    schedule = shorten(bag, relaxation, placed, cancel, np.random.default_rng(seed))
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    examined = examine(bag, schedule)
    assert examined.measured is not None, examined.violations
    assert examined.measured.makespan_seconds is not None
    return Found(relaxation.bound, examined.measured.makespan_seconds, seconds, cpu_seconds)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one line for each instance, and the worst of them."""
    parser = argparse.ArgumentParser(description="Makespans of the Braun instances.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=float, default=10.0, help="seconds for each instance")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", help="names of instances; all if not given")
    options = parser.parse_args(arguments)
    worst = 0.0
    print(HEADER)
    for known in read_known(options.folder):
        if options.only and known.name not in options.only:
            continue
        found = found_in(options.folder / f"{known.name}.0.gz", options.limit, options.seed)
        same = "yes" if abs(found.bound / known.bound - 1) < NEAR else "no"
        above = 100 * (found.makespan / known.makespan - 1)
        worst = max(worst, above)
        print(
            f"{known.name:10} {found.bound:12.3f} {same:>8} {found.makespan:12.3f} {above:8.3f} %"
            f" {found.seconds:6.2f} s {found.cpu_seconds:6.2f} s",
            flush=True,
        )
    print(f"worst: {worst:.3f} %")


if __name__ == "__main__":
    main()
