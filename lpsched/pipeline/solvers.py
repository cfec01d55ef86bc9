"""Which solver: HiGHS, or one that PuLP knows."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from lpsched.lp.highs import HighsSolver

if TYPE_CHECKING:
    from lpsched.lp.program import Solver


@cache
def default_solver() -> Solver:
    """Return HiGHS."""
    return HighsSolver()
