"""Generation after generation, by ask and tell: `ask` makes the next chromosomes, `tell` ranks them.

As long as the first population is not complete, they come one by one, at random. Then every generation draws
two parents by rank; their two children are ranked among all, and the two worst go. The best is never lost.

Source: Oxley and others, section IV-B; Whitley 1989 for Genitor.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.evolve.facility_members import members_of
from lpsched.evolve.genitor import parents
from lpsched.evolve.ranking import Ranking
from lpsched.evolve.resuming import state_of
from lpsched.schedule.population import Population

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lpsched.evolve.breeding import Breeder
    from lpsched.evolve.ranking import Chromosome

SIZE: Final = 200


class Generations:
    """One run, step by step: `tell(ask())` is a generation once the first population is complete."""

    def __init__(self, breeder: Breeder) -> None:
        self.breeder = breeder
        self.ranking = Ranking(SIZE)
        self.count = 0
        self.history: list[tuple[float, int, float]] = []
        self.began = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long it has taken, in all."""
        return time.monotonic() - self.began

    def ask(self) -> tuple[Chromosome, ...]:
        """Make the next chromosomes: a random one, or two children."""
        if not self.ranking.is_full:
            return (self.breeder.at_random(),)
        first, second = parents(SIZE, self.breeder.rng)
        return self.breeder.children(self.ranking.members[first], self.ranking.members[second])

    def tell(self, chromosomes: tuple[Chromosome, ...]) -> None:
        """Rank what was made, and count a generation if these are children."""
        self.count += self.ranking.is_full
        self.join(chromosomes)

    def join(self, chromosomes: Iterable[Chromosome]) -> None:
        """Rank chromosomes, wherever they come from, and note whether the best got better."""
        self.ranking.insert(chromosomes)
        if self.ranking.members and (not self.history or self.ranking.best.score > self.history[-1][2]):
            self.history.append((self.seconds, self.count, self.ranking.best.score))

    def resume(self, population: Population) -> None:
        """Go on where a population was left.

        Raises
        ------
        InstanceError
            If it is not of this facility, or was changed.
        """
        self.count, self.history = population.generations, list(population.history)
        self.began = time.monotonic() - population.seconds
        self.join(members_of(population, self.breeder))

    def population(self) -> Population:
        """Return all there is, in arrays of its own."""
        members = self.ranking.members
        return Population(
            instance_hash=self.breeder.facility.content_hash,
            colocation=self.breeder.colocation,
            fractions=np.stack([each.fractions for each in members]),
            states=np.stack([each.states for each in members]),
            outlets_celsius=np.stack([each.outlets for each in members]),
            scores=np.array([each.score for each in members]),
            generations=self.count,
            seconds=self.seconds,
            history=tuple(self.history),
            random_state=state_of(self.breeder.rng),
        )
