"""What a chromosome of a day takes and earns: energy and utility. Compiled.

    e, a      seconds and watts of a task in its column
    start     max(arrival, end of the machine's last task),  end  =  start + e
    utility   sum of U(end - arrival)
    energy    sum e a

A task that would earn less than `drop_below` is skipped: it takes neither time nor energy. Tasks are sorted
by their orders, 0 to N - 1, by counting; since only the order among the tasks of one machine matters, one
pass over all machines at once does the rest: O(N + machines) for a chromosome.

Source: Friese, thesis of 2015, sections 5.4.2 and 7.3.3.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lpsched.compiled import compiled, compiled_inside
from lpsched.instance.day_arrays import day_arrays
from lpsched.schedule.genes import first_machines

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.day import Day
    from lpsched.schedule.genes import Genes, Numbers


class DayTables(NamedTuple):  # a tuple, because that is what compiled functions take apart
    """What the loops need to know of a day; the letters are those of `DayArrays`."""

    arrivals: Floats  # N
    task_type: Integers  # N
    function: Integers  # N
    machines: int
    seconds: Floats  # T x C
    joules: Floats  # T x C
    first_interval: Integers  # F + 1
    after_seconds: Floats  # P
    starts_at: Floats  # P
    falls_to: Floats  # P
    rate_per_second: Floats  # P


@compiled_inside
def utility(tables: DayTables, task: int, seconds: float) -> float:
    """Return what a task earns that ends so many seconds after its arrival."""
    f = tables.function[task]
    p = tables.first_interval[f]
    while p + 1 < tables.first_interval[f + 1] and tables.after_seconds[p + 1] <= seconds:
        p += 1
    decay = math.exp(-tables.rate_per_second[p] * (seconds - tables.after_seconds[p]))
    return float(tables.falls_to[p] + (tables.starts_at[p] - tables.falls_to[p]) * decay)


@compiled
def run_day(  # noqa: PLR0913, PLR0917 - compiled functions take no options by name
    tables: DayTables,
    machines: Numbers,
    columns: Numbers,
    orders: Numbers,
    drop_below: float,
    starts: Floats,
) -> tuple[float, float]:
    """Return energy and utility of one chromosome, and write when its tasks start (NaN: dropped)."""
    tasks = len(machines)
    place = np.zeros(tasks + 1, dtype=np.int64)
    for task in range(tasks):
        place[orders[task] + 1] += 1
    for order in range(tasks):
        place[order + 1] += place[order]
    in_turn = np.empty(tasks, dtype=np.int64)
    for task in range(tasks):
        in_turn[place[orders[task]]] = task
        place[orders[task]] += 1
    free = np.zeros(tables.machines)
    joules, earned = 0.0, 0.0
    for turn in range(tasks):
        task = in_turn[turn]
        i, column, machine = tables.task_type[task], columns[task], machines[task]
        start = max(tables.arrivals[task], free[machine])
        end = start + tables.seconds[i, column]
        worth = utility(tables, task, end - tables.arrivals[task])
        starts[task] = np.nan
        if worth >= drop_below:
            starts[task], free[machine] = start, end
            joules += tables.joules[i, column]
            earned += worth
    return joules, earned


@compiled
def day_scores(
    tables: DayTables, machines: Numbers, columns: Numbers, orders: Numbers, drop_below: float
) -> Floats:
    """Return energy and minus utility of S chromosomes."""
    scores = np.empty((len(machines), 2))
    starts = np.empty(machines.shape[1])
    for s in range(len(machines)):
        joules, earned = run_day(tables, machines[s], columns[s], orders[s], drop_below, starts)
        scores[s, 0], scores[s, 1] = joules, -earned
    return scores


class DayScorer:
    """Energy and minus utility of a day's chromosomes; tasks that would earn less than a limit do not run."""

    def __init__(self, day: Day, drop_below: float | None = None) -> None:
        arrays = day_arrays(day)
        self.drop_below = 0.0 if drop_below is None else drop_below  # utilities are never below 0
        self.name = "energy and utility" + ("" if drop_below is None else f", below {drop_below:g} dropped")
        self.tables = DayTables(
            arrivals=arrays.arrivals,
            task_type=arrays.task_type,
            function=arrays.function,
            machines=int(first_machines(arrays.machine_counts.tolist(), len(arrays.arrivals))[-1]),
            seconds=arrays.seconds,
            joules=arrays.seconds * arrays.watts,
            first_interval=arrays.first_interval,
            after_seconds=arrays.after_seconds,
            starts_at=arrays.starts_at,
            falls_to=arrays.falls_to,
            rate_per_second=arrays.rate_per_second,
        )

    def __call__(self, genes: Genes) -> Floats:
        """Return S x 2 scores."""
        return day_scores(self.tables, *_contiguous(genes), self.drop_below)

    def starts(self, genes: Genes) -> Floats:
        """Return when the tasks of one chromosome start; NaN where they are dropped."""
        starts = np.empty(len(genes.machines))
        run_day(self.tables, *_contiguous(genes), self.drop_below, starts)
        return starts


def _contiguous(genes: Genes) -> tuple[Numbers, Numbers, Numbers]:
    """Return arrays of the one layout that the loops are compiled for."""
    return (
        np.ascontiguousarray(genes.machines),
        np.ascontiguousarray(genes.columns),
        np.ascontiguousarray(genes.orders),
    )
