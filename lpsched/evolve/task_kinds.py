"""What NSGA-II needs to know of a bag or of a day: which machine runs which task, scores, and seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.errors import Fault, InstanceError
from lpsched.evolve.bag_scores import BagScorer
from lpsched.evolve.day_scores import DayScorer
from lpsched.evolve.task_breeding import pairs_of
from lpsched.instance import Bag
from lpsched.instance.arrays import arrays_of
from lpsched.instance.day_arrays import day_arrays
from lpsched.schedule.bag import Schedule
from lpsched.schedule.bag_genes import genes_of
from lpsched.schedule.day import DaySchedule
from lpsched.schedule.day_genes import genes_of_day
from lpsched.schedule.genes import Genes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.evolve.scoring import Scorer
    from lpsched.evolve.task_breeding import Pairs
    from lpsched.instance.day import Day


def pairs_in(instance: Bag | Day) -> Pairs:
    """Return which machine of a bag or a day can run which task."""
    counts = [machine.count for machine in instance.machine_types]
    if isinstance(instance, Bag):
        bag = arrays_of(instance)
        tasks = [task.count for task in instance.task_types]
        return pairs_of(np.repeat(np.arange(len(tasks)), tasks), counts, bag.machine_of, bag.can_run)
    day = day_arrays(instance)
    return pairs_of(day.task_type, counts, day.mode_type, day.can_run)


def scorer_of(instance: Bag | Day, drop_below: float | None) -> Scorer:
    """Return what chromosomes are ranked by, if nobody says otherwise.

    Raises
    ------
    InstanceError
        If a bag has no watts.
    """
    return BagScorer(instance) if isinstance(instance, Bag) else DayScorer(instance, drop_below)


def genes_of_seeds(instance: Bag | Day, seeds: Sequence[Schedule | DaySchedule]) -> Genes:
    """Return the chromosomes of schedules.

    Raises
    ------
    InstanceError
        If one is not of this instance.
    """
    genes = [_genes(instance, place, seed) for place, seed in enumerate(seeds)]
    empty = np.empty((0, instance.tasks), dtype=np.int32)
    return Genes(
        np.stack([each.machines for each in genes]) if genes else empty,
        np.stack([each.columns for each in genes]) if genes else empty,
        np.stack([each.orders for each in genes]) if genes else empty,
    )


def _genes(instance: Bag | Day, place: int, seed: Schedule | DaySchedule) -> Genes:
    why = f"it is a {type(seed).__name__}"
    try:
        if isinstance(instance, Bag) and isinstance(seed, Schedule):
            return genes_of(instance, seed)
        if not isinstance(instance, Bag) and isinstance(seed, DaySchedule):
            return genes_of_day(instance, seed)
    except ValueError as error:
        why = str(error)
    needed = f"a schedule of {instance.name!r}"
    raise InstanceError("seeds", (Fault((place,), f"another one: {why}", needed, "leave it out"),))


def joined(first: Genes, second: Genes) -> Genes:
    """Return the chromosomes of both."""
    return Genes(
        np.concatenate((first.machines, second.machines)),
        np.concatenate((first.columns, second.columns)),
        np.concatenate((first.orders, second.orders)),
    )
