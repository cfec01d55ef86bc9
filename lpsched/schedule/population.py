"""A population of allocations, as plain arrays: what a genetic algorithm saves and goes on from.

S chromosomes, the best first; K cores in the order of the nodes, I task types, U CRAC units.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lpsched.instance.array_types import Floats

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
