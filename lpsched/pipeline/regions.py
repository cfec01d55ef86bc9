"""The feasible region in the plane of energy and makespan: every corner, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.errors import InstanceError
from lpsched.instance.frozen import FrozenDict
from lpsched.pipeline.questions import missing_data
from lpsched.pipeline.solvers import default_solver
from lpsched.pipeline.timing import timed
from lpsched.result.front import Point
from lpsched.result.provenance import provenance_of
from lpsched.result.region import FeasibleRegion
from lpsched.search.region import region

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.lp.program import Solver


def feasible_region(bag: Bag, *, solver: Solver | None = None) -> FeasibleRegion:
    """Find every energy and makespan that a bag can take, if tasks could be split; limits play no part.

    Raises
    ------
    InstanceError
        If the bag has no watts.
    SolverError
        If the solver fails.

    Examples
    --------
    >>> from lpsched.instance import Bag, MachineType, Table, TaskType
    >>> fast, slow = MachineType(name="fast", count=1), MachineType(name="slow", count=1)
    >>> tasks = (TaskType(name="a", count=6),)
    >>> bag = Bag("b", (fast, slow), tasks, Table.of([[1.0, 2.0]]), Table.of([[300.0, 100.0]]))
    >>> [(each.energy_joules, each.makespan_seconds) for each in feasible_region(bag).corners]
    [(1200.0, 12.0), (1600.0, 4.0), (1800.0, 6.0)]
    """
    faults = missing_data(bag.without_limits(), "front")
    if faults:
        raise InstanceError(bag.name, faults)
    solver = solver if solver is not None else default_solver()
    timings: dict[str, float] = {}
    with timed(timings, "relax"):
        found = region(bag, solver)
    return FeasibleRegion(
        corners=tuple(Point(each.energy_joules or 0.0, each.makespan_seconds) for each in found.corners),
        idle_watts=found.idle_watts,
        timings=FrozenDict(timings),
        provenance=provenance_of(bag, solver.name),
    )
