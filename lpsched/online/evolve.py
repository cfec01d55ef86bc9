"""A day as NSGA-II sees it: chromosomes, energy and utility, expected or by samples."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lpsched.errors import InputIssue
from lpsched.evolve.genes import Genes, GeneSamples, Numbers, Pairs, SampledScorer, first_machines, pairs_of
from lpsched.jit import compiled, compiled_inside
from lpsched.model.fields import column_numbers
from lpsched.model.risk import Draws, RiskOptions, task_draws
from lpsched.model.table import Table
from lpsched.online.arrays import day_arrays
from lpsched.online.day import ArrivingTasks, Day
from lpsched.online.parts import DayMachineType, DayTaskType, require_whole
from lpsched.online.risk import too_late
from lpsched.online.schedule import DaySchedule, schedule_of_columns
from lpsched.online.utility import Curves, Interval, UtilityFunction, compiled_utility

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers

utility = compiled_utility()


def genes_of_day(day: Day, schedule: DaySchedule) -> Genes:
    """Return the chromosome of N genes that runs tasks where a schedule does, in the order of their starts.

    Machines of a type that work are numbered in the order of their first mention. Tasks that are not placed come last,
    each where it takes the least energy: a chromosome leaves none out.
    """
    arrays = day_arrays(day)
    tasks = len(arrays.arrivals)
    first = first_machines(arrays.machine_counts.tolist(), tasks)
    joules = np.where(arrays.can_run, arrays.seconds * arrays.watts, np.inf)
    columns = joules.argmin(axis=1)[arrays.task_type]
    machines = first[arrays.mode_type[columns]]
    starts = np.full(tasks, np.inf)
    working: defaultdict[int, dict[int, int]] = defaultdict(dict)  # of each type the new numbers of its machines
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
        machines[placed.task] = first[j] + working[j].setdefault(placed.machine, len(working[j]))
        columns[placed.task], starts[placed.task] = column_of[mode], placed.start_seconds
    orders = np.empty(tasks, dtype=np.int32)
    orders[np.argsort(starts, kind="stable")] = np.arange(tasks)
    return Genes(machines.astype(np.int32), columns.astype(np.int32), orders)


def to_day_schedule(day: Day, genes: Genes, starts: Floats) -> DaySchedule:
    """Return what a chromosome of N genes says, in the day's words; a task that starts at NaN is left out."""
    first = first_machines([machine.count for machine in day.machine_types], day.tasks)
    tasks = np.flatnonzero(~np.isnan(starts))
    columns = genes.columns[tasks]
    numbers = genes.machines[tasks] - first[[j for j, _ in day.modes]][columns] + 1
    rows = zip(tasks.tolist(), columns.tolist(), numbers.tolist(), starts[tasks].tolist(), strict=True)
    return schedule_of_columns(day, rows)


# Energy and utility of a chromosome, with seconds e and watts a of a task in its column:
#     start     max(arrival, end of the machine's last task),  end  =  start + e
#     utility   sum of U(end - arrival),  energy  =  sum e a
# A task that would earn less than `drop_below` is skipped: it takes neither time nor energy. Tasks are sorted by their
# orders, 0 to N - 1, by counting; since only the order among the tasks of one machine matters, one pass over all
# machines at once does the rest: O(N + machines) for a chromosome. Source: Friese, thesis of 2015, sections 5.4.2 and
# 7.3.3.
class DayTables(NamedTuple):  # a tuple, because that is what compiled functions take apart
    """What the loops need to know of a day; the letters are those of `DayArrays`."""

    arrivals: Floats  # N
    task_type: Integers  # N
    function: Integers  # N
    machines: int
    seconds: Floats  # T x C
    joules: Floats  # T x C
    curves: Curves


@compiled_inside
def sort_tasks(orders: Numbers, place: Integers, in_turn: Integers) -> None:
    """Sort tasks by rising order, ties by their number, by counting; the orders are 0 to N - 1."""
    place[:] = 0
    for task in range(len(orders)):
        place[orders[task] + 1] += 1
    for order in range(len(orders)):
        place[order + 1] += place[order]
    for task in range(len(orders)):
        in_turn[place[orders[task]]] = task
        place[orders[task]] += 1


@compiled
def run_day(  # noqa: PLR0913, PLR0917 - compiled
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
        machines = int(first_machines(arrays.machine_counts.tolist(), day.tasks)[-1])
        tasks, joules = (arrays.arrivals, arrays.task_type, arrays.function), arrays.seconds * arrays.watts
        self.tables = DayTables(*tasks, machines, arrays.seconds, joules, arrays.curves)

    def __call__(self, genes: Genes) -> Floats:
        """Return S x 2 scores."""
        return day_scores(self.tables, *genes.contiguous(), self.drop_below)

    def starts(self, genes: Genes) -> Floats:
        """Return when the tasks of one chromosome start; NaN where they are dropped."""
        starts = np.empty(len(genes.machines))
        run_day(self.tables, *genes.contiguous(), self.drop_below, starts)
        return starts


class DayProblem:
    """A day whose schedules evolve; tasks that would earn less than `drop_below` do not run."""

    criterion = "utility"

    def __init__(self, day: Day, drop_below: float | None = None) -> None:
        self.day, self.drop_below = day, drop_below
        self.name, self.tasks, self.content_hash = day.name, day.tasks, day.content_hash
        self.machine_counts = [machine.count for machine in day.machine_types]

    def issues(self) -> Iterator[InputIssue]:
        """Return what keeps NSGA-II from running on it."""
        require_whole(self.name, self.day.period, "NSGA-II")
        below = self.drop_below
        if below is not None and not (math.isfinite(below) and below >= 0.0):
            yield InputIssue(("drop_below",), str(below), "a utility from 0 up", "correct it")

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
            raise ValueError(f"it is a {type(schedule).__name__}")  # noqa: TRY004 - one kind of error
        return genes_of_day(self.day, schedule)

    def schedule(self, genes: Genes) -> DaySchedule:
        """Return the schedule of a chromosome."""
        return to_day_schedule(self.day, genes, self.scorer().starts(genes))

    @classmethod
    def of_one_task(cls) -> DayProblem:
        """Return a day of one task, to compile with."""
        one, worth = Table.of([[1.0]]), {"u": UtilityFunction((Interval(0.0, 1.0, 1.0, 0.0),))}
        day = Day(
            name="one task",
            machine_types=(DayMachineType("m", 1),),
            task_types=(DayTaskType("t"),),
            seconds=one,
            watts=one,
            tasks=ArrivingTasks.of([0.0], [0], ["u"]),
            utility_functions=worth,
        )
        return cls(day)


# Energy and utility of chromosomes in all samples at once. A chromosome's tasks are sorted once, and for each of them
# all S samples are done before the next: the machine's S free moments, the S draws of the task and the bins of its pair
# lie side by side in the first-level cache. The rules are those of `run_day`, with each task's own seconds and watts
# (`model/risk.py`); tasks are dropped as `online/risk.py` says.
#
# Utility is added up in short loops over the samples, each doing one thing, which a processor does for several samples
# at a time: which interval, how far into it, the exponential, the utility. Exponentials are
#     exp(-x)  =  E[m] exp(-r),      m = the whole part of 64 x,    r = x - m / 64 < 1 / 64
# with a table E and exp(-r) up to its third power: right to 3e-9, and several times as fast as the library's. Source:
# Friese, thesis of 2015, sections 7.2.2.2 and 7.3.3.
STEPS: Final = 64  # of the table of exponentials, for each 1 of x
PART: Final = 1.0 / STEPS
LONGEST: Final = 40.0 * STEPS  # exp(-40) is nothing beside 1
EXPONENTIALS: Final = np.exp(-np.arange(LONGEST + 1) / STEPS)
AFTER, RATE, FLOOR, FALL = range(4)  # columns of the intervals


class SampledDay(NamedTuple):  # a tuple, because that is what compiled functions take apart
    """What the loops need to know of a day."""

    arrivals: Floats  # N
    task_type: Integers  # N
    function: Integers  # N
    machines: int
    too_late: Floats  # F: seconds since arrival from which on a task is dropped
    first_interval: Integers  # F + 1
    intervals: Floats  # P x 4: begin, steps of the exponential in a second, what it falls to, and by how much
    exponentials: Floats
    seconds: Floats  # T x C; these and the following as in `TaskDraws`
    watts: Floats  # T x C
    bins: Floats  # K x 256
    time_spread: Integers  # T x C
    power_spread: Integers  # T x C
    time_draws: Draws  # N x S
    power_draws: Draws  # N x S


@compiled
def add_utility(  # noqa: C901, PLR0913, PLR0917 - compiled
    since: Floats, intervals: Floats, exponentials: Floats, which: Draws, steps: Numbers, decay: Floats, earned: Floats
) -> None:
    """Add what a task earns in each sample; `since` its arrival, below 0 where it does not run."""
    soonest, latest = 0, 0  # intervals in which it ends
    for s in range(len(since)):
        which[s] = 0
    for k in range(1, len(intervals)):
        edge, beyond = intervals[k, AFTER], 0
        for s in range(len(since)):
            beyond += since[s] >= edge
            which[s] += since[s] >= edge
        if beyond == 0:
            break
        soonest, latest = k if beyond == len(since) else soonest, k
    decays = False
    for k in range(soonest, latest + 1):
        decays |= intervals[k, RATE] > 0.0 and intervals[k, FALL] > 0.0
    for s in range(len(since)):
        decay[s] = 1.0
    if decays:
        for s in range(len(since)):
            decay[s] = (since[s] - intervals[which[s], AFTER]) * intervals[which[s], RATE]
        for s in range(len(since)):
            x = min(max(decay[s], 0.0), LONGEST)
            steps[s] = np.int32(x)
            decay[s] = (x - steps[s]) * PART
        for s in range(len(since)):
            r = decay[s]
            decay[s] = exponentials[steps[s]] * ((1.0 - r) + (r * r) * (0.5 - r / 6.0))
    for s in range(len(since)):
        worth = intervals[which[s], FLOOR] + intervals[which[s], FALL] * decay[s]
        earned[s] += worth if since[s] >= 0.0 else 0.0


@compiled
def day_samples(  # noqa: C901, PLR0912 - plain loops, one thing each
    day: SampledDay, machines: Numbers, columns: Numbers, orders: Numbers
) -> tuple[Floats, Floats, Floats, Integers]:
    """Return energy, utility, makespan and dropped tasks of chromosomes, in each of S samples."""
    count, tasks = machines.shape
    samples = day.time_draws.shape[1]
    joules, earned = np.zeros((count, samples)), np.zeros((count, samples))
    makespans, dropped = np.zeros((count, samples)), np.zeros((count, samples), dtype=np.int64)
    free, took, since = np.empty((day.machines, samples)), np.empty(samples), np.empty(samples)
    which, steps = np.empty(samples, dtype=np.uint8), np.empty(samples, dtype=np.int32)
    place, in_turn = np.empty(tasks + 1, dtype=np.int64), np.empty(tasks, dtype=np.int64)
    for c in range(count):
        sort_tasks(orders[c], place, in_turn)
        free[:] = 0.0
        for task in in_turn:
            i, column, machine = day.task_type[task], columns[c, task], machines[c, task]
            arrival, f = day.arrivals[task], day.function[task]
            mean, watts = day.seconds[i, column], day.watts[i, column]
            time, power = day.time_spread[i, column], day.power_spread[i, column]
            latest, late = arrival + (day.too_late[f] - mean), 0
            if latest < np.inf:
                for s in range(samples):
                    late += max(free[machine, s], arrival) >= latest
            if late == samples:
                for s in range(samples):
                    dropped[c, s] += 1
                continue
            for s in range(samples):
                took[s] = mean * day.bins[time, day.time_draws[task, s]]
            if late == 0:
                for s in range(samples):
                    joules[c, s] += took[s] * watts * day.bins[power, day.power_draws[task, s]]
                for s in range(samples):
                    free[machine, s] = max(free[machine, s], arrival) + took[s]
                    since[s] = free[machine, s] - arrival
            else:
                for s in range(samples):
                    since[s] = -1.0
                    if max(free[machine, s], arrival) < latest:
                        joules[c, s] += took[s] * watts * day.bins[power, day.power_draws[task, s]]
                        free[machine, s] = max(free[machine, s], arrival) + took[s]
                        since[s] = free[machine, s] - arrival
                    else:
                        dropped[c, s] += 1
            own = day.intervals[day.first_interval[f] : day.first_interval[f + 1]]
            add_utility(since, own, day.exponentials, which, steps, took, earned[c])
        for machine in range(day.machines):
            for s in range(samples):
                makespans[c, s] = max(makespans[c, s], free[machine, s])
    return joules, earned, makespans, dropped


class SampledDayScorer(SampledScorer):
    """Energy and minus utility by samples; tasks that are expected to earn less than `drop_below` do not run."""

    def __init__(self, day: Day, options: RiskOptions, *, seed: int, drop_below: float | None = None) -> None:
        dropped = "" if drop_below is None else f", below {drop_below:g} dropped"
        named = f"energy and utility: {self.of_samples(options, seed)}{dropped}"
        super().__init__(DayProblem(day, drop_below), options, named)
        require_whole(day.name, day.period, "sampling")
        arrays = day_arrays(day)
        draws = task_draws(day.tasks, arrays.seconds, arrays.watts, options, seed)
        intervals = np.empty((len(arrays.after_seconds), 4))
        intervals[:, AFTER], intervals[:, FLOOR] = arrays.after_seconds, arrays.falls_to
        intervals[:, RATE] = arrays.rate_per_second * STEPS
        intervals[:, FALL] = arrays.starts_at - arrays.falls_to
        self.day = SampledDay(
            arrivals=arrays.arrivals,
            task_type=arrays.task_type,
            function=arrays.function,
            machines=int(first_machines(arrays.machine_counts.tolist(), day.tasks)[-1]),
            too_late=too_late(arrays, drop_below),
            first_interval=arrays.first_interval,
            intervals=intervals,
            exponentials=EXPONENTIALS,
            **{field.name: getattr(draws, field.name) for field in fields(draws)},
        )
        self.compile(day.tasks)

    def drawn(self, machines: Numbers, columns: Numbers, orders: Numbers) -> GeneSamples:
        """Return all that chromosomes take and earn in each sample."""
        joules, earned, makespans, dropped = day_samples(self.day, machines, columns, orders)
        return GeneSamples(joules, makespans, earned, dropped)
