"""A day as NSGA-II sees it: chromosomes, energy and utility."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lpsched.errors import Fault
from lpsched.evolve.genes import Genes, first_machines, pairs_of
from lpsched.evolve.problem import GeneSamples, SampledScorer
from lpsched.jit import compiled
from lpsched.model.fields import column_numbers
from lpsched.model.risk import task_draws
from lpsched.model.table import Table
from lpsched.online.arrays import day_arrays
from lpsched.online.day import ArrivingTasks, Day
from lpsched.online.evolve_sampled import day_samples, sampled_day, sort_tasks
from lpsched.online.parts import DayMachineType, DayTaskType, require_whole
from lpsched.online.schedule import DaySchedule, PlacedTask
from lpsched.online.utility import Curves, Interval, UtilityFunction, compiled_utility

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.evolve.genes import Numbers, Pairs
    from lpsched.model.arrays import Floats, Integers
    from lpsched.model.risk import RiskOptions
    from lpsched.online.arrays import DayArrays

utility = compiled_utility()


# From a schedule of a day to a chromosome, and back.
#
# Machines of a type are alike, so the way there numbers those that work in the order of their first mention.
def genes_of_day(day: Day, schedule: DaySchedule) -> Genes:
    """Return the chromosome of N genes that runs tasks where a schedule does, in the order of their starts.

    Tasks that are not placed come last, each where it takes the least energy: a chromosome leaves none out.
    """
    arrays = day_arrays(day)
    tasks = len(arrays.arrivals)
    first = first_machines(arrays.machine_counts.tolist(), tasks)
    machines, columns = _thriftiest(arrays, first)
    starts = np.full(tasks, np.inf)
    numbers: dict[tuple[int, int], int] = {}
    working: Counter[int] = Counter()
    column_of = column_numbers(day.machine_types)
    for placed in schedule.placed:
        mode = placed.machine_type, placed.p_state
        if not 0 <= placed.task < tasks or starts[placed.task] < np.inf:
            raise ValueError(f"there is no task {placed.task}, or it runs twice")
        if mode not in column_of or not arrays.can_run[arrays.task_type[placed.task], column_of[mode]]:
            raise ValueError(f"task {placed.task} cannot run on {mode[0]!r} in P-state {mode[1]!r}")
        j = arrays.mode_type[column_of[mode]]
        if not 1 <= placed.machine <= arrays.machine_counts[j]:
            raise ValueError(f"there is no machine {placed.machine} of type {placed.machine_type!r}")
        if (j, placed.machine) not in numbers:
            numbers[j, placed.machine] = working[j]
            working[j] += 1
        machines[placed.task] = first[j] + numbers[j, placed.machine]
        columns[placed.task], starts[placed.task] = column_of[mode], placed.start_seconds
    orders = np.empty(tasks, dtype=np.int32)
    orders[np.argsort(starts, kind="stable")] = np.arange(tasks)
    return Genes(machines.astype(np.int32), columns.astype(np.int32), orders)


def _thriftiest(arrays: DayArrays, first: Integers) -> tuple[Integers, Integers]:
    """Return the column of each task that takes the least energy, and the first machine that has it."""
    joules = np.where(arrays.can_run, arrays.seconds * arrays.watts, np.inf)
    columns = joules.argmin(axis=1)[arrays.task_type]
    return first[arrays.mode_type[columns]], columns


def to_day_schedule(day: Day, genes: Genes, starts: Floats) -> DaySchedule:
    """Return what a chromosome of N genes says, in the day's words; a task that starts at NaN is left out."""
    first = first_machines([machine.count for machine in day.machine_types], day.tasks).tolist()
    states = [state for machine in day.machine_types for state in machine.p_states or (None,)]
    placed = []
    for task, (machine, column, start) in enumerate(
        zip(genes.machines.tolist(), genes.columns.tolist(), starts.tolist(), strict=True)
    ):
        if start == start:  # noqa: PLR0124 - not NaN
            j = day.modes[column][0]
            number = machine - first[j] + 1
            placed.append(PlacedTask(task, day.machine_types[j].name, number, start, states[column]))
    return DaySchedule(tuple(placed))


# What a chromosome of a day takes and earns: energy and utility. Compiled.
#
#     e, a      seconds and watts of a task in its column
#     start     max(arrival, end of the machine's last task),  end  =  start + e
#     utility   sum of U(end - arrival)
#     energy    sum e a
#
# A task that would earn less than `drop_below` is skipped: it takes neither time nor energy. Tasks are sorted
# by their orders, 0 to N - 1, by counting; since only the order among the tasks of one machine matters, one
# pass over all machines at once does the rest: O(N + machines) for a chromosome.
#
# Source: Friese, thesis of 2015, sections 5.4.2 and 7.3.3.
class DayTables(NamedTuple):  # a tuple, because that is what compiled functions take apart
    """What the loops need to know of a day; the letters are those of `DayArrays`."""

    arrivals: Floats  # N
    task_type: Integers  # N
    function: Integers  # N
    machines: int
    seconds: Floats  # T x C
    joules: Floats  # T x C
    curves: Curves


@compiled
def run_day(  # noqa: PLR0913, PLR0917 - compiled functions take no options by name
    tables: DayTables, machines: Numbers, columns: Numbers, orders: Numbers, drop_below: float, starts: Floats
) -> tuple[float, float]:
    """Return energy and utility of one chromosome, and write when its tasks start (NaN: dropped)."""
    tasks = len(machines)
    in_turn = np.empty(tasks, dtype=np.int64)
    sort_tasks(orders, np.empty(tasks + 1, dtype=np.int64), in_turn)
    free = np.zeros(tables.machines)
    joules, earned = 0.0, 0.0
    for turn in range(tasks):
        task = in_turn[turn]
        i, column, machine = tables.task_type[task], columns[task], machines[task]
        start = max(tables.arrivals[task], free[machine])
        end = start + tables.seconds[i, column]
        worth = utility(tables.curves, tables.function[task], end - tables.arrivals[task])
        starts[task] = np.nan
        if worth >= drop_below:
            starts[task], free[machine] = start, end
            joules += tables.joules[i, column]
            earned += worth
    return joules, earned


@compiled
def day_scores(tables: DayTables, machines: Numbers, columns: Numbers, orders: Numbers, drop_below: float) -> Floats:
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
            curves=arrays.curves,
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


class DayProblem:
    """A day whose schedules evolve; tasks that would earn less than `drop_below` do not run."""

    criterion = "utility"

    def __init__(self, day: Day, drop_below: float | None = None) -> None:
        self.day, self.drop_below = day, drop_below
        self.name, self.tasks, self.content_hash = day.name, day.tasks, day.content_hash
        self.machine_counts = [machine.count for machine in day.machine_types]

    def faults(self) -> Iterator[Fault]:
        """Return what keeps NSGA-II from running on it."""
        require_whole(self.name, self.day.period, "NSGA-II")
        below = self.drop_below
        if below is not None and not (math.isfinite(below) and below >= 0.0):
            yield Fault(("drop_below",), str(below), "a utility from 0 up", "correct it")

    def pairs(self) -> Pairs:
        """Return which machine can run which task."""
        day = day_arrays(self.day)
        return pairs_of(day.task_type, self.machine_counts, day.mode_type, day.can_run)

    def scorer(self) -> DayScorer:
        """Return energy and utility."""
        return DayScorer(self.day, self.drop_below)

    def sampled(self, options: RiskOptions, seed: int) -> SampledDayScorer:
        """Return energy and utility by samples."""
        return SampledDayScorer(self.day, options, seed=seed, drop_below=self.drop_below)

    def genes(self, schedule: object) -> Genes:
        """Return the chromosome of a schedule."""
        if not isinstance(schedule, DaySchedule):
            raise ValueError(f"it is a {type(schedule).__name__}")  # noqa: TRY004 - one kind of refusal
        return genes_of_day(self.day, schedule)

    def schedule(self, genes: Genes) -> DaySchedule:
        """Return the schedule of a chromosome."""
        return to_day_schedule(self.day, genes, self.scorer().starts(genes))

    @classmethod
    def of_one_task(cls) -> DayProblem:
        """Return a day of one task, to compile with."""
        one, tasks = Table.of([[1.0]]), ArrivingTasks.of([0.0], [0], ["u"])
        worth = {"u": UtilityFunction((Interval(0.0, 1.0, 1.0, 0.0),))}
        machines, types = (DayMachineType("m", 1),), (DayTaskType("t"),)
        return cls(
            Day(
                name="one task",
                machine_types=machines,
                task_types=types,
                seconds=one,
                watts=one,
                tasks=tasks,
                utility_functions=worth,
            )
        )


class SampledDayScorer(SampledScorer):
    """Energy and minus utility by samples; tasks that are expected to earn less than `drop_below` do not run."""

    def __init__(self, day: Day, options: RiskOptions, *, seed: int, drop_below: float | None = None) -> None:
        dropped = "" if drop_below is None else f", below {drop_below:g} dropped"
        named = f"energy and utility: {self.of_samples(options, seed)}{dropped}"
        super().__init__(DayProblem(day, drop_below), options, named)
        require_whole(day.name, day.period, "sampling")
        tables = day_arrays(day)
        draws = task_draws(day.tasks, tables.seconds, tables.watts, options, seed)
        self.day = sampled_day(day, draws, drop_below)
        self.compile(day.tasks)

    def drawn(self, machines: Numbers, columns: Numbers, orders: Numbers) -> GeneSamples:
        """Return all that chromosomes take and earn in each sample."""
        joules, earned, makespans, dropped = day_samples(self.day, machines, columns, orders)
        return GeneSamples(joules, makespans, earned, dropped)
