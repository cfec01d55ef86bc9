"""Proved bounds beside a plan: at other prices of carbon, and for other deadlines.

They come from the work relaxation alone, at a few prices and deadlines, so that they take a second or two; no plans are
looked for. What the plan's own certificate proves is added. The number of programs follows from the size of the bag.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lpsched.bag.horizon.curves import CostHalfPlane, PlanBounds
from lpsched.bag.horizon.fronts import deadlines_of, front_of
from lpsched.bag.horizon.solve import HorizonProblem
from lpsched.cancellation import CancelToken
from lpsched.lp.solvers import default_solver

if TYPE_CHECKING:
    from lpsched.bag.horizon.result import PlanResult
    from lpsched.lp.program import Solver

LEAST, MOST = 4, 12  # programs of a curve: with fewer it says little
EACH, ALL = 27_000, 500_000  # pairs times slots that take as long as a program itself, and of all programs: some 2 s


def bounds_beside(result: PlanResult, *, solver: Solver | None = None, cancel: CancelToken | None = None) -> PlanBounds:
    """Return bounds beside a plan of least cost; nothing of other plans."""
    if result.objective != "cost":
        return PlanBounds()
    solver, cancel = solver or default_solver(), cancel or CancelToken()
    if cancel.expired():
        return PlanBounds(left_out="Bounds at other carbon prices and deadlines: no time was left.")
    problem = HorizonProblem(result.bag, result.slots, "cost", result.carbon_price_per_kg)
    programs = most_programs(problem)
    if programs < LEAST:
        return PlanBounds(left_out="Bounds at other carbon prices and deadlines: the bag has too many pairs and slots.")
    carbon = None
    if all(site.carbon is not None for site in result.slots.sites):
        front = front_of(
            replace(problem, carbon_price_per_kg=0.0),
            solver,
            cancel,
            plans=0,
            work=0.0,
            seed=0,
            most=programs,
            runs=False,
        )
        own = CostHalfPlane(1.0, problem.weights.grams, result.bound)
        carbon = replace(front, proofs=(own, *front.proofs))
    deadlines = deadlines_of(problem, None, solver, cancel, most=programs, plans=0, work=0.0, seed=0, runs=False)
    last = deadlines.points[-1]
    last = replace(last, bound=max(last.bound, result.bound), value=result.value, plan=result.plan)
    return PlanBounds(carbon, replace(deadlines, points=(*deadlines.points[:-1], last)))


def most_programs(problem: HorizonProblem) -> int:
    """Return how many programs a curve may take."""
    cells = sum(cell is not None for row in problem.bag.seconds for cell in row) * problem.slots.count
    return min(MOST, ALL // (EACH + cells))
