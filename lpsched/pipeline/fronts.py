"""The exact front of energy and makespan: every vertex, a schedule at each, a proof for each edge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.certificate.bounds import Multipliers, rounded_down
from lpsched.errors import Fault, InstanceError
from lpsched.instance.frozen import FrozenDict
from lpsched.instance.terms import Terms
from lpsched.pipeline.feasibility import require_power, require_time
from lpsched.pipeline.proving import prover_of
from lpsched.pipeline.questions import missing_data
from lpsched.pipeline.recovering import Memory, Recovered, vertex_schedule
from lpsched.pipeline.solvers import default_solver
from lpsched.pipeline.timing import timed
from lpsched.result.front import FrontResult, HalfPlane, Point
from lpsched.result.provenance import provenance_of
from lpsched.search.frontier import Edge, frontier, sampled

if TYPE_CHECKING:
    from lpsched.certificate.bounds import Prover
    from lpsched.instance import Bag
    from lpsched.lp.program import Solver
    from lpsched.relaxation import Point as Split

MOST_SAMPLED: Final = 100_000


def front(
    bag: Bag,
    *,
    sample: int = 0,
    power_cap: float | None = None,
    deadline: float | None = None,
    solver: Solver | None = None,
) -> FrontResult:
    """Find every vertex of the energy/makespan front, and a verified schedule near each.

    Parameters
    ----------
    sample
        How many evenly spaced weights to try as well, for comparison with what a sample finds.
    power_cap, deadline
        Watts and seconds, in place of the site's own.
    solver
        Solves the linear programs; HiGHS if not given.

    Raises
    ------
    InstanceError
        If an option is not sound, or the bag has no watts.
    InfeasibleError
        If no schedule keeps the power cap or the deadline.
    SolverError
        If the solver fails.
    InvalidScheduleError
        If a schedule found does not pass verification, which is a bug of ours.

    Examples
    --------
    >>> from lpsched.instance import Bag, MachineType, Table, TaskType
    >>> fast, slow = MachineType(name="fast", count=1), MachineType(name="slow", count=1)
    >>> tasks = (TaskType(name="a", count=6),)
    >>> found = front(Bag("b", (fast, slow), tasks, Table.of([[1.0, 2.0]]), Table.of([[300.0, 100.0]])))
    >>> [(vertex.energy_joules, vertex.makespan_seconds) for vertex in found.vertices]
    [(1200.0, 12.0), (1600.0, 4.0)]
    """
    solver = solver if solver is not None else default_solver()
    asked = Terms(power_cap_watts=power_cap, deadline_seconds=deadline).applied_to(bag)
    faults = missing_data(asked, "front")
    if faults:
        raise InstanceError(bag.name, faults)
    if not 0 <= sample <= MOST_SAMPLED:
        fault = Fault(("sample",), repr(sample), f"a number from 0 to {MOST_SAMPLED}", "correct it")
        raise InstanceError("the terms", (fault,))
    timings: dict[str, float] = {}
    with timed(timings, "relax"):
        prover = prover_of(asked)
        require_power(prover)
        require_time(prover, solver)
        found = frontier(asked, solver)
    with timed(timings, "prove"):
        proofs = tuple(_proof(prover, edge) for edge in found.edges)
    with timed(timings, "recover"):
        memory = Memory(asked)
        tried = [vertex_schedule(asked, corner, solver, memory) for corner in found.corners]
    recovered = [each if isinstance(each, Recovered) else None for each in tried]
    return FrontResult(
        vertices=tuple(_vertex(corner) for corner in found.corners),
        measured=tuple(None if each is None else _measured(each) for each in recovered),
        schedules=tuple(None if each is None else each.schedule for each in recovered),
        proofs=proofs,
        sample=tuple(_vertex(point) for point in sampled(asked, solver, sample)) if sample else (),
        solves=found.solves,
        timings=FrozenDict(timings),
        provenance=provenance_of(bag, solver.name),
    )


def _proof(prover: Prover, edge: Edge) -> HalfPlane:
    relaxation, weights = edge.relaxation(), edge.weights
    prices = Multipliers(relaxation.machine_prices, relaxation.cap_price)
    bound = prover.cost(prices, weights.joules, weights.seconds)
    return HalfPlane(weights.joules, weights.seconds, rounded_down(bound))


def _vertex(corner: Split) -> Point:
    assert corner.energy_joules is not None
    return Point(corner.energy_joules, corner.makespan_seconds)


def _measured(recovered: Recovered) -> Point:
    measured = recovered.measured
    assert measured.energy_joules is not None
    assert measured.makespan_seconds is not None
    return Point(measured.energy_joules, measured.makespan_seconds)
