"""How many nodes were in use at once: the least that a system must have had."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def most_at_once(starts: NDArray[np.float64], seconds: NDArray[np.float64], widths: NDArray[np.int64]) -> int:
    """Return the largest sum of widths of jobs that run at one time; one ends before another starts.

    >>> most_at_once(np.array([0.0, 5.0, 10.0]), np.array([10.0, 5.0, 5.0]), np.array([2, 3, 4]))
    5
    """
    moments = np.concatenate((starts, starts + seconds))
    changes = np.concatenate((widths, -widths))
    order = np.lexsort((changes, moments))  # at one moment, first what ends
    return int(np.cumsum(changes[order]).max(initial=0))
