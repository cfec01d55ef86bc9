"""Allocations of a facility: patterns of gangs or of single cores; populations of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lpsched.model.arrays import Floats


# Allocations of a facility, in the two forms that are verified.
#
# **Gang**: a node runs patterns in turn; a pattern says what all its cores run at one moment, for a share of
# the time. **Cores**: every core divides its time on its own, as the paper's DF(i, k) and PS(i, k) say.


@dataclass(frozen=True, slots=True)
class CoreRun:
    """Some cores of a node that run tasks of one type, in one P-state (`None` where there are none)."""

    task_type: str
    cores: int
    p_state: str | None = None


@dataclass(frozen=True, slots=True)
class PatternShare:
    """What a node's cores run at once, for a share of the time; cores in no run are idle."""

    share: float
    runs: tuple[CoreRun, ...]


@dataclass(frozen=True, slots=True)
class GangAllocation:
    """Outlet temperatures, and for each node its patterns; in the time that is left a node is idle."""

    outlets_celsius: tuple[float, ...]
    nodes: tuple[tuple[PatternShare, ...], ...]


@dataclass(frozen=True, slots=True)
class CoreFraction:
    """The fraction of a core's time for tasks of one type, always in the same P-state."""

    task_type: str
    fraction: float
    p_state: str | None = None


@dataclass(frozen=True, slots=True)
class CoreAllocation:
    """Outlet temperatures, and for each core of each node what it divides its time between."""

    outlets_celsius: tuple[float, ...]
    nodes: tuple[tuple[tuple[CoreFraction, ...], ...], ...]


# A population of allocations, as plain arrays: what a genetic algorithm saves and goes on from.
#
# S chromosomes, the best first; K cores in the order of the nodes, I task types, U CRAC units.

States: TypeAlias = NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class Population:
    """All that the next generation depends on, and how the best came about.

    Attributes
    ----------
    instance_hash, colocation
        The facility, and whether the chromosomes are ranked with the cores slowing each other down.
    fractions, states
        S x K x I: the fraction of a core's time for a task type, and the P-state, from 0 in its node type.
    outlets_celsius
        S x U.
    scores
        S: reward per second, falling.
    generations, seconds
        How many there were, and how long they took, in all.
    history
        Seconds, generations and best score at every improvement.
    random_state
        The state of NumPy's bit generator.
    """

    instance_hash: str
    colocation: bool
    fractions: Floats
    states: States
    outlets_celsius: Floats
    scores: Floats
    generations: int
    seconds: float
    history: tuple[tuple[float, int, float], ...]
    random_state: Mapping[str, Any]
