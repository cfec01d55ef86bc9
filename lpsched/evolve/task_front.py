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
from lpsched.errors import Fault, InstanceError
from lpsched.evolve.evolved_front import EvolvedFront
from lpsched.evolve.pacing import BETWEEN_KEEPS, BETWEEN_TELLS, SECONDS
from lpsched.evolve.rank_one import rank_one
from lpsched.evolve.resuming import generator_of
from lpsched.evolve.task_breeding import random_genes
from lpsched.evolve.task_generations import TaskGenerations, require_pymoo
from lpsched.evolve.task_limits import require_sound
from lpsched.evolve.task_resuming import require_same
from lpsched.schedule.genes import Genes
from lpsched.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lpsched.evolve.problem import Problem
    from lpsched.evolve.scoring import Scorer
    from lpsched.instance.array_types import Floats
    from lpsched.schedule.genes import TaskPopulation

SIZE: Final = 100
MUTATION: Final = 0.5  # of 0.05 to 1, less was better on a bag with idle power, more on one without


def evolve_front(  # noqa: PLR0913 - options are keyword-only
    problem: Problem,
    *,
    rng: np.random.Generator,
    scorer: Scorer | None = None,
    seeds: Sequence[object] = (),
    size: int = SIZE,
    generations: int | None = None,
    mutation: float = MUTATION,
    watch: Watch | None = None,
    population: TaskPopulation | None = None,
    keep: Callable[[TaskPopulation], object] | None = None,
    judge: Callable[[Floats], float | None] | None = None,
) -> EvolvedFront:
    """Let schedules evolve, and return the front of those that nothing beats.

    Parameters
    ----------
    problem
        A `BagProblem` or a `DayProblem`; what the latter drops, a `scorer` given must drop as well.
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
    require_sound(problem, size, len(seeds), generations, mutation)
    given = watch if watch is not None else Watch()
    watch = given.part(SECONDS) if generations is None and given.left() is None else given
    scorer = scorer if scorer is not None else problem.scorer()
    pairs, sown = problem.pairs(), _genes_of_seeds(problem, seeds)
    if population is None:
        first = _joined(sown, random_genes(pairs, size - len(seeds), rng))
        run = TaskGenerations(pairs, first, mutation, rng)
        run.tell(scorer(run.ask()))
    else:
        require_same(population, content_hash=problem.content_hash, objectives=scorer.name, pairs=pairs)
        run = TaskGenerations(pairs, population.genes, mutation, generator_of(population))
        run.resume(replace(population, scores=scorer(population.genes)))
    paced = _Paced(run, scorer, problem.content_hash, keep, judge)
    completed = paced.run(watch, generations)
    last = paced.population()
    if keep is not None:
        keep(last)
    genes = _joined(sown, last.genes)
    scores = np.concatenate((scorer(sown), last.scores)) if seeds else last.scores
    best = rank_one(scores)
    sign = -1.0 if problem.criterion == "utility" else 1.0
    return EvolvedFront(
        problem=problem,
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


def _genes_of_seeds(problem: Problem, seeds: Sequence[object]) -> Genes:
    """Return the chromosomes of schedules, and refuse one that is not of this instance."""
    genes = [_genes(problem, place, seed) for place, seed in enumerate(seeds)]
    empty = np.empty((0, problem.tasks), dtype=np.int32)
    return Genes(
        np.stack([each.machines for each in genes]) if genes else empty,
        np.stack([each.columns for each in genes]) if genes else empty,
        np.stack([each.orders for each in genes]) if genes else empty,
    )


def _genes(problem: Problem, place: int, seed: object) -> Genes:
    try:
        return problem.genes(seed)
    except ValueError as error:
        needed = f"a schedule of {problem.name!r}"
        fault = Fault((place,), f"another one: {error}", needed, "leave it out")
        raise InstanceError("seeds", (fault,)) from error


def _joined(first: Genes, second: Genes) -> Genes:
    """Return the chromosomes of both."""
    return Genes(
        np.concatenate((first.machines, second.machines)),
        np.concatenate((first.columns, second.columns)),
        np.concatenate((first.orders, second.orders)),
    )


def warm_up(problem: Problem) -> None:
    """Compile what NSGA-II runs, by two generations of a problem of one task: seconds at the first use.

    Raises
    ------
    MissingExtraError
        If pymoo or Numba is not installed.
    """
    evolve_front(problem, rng=np.random.default_rng(0), size=2, generations=1).schedules()
