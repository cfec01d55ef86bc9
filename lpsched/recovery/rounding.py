"""Largest remainder: from shares to whole tasks.

Row i of the shares, scaled to sum 1 and times n_i, gives quotas. Each column gets the floor of its quota;
the units still missing go to the largest remainders, ties to the lowest index. In exact arithmetic fewer
units are missing than there are columns with a remainder, so no count moves by one or more.

Source: Tarplee, Maciejewski and Siegel, 2014, algorithm 1.
"""

from __future__ import annotations

import math
from fractions import Fraction
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
    shares = {column: Fraction(share) for column, share in enumerate(row) if 0 < share < math.inf}
    whole = sum(shares.values())
    if whole == 0:
        raise SolverError(f"the relaxation leaves task type {i} without a machine")
    quotas = {column: share * count / whole for column, share in shares.items()}
    counts = {column: int(quota) for column, quota in quotas.items()}
    missing = count - sum(counts.values())
    by_remainder = sorted(quotas, key=lambda column: (counts[column] - quotas[column], column))
    for column in by_remainder[:missing]:
        counts[column] += 1
    return {column: number for column, number in counts.items() if number}
