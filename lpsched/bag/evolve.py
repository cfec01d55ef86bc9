"""A bag as NSGA-II sees it: chromosomes, energy and makespan, expected or by samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lpsched.bag.arrays import arrays_of, covs_of
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, TaskType
from lpsched.bag.schedule import MachineGroup, Run, Schedule, run_of
from lpsched.errors import InputIssue, InstanceError
from lpsched.evolve.genes import Genes, GeneSamples, Numbers, Pairs, SampledScorer, first_machines, pairs_of
from lpsched.jit import compiled
from lpsched.model.fields import column_numbers
from lpsched.model.risk import Draws, RiskOptions, task_draws
from lpsched.model.table import Table

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers


# From a schedule of a bag to a chromosome, and back.
# A schedule does not distinguish tasks of a type, nor machines; a chromosome numbers both. So the way there
# gives the numbers out in turn, and the way back joins machines that do the same.
def genes_of(bag: Bag, schedule: Schedule) -> Genes:
    """Return the chromosome of N genes that does what a schedule does; it does not wait at the end."""
    kinds = {machine.name: j for j, machine in enumerate(bag.machine_types)}
    rows = {task.name: i for i, task in enumerate(bag.task_types)}
    numbers = column_numbers(bag.machine_types)
    free = first_machines([machine.count for machine in bag.machine_types], bag.tasks).tolist()
    last = free[1:]
    ends = np.cumsum([task.count for task in bag.task_types]).tolist()
    after = [0, *ends[:-1]]
    machines, columns, orders = (np.full(bag.tasks, -1, dtype=np.int32) for _ in range(3))
    given = 0
    for group in schedule.groups:
        kind = group.machine_type
        j = kinds.get(kind)
        if j is None:
            raise ValueError(f"there is no machine type {kind!r}")
        for _ in range(group.machines if group.runs else 0):
            if free[j] == last[j]:
                raise ValueError(f"there are not enough machines of type {kind!r}, or tasks")
            for run in group.runs:
                i, column = rows.get(run.task_type), numbers.get((kind, run.p_state))
                if i is None or column is None or bag.seconds[i, column] is None:
                    raise ValueError(f"{run.task_type!r} on {kind!r} in P-state {run.p_state!r} cannot run")
                own = slice(after[i], after[i] + run.count)
                if run.count < 1 or own.stop > ends[i]:
                    raise ValueError(f"there are not enough tasks of type {run.task_type!r}")
                machines[own], columns[own], orders[own] = free[j], column, range(given, given + run.count)
                after[i], given = own.stop, given + run.count
            free[j] += 1
    if given < bag.tasks:
        raise ValueError(f"it runs {given} of {bag.tasks} tasks")
    return Genes(machines, columns, orders)


def to_schedule(bag: Bag, genes: Genes) -> Schedule:
    """Return the schedule of a chromosome of N genes; equal machines of a type make a group."""
    rows, machines, columns = _task_types(bag).tolist(), genes.machines.tolist(), genes.columns.tolist()
    groups: Counter[tuple[str, tuple[Run, ...]]] = Counter()
    in_turn = np.lexsort((genes.orders, genes.machines)).tolist()  # it is stable: ties by task number
    for _, tasks in groupby(in_turn, key=machines.__getitem__):
        own = list(tasks)
        runs = tuple(
            run_of(bag, i, column, len(list(same)))
            for (i, column), same in groupby(own, key=lambda task: (rows[task], columns[task]))
        )
        groups[bag.machine_types[bag.modes[columns[own[0]]][0]].name, runs] += 1
    return Schedule(tuple(MachineGroup(kind, machines, runs) for (kind, runs), machines in groups.items()))


# What a chromosome of a bag takes: energy and makespan. Compiled.
#
#     e, a       seconds and watts of a task in its column
#     b          idle watts of a machine, which stays on until the makespan
#     load       of a machine: the sum of its e
#     makespan   t  =  the largest load
#     energy     sum e a  +  sum over machines of b (t - load)
#
# The sums are those of `bag/verify.py`, up to rounding; no term is below 0, so nothing cancels.
#
# Source: Friese, thesis of 2015, section 6.3.
class BagTables(NamedTuple):  # a tuple, because that is what compiled functions take apart
    """What the loops need to know of a bag: T task types x C columns, N tasks."""

    task_type: Integers  # N
    first_machine: Integers  # M + 1
    idle_watts: Floats  # M
    others: Floats  # M: machines of a type that have no number, because they never work
    seconds: Floats  # T x C
    joules: Floats  # T x C


@compiled
def bag_scores(tables: BagTables, machines: Numbers, columns: Numbers) -> Floats:
    """Return energy and makespan of S chromosomes."""
    scores = np.empty((len(machines), 2))
    load = np.empty(tables.first_machine[-1])
    for s in range(len(machines)):
        load[:] = 0.0
        joules = 0.0
        for task in range(machines.shape[1]):
            i, column = tables.task_type[task], columns[s, task]
            load[machines[s, task]] += tables.seconds[i, column]
            joules += tables.joules[i, column]
        makespan = load.max()
        for j in range(len(tables.idle_watts)):
            if tables.idle_watts[j] > 0.0:
                idle = tables.others[j] * makespan
                for machine in range(tables.first_machine[j], tables.first_machine[j + 1]):
                    idle += makespan - load[machine]
                joules += tables.idle_watts[j] * idle
        scores[s, 0], scores[s, 1] = joules, makespan
    return scores


class BagScorer:
    """Energy and makespan of a bag's chromosomes; deadline and power cap are ignored."""

    name = "energy and makespan"

    def __init__(self, bag: Bag) -> None:
        seconds, watts = _pairs(bag)
        self.tables = BagTables(*_tasks_and_machines(bag), seconds, seconds * watts)

    def __call__(self, genes: Genes) -> Floats:
        """Return S x 2 scores."""
        machines, columns = np.ascontiguousarray(genes.machines), np.ascontiguousarray(genes.columns)
        return bag_scores(self.tables, machines, columns)  # compiled for one layout only


# What a bag's chromosomes take in all samples at once: energy and makespan, compiled.
# For each task of a chromosome all S samples are done before the next task, as in `online/evolve.py`. The
# formulas are those of `bag_scores`, with each task's own seconds and watts (`model/risk.py`).
#
# Source: Friese, thesis of 2015, section 7.2.2.2, for makespan in place of utility.
class SampledBag(NamedTuple):  # a tuple, because that is what compiled functions take apart
    """What the loops need to know of a bag."""

    task_type: Integers  # N
    first_machine: Integers  # M + 1
    idle_watts: Floats  # M
    others: Floats  # M: machines of a type that have no number, because they never work
    seconds: Floats  # T x C; these and the following as in `TaskDraws`
    watts: Floats  # T x C
    bins: Floats  # K x 256
    time_spread: Integers  # T x C
    power_spread: Integers  # T x C
    time_draws: Draws  # N x S
    power_draws: Draws  # N x S


@compiled
def bag_samples(  # noqa: C901 - plain loops, one thing each
    bag: SampledBag, machines: Numbers, columns: Numbers
) -> tuple[Floats, Floats]:
    """Return energy and makespan of chromosomes, in each of S samples."""
    count, samples = len(machines), bag.time_draws.shape[1]
    joules, makespans = np.zeros((count, samples)), np.zeros((count, samples))
    load, took = np.empty((bag.first_machine[-1], samples)), np.empty(samples)
    for c in range(count):
        load[:] = 0.0
        for task in range(machines.shape[1]):
            i, column, machine = bag.task_type[task], columns[c, task], machines[c, task]
            mean, watts = bag.seconds[i, column], bag.watts[i, column]
            time, power = bag.time_spread[i, column], bag.power_spread[i, column]
            for s in range(samples):
                took[s] = mean * bag.bins[time, bag.time_draws[task, s]]
            for s in range(samples):
                joules[c, s] += took[s] * watts * bag.bins[power, bag.power_draws[task, s]]
            for s in range(samples):
                load[machine, s] += took[s]
        for machine in range(len(load)):
            for s in range(samples):
                makespans[c, s] = max(makespans[c, s], load[machine, s])
        for j in range(len(bag.idle_watts)):
            for s in range(samples):
                joules[c, s] += bag.idle_watts[j] * bag.others[j] * makespans[c, s]
            for machine in range(bag.first_machine[j], bag.first_machine[j + 1]):
                for s in range(samples):
                    joules[c, s] += bag.idle_watts[j] * (makespans[c, s] - load[machine, s])
    return joules, makespans


def _task_types(bag: Bag) -> Integers:
    """Return the type of each task."""
    return np.repeat(np.arange(len(bag.task_types)), [task.count for task in bag.task_types])


def _tasks_and_machines(bag: Bag) -> tuple[Integers, Integers, Floats, Floats]:
    """Return the first four tables of the loops."""
    arrays = arrays_of(bag)
    first_machine = first_machines([machine.count for machine in bag.machine_types], bag.tasks)
    return _task_types(bag), first_machine, arrays.idle_watts, arrays.machine_counts - np.diff(first_machine)


def _pairs(bag: Bag) -> tuple[Floats, Floats]:
    """Return seconds and watts, which energy needs."""
    arrays = arrays_of(bag)
    if arrays.watts is None:
        issue = InputIssue(("watts",), "none", "the watts of each pair, for energy", "add them")
        raise InstanceError(bag.name, (issue,))
    return arrays.seconds, arrays.watts


class BagProblem:
    """A bag whose schedules evolve; its deadline and its power cap are ignored."""

    criterion = "makespan_seconds"

    def __init__(self, bag: Bag) -> None:
        self.bag = bag
        self.name, self.tasks, self.content_hash = bag.name, bag.tasks, bag.content_hash
        self.machine_counts = [machine.count for machine in bag.machine_types]

    def issues(self) -> Iterator[InputIssue]:
        """Yield what keeps NSGA-II from running on it: nothing."""
        yield from ()

    def pairs(self) -> Pairs:
        """Return which machine can run which task."""
        arrays = arrays_of(self.bag)
        return pairs_of(_task_types(self.bag), self.machine_counts, arrays.machine_of, arrays.can_run)

    def scorer(self) -> BagScorer:
        """Return energy and makespan."""
        return BagScorer(self.bag)

    def sampled(self, options: RiskOptions, seed: int) -> SampledBagScorer:
        """Return energy and makespan by samples."""
        return SampledBagScorer(self.bag, options, seed=seed)

    def genes(self, schedule: object) -> Genes:
        """Return the chromosome of a schedule."""
        if not isinstance(schedule, Schedule):
            raise ValueError(f"it is a {type(schedule).__name__}")  # noqa: TRY004 - one kind of error
        return genes_of(self.bag, schedule)

    def schedule(self, genes: Genes) -> Schedule:
        """Return the schedule of a chromosome."""
        return to_schedule(self.bag, genes)

    @classmethod
    def of_one_task(cls) -> BagProblem:
        """Return a bag of one task, to compile with."""
        one = Table.of([[1.0]])
        return cls(Bag("one task", (MachineType(name="m", count=1),), (TaskType(name="t", count=1),), one, one))


class SampledBagScorer(SampledScorer):
    """Energy and makespan by samples; see `SampledScorer`."""

    def __init__(self, bag: Bag, options: RiskOptions, *, seed: int) -> None:
        super().__init__(BagProblem(bag), options, f"energy and makespan: {self.of_samples(options, seed)}")
        draws = task_draws(bag.tasks, *_pairs(bag), options, seed, of_file=covs_of(bag))
        own = {field.name: getattr(draws, field.name) for field in fields(draws)}
        self.bag = SampledBag(*_tasks_and_machines(bag), **own)
        self.compile(bag.tasks)

    def drawn(self, machines: Numbers, columns: Numbers, orders: Numbers) -> GeneSamples:  # noqa: ARG002 - days need orders
        """Return all that chromosomes take in each sample."""
        return GeneSamples(*bag_samples(self.bag, machines, columns))
