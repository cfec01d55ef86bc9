"""Chromosomes of tasks: which machine runs each task, how, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lpsched.model.arrays import Floats, Integers

Numbers: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Genes:
    """One chromosome, or S of them: arrays of N, or of S x N."""

    machines: Numbers
    columns: Numbers  # of the tables: machine type and P-state
    orders: Numbers

    def take(self, rows: int | slice | Sequence[int] | Integers) -> Genes:
        """Return one of S chromosomes, or some of them."""
        return Genes(self.machines[rows], self.columns[rows], self.orders[rows])


def first_machines(counts: Sequence[int], tasks: int) -> Integers:
    """Return the number of each machine type's first machine, and at the end how many machines are numbered.

    >>> first_machines([2, 10**12, 1], 3).tolist()
    [0, 2, 5, 6]
    """
    return np.cumsum([0] + [min(count, tasks) for count in counts])


@dataclass(frozen=True, slots=True)
class TaskPopulation:
    """All that the next generation depends on.

    Attributes
    ----------
    instance_hash, objectives
        The bag or day, and what its chromosomes are ranked by: the scorer's name.
    genes
        S x N.
    scores
        S x 2, both minimised.
    generations, seconds
        How many there were, and how long they took, in all.
    reference
        The two scores up to which hypervolumes are measured: the worst of the first population.
    history
        Seconds, generations and hypervolume, noted now and then.
    random_state
        The state of NumPy's bit generator.
    """

    instance_hash: str
    objectives: str
    genes: Genes
    scores: Floats
    generations: int
    seconds: float
    reference: tuple[float, float]
    history: tuple[tuple[float, int, float], ...]
    random_state: Mapping[str, Any]
