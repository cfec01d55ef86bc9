"""Which solver: HiGHS, or one that PuLP knows."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from lpsched.errors import Fault, InstanceError
from lpsched.instance.fields import quote
from lpsched.lp.highs import HighsSolver
from lpsched.lp.pulp import PulpSolver

if TYPE_CHECKING:
    from lpsched.lp.program import Solver


@cache
def default_solver() -> Solver:
    """Return HiGHS."""
    return HighsSolver()


def solver_named(name: str) -> Solver:
    """Return the solver of a name: `highs`, or `pulp:NAME` with PuLP's name for it.

    Raises
    ------
    InstanceError
        If there is no such name.
    MissingExtraError
        If PuLP is not installed.
    SolverError
        If PuLP does not know or find the solver.
    """
    kind, _, inner = name.partition(":")
    if name == "highs":
        return default_solver()
    if kind == "pulp" and inner:
        return PulpSolver(inner)
    fault = Fault(("solver",), quote(name), "'highs' or 'pulp:NAME'", "for example pulp:COIN_CMD")
    raise InstanceError("the options", (fault,))
