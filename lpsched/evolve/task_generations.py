"""NSGA-II, generation after generation, by ask and tell: `ask` makes chromosomes, `tell` takes their scores.

Each generation makes as many children as there are chromosomes, S. Of both together the S best go on: by
rank, and by crowding distance within the last rank, which fits only in part. Ranks, crowding and elitism are
pymoo's. The genes stay here: pymoo only knows in which of 2 S slots a chromosome's genes are, and children
are written over those that did not survive.

All chances come from one generator, pymoo's too, so a run is a function of its seed, and a population goes on
as if it had never stopped.

Source: Deb and others 2002 for NSGA-II; Friese, thesis of 2015, section 5.4.4.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from lpsched.errors import MissingExtraError
from lpsched.evolve.rank_one import hypervolume
from lpsched.evolve.resuming import state_of
from lpsched.evolve.task_breeding import crossover, mutated, parents
from lpsched.schedule.genes import Genes, TaskPopulation

try:
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.config import Config
    from pymoo.core.population import Population
    from pymoo.core.problem import Problem as PymooProblem
    from pymoo.core.termination import NoTermination
except ImportError:  # an optional package; whoever asks for the algorithm is told
    NSGA2 = None

if TYPE_CHECKING:
    from lpsched.evolve.task_breeding import Pairs
    from lpsched.instance.array_types import Floats, Integers


def require_pymoo() -> None:
    """Refuse to begin without pymoo.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    if NSGA2 is None:
        raise MissingExtraError("NSGA-II", "evolve")


class Mating:
    """What pymoo asks for children: it is given a population, and answers with slots."""

    def __init__(self, pairs: Pairs, first: Genes, mutation: float) -> None:
        self.pairs, self.mutation = pairs, mutation
        machines, columns, orders = (
            np.concatenate((genes, np.zeros_like(genes)))
            for genes in (first.machines, first.columns, first.orders)
        )
        self.slots = Genes(machines, columns, orders)

    def do(
        self,
        problem: Any,  # noqa: ANN401, ARG002 - pymoo's, as below
        pop: Any,  # noqa: ANN401
        n_offsprings: int,
        *,
        algorithm: Any,  # noqa: ANN401, ARG002
        random_state: np.random.Generator,
    ) -> Any:  # noqa: ANN401
        """Return as many children as are asked for."""
        taken = slots_of(pop)
        first, second = parents(len(taken), (n_offsprings + 1) // 2, random_state)
        couples = self.slots.take(taken[first]), self.slots.take(taken[second])
        children = crossover(*couples, random_state).take(slice(n_offsprings))
        children = mutated(self.pairs, children, self.mutation, random_state)
        free = np.setdiff1d(np.arange(len(self.slots.machines)), taken)[:n_offsprings]
        self.slots.machines[free] = children.machines
        self.slots.columns[free] = children.columns
        self.slots.orders[free] = children.orders
        return Population.new(X=free[:, None])


class TaskGenerations:
    """One run, step by step: `tell(scores of ask())` first takes the first population, then generations.

    Parameters
    ----------
    pairs
        What can run where.
    first
        The genes of the first population, S x N.
    mutation
        The probability that a child is mutated.
    """

    def __init__(self, pairs: Pairs, first: Genes, mutation: float, rng: np.random.Generator) -> None:
        require_pymoo()
        Config.warnings["not_compiled"] = False  # else pymoo may print to stdout, where the answer goes
        self.rng, self.count, self.began = rng, -1, time.monotonic()
        self.mating = Mating(pairs, first, mutation)
        self.reference = (np.inf, np.inf)
        self.history: list[tuple[float, int, float]] = []
        self.asked: Any = None  # pymoo's population of what waits for its scores
        size = len(first.machines)
        self.nsga2 = NSGA2(
            pop_size=size,
            sampling=Population.new(X=np.arange(size)[:, None]),
            mating=self.mating,
            eliminate_duplicates=False,
            output=None,
        )
        self.nsga2.setup(PymooProblem(n_var=1, n_obj=2), termination=NoTermination(), seed=rng)

    @property
    def seconds(self) -> float:
        """How long it has taken, in all."""
        return time.monotonic() - self.began

    @property
    def genes(self) -> Genes:
        """The genes of the population, in its order."""
        return self.mating.slots.take(slots_of(self.nsga2.pop))

    @property
    def scores(self) -> Floats:
        """Its scores."""
        scores: Floats = self.nsga2.pop.get("F")
        return scores

    @property
    def hypervolume(self) -> float:
        """The area between its front and the reference."""
        return hypervolume(self.scores, self.reference)

    def ask(self) -> Genes:
        """Make the next chromosomes: the first population, or children."""
        self.asked = self.nsga2.ask()
        return self.mating.slots.take(slots_of(self.asked))

    def tell(self, scores: Floats) -> None:
        """Rank what was made, and count a generation if these are children."""
        self.asked.set(F=scores)
        self.nsga2.tell(infills=self.asked)
        self.count += 1
        if self.count == 0:
            self.reference = float(scores[:, 0].max()), float(scores[:, 1].max())
        if not self.history or 100 * self.count >= 101 * self.history[-1][1]:
            self.history.append((self.seconds, self.count, self.hypervolume))

    def noted(self) -> tuple[tuple[float, int, float], ...]:
        """Return the history up to now."""
        now = self.seconds, self.count, self.hypervolume
        return (*self.history, now) if self.history[-1][1] < self.count else tuple(self.history)

    def resume(self, population: TaskPopulation) -> None:
        """Go on where a population was left, whose genes this run began with; it is scored already."""
        slots = np.arange(len(population.scores))[:, None]
        self.nsga2.ask()
        self.nsga2.pop = Population.new(X=slots, F=population.scores)
        self.nsga2.is_initialized = True
        self.count, self.history = population.generations, list(population.history)
        self.reference = population.reference
        self.began = time.monotonic() - population.seconds

    def population(self, instance_hash: str, objectives: str) -> TaskPopulation:
        """Return all there is, in arrays of its own."""
        return TaskPopulation(
            instance_hash=instance_hash,
            objectives=objectives,
            genes=self.genes,
            scores=self.scores,
            generations=self.count,
            seconds=self.seconds,
            reference=self.reference,
            history=tuple(self.history),
            random_state=state_of(self.rng),
        )


def slots_of(population: Any) -> Integers:  # noqa: ANN401 - pymoo's
    """Return the slots of a population of pymoo's."""
    slots: Integers = population.get("X")[:, 0]
    return slots
