"""Largest remainder: from shares to whole tasks.

Row i of the shares, scaled to sum 1 and times n_i, gives quotas. Each column gets the floor of its quota;
the units still missing go to the largest remainders, ties to the lowest index. In exact arithmetic fewer
units are missing than there are columns with a remainder, so no count moves by one or more.

Source: Tarplee, Maciejewski and Siegel, 2014, algorithm 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lpsched.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance.arrays import Floats


def round_shares(shares: Floats, task_counts: Sequence[int]) -> list[dict[int, int]]:
    """Return, for each task type, how many of its tasks each column gets; columns with none are left out.

    Every total is exact, whatever the solver's tolerances were.

    >>> import numpy as np
    >>> round_shares(np.array([[0.5, 0.25, 0.25]]), [10])
    [{0: 5, 1: 3, 2: 2}]

    Raises
    ------
    SolverError
        If a task type has no share at all.
    """
    return [
        _round_row(i, row, count)
        for i, (row, count) in enumerate(zip(shares.tolist(), task_counts, strict=True))
    ]


def _round_row(i: int, row: list[float], count: int) -> dict[int, int]:
    """Round one row in whole numbers: the shares as multiples of one power of two."""
    pairs = [(c, share.as_integer_ratio()) for c, share in enumerate(row) if 0 < share < math.inf]
    if not pairs:
        raise SolverError(f"the relaxation leaves task type {i} without a machine")
    if len(pairs) == 1:  # most rows of a corner
        return {pairs[0][0]: count}
    common = max(denominator for _, (_, denominator) in pairs)
    shares = {column: numerator * (common // denominator) for column, (numerator, denominator) in pairs}
    whole = sum(shares.values())
    counts = {column: count * share // whole for column, share in shares.items()}
    missing = count - sum(counts.values())
    by_remainder = sorted(shares, key=lambda column: (-(count * shares[column] % whole), column))
    for column in by_remainder[:missing]:
        counts[column] += 1
    return {column: number for column, number in counts.items() if number}
