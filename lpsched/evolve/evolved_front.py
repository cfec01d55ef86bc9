"""What an evolution by NSGA-II found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lpsched.evolve.day_scores import DayScorer
from lpsched.instance import Bag
from lpsched.schedule.bag_genes import to_schedule
from lpsched.schedule.day_genes import to_day_schedule

if TYPE_CHECKING:
    from lpsched.evolve.pacing import Ended
    from lpsched.instance.day import Day
    from lpsched.schedule.bag import Schedule
    from lpsched.schedule.day import DaySchedule
    from lpsched.schedule.genes import Genes, TaskPopulation


@dataclass(frozen=True, slots=True, eq=False)
class EvolvedFront:
    """What nothing beat, and how it came about.

    Attributes
    ----------
    instance, drop_below
        The bag or day, and the utility below which its tasks are dropped.
    points
        By rising energy, none twice: joules and seconds of a bag, joules and utility of a day.
    genes
        The chromosome of each point, K x N.
    generations
        In all, also before the population was resumed.
    ended
        What ended it: the number of generations, the time, or somebody who said stop.
    reference
        Up to where hypervolumes are measured: joules and seconds, or joules and *minus* utility.
    history
        Seconds, generations and hypervolume of the population, now and then and at the end.
    population
        All chromosomes, to go on from.
    """

    instance: Bag | Day
    drop_below: float | None
    points: tuple[tuple[float, float], ...]
    genes: Genes
    generations: int
    ended: Ended
    reference: tuple[float, float]
    history: tuple[tuple[float, int, float], ...]
    population: TaskPopulation

    def schedule(self, number: int) -> Schedule | DaySchedule:
        """Return the schedule of a point."""
        genes = self.genes.take(number)
        if isinstance(self.instance, Bag):
            return to_schedule(self.instance, genes)
        starts = DayScorer(self.instance, self.drop_below).starts(genes)
        return to_day_schedule(self.instance, genes, starts)

    def schedules(self) -> tuple[Schedule | DaySchedule, ...]:
        """Return the schedules of all points."""
        return tuple(map(self.schedule, range(len(self.points))))
