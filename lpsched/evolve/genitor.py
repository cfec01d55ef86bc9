"""Genitor's operators: parents by rank with a linear bias, and a crossover of two points over cores.

With ranks from 0 (the best) to S - 1 and a uniform number u, the rank drawn is

    S (b - sqrt(b^2 - 4 (b - 1) u)) / (2 (b - 1)),        so that the best is b times as likely as the median

The bias b is 1.5, Whitley's own example; the paper does not say. A crossover swaps all genes of the cores
from x to y - 1, with 0 <= x < y <= K. Mutation is in `genes.py`, because it has to know the pairs.

Source: Whitley 1989, "The GENITOR algorithm and selective pressure"; Oxley and others, section IV-B.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

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
