"""What an evolution by NSGA-II found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lpsched.evolve.pacing import Ended
    from lpsched.evolve.problem import Problem
    from lpsched.schedule.genes import Genes, TaskPopulation


@dataclass(frozen=True, slots=True, eq=False)
class EvolvedFront:
    """What nothing beat, and how it came about.

    Attributes
    ----------
    problem
        The bag or the day.
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

    problem: Problem
    points: tuple[tuple[float, float], ...]
    genes: Genes
    generations: int
    ended: Ended
    reference: tuple[float, float]
    history: tuple[tuple[float, int, float], ...]
    population: TaskPopulation

    def schedule(self, number: int) -> Any:  # noqa: ANN401 - of whatever kind the problem's schedules are
        """Return the schedule of a point."""
        return self.problem.schedule(self.genes.take(number))

    def schedules(self) -> tuple[Any, ...]:
        """Return the schedules of all points."""
        return tuple(map(self.schedule, range(len(self.points))))
