"""Fewer machines: whether those that the schedule needs would earn more without the others, proved."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from lpsched.bag.pricing.one_more import SECONDS, Marginals, solve_options
from lpsched.bag.problem import OBJECTIVES, Problem
from lpsched.bag.result import Fewer, Result, changes_between
from lpsched.bag.terms import Terms, with_machines
from lpsched.cancellation import CancelToken, timed
from lpsched.lp.solvers import default_solver
from lpsched.model.fields import FrozenDict

if TYPE_CHECKING:
    from lpsched.lp.program import Solver

WHOLE: Final = 1e-9  # of a machine: rounding of the busy share


def with_fewer(
    result: Result, *, cancel: CancelToken | None = None, seed: int = 0, solver: Solver | None = None
) -> Result:
    """Return an answer of `solve` for profit with what fewer machines would earn, where that is proved to be more.

    Of each machine type of which one fewer raises the LP bound, as many are kept as the busy time of the schedule
    needs. The bag is solved again with those: its verified schedule earns more than the bound with all machines, or
    nothing is said. So nothing is said either where other numbers of machines would do.
    """
    bag, found, worth = result.bag, result.breakdown, result.worth
    if bag is None or found is None or worth is None or not result.schedule.groups:
        return result
    fewer = (worth.one_fewer or worth).machine_types
    counts = {}
    for name, use in found.machine_types.items():
        value, needed = fewer[name], math.ceil(use.busy_share * use.count - WHOLE)
        if value is not None and value < 0 and needed < use.count:
            counts[name] = needed
    solver, cancel = solver if solver is not None else default_solver(), cancel or CancelToken()
    if not counts or cancel.expired():
        return result
    options = solve_options(bag, result, solver, marginals=Marginals.TOP, cancel=cancel, seed=seed)
    timings = dict(result.timings)
    with timed(timings, "fewer machines"):
        question = Problem(bag, with_machines(bag, counts), Terms(), OBJECTIVES[result.objective])
        after = replace(options, cancel=cancel.share(SECONDS)).solve(question)
    result = replace(result, timings=FrozenDict(timings))
    if after is None:
        return result
    change = changes_between((result.value, result.bound), (after.value, after.bound))
    if change.at_least is None or change.at_least <= 0:
        return result
    return replace(result, fewer_machines=Fewer(FrozenDict(counts), change))
