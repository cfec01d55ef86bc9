"""Quantised sizes and run times: which jobs are alike.

A class is named by its upper end, a power of two: class 32 holds what is more than 16 and up to 32. Values up
to 1 are class 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


HALF: Final = 0.5


def classes(values: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the class of each value.

    >>> classes(np.array([0.5, 1, 16, 16.5, 32, 33])).tolist()
    [1, 1, 16, 32, 32, 64]
    """
    at_least_1 = np.maximum(np.asarray(values, np.float64), 1.0)
    mantissa, exponent = np.frexp(at_least_1)  # value = mantissa * 2^exponent, mantissa from 1/2 up
    exponent = exponent - (mantissa == HALF)  # a power of two is its own class
    made: NDArray[np.int64] = np.left_shift(np.int64(1), exponent.astype(np.int64))
    return made
