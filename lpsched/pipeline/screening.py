"""Which pairs can matter in a proof: found in doubles, with their rounding accounted for.

A term e (alpha a + beta_j), worked out in doubles from alpha and beta as doubles, is off by less than

    8 u e (|alpha| a + |beta_j|) + 1e-300,        u = 2^-53,

since each of its five roundings is off by at most u, relative. A pair whose term, less that, is above some
other term, plus that, is not the cheapest of its task type: exact arithmetic need not look at it. One or two
pairs of each task type are left. Where a double overflows, all pairs are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.instance.arrays import usable_arrays

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from lpsched.instance import Bag
    from lpsched.instance.arrays import BagArrays

MANY: Final = 100_000  # pairs: up to here a proof looks at every one of them
CELLS: Final = 1 << 18  # pairs at a time
ROUNDING: Final = 8 * 2.0**-53
LEAST: Final = 1e-300


@dataclass(frozen=True, slots=True)
class PairScreen:
    """Lets through the pairs of a bag that can be cheapest."""

    arrays: BagArrays

    def cheapest(self, alpha: Fraction, beta: Sequence[Fraction]) -> list[list[int]]:
        """Return, for each task type, columns that surely hold the least e (alpha a + beta_j)."""
        arrays = self.arrays
        types, width = arrays.can_run.shape
        a = _double(alpha)
        b = np.array([_double(each) for each in beta])[arrays.machine_of]
        found: list[list[int]] = []
        height = max(1, CELLS // width)
        for start in range(0, types, height):
            rows = slice(start, start + height)
            e, can_run = arrays.seconds[rows], arrays.can_run[rows]
            watts = arrays.watts[rows] if arrays.watts is not None and a else 0.0
            with np.errstate(over="ignore", invalid="ignore"):
                terms = e * (a * watts + b)
                off = ROUNDING * e * (abs(a) * watts + np.abs(b)) + LEAST
                most = np.where(can_run, terms + off, np.inf).min(axis=1)
                keep = can_run & ~(terms - off > most[:, np.newaxis])
            sure = np.isfinite(np.where(can_run, terms + off, 0.0)).all(axis=1)
            keep[~sure] = True
            row, column = np.nonzero(keep)
            splits = np.cumsum(np.bincount(row, minlength=len(keep)))[:-1]
            found += [each.tolist() for each in np.split(column, splits)]
        return found

    def scarcest(self) -> int:
        """Return the task type that all machines together finish slowest."""
        arrays = self.arrays
        speeds = np.where(arrays.can_run, 1.0 / np.where(arrays.can_run, arrays.seconds, 1.0), 0.0)
        firsts = np.searchsorted(arrays.machine_of, np.arange(len(arrays.machine_counts)))
        rates = np.maximum.reduceat(speeds, firsts, axis=1) @ arrays.machine_counts / arrays.task_counts
        return int(rates.argmin())


def screen_of(bag: Bag) -> PairScreen | None:
    """Return a screen for a bag of very many pairs, `None` for any other."""
    if len(bag.task_types) * len(bag.modes) <= MANY:
        return None
    return PairScreen(usable_arrays(bag))


def _double(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return np.inf
