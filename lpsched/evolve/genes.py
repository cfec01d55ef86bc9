"""Chromosomes of tasks: which machine runs each task, how, and in which order; what makes and ranks them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lpsched.errors import InputIssue, InstanceError
from lpsched.jit import compiled, compiled_inside, require_compiler
from lpsched.model.provenance import Named
from lpsched.model.risk import RiskOptions, written

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers, Mask

# The state of a random generator is saved with a population, so that it continues as if it had never stopped.
BIT_GENERATORS: Final = {
    each.__name__: each
    for each in (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64)
}
# How long an evolution runs, how often it reports and saves, and what may end it.
SECONDS: Final = 60.0  # where neither generations nor time are limited
REPORT_SECONDS: Final = 0.25  # seconds
SAVE_SECONDS: Final = 60.0
Ended: TypeAlias = Literal["generations", "time", "stopped"]

# Chromosomes of tasks: which machine runs each task, how, and in which order.
Numbers: TypeAlias = NDArray[np.int32]


class Genes(NamedTuple):
    """One chromosome, or S of them: arrays of N, or of S x N."""

    machines: Numbers
    columns: Numbers  # of the tables: machine type and P-state
    orders: Numbers

    def take(self, rows: int | slice | Sequence[int] | Integers) -> Genes:
        """Return one of S chromosomes, or some of them."""
        return Genes(*(each[rows] for each in self))

    def contiguous(self) -> Genes:
        """Return the same in the one layout that loops are compiled for."""
        return Genes(*map(np.ascontiguousarray, self))


def first_machines(counts: Sequence[int], tasks: int) -> Integers:
    """Return the number of each machine type's first machine, and at the end how many machines are numbered.

    >>> first_machines([2, 10**12, 1], 3).tolist()
    [0, 2, 5, 6]
    """
    return np.cumsum([0] + [min(count, tasks) for count in counts])


@dataclass(frozen=True, slots=True)
class TaskPopulation:
    """All that the next generation depends on."""

    instance_hash: str  # of the bag or day
    objectives: str  # what its chromosomes are ranked by: the scorer's name
    genes: Genes  # S x N
    scores: Floats  # S x 2, both minimised
    generations: int  # in all, as the seconds
    seconds: float
    reference: tuple[float, float]  # up to which hypervolumes are measured: the worst scores of the first population
    history: tuple[tuple[float, int, float], ...]  # seconds, generations and hypervolume, noted now and then
    random_state: Mapping[str, Any]  # of NumPy's bit generator


# Making chromosomes of tasks: at random, by crossover, by mutation; all of them full assignments.
#
#     N tasks, T task types, M machine types, C columns (machine type and P-state)
#
# A gene is drawn by choosing a machine, all that can run the task alike likely, and then one of the P-states in which
# it can, all alike likely. A random chromosome draws every gene, and a random permutation as the order.
#
# Crossover: two genes x <= y are drawn, and all genes from x to y change places between two parents; after
# that, an order may occur twice, which leaves a tie to the task numbers. Mutation: one gene is drawn anew,
# and changes its order with another gene's.
#
# Source: Friese, thesis of 2015, section 5.4.4.
class Pairs(NamedTuple):  # a tuple, because that is what compiled functions take apart
    """Which machine can run which task."""

    task_type: Integers  # N
    first_machine: Integers  # M + 1
    first_column: Integers  # M + 1
    can_run: Mask  # T x C
    able: Integers  # T x M: how many machines of the types 0 to j can run task type i


def pairs_of(task_type: Integers, counts: Sequence[int], mode_type: Integers, can_run: Mask) -> Pairs:
    """Return the pairs; `counts` are the machines of each type, `mode_type` is the type of each column."""
    kinds = len(counts)
    first_machine = first_machines(counts, len(task_type))
    first_column = np.searchsorted(mode_type, np.arange(kinds + 1))
    some = np.logical_or.reduceat(can_run, first_column[:-1], axis=1)
    able = np.cumsum(some * np.diff(first_machine), axis=1)
    own = np.array(task_type), np.array(can_run)  # code is compiled anew for arrays that are read-only
    return Pairs(own[0], first_machine, first_column, own[1], able)


@compiled_inside
def draw(pairs: Pairs, task: int, rng: np.random.Generator) -> tuple[int, int]:
    """Return a random machine that can run a task, and a column of its."""
    i = pairs.task_type[task]
    place = int(rng.random() * pairs.able[i, -1])
    j = int(np.searchsorted(pairs.able[i], place, side="right"))
    before = pairs.able[i, j - 1] if j > 0 else 0
    first, last = pairs.first_column[j], pairs.first_column[j + 1]
    count = 0
    for column in range(first, last):
        count += pairs.can_run[i, column]
    nth = int(rng.random() * count)
    chosen = first
    for column in range(first, last):
        if pairs.can_run[i, column]:
            if nth == 0:
                chosen = column
            nth -= 1
    return pairs.first_machine[j] + place - before, chosen


@compiled
def fill(  # noqa: D103 - the function below says what it does
    pairs: Pairs, machines: Numbers, columns: Numbers, orders: Numbers, rng: np.random.Generator
) -> None:
    tasks = len(pairs.task_type)
    for s in range(len(machines)):
        for task in range(tasks):
            machines[s, task], columns[s, task] = draw(pairs, task, rng)
            orders[s, task] = task
        for task in range(tasks - 1, 0, -1):
            other = int(rng.random() * (task + 1))
            orders[s, task], orders[s, other] = orders[s, other], orders[s, task]


def random_genes(pairs: Pairs, size: int, rng: np.random.Generator) -> Genes:
    """Return random chromosomes, `size` x N."""
    genes = Genes(*(np.empty((size, len(pairs.task_type)), dtype=np.int32) for _ in range(3)))
    fill(pairs, *genes, rng)
    return genes


def parents(size: int, couples: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """Return two different parents of each couple, all alike likely; needs two chromosomes."""
    first = rng.integers(size, size=couples)
    return first, (first + rng.integers(1, size, size=couples)) % size


def crossover(first: Genes, second: Genes, rng: np.random.Generator) -> Genes:
    """Return two children of each couple: those with the outer genes of `first`, then those of `second`."""
    couples, tasks = first.machines.shape
    ends = np.sort(rng.integers(tasks, size=(couples, 2)), axis=1)
    place = np.arange(tasks)
    inner = (ends[:, :1] <= place) & (place <= ends[:, 1:])

    def swapped(one: Numbers, two: Numbers) -> Numbers:
        return np.concatenate((np.where(inner, two, one), np.where(inner, one, two)))

    return Genes(*map(swapped, first, second))


@compiled
def mutate(  # noqa: D103, PLR0913, PLR0917 - the function below says what it does
    pairs: Pairs, machines: Numbers, columns: Numbers, orders: Numbers, chance: float, rng: np.random.Generator
) -> None:
    tasks = len(pairs.task_type)
    for s in range(len(machines)):
        if rng.random() < chance:
            task, other = int(rng.random() * tasks), int(rng.random() * tasks)
            machines[s, task], columns[s, task] = draw(pairs, task, rng)
            orders[s, task], orders[s, other] = orders[s, other], orders[s, task]


def mutated(pairs: Pairs, genes: Genes, chance: float, rng: np.random.Generator) -> Genes:
    """Return chromosomes of which each is mutated with some probability."""
    made = Genes(*(each.copy() for each in genes))
    mutate(pairs, *made, chance, rng)
    return made


# Resuming a population of task chromosomes: its genes are checked, since a chromosome that names a machine which cannot
# run its task would lead the front to the end.
def require_same(population: TaskPopulation, *, content_hash: str, objectives: str, pairs: Pairs) -> None:
    """Reject a population of another instance, with another aim, or with invalid genes."""
    if population.instance_hash != content_hash:
        found = f"the hash {population.instance_hash[:12]}..."
        raise population_error("instance_hash", found, f"that of the instance, {content_hash[:12]}...")
    if population.objectives != objectives:
        raise population_error("objectives", repr(population.objectives), repr(objectives))
    genes, tasks = population.genes, len(pairs.task_type)
    shapes = {each.shape for each in genes}
    if shapes != {(len(genes.machines), tasks)} or len(genes.machines) < 2:  # noqa: PLR2004 - two parents
        raise population_error("genes", f"arrays of {shapes}", f"at least 2 chromosomes of {tasks} tasks")
    wrong = ~fits(pairs, genes).all(axis=1)
    if wrong.any():
        place = int(np.flatnonzero(wrong)[0])
        raise population_error(f"chromosome {place}", "a gene that cannot be", "machines that can run their tasks")


def fits(pairs: Pairs, genes: Genes) -> Mask:
    """Return for each gene whether its machine exists, has the column and can run the task, and its order is valid."""
    machines, columns, orders = genes
    last_machine, last_column = pairs.first_machine[-1] - 1, pairs.first_column[-1] - 1
    kind = np.searchsorted(pairs.first_machine, np.clip(machines, 0, last_machine), side="right") - 1
    inside = np.clip(columns, 0, last_column)
    own = np.searchsorted(pairs.first_column, inside, side="right") - 1
    valid: Mask = (
        (machines >= 0)
        & (machines <= last_machine)
        & (inside == columns)
        & (kind == own)
        & pairs.can_run[pairs.task_type, inside]
        & (orders >= 0)
        & (orders < machines.shape[-1])
    )
    return valid


def population_error(where: str, found: str, needed: str) -> InstanceError:
    """Return the error about a population that cannot be resumed."""
    return InstanceError("population", (InputIssue((where,), found, needed, "begin without it"),))


def state_of(rng: np.random.Generator) -> dict[str, Any]:
    """Return the state of a generator, with lists in place of arrays, so that it can be written as JSON."""
    state: dict[str, Any] = _changed(dict(rng.bit_generator.state), np.ndarray, np.ndarray.tolist)
    return state


def generator_of(state: Mapping[str, Any]) -> np.random.Generator:
    """Return a generator that goes on from the `random_state` of a population."""
    try:
        bits = BIT_GENERATORS[state["bit_generator"]]()
        bits.state = _changed(dict(state), list, lambda cells: np.array(cells, dtype=np.uint64))
    except (LookupError, TypeError, ValueError, OverflowError, AttributeError) as error:
        there = f"a state of {state.get('bit_generator')!r} that cannot be set"
        needed = f"the state of one of {', '.join(BIT_GENERATORS)}"
        raise population_error("random_state", there, needed) from error
    return np.random.Generator(bits)


def _changed(state: Any, kind: type, change: Any) -> Any:  # noqa: ANN401 - a nested mapping; a function
    """Return a nested mapping with all values of one kind changed."""
    if isinstance(state, dict):
        return {key: _changed(value, kind, change) for key, value in state.items()}
    return change(state) if isinstance(state, kind) else state


# What NSGA-II needs to know of an instance, and what chromosomes are ranked by, expected or sampled.
class Scorer(Protocol):
    """Scores S chromosomes at once.

    The first number is energy in joules, the second makespan in seconds or *minus* utility; of samples, the
    expected value or a percentile of either.
    """

    name: str  # what the two numbers are, in words; a saved population is only resumed with the same

    def __call__(self, genes: Genes) -> Floats:
        """Return S x 2 scores."""


class Identified(Named, Protocol):
    """An instance with a name, a hash and a number of tasks."""

    @property
    def tasks(self) -> int:
        """How many tasks there are in all."""


class Problem(Identified, Protocol):
    """An instance as NSGA-II sees it; the first criterion is energy, the second is `criterion`."""

    criterion: str  # the second: `makespan_seconds`, or `utility`, which is to be large
    machine_counts: list[int]  # of each type

    def issues(self) -> Iterator[InputIssue]:
        """Return what keeps NSGA-II from running on it."""

    def pairs(self) -> Pairs:
        """Return which machine can run which task."""

    def scorer(self) -> Scorer:
        """Return what chromosomes are ranked by, if nothing else is asked for."""

    def sampled(self, options: RiskOptions, seed: int) -> SampledScorer:
        """Return what ranks chromosomes by samples."""

    def genes(self, schedule: object) -> Genes:
        """Return the chromosome of a schedule; a `ValueError` if it is not one of this instance."""

    def schedule(self, genes: Genes) -> Any:  # noqa: ANN401 - of whatever kind the instance's schedules are
        """Return the schedule of a chromosome."""


@dataclass(frozen=True, slots=True, eq=False)
class GeneSamples:
    """Of each chromosome, in each sample; utility and dropped tasks are those of a day only."""

    energy_joules: Floats
    makespan_seconds: Floats
    utility: Floats | None = None
    dropped_tasks: Integers | None = None


# Ranking by samples: the X-th percentile of energy and of makespan or utility, or the means of the samples.
#
# Of S samples of a chromosome, sorted from the good side (energy and makespan rising, utility falling), the
# X-th percentile is the ceil(X S / 100)-th: X % of the samples take at most that much energy, and X % of them
# earn at least that much utility or end by that makespan.
#
# All chromosomes are scored with the same draws, so that the better one wins and not the luckier one.
#
# Source: Friese, thesis of 2015, section 7.2.2.2.
MOST_CELLS: Final = 100_000_000  # 800 MB


class SampledScorer(ABC):
    """Energy with makespan (of a bag) or minus utility (of a day), by samples; their mean, or a percentile of them."""

    def __init__(self, problem: Problem, options: RiskOptions, name: str) -> None:
        require_compiler("sampling chromosomes")
        self.options, self.name = options, name
        machines = int(first_machines(problem.machine_counts, problem.tasks)[-1])  # each has a time in each sample
        if machines * options.samples > MOST_CELLS:
            found = f"{options.samples:,} samples of {machines:,} machines"
            do = f"ask for at most {max(2, MOST_CELLS // machines):,} samples"
            raise InstanceError("", (InputIssue(("samples",), found, f"at most {MOST_CELLS:,} of both", do),))

    @staticmethod
    def of_samples(options: RiskOptions, seed: int) -> str:
        """Say how chromosomes are ranked by samples."""
        which = "means" if options.percentile is None else f"percentile {options.percentile:g}"
        covs = f"cov {written(options.cov)}, power-cov {written(options.powers)}"
        return f"{which} of {options.samples} samples ({covs}, seed {seed})"

    def compile(self, tasks: int) -> None:
        """Compile what there is to compile, before the clock starts."""
        self.samples(Genes(*(np.empty((0, tasks), dtype=np.int32),) * 3))

    @abstractmethod
    def drawn(self, machines: Numbers, columns: Numbers, orders: Numbers) -> GeneSamples:
        """Return all that S chromosomes take and earn in each sample."""

    def __call__(self, genes: Genes) -> Floats:
        """Return S x 2 scores."""
        drawn = self.samples(genes)
        other = drawn.makespan_seconds if drawn.utility is None else -drawn.utility
        return np.stack([self._one(drawn.energy_joules), self._one(other)], axis=1)

    def samples(self, genes: Genes) -> GeneSamples:
        """Return all that S chromosomes take and earn in each sample."""
        return self.drawn(*genes.contiguous())

    def _one(self, drawn: Floats) -> Floats:
        """Return the percentile or the mean of what is to be minimised."""
        if self.options.percentile is None:
            return np.asarray(drawn.mean(axis=1))
        place = place_of(self.options.percentile, drawn.shape[1])
        return np.partition(drawn, place, axis=1)[:, place]


def place_of(percentile: float, samples: int) -> int:
    """Return where a percentile stands among sorted samples, counted from 0.

    >>> place_of(20, 100), place_of(50, 5), place_of(0.1, 100), place_of(100, 7)
    (19, 2, 0, 6)
    """
    exact = percentile * samples / 100.0
    nearest = round(exact)
    return max(1, nearest if math.isclose(exact, nearest, rel_tol=1e-12) else math.ceil(exact)) - 1
