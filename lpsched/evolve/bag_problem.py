"""A bag as NSGA-II sees it: energy against makespan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.errors import Fault, InstanceError
from lpsched.evolve.bag_scores import BagScorer
from lpsched.evolve.sampled_bag import bag_samples, sampled_bag
from lpsched.evolve.sampled_scores import GeneSamples, SampledScorer
from lpsched.evolve.task_breeding import pairs_of
from lpsched.instance import Bag, MachineType, Table, TaskType
from lpsched.instance.arrays import arrays_of
from lpsched.risk.task_draws import task_draws
from lpsched.schedule.bag import Schedule
from lpsched.schedule.bag_genes import genes_of, to_schedule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.evolve.task_breeding import Pairs
    from lpsched.risk.options import RiskOptions
    from lpsched.schedule.genes import Genes, Numbers


class BagProblem:
    """A bag whose schedules evolve; its deadline and its power cap are not looked at."""

    criterion = "makespan_seconds"

    def __init__(self, bag: Bag) -> None:
        self.bag = bag
        self.name, self.tasks, self.content_hash = bag.name, bag.tasks, bag.content_hash
        self.machine_counts = [machine.count for machine in bag.machine_types]

    def faults(self) -> Iterator[Fault]:
        """Return what keeps NSGA-II from running on it: nothing."""
        yield from ()

    def pairs(self) -> Pairs:
        """Return which machine can run which task."""
        bag = arrays_of(self.bag)
        tasks = [task.count for task in self.bag.task_types]
        return pairs_of(
            np.repeat(np.arange(len(tasks)), tasks), self.machine_counts, bag.machine_of, bag.can_run
        )

    def scorer(self) -> BagScorer:
        """Return energy and makespan.

        Raises
        ------
        InstanceError
            If the bag has no watts.
        """
        return BagScorer(self.bag)

    def sampled(self, options: RiskOptions, seed: int) -> SampledBagScorer:
        """Return energy and makespan by samples."""
        return SampledBagScorer(self.bag, options, seed=seed)

    def genes(self, schedule: object) -> Genes:
        """Return the chromosome of a schedule."""
        if not isinstance(schedule, Schedule):
            raise ValueError(f"it is a {type(schedule).__name__}")  # noqa: TRY004 - one kind of refusal
        return genes_of(self.bag, schedule)

    def schedule(self, genes: Genes) -> Schedule:
        """Return the schedule of a chromosome."""
        return to_schedule(self.bag, genes)

    @classmethod
    def of_one_task(cls) -> BagProblem:
        """Return a bag of one task, to compile with."""
        one = Table.of([[1.0]])
        return cls(
            Bag("one task", (MachineType(name="m", count=1),), (TaskType(name="t", count=1),), one, one)
        )


class SampledBagScorer(SampledScorer):
    """Energy and makespan by samples; see `SampledScorer`."""

    def __init__(self, bag: Bag, options: RiskOptions, *, seed: int) -> None:
        problem = BagProblem(bag)
        super().__init__(problem, options, f"energy and makespan: {self.of_samples(options, seed)}")
        arrays = arrays_of(bag)
        if arrays.watts is None:
            fault = Fault(("watts",), "none", "the watts of each pair, for energy", "add them")
            raise InstanceError(bag.name, (fault,))
        self.bag = sampled_bag(bag, task_draws(bag.tasks, arrays.seconds, arrays.watts, options, seed))
        self.compile(bag.tasks)

    def drawn(self, machines: Numbers, columns: Numbers, orders: Numbers) -> GeneSamples:  # noqa: ARG002
        """Return all that chromosomes take in each sample."""
        return GeneSamples(*bag_samples(self.bag, machines, columns))
