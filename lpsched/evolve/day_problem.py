"""A day as NSGA-II sees it: energy against utility."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lpsched.errors import Fault
from lpsched.evolve.day_scores import DayScorer
from lpsched.evolve.sampled_day import day_samples, sampled_day
from lpsched.evolve.sampled_scores import GeneSamples, SampledScorer
from lpsched.evolve.task_breeding import pairs_of
from lpsched.instance.day import ArrivingTasks, Day, DayMachineType, DayTaskType
from lpsched.instance.day_arrays import day_arrays
from lpsched.instance.period import require_whole
from lpsched.instance.table import Table
from lpsched.instance.utility import Interval, UtilityFunction
from lpsched.risk.task_draws import task_draws
from lpsched.schedule.day import DaySchedule
from lpsched.schedule.day_genes import genes_of_day, to_day_schedule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.evolve.task_breeding import Pairs
    from lpsched.risk.options import RiskOptions
    from lpsched.schedule.genes import Genes, Numbers


class DayProblem:
    """A day whose schedules evolve; tasks that would earn less than `drop_below` do not run."""

    criterion = "utility"

    def __init__(self, day: Day, drop_below: float | None = None) -> None:
        self.day, self.drop_below = day, drop_below
        self.name, self.tasks, self.content_hash = day.name, day.tasks, day.content_hash
        self.machine_counts = [machine.count for machine in day.machine_types]

    def faults(self) -> Iterator[Fault]:
        """Return what keeps NSGA-II from running on it.

        Raises
        ------
        InstanceError
            If the day does not count as a whole.
        """
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
        utility = {"u": UtilityFunction((Interval(0.0, 1.0, 1.0, 0.0),))}
        machines, types = (DayMachineType("m", 1),), (DayTaskType("t"),)
        return cls(Day("one task", machines, types, one, one, tasks, utility_functions=utility))


class SampledDayScorer(SampledScorer):
    """Energy and minus utility by samples; tasks that are expected to earn less than `drop_below` do not run.

    Raises
    ------
    InstanceError
        If the day does not count as a whole; and see `SampledScorer`.
    """

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
