"""Chromosomes of allocations: cores, P-states, outlets; their reward; and their files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lpsched.errors import InputIssue, InstanceError
from lpsched.facility.recovery import core_allocation
from lpsched.io.populations import BEGIN_ANEW, MOST_CHROMOSOMES, Checks, opened, write_archive
from lpsched.jit import compiled
from lpsched.model.fields import describe

if TYPE_CHECKING:
    from lpsched.facility.air import FacilityArrays
    from lpsched.facility.model import Facility
    from lpsched.facility.parts import CoreAllocation
    from lpsched.model.table import Floats, Integers

States: TypeAlias = NDArray[np.int16]


# Chromosomes of a facility: what every core does, in arrays, and the way from and to allocations.
#
#     K cores k in the order of the nodes, I task types i, J node types j, N nodes v
#     DF(i, k)   `fractions[k, i]`: the fraction of its time that core k works on task type i
#     PS(i, k)   `states[k, i]`: the P-state in which it does so, counted from 0 within the node type
#
# Only P-states in which the pair meets its deadline are ever drawn; a pair without one has the fraction 0 for
# good. A core's fractions add up to at most 1. The "lower" state of a pair in some state is the allowed one
# with the next lower watts (the fastest, where several draw the same): what the paper calls the next higher
# P-state, for facilities whose P-states stand in any order.
#
# Fractions are doubles, so that what is scored, kept and written is the same number, and an allocation that
# joins loses nothing; states are 16-bit. The largest platform has 280,000 genes: 200 chromosomes take 560 MB.
#
# Source: Oxley and others, section IV-B.
class Genes(NamedTuple):  # a tuple, because that is what compiled functions take apart
    """What the loops over genes need to know of a facility."""

    first_core: Integers  # N + 1: node v has the cores first_core[v] to first_core[v + 1] - 1
    most_cores: int  # of a node
    node_type: Integers  # N
    first_column: Integers  # J: the column of the tables for P-state 0 of each node type
    overhead_watts: Floats  # N
    speeds: Floats  # I x C, tasks per second of one core
    watts: Floats  # I x C
    lower_state: States  # I x C: the P-state with the next lower watts, -1 where there is none
    lowest_state: States  # I x C: the last in the chain of lower ones
    choices: States  # J x I x most: the allowed P-states of each pair, ...
    choice_counts: Integers  # J x I: ... and how many they are
    class_of: Integers  # I
    degradation: Floats  # L x L
    arrivals: Floats  # I
    rewards: Floats  # I


def genes_of(arrays: FacilityArrays) -> Genes:
    """Return what the loops need, of arrays made with or without co-location."""
    kinds, tasks = len(arrays.cores), len(arrays.arrivals)
    first_column = np.searchsorted(arrays.mode_type, np.arange(kinds))
    modes = np.bincount(arrays.mode_type, minlength=kinds)
    lower_state = np.full(arrays.speeds.shape, -1, dtype=np.int16)
    lowest_state = np.zeros(arrays.speeds.shape, dtype=np.int16)
    choices = np.zeros((kinds, tasks, modes.max()), dtype=np.int16)
    counts = np.zeros((kinds, tasks), dtype=np.int64)
    for j in range(kinds):
        own = slice(first_column[j], first_column[j] + modes[j])
        for i in range(tasks):
            speeds, watts = arrays.speeds[i, own], arrays.watts[i, own]
            allowed = np.flatnonzero(speeds > 0.0)
            counts[j, i] = len(allowed)
            choices[j, i, : len(allowed)] = allowed
            for state in allowed[np.argsort(watts[allowed], kind="stable")].tolist():
                column, lower = first_column[j] + state, allowed[watts[allowed] < watts[state]]
                lowest_state[i, column] = state
                if len(lower):
                    lower_state[i, column] = lower[np.lexsort((-speeds[lower], -watts[lower]))[0]]
                    lowest_state[i, column] = lowest_state[i, first_column[j] + lower_state[i, column]]
    return Genes(
        first_core=np.concatenate(([0], np.cumsum(arrays.cores[arrays.node_type]))),
        most_cores=int(arrays.cores[arrays.node_type].max()),
        node_type=arrays.node_type,
        first_column=first_column,
        overhead_watts=arrays.overhead_watts[arrays.node_type],
        speeds=arrays.speeds,
        watts=arrays.watts,
        lower_state=lower_state,
        lowest_state=lowest_state,
        choices=choices,
        choice_counts=counts,
        class_of=arrays.class_of,
        degradation=np.array(arrays.degradation),
        arrivals=arrays.arrivals,
        rewards=arrays.rewards,
    )


@compiled
def set_at_random(genes: Genes, fractions: Floats, states: States, chance: float, rng: np.random.Generator) -> None:
    """Give each gene a random fraction and P-state with some probability, and normalise the cores.

    With probability 1 this makes a random chromosome, with a small one it is the mutation. A core's fractions
    are divided by their sum where that is above 1.
    """
    for v in range(len(genes.node_type)):
        j = genes.node_type[v]
        for k in range(genes.first_core[v], genes.first_core[v + 1]):
            total = 0.0
            for i in range(len(genes.arrivals)):
                if chance >= 1.0 or rng.random() < chance:
                    fraction, choice = rng.random(), rng.random()
                    count = genes.choice_counts[j, i]
                    if count > 0:
                        fractions[k, i] = fraction
                        states[k, i] = genes.choices[j, i, int(choice * count)]
                total += fractions[k, i]
            if total > 1.0:
                for i in range(len(genes.arrivals)):
                    fractions[k, i] /= total


def to_allocation(facility: Facility, fractions: Floats, states: States, outlets: Floats) -> CoreAllocation:
    """Return what a chromosome says, in the facility's words; fractions of 0 are left out."""
    kinds = facility.node_types
    first = np.cumsum([0, *(kind.modes for kind in kinds)]).tolist()  # column of each node type's P-state 0
    of_core = [first[j] for j in facility.nodes for _ in range(kinds[j].cores)]
    cores = (
        [(i, column + int(states[k, i]), float(fractions[k, i])) for i in np.flatnonzero(fractions[k] > 0.0).tolist()]
        for k, column in enumerate(of_core)
    )
    return core_allocation(facility, outlets, cores)


def from_allocation(facility: Facility, genes: Genes, allocation: CoreAllocation) -> tuple[Floats, States]:
    """Return the genes of an allocation; whether it keeps cap and redlines is not asked here."""
    cores = [core for node in allocation.nodes for core in node]
    wanted = [facility.node_types[j].cores for j in facility.nodes]
    if [len(node) for node in allocation.nodes] != wanted:
        there = f"{len(allocation.nodes)} nodes with {len(cores)} cores"
        raise _start_error(there, f"the cores of {facility.name}'s {len(wanted)} nodes")
    rows = {task.name: i for i, task in enumerate(facility.task_types)}
    fractions = np.zeros((len(cores), len(rows)))
    states = np.zeros((len(cores), len(rows)), dtype=np.int16)
    of_core = np.repeat(genes.node_type, np.diff(genes.first_core)).tolist()
    for k, (j, core) in enumerate(zip(of_core, cores, strict=True)):
        names = facility.node_types[j].p_states or (None,)
        for part in core:
            i = rows.get(part.task_type)
            state = names.index(part.p_state) if part.p_state in names else None
            if i is None or state is None or not genes.speeds[i, genes.first_column[j] + state] > 0.0:
                there = f"{part.task_type!r} in P-state {part.p_state!r} on core {k}"
                raise _start_error(there, "task types and P-states that run there in time")
            if not part.fraction >= 0.0 or (fractions[k, i] > 0.0 and states[k, i] != state):
                there = f"the fraction {part.fraction!r} of {part.task_type!r} on core {k}"
                raise _start_error(there, "fractions from 0 up, and one P-state for a task type on a core")
            if part.fraction > 0.0:
                fractions[k, i] += part.fraction
                states[k, i] = state
    return fractions, states


def _start_error(found: str, needed: str) -> InstanceError:
    return InstanceError("starts", (InputIssue((), found, needed, "give allocations of this facility"),))


# What a chromosome earns: reward per second, compiled.
#
#     slower(a, k)  =  1 + sum_b PD(a, b) (load of class b on the node - load of class b on core k itself)
#     rate of i     =  sum_k DF(i, k) s(i, k) / slower(class of i, k)
#     score         =  sum_i r_i min(rate of i, arrivals of i)
#
# The load of a class is the sum of the fractions of its task types. With a degradation of 0 this is the
# paper's reward rate (RR), else its co-located reward rate (CRR). It takes two passes over the genes, and L x
# L for each core, of L classes.
#
# Source: Oxley and others, equations 1, 2, 9, 10 and 11, additive over the other cores as the text has it.
@compiled
def reward_rate(  # noqa: C901 - cut in two it takes 2.5 times as long
    genes: Genes, fractions: Floats, states: States
) -> float:
    """Return the reward per second of all cores together."""
    tasks, classes = len(genes.arrivals), len(genes.degradation)
    rates, load, pace = np.zeros(tasks), np.zeros(classes), np.zeros(classes)
    own = np.zeros((genes.most_cores, classes))
    for v in range(len(genes.node_type)):
        first, last = genes.first_core[v], genes.first_core[v + 1]
        column = genes.first_column[genes.node_type[v]]
        for b in range(classes):
            load[b] = 0.0
        for k in range(first, last):
            for b in range(classes):
                own[k - first, b] = 0.0
            for i in range(tasks):
                own[k - first, genes.class_of[i]] += fractions[k, i]
            for b in range(classes):
                load[b] += own[k - first, b]
        for k in range(first, last):
            for a in range(classes):
                slower = 1.0
                for b in range(classes):
                    slower += genes.degradation[a, b] * (load[b] - own[k - first, b])
                pace[a] = 1.0 / slower
            for i in range(tasks):
                speed = genes.speeds[i, column + states[k, i]] * pace[genes.class_of[i]]
                rates[i] += fractions[k, i] * speed
    score = 0.0
    for i in range(tasks):
        score += genes.rewards[i] * min(rates[i], genes.arrivals[i])
    return score


# Population files of a facility's genetic algorithm, as `.npz`: arrays as they are, to go on bit by bit.
#
#     fractions, states      S chromosomes x K cores x I task types
#     outlets_celsius        S x U CRAC units
#     scores                 S
#     history                improvements x 3: seconds, generations, best score
#     about                  the bytes of a JSON text: format, facility, co-location, generations, seconds and
#                            the state of the bit generator
#
# Doubles of random fractions do not compress, so nothing is compressed.
FORMAT: Final = "lpsched-population/1"
MOST_IMPROVEMENTS: Final = 10**6
_ABOUT: Final = ("colocation", "generations", "seconds", "random_state")
_ARRAYS: Final = ("fractions", "states", "outlets_celsius", "scores")
_CHECKS: Final[Checks] = {"colocation": (lambda value: isinstance(value, bool), "true or false")}


def write_population(population: Population, facility: Facility, path: Path | str) -> None:
    """Write a population; the file is replaced when all of it is written, or not at all."""
    about = {"format": FORMAT, "instance": {"name": facility.name, "hash": population.instance_hash}}
    arrays: dict[str, NDArray[Any]] = {name: getattr(population, name) for name in _ARRAYS}
    arrays["history"] = np.array(population.history, dtype=float).reshape(-1, 3)
    write_archive(path, about | {key: getattr(population, key) for key in _ABOUT}, arrays)


def read_population(path: Path | str, facility: Facility, *, colocation: bool | None = None) -> Population:
    """Read a population of a facility; whether its chromosomes keep all limits is for the algorithm to say."""
    with opened(path, FORMAT) as archive:
        about = archive.about(FORMAT, _CHECKS, facility.name, facility.content_hash)
        if colocation is not None and about["colocation"] != colocation:
            do = f"go on with the method that it was made with, or {BEGIN_ANEW}"
            needed = str(colocation).lower()
            raise archive.rejection(describe(about["colocation"]), needed, do, "colocation")
        size, double = archive.length("scores"), np.dtype(np.float64)
        genes = size, facility.cores, len(facility.task_types)
        history = archive.array("history", (None, 3), double, MOST_IMPROVEMENTS)
        scores = archive.array("scores", (None,), double, MOST_CHROMOSOMES)
        if not size:
            raise archive.rejection("no chromosomes", "at least one", BEGIN_ANEW, "scores")
        fractions = archive.array("fractions", genes, double)
        if fractions.min() < 0.0 or fractions.max() > 1.0:
            raise archive.rejection("a fraction below 0 or above 1", "0 to 1", BEGIN_ANEW, "fractions")
        return Population(
            instance_hash=facility.content_hash,
            fractions=fractions,
            states=archive.array("states", genes, np.dtype(np.int16)),
            outlets_celsius=archive.array("outlets_celsius", (size, len(facility.crac_units)), double),
            scores=scores,
            history=tuple((row[0], int(row[1]), row[2]) for row in history.tolist()),
            **{key: about[key] for key in _ABOUT},
        )


@dataclass(frozen=True, slots=True)
class Population:
    """All that the next generation depends on, and how the best came about: S chromosomes."""

    instance_hash: str
    colocation: bool  # whether the chromosomes are ranked with the cores slowing each other down
    fractions: Floats  # S x K x I: of a core's time, for a task type
    states: States  # S x K x I: the P-state, from 0 in its node type
    outlets_celsius: Floats  # S x U
    scores: Floats  # S: reward per second, falling
    generations: int  # in all, as the seconds
    seconds: float
    history: tuple[tuple[float, int, float], ...]  # seconds, generations and best score at every improvement
    random_state: Mapping[str, Any]  # of NumPy's bit generator
