"""NSGA-II: generations by pymoo, the front of what evolved, what ends it, and how to resume it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.cancellation import COMPILING, CancelToken
from lpsched.errors import InputIssue, InstanceError, MissingExtraError, raise_signal_in
from lpsched.evolve import genes as chromosomes
from lpsched.evolve.fronts import hypervolume, rank_one
from lpsched.evolve.genes import REPORT_SECONDS, SAVE_SECONDS, SECONDS, Ended, Genes, Problem, Scorer, TaskPopulation
from lpsched.jit import require_compiler

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers

# What NSGA-II rejects before it begins: invalid options, and instances that fill the memory.
#
# A gene takes 12 bytes, and there are up to six copies of a population at a time: 50 million genes take 4 GB.
MOST_TASKS: Final = 200_000
MOST_GENES: Final = 50_000_000  # chromosomes x tasks
MOST_MACHINES: Final = 10_000_000  # of those that may work: at most as many of a type as there are tasks


def check_options(problem: Problem, size: int, seeds: int, generations: int | None, mutation: float) -> None:
    """Raise an error for what cannot be run."""
    of_problem, tasks, issues = [*problem.issues()], problem.tasks, []
    machines = int(chromosomes.first_machines(problem.machine_counts, tasks)[-1])
    if not 1 <= tasks <= MOST_TASKS:
        needed = f"1 to {MOST_TASKS:,}, because every task is a gene"
        issues.append(InputIssue(("tasks",), f"{tasks:,}", needed, "take a sample of the tasks"))
    elif size * tasks > MOST_GENES:
        found = f"{size:,} chromosomes of {tasks:,} tasks"
        issues.append(InputIssue(("size",), found, f"at most {MOST_GENES:,} genes in all", "take fewer chromosomes"))
    if tasks <= MOST_TASKS and machines > MOST_MACHINES:
        needed = f"at most {MOST_MACHINES:,} that may work"
        issues.append(InputIssue(("machine_types",), f"{machines:,} machines", needed, "take fewer machines or tasks"))
    if not size >= 2 or seeds > size:  # noqa: PLR2004 - two parents
        found = f"{size} chromosomes for {seeds} seeds"
        issues.append(InputIssue(("size",), found, "at least 2, and as many as seeds", "correct it"))
    if generations is not None and generations < 0:
        issues.append(InputIssue(("generations",), str(generations), "0 or more", "correct it"))
    if not 0.0 <= mutation <= 1.0:
        issues.append(InputIssue(("mutation",), str(mutation), "a probability", "correct it"))
    if issues or of_problem:
        raise InstanceError(f"NSGA-II on {problem.name}", (*issues, *of_problem))


# NSGA-II, generation after generation, by ask and tell: `ask` makes chromosomes, `tell` takes their scores.
#
# Each generation makes as many children as there are chromosomes, S. Of both together the S best go on: by
# rank, and by crowding distance within the last rank, which fits only in part. Ranks, crowding and elitism
# are pymoo's. The genes stay here: pymoo only knows in which of 2 S slots a chromosome's genes are, and
# children are written over those that did not survive.
#
# All chances come from one generator, pymoo's too, so a run is a function of its seed, and a population goes
# on as if it had never stopped.
#
# Source: Deb and others 2002 for NSGA-II; Friese, thesis of 2015, section 5.4.4.
try:
    from pymoo.algorithms.moo import nsga2 as pymoo
    from pymoo.config import Config
    from pymoo.core.population import Population
    from pymoo.core.problem import Problem as PymooProblem
    from pymoo.core.termination import NoTermination
except ImportError as error:  # an optional package: `require_pymoo` raises the error
    raise_signal_in(error)
    pymoo = None


def require_pymoo() -> None:
    """Raise an error without pymoo."""
    if pymoo is None:
        raise MissingExtraError("NSGA-II", "evolve")


def require_evolution() -> None:
    """Raise an error without the packages that this needs."""
    require_pymoo()
    require_compiler("NSGA-II")


class TaskGenerations:
    """One run, step by step: `tell(scores of ask())` first takes the first population, then generations."""

    def __init__(self, pairs: chromosomes.Pairs, first: Genes, mutation: float, rng: np.random.Generator) -> None:
        require_pymoo()
        Config.warnings["not_compiled"] = False  # else pymoo may print to stdout, where the answer goes
        self.rng, self.count, self.began = rng, -1, time.monotonic()
        self.pairs, self.mutation = pairs, mutation
        self.slots = Genes(*(np.concatenate((genes, np.zeros_like(genes))) for genes in first))
        self.reference = (np.inf, np.inf)
        self.history: list[tuple[float, int, float]] = []
        self.pending: Any = None  # pymoo's population of what waits for its scores
        size = len(first.machines)
        sampling = Population.new(X=np.arange(size)[:, None])
        self.nsga2 = pymoo.NSGA2(pop_size=size, sampling=sampling, mating=self, eliminate_duplicates=False, output=None)
        self.nsga2.setup(PymooProblem(n_var=1, n_obj=2), termination=NoTermination(), seed=rng)

    def do(self, _: object, pop: object, count: int, *, random_state: np.random.Generator, **__: object) -> Any:  # noqa: ANN401 - pymoo's
        """Return as many children as pymoo asks for, of the population that it gives: their slots."""
        taken = slots_of(pop)
        first, second = chromosomes.parents(len(taken), (count + 1) // 2, random_state)
        couples = self.slots.take(taken[first]), self.slots.take(taken[second])
        children = chromosomes.crossover(*couples, random_state).take(slice(count))
        children = chromosomes.mutated(self.pairs, children, self.mutation, random_state)
        free = np.setdiff1d(np.arange(len(self.slots.machines)), taken)[:count]
        for slots, genes in zip(self.slots, children, strict=True):
            slots[free] = genes
        return Population.new(X=free[:, None])

    @property
    def seconds(self) -> float:
        """How long it has taken, in all."""
        return time.monotonic() - self.began

    @property
    def genes(self) -> Genes:
        """The genes of the population, in its order."""
        return self.slots.take(slots_of(self.nsga2.pop))

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
        self.pending = self.nsga2.ask()
        return self.slots.take(slots_of(self.pending))

    def tell(self, scores: Floats) -> None:
        """Rank what was made, and count a generation if these are children."""
        self.pending.set(F=scores)
        self.nsga2.tell(infills=self.pending)
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
        made = instance_hash, objectives, self.genes, self.scores, self.count, self.seconds
        return TaskPopulation(*made, self.reference, tuple(self.history), chromosomes.state_of(self.rng))


def slots_of(population: Any) -> Integers:  # noqa: ANN401 - pymoo's
    """Return the slots of a population of pymoo's."""
    slots: Integers = population.get("X")[:, 0]
    return slots


@dataclass(frozen=True, slots=True, eq=False)
class EvolvedFront:
    """What nothing beat, and how it came about."""

    problem: Problem  # the bag or the day
    points: tuple[tuple[float, float], ...]  # by rising energy, none twice: joules, and seconds (bag) or utility (day)
    genes: Genes  # the chromosome of each point, K x N
    generations: int  # in all, also before the population was resumed
    ended: Ended
    reference: tuple[float, float]  # of hypervolumes: joules, and seconds or *minus* utility
    history: tuple[tuple[float, int, float], ...]  # seconds, generations, hypervolume; now and then and at the end
    population: TaskPopulation  # all chromosomes, to go on from

    def schedule(self, number: int) -> Any:  # noqa: ANN401 - of whatever kind the problem's schedules are
        """Return the schedule of a point."""
        return self.problem.schedule(self.genes.take(number))

    def schedules(self) -> tuple[Any, ...]:
        """Return the schedules of all points."""
        return tuple(map(self.schedule, range(len(self.points))))


# Fronts by evolution: energy against makespan of a bag, or against utility of a day, by NSGA-II.
#
# The parts: `genes.py` (chromosomes, crossover and mutation), `bag/evolve.py` and `online/evolve.py` (their
# energy, makespan and utility), and above ranks and crowding, by pymoo. Here they run until the limit of
# generations or of time, or until stopped, and what is not dominated becomes the front.
#
# NSGA-II itself may lose a point of its front: when more than S chromosomes have rank 1, the crowded ones go.
# The front returned is that of the last population and of the seeds, so the seeds are kept, or beaten.
#
# Source: Friese, thesis of 2015, sections 5.4.4 and 6.4.
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
    cancel: CancelToken | None = None,
    population: TaskPopulation | None = None,
    keep: Callable[[TaskPopulation], object] | None = None,
    judge: Callable[[Floats], float | None] | None = None,
) -> EvolvedFront:
    """Let schedules evolve, and return the front of those that nothing beats.

    Parameters
    ----------
    problem
        A `BagProblem`, whose deadline and power cap are not looked at, or a `DayProblem`.
    scorer
        What schedules are ranked by, in place of energy and makespan (bag) or utility (day); it must drop what a
        `DayProblem` drops.
    seeds
        Schedules that join the first population, at most `size`; the front is never worse than they are.
    cancel
        When to stop, and where progress is reported; 60 s, if neither it nor `generations` sets a limit.
    population
        A population to resume as if it had never stopped, with its own size and random numbers; seeds then only join
        the front.
    keep
        Is given the population once a minute and at the end, to save it.
    judge
        Is given the scores of the front, by rising energy, and returns its gap, for progress.
    """
    require_evolution()
    size = size if population is None else len(population.scores)
    check_options(problem, size, len(seeds), generations, mutation)
    given = cancel if cancel is not None else CancelToken()
    cancel = given.part(SECONDS) if generations is None and given.remaining() is None else given
    scorer = scorer if scorer is not None else problem.scorer()
    pairs, sown = problem.pairs(), _genes_of_seeds(problem, seeds)
    if population is None:
        first = _joined(sown, chromosomes.random_genes(pairs, size - len(seeds), rng))
        run = TaskGenerations(pairs, first, mutation, rng)
        run.tell(scorer(run.ask()))
    else:
        chromosomes.require_same(population, content_hash=problem.content_hash, objectives=scorer.name, pairs=pairs)
        run = TaskGenerations(pairs, population.genes, mutation, chromosomes.generator_of(population.random_state))
        run.resume(replace(population, scores=scorer(population.genes)))

    def population_now() -> TaskPopulation:
        return run.population(problem.content_hash, scorer.name)

    wanted = None if generations is None else run.count + generations
    reported = saved = time.monotonic()
    volume = run.hypervolume
    while not (completed := run.count == wanted) and not cancel.expired():
        run.tell(scorer(run.ask()))
        now = time.monotonic()
        if now - reported >= REPORT_SECONDS:
            gap = None if judge is None else judge(run.scores[rank_one(run.scores)])
            grown = f", hypervolume {run.hypervolume / volume - 1.0:+.1%}".replace("%", " %") if volume > 0.0 else ""
            cancel.report(f"generation {run.count:,}{grown}", gap)
            reported = time.monotonic()
        if keep is not None and now - saved >= SAVE_SECONDS:
            keep(population_now())
            saved = time.monotonic()
    last = population_now()
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


def _genes_of_seeds(problem: Problem, seeds: Sequence[object]) -> Genes:
    """Return the chromosomes of schedules, and reject one that is not of this instance."""
    genes = [Genes(*(np.empty((0, problem.tasks), dtype=np.int32),) * 3)]
    for place, seed in enumerate(seeds):
        try:
            genes.append(Genes(*(each[np.newaxis] for each in problem.genes(seed))))
        except ValueError as error:
            needed = f"a schedule of {problem.name!r}"
            issue = InputIssue((place,), f"another one: {error}", needed, "leave it out")
            raise InstanceError("seeds", (issue,)) from error
    return _joined(*genes)


def _joined(*parts: Genes) -> Genes:
    """Return the chromosomes of all of them."""
    return Genes(*map(np.concatenate, zip(*parts, strict=True)))


def warm_up(problem: Problem) -> None:
    """Compile what NSGA-II runs, by two generations of a problem of one task: seconds at the first use."""
    evolve_front(problem, rng=np.random.default_rng(0), size=2, generations=1).schedules()


# NSGA-II in a comparison: what ends it, and what it begins with.
GENERATIONS: Final = 1000
NSGA2: Final = "nsga2"
NO_SEEDS: Final = "none"
SEEDS: Final = ("min-energy", "min-min")
STOPPED: Final = "not run: stopped before"


@dataclass(frozen=True, slots=True)
class Evolving:
    """How NSGA-II shall run; without any limit, as long as `evolve_front` does by default."""

    generations: int | None = None
    time_limit: float | None = None  # seconds
    seed_with: tuple[str, ...] = SEEDS  # heuristics, `lp` for the schedules of the exact front, or `none` alone
    population: TaskPopulation | None = None  # to go on from
    keep: Callable[[TaskPopulation], object] | None = None  # saves what there is, once a minute and at the end
    found: Callable[[EvolvedFront], object] | None = None  # is given what evolved, chromosomes and all


def limits(generations: int | None, cancel: CancelToken) -> tuple[int | None, CancelToken]:
    """Return the limits of an evolution; by default 1,000 generations or a minute."""
    if generations is None and cancel.remaining() is None:
        return GENERATIONS, cancel.part(SECONDS)
    return generations, cancel


def prepare(cancel: CancelToken, one_task: Problem) -> None:
    """Compile what there is to compile, before the clock starts, on a problem of one task."""
    require_evolution()
    cancel.report(COMPILING)
    warm_up(one_task)


def evolved_for(  # noqa: PLR0913 - options are keyword-only
    problem: Problem,
    evolving: Evolving,
    *,
    seed: int,
    seeds: Sequence[object],
    cancel: CancelToken,
    judge: Callable[[Floats], float | None],
    scorer: Scorer | None = None,
) -> EvolvedFront:
    """Let a front evolve for a comparison."""
    limit = evolving.time_limit
    found = evolve_front(
        problem,
        rng=np.random.default_rng(seed),
        scorer=scorer,
        seeds=seeds,
        generations=evolving.generations,
        cancel=cancel if limit is None else cancel.part(limit),
        population=evolving.population,
        keep=evolving.keep,
        judge=judge,
    )
    if evolving.found is not None:
        evolving.found(found)
    cancel.report("verifying the evolved schedules")
    return found
