"""How far times and powers scatter: one coefficient of variation for each pair and P-state.

The tables' seconds and watts are means. A task's own seconds and watts are gamma-distributed around them,
each task by itself, with the coefficients of variation (standard deviation / mean) below. Where a range is
asked for, each pair draws one of 64 values that divide the range evenly: so few, that the bins of all of them
stay in a processor's cache.

Source: Friese, thesis of 2015, section 7.3.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.risk.options import ends_of

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats
    from lpsched.risk.options import Cov, RiskOptions

LEVELS: Final = 64


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Coefficients of variation, T x C; 0 is certain."""

    seconds_cov: Floats
    watts_cov: Floats


def spread_of(shape: tuple[int, int], options: RiskOptions, rng: np.random.Generator) -> Spread:
    """Return a coefficient for each pair and P-state: the one that is asked for, or drawn from its range.

    >>> from lpsched.risk.options import RiskOptions
    >>> spread = spread_of((2, 3), RiskOptions(cov=0.3, power_cov=(0.1, 0.2)), np.random.default_rng(0))
    >>> spread.seconds_cov.tolist(), bool((spread.watts_cov >= 0.1).all())
    ([[0.3, 0.3, 0.3], [0.3, 0.3, 0.3]], True)
    """
    return Spread(_drawn(shape, options.cov, rng), _drawn(shape, options.powers, rng))


def _drawn(shape: tuple[int, int], cov: Cov, rng: np.random.Generator) -> Floats:
    """Return the coefficients; a range takes as many draws, whatever its ends are."""
    low, high = ends_of(cov)
    if not isinstance(cov, tuple):
        return np.full(shape, float(low))
    return low + (high - low) * (rng.integers(0, LEVELS, shape) + 0.5) / LEVELS
