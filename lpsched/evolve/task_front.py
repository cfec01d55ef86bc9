"""Fronts by evolution: energy against makespan of a bag, or against utility of a day, by NSGA-II.

The parts: `schedule/genes.py` (what a chromosome is), `task_breeding.py` (crossover and mutation),
`bag_scores.py` and `day_scores.py` (what it takes), `task_generations.py` (ranks and crowding, by pymoo).
Here they run until generations, time or somebody says stop, and what nothing beats becomes the front.

NSGA-II itself may lose a point of its front: when more than S chromosomes have rank 1, the crowded ones go.
The front returned is that of the last population and of the seeds, so the seeds are kept, or beaten.

Source: Friese, thesis of 2015, sections 5.4.4 and 6.4.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.compiled import require_compiler
from lpsched.evolve.evolved_front import EvolvedFront
from lpsched.evolve.pacing import BETWEEN_KEEPS, BETWEEN_TELLS, SECONDS
from lpsched.evolve.rank_one import rank_one
from lpsched.evolve.resuming import generator_of
from lpsched.evolve.task_breeding import random_genes
from lpsched.evolve.task_generations import TaskGenerations, require_pymoo
from lpsched.evolve.task_kinds import genes_of_seeds, joined, pairs_in, scorer_of
from lpsched.evolve.task_limits import require_sound
from lpsched.evolve.task_resuming import require_same
from lpsched.instance import Bag
from lpsched.instance.period import require_whole
from lpsched.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lpsched.evolve.scoring import Scorer
    from lpsched.instance.arrays import Floats
    from lpsched.instance.day import Day
    from lpsched.schedule.bag import Schedule
    from lpsched.schedule.day import DaySchedule
    from lpsched.schedule.genes import TaskPopulation

SIZE: Final = 100
MUTATION: Final = 0.5  # of 0.05 to 1, less was better on a bag with idle power, more on one without


def evolve_front(  # noqa: PLR0913 - options are keyword-only
    instance: Bag | Day,
    *,
    rng: np.random.Generator,
    scorer: Scorer | None = None,
    seeds: Sequence[Schedule | DaySchedule] = (),
    size: int = SIZE,
    generations: int | None = None,
    mutation: float = MUTATION,
    drop_below: float | None = None,
    watch: Watch | None = None,
    population: TaskPopulation | None = None,
    keep: Callable[[TaskPopulation], object] | None = None,
    judge: Callable[[Floats], float | None] | None = None,
) -> EvolvedFront:
    """Let schedules of a bag or a day evolve, and return the front of those that nothing beats.

    Parameters
    ----------
    rng
        Where all chances come from; a resumed population brings its own.
    scorer
        What schedules are ranked by, in place of energy and makespan (of a bag, whose deadline and power cap
        are not looked at) or energy and utility (of a day).
    seeds
        Schedules that join the first population, at most `size`; the front is never worse than they are.
    size
        The number of chromosomes; a resumed population brings its own.
    generations
        How many to run, now.
    mutation
        The probability that a child is mutated.
    drop_below
        Tasks of a day that would earn less do not run; `None` drops none. A `scorer` given must do the same.
    watch
        When to stop, and who hears of progress; 60 s, if neither it nor `generations` sets a limit.
    population
        A population to go on from, as if it had never stopped; seeds then only join the front.
    keep
        Is given the population once a minute and at the end, to save it.
    judge
        Is given the scores of the front, by rising energy, and tells its gap for those who watch.

    Raises
    ------
    MissingExtraError
        If pymoo or Numba is not installed.
    InstanceError
        If an option is not sound, there are too many tasks, a bag has no watts, or seeds or population are
        not of this instance.
    """
    require_pymoo()
    require_compiler("NSGA-II")
    size = size if population is None else len(population.scores)
    if not isinstance(instance, Bag):
        require_whole(instance.name, instance.period, "NSGA-II")
    require_sound(instance, size, len(seeds), generations, mutation, drop_below)
    given = watch if watch is not None else Watch()
    watch = given.part(SECONDS) if generations is None and given.left() is None else given
    scorer = scorer if scorer is not None else scorer_of(instance, drop_below)
    pairs, sown = pairs_in(instance), genes_of_seeds(instance, seeds)
    if population is None:
        first = joined(sown, random_genes(pairs, size - len(seeds), rng))
        run = TaskGenerations(pairs, first, mutation, rng)
        run.tell(scorer(run.ask()))
    else:
        require_same(population, content_hash=instance.content_hash, objectives=scorer.name, pairs=pairs)
        run = TaskGenerations(pairs, population.genes, mutation, generator_of(population))
        run.resume(replace(population, scores=scorer(population.genes)))
    paced = _Paced(run, scorer, instance.content_hash, keep, judge)
    completed = paced.run(watch, generations)
    last = paced.population()
    if keep is not None:
        keep(last)
    genes = joined(sown, last.genes)
    scores = np.concatenate((scorer(sown), last.scores)) if seeds else last.scores
    best = rank_one(scores)
    sign = 1.0 if isinstance(instance, Bag) else -1.0
    return EvolvedFront(
        instance=instance,
        drop_below=drop_below,
        points=tuple((float(joules), sign * float(other)) for joules, other in scores[best]),
        genes=genes.take(best),
        generations=run.count,
        ended="generations" if completed else "stopped" if given.is_stopped else "time",
        reference=run.reference,
        history=run.noted(),
        population=last,
    )


class _Paced:
    """Runs generation after generation, and tells and keeps now and then how far it is."""

    def __init__(
        self,
        run: TaskGenerations,
        scorer: Scorer,
        content_hash: str,
        keep: Callable[[TaskPopulation], object] | None,
        judge: Callable[[Floats], float | None] | None,
    ) -> None:
        self.generations, self.scorer, self.content_hash = run, scorer, content_hash
        self.keep, self.judge = keep, judge

    def run(self, watch: Watch, generations: int | None) -> bool:
        """Go on until the watch is over, or return true when as many as were wanted are done."""
        run = self.generations
        last = None if generations is None else run.count + generations
        told = kept = time.monotonic()
        while last is None or run.count < last:
            if watch.is_over():
                return False
            run.tell(self.scorer(run.ask()))
            now = time.monotonic()
            if now - told >= BETWEEN_TELLS:
                self.tell(watch)
                told = time.monotonic()
            if self.keep is not None and now - kept >= BETWEEN_KEEPS:
                self.keep(self.population())
                kept = time.monotonic()
        return True

    def tell(self, watch: Watch) -> None:
        """Tell generations, hypervolume and, if somebody judges it, the gap."""
        run = self.generations
        scores = run.scores
        gap = None if self.judge is None else self.judge(scores[rank_one(scores)])
        watch.tell(f"generation {run.count:,}, hypervolume {run.hypervolume:.6g}", gap)

    def population(self) -> TaskPopulation:
        """Return all there is."""
        return self.generations.population(self.content_hash, self.scorer.name)
