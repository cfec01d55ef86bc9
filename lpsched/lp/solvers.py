"""Which solver: HiGHS, or one that PuLP knows."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from lpsched.errors import Fault, InstanceError, quote
from lpsched.lp.highs import HighsSolver
from lpsched.lp.program import Device, array_module
from lpsched.lp.pulp import PulpSolver

if TYPE_CHECKING:
    from lpsched.lp.program import Solver


@cache
def default_solver() -> Solver:
    """Return HiGHS."""
    return HighsSolver()


def solver_named(name: str, device: str = "cpu") -> Solver:
    """Return the solver of a name: `highs`, or `pulp:NAME` with PuLP's name for it.

    `device` is where passes over huge bags run: `cpu` or `cuda`.

    Raises
    ------
    InstanceError
        If there is no such name.
    MissingExtraError
        If PuLP is not installed, or for a GPU CuPy.
    SolverError
        If PuLP does not know or find the solver.
    """
    kind, _, inner = name.partition(":")
    where = Device(device)
    array_module(where)  # that it is missing is said at once
    if name == "highs":
        return default_solver() if where is Device.CPU else HighsSolver(device=where)
    if kind == "pulp" and inner:
        return PulpSolver(inner, where)
    fault = Fault(("solver",), quote(name), "'highs' or 'pulp:NAME'", "for example pulp:COIN_CMD")
    raise InstanceError("the options", (fault,))
