"""The points that no other point beats, and the area that they beat: both scores are minimised.

A point dominates another if it is nowhere worse and somewhere better. Rank 1 are the points that none
dominates; by rising first score, their second scores fall. The hypervolume, here an area, is that of all
points which some point dominates and which dominate the reference: a staircase.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers


def rank_one(scores: Floats) -> Integers:
    """Return the rows of rank 1 by rising first score; of equal ones, the first.

    >>> rank_one(np.array([[3.0, 1.0], [1.0, 5.0], [3.0, 2.0], [1.0, 5.0], [2.0, 4.0]])).tolist()
    [1, 4, 0]
    """
    rising = np.lexsort((scores[:, 1], scores[:, 0]))
    second = scores[rising, 1]
    best_before = np.concatenate(([np.inf], np.minimum.accumulate(second)[:-1]))
    rows: Integers = rising[second < best_before]
    return rows


def hypervolume(scores: Floats, reference: tuple[float, float]) -> float:
    """Return the area between the points and the reference; points that are not better in both add none.

    >>> hypervolume(np.array([[1.0, 3.0], [2.0, 1.0], [9.0, 0.0]]), (4.0, 4.0))  # 1 x 1 + 2 x 3
    7.0
    """
    points = scores[rank_one(scores)]
    points = points[(points < reference).all(axis=1)]
    widths = np.append(points[1:, 0], reference[0]) - points[:, 0]
    return float(widths @ (reference[1] - points[:, 1]))
