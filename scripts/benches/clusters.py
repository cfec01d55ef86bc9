"""Policies on clusters: milliseconds an event and seconds a day; a real log under backfilling; reading logs.

day     the Jobs paper's day of 5,000 tasks under 12 GJ, tasks below 0.5 dropped, one core: whole trials (with
        verification) and mapping events. Then the first hours of such a day by Max UPE with place-holders and
        by its plain twin (`models/`), which looks at every choice again after every decision. Both must make
        the same schedule.
log     a log in the Standard Workload Format that is given, such as NASA's of 1993, under four policies
reading a log of a million made-up jobs, plain and packed by gzip; packing is not timed

Compiled code is loaded before the clock starts.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.generate.clusters import machovec_clusters
from lpsched.generate.options import MachovecOptions
from lpsched.online.cluster_policies import cluster_policy
from lpsched.online.compare.backend import ClusterBackend
from lpsched.online.compare.simulations import simulate
from lpsched.online.nodes.clusters import simulate_clusters
from lpsched.online.nodes.state import ClusterPolicy
from lpsched.online.simulate.options import ClusterOptions
from lpsched.traces.swf import clusters_of_swf, read_swf
from models.cluster_policies import OBJECTIVES, highest_first

if TYPE_CHECKING:
    from lpsched.online.clusters import Clusters
    from lpsched.online.schedule import ClustersSchedule

TASKS: Final = 5_000
GIGAJOULES: Final = 12.0
DROPPING: Final = ClusterOptions(drop_below=0.5)
FILTERED: Final = ClusterOptions(drop_below=0.5, energy_filter="per-resource")
TWIN: Final = "max-upe"
CASES: Final = (
    ("max-upe:placeholders", DROPPING),
    ("max-upe:reservations", DROPPING),
    ("max-upr:placeholders", FILTERED),
    ("easy", DROPPING),
    ("conservative", DROPPING),
    ("easy-nodes", DROPPING),
    ("conservative-nodes", DROPPING),
)
OF_LOG: Final = ("fcfs", "easy", "conservative", "easy-nodes")
ROUNDS: Final = 3
BLOCK: Final = 100_000  # jobs written at once


def rng() -> np.random.Generator:
    """Return a generator; none of these policies draws anything."""
    return np.random.default_rng(0)


def compare_day(seed: int, part: float, twin_hours: float) -> None:
    """Print how long events and whole trials take, and how much longer the twin takes for its first hours."""
    day = paper_day(seed, 24.0 * part, 4.0 * part)
    hours = day.period.ends_at / 3600
    print(f"{day.tasks:,} tasks in {hours:g} hours, {day.nodes:,} nodes, at most {GIGAJOULES * part:g} GJ\n")
    print(f"{'policy':24}{'filter':>14}{'events':>8}{'ms/event':>10}{'whole trial, s':>16}{'% of most':>11}")
    for name, options in CASES:
        ClusterBackend(day, options).warm_up(name)
        began = time.perf_counter()
        run = simulate(day, [name], options=options).policies[0].runs[0]
        seconds = time.perf_counter() - began
        assert run.event_seconds is not None, run.reason
        assert run.share_of_naive is not None
        print(f"{name:24}{options.energy_filter or 'none':>14}{run.events:8,}{1e3 * run.event_seconds:10.2f}", end="")
        print(f"{seconds:16.2f}{100 * run.share_of_naive:11.1f}", flush=True)
    _compare_twin(paper_day(seed, twin_hours, 0.0))


def paper_day(seed: int, hours: float, warm_up_hours: float) -> Clusters:
    """Return so many hours of the paper's day, with their part of the energy."""
    energy = GIGAJOULES * hours / 24.0
    options = MachovecOptions(tasks=TASKS, hours=hours, warm_up_hours=warm_up_hours, energy_gigajoules=energy)
    return machovec_clusters("bench", seed, options)


def _compare_twin(day: Clusters) -> None:
    own = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        ours = simulate_clusters(day, cluster_policy(TWIN, placeholders=True), rng(), DROPPING)
        own.append(time.perf_counter() - began)
    twin = ClusterPolicy(
        "plain",
        lambda state, _rng: highest_first(state, OBJECTIVES[TWIN]),
        placeholders=True,
        filtered=False,
        needs_utility=True,
    )
    began = time.perf_counter()
    plain = simulate_clusters(day, twin, rng(), DROPPING)
    theirs = time.perf_counter() - began
    same = "equal" if starts_in(plain.schedule) == starts_in(ours.schedule) else "DIFFERENT"
    print(f"\n{TWIN} with place-holders, the first {day.period.ends_at / 3600:g} hours, {day.tasks:,} tasks:")
    print(f"ours {min(own):.3f} s, its plain twin {theirs:.1f} s, {theirs / min(own):,.0f} times; ", end="")
    print(f"schedules {same}", flush=True)


def starts_in(schedule: ClustersSchedule) -> set[tuple[int, str, float]]:
    """Return where and when each task of a schedule starts."""
    return {(task.task, task.cluster, task.start_seconds) for task in schedule.placed}


def compare_log(path: Path) -> None:
    """Print how long a log takes to read, and to run."""
    began = time.perf_counter()
    clusters, _ = clusters_of_swf(path.name, read_swf(path))
    seconds = time.perf_counter() - began
    print(f"\n{path.name}: {clusters.tasks:,} jobs on {clusters.nodes:,} nodes, read in {seconds:.2f} s\n")
    print(f"{'policy':24}{'events':>8}{'ms/event':>10}{'engine, s':>11}{'with verification, s':>22}")
    for name in OF_LOG:
        options = ClusterOptions(every_seconds=None)
        ClusterBackend(clusters, options).warm_up(name)
        began = time.perf_counter()
        alone = simulate_clusters(clusters, cluster_policy(name), rng(), options)
        middle = time.perf_counter()
        run = simulate(clusters, [name], options=options).policies[0].runs[0]
        whole = time.perf_counter() - middle
        assert run.measured is not None, run.reason
        each = 1e3 * float(alone.event_seconds.mean())
        print(f"{name:24}{len(alone.event_at):8,}{each:10.3f}{middle - began:11.2f}{whole:22.2f}", flush=True)


def compare_reading(jobs: int) -> None:
    """Print how many jobs a second are read, of a plain file and of a packed one."""
    print(f"\nReading {jobs:,} jobs\n\n{'file':12}{'MB':>8}{'seconds':>9}{'jobs/s':>12}")
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "log.swf"
        write_jobs(plain, jobs)
        packed = plain.with_name("log.swf.gz")
        packed.write_bytes(gzip.compress(plain.read_bytes(), compresslevel=6))
        for path in (plain, packed):
            began = time.perf_counter()
            found = read_swf(path)
            seconds = time.perf_counter() - began
            assert len(found) == jobs
            size = path.stat().st_size / 1e6
            print(f"{path.name:12}{size:8.1f}{seconds:9.2f}{jobs / seconds:12,.0f}", flush=True)


def write_jobs(path: Path, jobs: int) -> None:
    """Write a log of made-up jobs, 18 numbers each."""
    numbers = np.random.default_rng(0)
    with path.open("w", encoding="ascii") as file:
        file.write("; Version: 2.2\n; MaxProcs: 4096\n")
        for first in range(0, jobs, BLOCK):
            count = min(BLOCK, jobs - first)
            rows = np.full((count, 18), -1, dtype=np.int64)
            rows[:, 0] = rows[:, 1] = np.arange(first + 1, first + count + 1)  # number, submitted
            rows[:, 2:4] = numbers.integers(0, 100_000, (count, 2))  # waited, ran
            rows[:, 4] = rows[:, 7] = numbers.integers(1, 4_097, count)  # processors
            rows[:, 8] = 2 * rows[:, 3]  # requested seconds
            rows[:, 10:15] = numbers.integers(0, 500, (count, 5))  # status to queue, some of them unknown
            rows[:, 10] = 1
            file.writelines(f"{' '.join(map(str, row))}\n" for row in rows.tolist())


def main(arguments: list[str] | None = None) -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", type=Path, nargs="?", help="a log, .swf or .swf.gz")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", type=float, default=1.0, help="of the day, its tasks and its energy")
    parser.add_argument("--twin-hours", type=float, default=1.0)
    parser.add_argument("--jobs", type=int, default=1_000_000, help="of the log that is made up and read")
    asked = parser.parse_args(arguments)
    compare_day(asked.seed, asked.part, asked.twin_hours)
    if asked.log is None:
        print("\nNo log was given, so none was run: scripts/bench clusters PATH-TO-SWF runs one.")
    else:
        compare_log(asked.log)
    compare_reading(asked.jobs)


if __name__ == "__main__":
    main()
