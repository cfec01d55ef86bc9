"""The genetic algorithm of allocations: GENITOR, its ranking, its generations, and resuming."""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from lpsched.cancellation import CancelToken
from lpsched.errors import InputIssue, InstanceError
from lpsched.evolve.genes import REPORT_SECONDS, SAVE_SECONDS, SECONDS, Ended, generator_of, population_error, state_of
from lpsched.facility import air
from lpsched.facility.cooling_repair import cooling_of, node_watts, repair
from lpsched.facility.genes import Population, from_allocation, genes_of, reward_rate, set_at_random, to_allocation
from lpsched.facility.model import ArrivingType, CracUnit, Facility, Mixing, NodeType, SparseMatrix
from lpsched.jit import require_compiler
from lpsched.model.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lpsched.facility.genes import States
    from lpsched.facility.parts import CoreAllocation
    from lpsched.model.table import Floats

# Genitor's operators: parents by rank with a linear bias, and a crossover of two points over cores.
#
# With ranks from 0 (the best) to S - 1 and a uniform number u, the rank drawn is
#
#     S (b - sqrt(b^2 - 4 (b - 1) u)) / (2 (b - 1)),        so that the best is b times as likely as the median
#
# The bias b is 1.5, Whitley's own example; the paper does not say. A crossover swaps all genes of the cores
# from x to y - 1, with 0 <= x < y <= K. Mutation is in `genes.py`, because it has to know the pairs.
#
# Source: Whitley 1989, "The GENITOR algorithm and selective pressure"; Oxley and others, section IV-B.
BIAS: Final = 1.5
Kind = TypeVar("Kind", bound=np.generic)


def biased_rank(size: int, uniform: float) -> int:
    """Return the rank that a uniform number from 0 to 1 (excluded) stands for.

    >>> [biased_rank(200, u) for u in (0.0, 0.5, 0.999999)]  # half of the parents are among the best 77
    [0, 76, 199]
    """
    root = math.sqrt(BIAS * BIAS - 4.0 * (BIAS - 1.0) * uniform)
    return min(size - 1, int(size * (BIAS - root) / (2.0 * (BIAS - 1.0))))


def parents(size: int, rng: np.random.Generator) -> tuple[int, int]:
    """Return the ranks of two different parents; needs two chromosomes."""
    first = second = biased_rank(size, rng.random())
    while second == first:
        second = biased_rank(size, rng.random())
    return first, second


def cut_points(cores: int, rng: np.random.Generator) -> tuple[int, int]:
    """Return 0 <= x < y <= cores, every such pair alike likely."""
    x = int(rng.random() * (cores + 1))
    y = int(rng.random() * cores)
    y += y >= x  # any of the other cuts
    return min(x, y), max(x, y)


def crossover(first: NDArray[Kind], second: NDArray[Kind], x: int, y: int) -> tuple[NDArray[Kind], NDArray[Kind]]:
    """Return two children: copies of the parents with the rows from x to y - 1 swapped.

    >>> one, two = crossover(np.array([[1], [1], [1]]), np.array([[2], [2], [2]]), 1, 2)
    >>> one.ravel().tolist(), two.ravel().tolist()
    ([1, 2, 1], [2, 1, 2])
    """
    one: NDArray[Any] = first.copy()
    two: NDArray[Any] = second.copy()
    one[x:y], two[x:y] = second[x:y], first[x:y]
    return one, two


@dataclass(frozen=True, slots=True, eq=False)
class Chromosome:
    """Genes, the outlets that go with them, and what they earn; the arrays do not change any more."""

    fractions: Floats  # K x I
    states: States  # K x I
    outlets: Floats  # U, celsius
    score: float


# Making chromosomes of a facility: at random, of two parents, or of an allocation.
#
# All of them keep redlines and cap. The paper's first population is not repaired; ours is, because a chromosome that
# breaks a limit could lead the ranking to the end.
#
# Source: Oxley and others, section IV-B.
MUTATED_CHILDREN: Final = 0.1
MUTATED_GENES: Final = 0.05
ALL: Final = 1.0
KELVIN: Final = 5e-8  # half of what the verifier lets pass, here and below
ROUNDING: Final = 5e-10


class Breeder:
    """Makes chromosomes; all random numbers come from one generator."""

    def __init__(self, facility: Facility, rng: np.random.Generator, *, colocation: bool) -> None:
        self.facility, self.rng, self.colocation = facility, rng, colocation
        self.arrays, self.heat = air.facility_arrays(facility, colocation=colocation), air.heat_map(facility)
        self.steps = air.outlet_steps(self.arrays, self.heat)
        air.require_idle_allocation(self.arrays, self.heat, self.steps)
        self.genes = genes_of(self.arrays)
        self.cooling = cooling_of(self.arrays, self.heat, self.steps)
        self.shape = int(self.genes.first_core[-1]), len(facility.task_types)

    def at_random(self) -> Chromosome:
        """Return a random chromosome."""
        fractions, states = np.zeros(self.shape), np.zeros(self.shape, dtype=np.int16)
        set_at_random(self.genes, fractions, states, ALL, self.rng)
        return self._repaired(fractions, states)

    def children(self, first: Chromosome, second: Chromosome) -> tuple[Chromosome, Chromosome]:
        """Return the two children of two parents."""
        x, y = cut_points(self.shape[0], self.rng)
        fractions = crossover(first.fractions, second.fractions, x, y)
        states = crossover(first.states, second.states, x, y)
        return self._child(fractions[0], states[0]), self._child(fractions[1], states[1])

    def start(self, allocation: CoreAllocation) -> Chromosome:
        """Return an allocation as it is, if it keeps all limits; else repaired."""
        fractions, states = from_allocation(self.facility, self.genes, allocation)
        outlets = np.array(allocation.outlets_celsius)
        if self.keeps_limits(fractions, states, outlets):
            return self.scored(fractions, states, outlets)
        set_at_random(self.genes, fractions, states, 0.0, self.rng)  # no gene, but every core is normalised
        return self._repaired(fractions, states)

    def can_run(self, fractions: Floats, states: States) -> bool:
        """Return whether genes only name pairs that run in time."""
        genes = self.genes
        kind = np.repeat(genes.node_type, np.diff(genes.first_core))
        modes = np.append(genes.first_column[1:], genes.speeds.shape[1]) - genes.first_column
        if not ((states >= 0) & (states < modes[kind][:, None])).all() or not (fractions >= 0.0).all():
            return False
        speeds = genes.speeds[np.arange(self.shape[1]), genes.first_column[kind][:, None] + states]
        return bool((speeds[fractions > 0.0] > 0.0).all())

    def keeps_limits(self, fractions: Floats, states: States, outlets: Floats) -> bool:
        """Return whether genes and outlets keep all limits of the verifier."""
        arrays, heat = self.arrays, self.heat
        if outlets.shape != arrays.outlet_low.shape or (fractions.sum(axis=1) > 1.0 + ROUNDING).any():
            return False
        powers = node_watts(self.genes, fractions, states)
        returned = air.crac_inlets(heat, powers, outlets)
        return bool(
            (outlets >= arrays.outlet_low).all()
            and (outlets <= arrays.outlet_high).all()
            and (air.inlets(heat, powers, outlets) <= arrays.redline + KELVIN).all()
            and (returned <= arrays.crac_redline + KELVIN).all()
            and (returned >= outlets - KELVIN).all()
            and air.total_watts(arrays, heat, powers, outlets) <= arrays.cap_watts * (1.0 + ROUNDING)
        )

    def scored(self, fractions: Floats, states: States, outlets: Floats) -> Chromosome:
        """Return a chromosome with what it earns."""
        return Chromosome(fractions, states, outlets, reward_rate(self.genes, fractions, states))

    def _child(self, fractions: Floats, states: States) -> Chromosome:
        if self.rng.random() < MUTATED_CHILDREN:
            set_at_random(self.genes, fractions, states, MUTATED_GENES, self.rng)
        return self._repaired(fractions, states)

    def _repaired(self, fractions: Floats, states: States) -> Chromosome:
        step = repair(self.genes, self.cooling, fractions, states, self.rng)
        assert step >= 0, "idle nodes are allowed at some step, so every chromosome can be repaired"
        return self.scored(fractions, states, self.steps.outlets[step])


def _require_same(population: Population, breeder: Breeder) -> None:
    """Reject a population of another facility or with another aim."""
    if population.instance_hash != breeder.facility.content_hash:
        there = f"the hash {population.instance_hash[:12]}..."
        raise population_error("instance_hash", there, f"that of {breeder.facility.name}")
    if population.colocation != breeder.colocation:
        ranked = {True: "with co-location (GACL)", False: "without co-location (GA)"}
        there, needed = ranked[population.colocation], ranked[breeder.colocation]
        raise population_error("colocation", f"chromosomes ranked {there}", f"ranked {needed}")
    shape = (len(population.fractions), *breeder.shape)
    if population.fractions.shape != shape or population.states.shape != shape:
        there = f"arrays of {population.fractions.shape} and {population.states.shape}"
        raise population_error("fractions", there, f"{shape}")


# Generation after generation, by ask and tell: `ask` makes the next chromosomes, `tell` ranks them.
#
# As long as the first population is not complete, they come one by one, at random. Then every generation draws two
# parents by rank; their two children are ranked among all, and the two worst go. The best is never lost. A child with
# the score of an older chromosome stands behind it, so the best changes only for a better one.
#
# Source: Oxley and others, section IV-B; Whitley 1989 for Genitor.
SIZE: Final = 200


class Generations:
    """One run, step by step: `tell(ask())` is a generation once the first population is complete."""

    def __init__(self, breeder: Breeder, size: int = SIZE) -> None:
        self.breeder, self.size, self.count = breeder, size, 0
        self.members: list[Chromosome] = []  # in falling order of their scores
        self.history: list[tuple[float, int, float]] = []
        self.began = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long it has taken, in all."""
        return time.monotonic() - self.began

    @property
    def is_full(self) -> bool:
        """Whether the first population is complete."""
        return len(self.members) >= self.size

    def ask(self) -> tuple[Chromosome, ...]:
        """Make the next chromosomes: a random one, or two children."""
        if not self.is_full:
            return (self.breeder.at_random(),)
        first, second = parents(self.size, self.breeder.rng)
        return self.breeder.children(self.members[first], self.members[second])

    def tell(self, chromosomes: tuple[Chromosome, ...]) -> None:
        """Rank what was made, and count a generation if these are children."""
        self.count += self.is_full
        self.join(chromosomes)

    def join(self, chromosomes: Iterable[Chromosome]) -> None:
        """Rank chromosomes among the others, trim the worst, and note whether the best got better."""
        for each in chromosomes:
            self.members.insert(bisect_right(self.members, -each.score, key=lambda member: -member.score), each)
        del self.members[self.size :]
        if self.members and (not self.history or self.members[0].score > self.history[-1][2]):
            self.history.append((self.seconds, self.count, self.members[0].score))

    def resume(self, population: Population) -> None:
        """Continue a saved population; its chromosomes are scored again."""
        _require_same(population, self.breeder)
        self.count, self.history = population.generations, list(population.history)
        self.began = time.monotonic() - population.seconds
        members = []
        genes = zip(population.fractions, population.states, population.outlets_celsius, strict=True)
        for place, (fractions, states, outlets) in enumerate(genes):
            if not self.breeder.can_run(fractions, states) or not self.breeder.keeps_limits(fractions, states, outlets):
                needed = "allocations that keep them all"  # another could lead the ranking to the end
                raise population_error(f"chromosome {place}", "one that breaks a limit", needed)
            members.append(self.breeder.scored(fractions.copy(), states.copy(), outlets.copy()))
        self.join(members)

    def population(self) -> Population:
        """Return all there is, in arrays of its own."""
        members = self.members
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


# The genetic algorithm of a facility: GA (ranked by reward rate) and GACL (by co-located reward rate).
#
# It runs until the limit of generations or of time, or until stopped, and the best chromosome becomes an allocation.
# Chromosomes and their reward are in `genes.py`, algorithm 2 in `cooling_repair.py`.
@dataclass(frozen=True, slots=True)
class Evolution:
    """How an evolution went."""

    allocation: CoreAllocation  # the best
    score: float  # its reward per second: CRR, or RR without co-location
    generations: int  # in all, also before the population was resumed
    ended: Ended
    history: tuple[tuple[float, int, float], ...]  # seconds, generations and best score at every improvement
    population: Population  # all chromosomes, to go on from


def evolve_facility(  # noqa: PLR0913 - options are keyword-only
    instance: Facility,
    *,
    rng: np.random.Generator,
    colocation: bool = True,
    cancel: CancelToken | None = None,
    generations: int | None = None,
    starts: Sequence[CoreAllocation] = (),
    population: Population | None = None,
    keep: Callable[[Population], object] | None = None,
) -> Evolution:
    """Let allocations of a facility evolve, and return the best.

    Without a limit of `cancel` or `generations` (to run now) it takes 60 s. Allocations in `starts` join the first
    population; one that keeps every limit keeps its own outlet temperatures too, while its children's are set by
    algorithm 2, as all others. A `population` continues as if it had never stopped, with its own random numbers. `keep`
    is given the population once a minute and at the end, to save it.
    """
    require_compiler()
    if generations is not None and generations < 0:
        raise InstanceError("", (InputIssue(("generations",), str(generations), "0 or more", "correct it"),))
    given = cancel if cancel is not None else CancelToken()
    cancel = given.part(SECONDS) if generations is None and given.remaining() is None else given
    rng = rng if population is None else generator_of(population.random_state)
    run = Generations(Breeder(instance, rng, colocation=colocation))
    if population is not None:
        run.resume(population)
    run.join([run.breeder.start(each) for each in starts])
    completed = _run(run, cancel, generations, keep)
    last, best = run.population(), run.members[0]
    if keep is not None:
        keep(last)
    return Evolution(
        allocation=to_allocation(instance, best.fractions, best.states, best.outlets),
        score=best.score,
        generations=run.count,
        ended="generations" if completed else "stopped" if given.is_stopped else "time",
        history=last.history,
        population=last,
    )


def _run(
    run: Generations, cancel: CancelToken, generations: int | None, keep: Callable[[Population], object] | None
) -> bool:
    """Run until the token has expired, or return true at the limit of generations."""
    last = None if generations is None else run.count + generations
    reported = saved = time.monotonic()
    while last is None or run.count < last or not run.is_full:
        if run.members and cancel.expired():
            return False
        run.tell(run.ask())
        now = time.monotonic()
        if now - reported >= REPORT_SECONDS:
            reported = now
            cancel.report(f"generation {run.count:,}, reward {run.members[0].score:.6g}")
        if keep is not None and now - saved >= SAVE_SECONDS:
            keep(run.population())
            saved = time.monotonic()
    return True


def warm_up() -> None:
    """Compile everything that the genetic algorithm runs, by breeding two children of one core."""
    require_compiler()
    smallest = Facility(  # its core draws in nothing but cooled air
        name="one core",
        node_types=(NodeType("node", 1, 10.0, 0.1, 25.0),),
        nodes=(0,),
        crac_units=(CracUnit("crac", 0.1, (15.0, 25.0)),),
        task_types=(ArrivingType("task", 1.0, 1.0),),
        speeds=Table.of([[1.0]]),
        watts=Table.of([[10.0]]),
        mixing=Mixing("inlet_mix", SparseMatrix.of([[(1, 1.0)], [(0, 1.0)]], 2)),
        power_cap_watts=100.0,
    )
    breeder = Breeder(smallest, np.random.default_rng(0), colocation=True)
    breeder.children(breeder.at_random(), breeder.at_random())
