"""The exact front of energy and makespan: a verified schedule near every vertex, and the region above."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lpsched.bag.model import Bag, Terms
from lpsched.bag.problem import build_problem, missing_data, near_cheapest, prover_of, require_power, require_time
from lpsched.bag.recovery.exchange import load_balanced
from lpsched.bag.recovery.plans import ended
from lpsched.bag.recovery.stages import Memory, Recovered, examined_schedule, vertex_schedules
from lpsched.bag.result import Effort, FeasibleRegion, FrontResult, HalfPlane, Point
from lpsched.bag.search.frontier import frontier, region, sampled
from lpsched.bag.solve import DEFAULT_GAP, effort_named, find
from lpsched.cancellation import CancelToken, timed
from lpsched.errors import InfeasibleError, InputIssue, InstanceError, NotFoundError
from lpsched.lp.solvers import default_solver
from lpsched.model.fields import FrozenDict
from lpsched.model.fixed_point import rounded_down
from lpsched.model.provenance import provenance_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.bag.certificate.bounds import Prover
    from lpsched.bag.relaxation import Point as Split
    from lpsched.bag.search.frontier import Edge
    from lpsched.bag.verify import Measurement
    from lpsched.lp.program import Solver


MOST_SAMPLED: Final = 100_000


def front(  # noqa: PLR0913 - options are keyword-only
    bag: Bag | Path | str,
    *,
    sample: int = 0,
    power_cap: float | None = None,
    deadline: float | None = None,
    effort: str = "auto",
    seed: int = 0,
    cancel: CancelToken | None = None,
    solver: Solver | None = None,
) -> FrontResult:
    """Find every vertex of the energy/makespan front, and a verified schedule near each.

    Parameters
    ----------
    bag
        A bag, or the path of its file.
    sample
        Number of evenly spaced weights to solve for as well, for comparison.
    power_cap, deadline
        Watts and seconds, in place of the site's own.
    effort
        `fast`: the schedule of each vertex is its linear program, rounded. Otherwise loads are balanced between
        machines of a type; and the first and the last schedule, with the proofs of energy and makespan alone,
        are at least as good as those of `solve` for these objectives with the same effort and seed; a single
        vertex has the schedule of the makespan. The proofs of the edges are always the linear program's.
    seed, cancel
        As in `solve`.
    solver
        Solves the linear programs; HiGHS if not given.

    Raises
    ------
    InstanceError
        If an option is invalid, or the bag has no watts.
    ValueError, InfeasibleError, SolverError, InvalidScheduleError
        As `solve` does.

    Examples
    --------
    >>> from lpsched import Bag, MachineType, Table, TaskType
    >>> fast, slow = MachineType(name="fast", count=1), MachineType(name="slow", count=1)
    >>> tasks = (TaskType(name="a", count=6),)
    >>> found = front(Bag("b", (fast, slow), tasks, Table.of([[1.0, 2.0]]), Table.of([[300.0, 100.0]])))
    >>> [(vertex.energy_joules, vertex.makespan_seconds) for vertex in found.vertices]
    [(1200.0, 12.0), (1600.0, 4.0)]
    """
    bag = Bag.given(bag)
    solver, cancel = solver if solver is not None else default_solver(), cancel or CancelToken()
    level = effort_named(effort)
    terms = Terms(power_cap_watts=power_cap, deadline_seconds=deadline)
    limited = terms.applied_to(bag)
    issues = missing_data(limited, "front")
    if issues:
        raise InstanceError(bag.name, issues)
    if not 0 <= sample <= MOST_SAMPLED:
        issue = InputIssue(("sample",), repr(sample), f"a number from 0 to {MOST_SAMPLED}", "correct it")
        raise InstanceError("", (issue,))
    timings: dict[str, float] = {}
    with timed(timings, "relax"):
        prover = prover_of(limited)
        require_power(prover)
        require_time(prover, solver)
        found = frontier(limited, solver)
    with timed(timings, "prove"):
        proofs = _half_planes(prover, found.edges)
    with timed(timings, "recover"):
        memory = Memory(limited)
        rounded = vertex_schedules(limited, found.vertices, solver, memory)
    recovered = [each if isinstance(each, Recovered) else None for each in rounded]
    if level is not Effort.FAST:
        with timed(timings, "balance"):
            recovered = [_levelled(limited, each, memory, cancel) for each in recovered]
        with timed(timings, "ends"):
            for place, objective in ((0, "energy"), (-1, "makespan")):
                question = build_problem(bag, replace(terms, objective=objective), solver)
                with suppress(NotFoundError, InfeasibleError):  # the end remains
                    best = find(question, solver, gap=DEFAULT_GAP, cancel=cancel, effort=level, seed=seed)
                    proofs[place] = replace(proofs[place], bound=max(proofs[place].bound, best.bound))
                    recovered[place] = _better_end(objective, recovered[place], best.found)
    return FrontResult(
        vertices=tuple(_point(corner) for corner in found.vertices),
        measured=tuple(None if each is None else _point(each.measured) for each in recovered),
        schedules=tuple(None if each is None else each.schedule for each in recovered),
        proofs=tuple(proofs),
        sample=tuple(_point(point) for point in sampled(limited, solver, sample)) if sample else (),
        solves=found.solves,
        timings=FrozenDict(timings),
        provenance=provenance_of(bag, solver.name),
        effort=level,
        stopped=cancel.why_cut(),
    )


def _half_planes(prover: Prover, edges: Sequence[Edge]) -> list[HalfPlane]:
    """Return what the prices of each edge prove."""
    prices, joules = [edge.multipliers() for edge in edges], [edge.weights.joules for edge in edges]
    proofs = []
    screened = repeat(None, len(edges)) if prover.screen is not None else near_cheapest(prover.bag, prices, joules)
    for edge, own, near in zip(edges, prices, screened, strict=True):
        bound = prover.cost(own, edge.weights.joules, edge.weights.seconds, near=near)
        proofs.append(HalfPlane(edge.weights.joules, edge.weights.seconds, rounded_down(bound)))
    return proofs


def _levelled(bag: Bag, found: Recovered | None, memory: Memory, cancel: CancelToken) -> Recovered | None:
    """Return a schedule that takes no more energy and no more time."""
    if found is None or cancel.expired():
        return found
    level = load_balanced(bag, found.schedule)
    other = examined_schedule(bag, ended(bag, level, late=False), memory.tables)
    if isinstance(other, str):
        return found
    before, after = _point(found.measured), _point(other.measured)
    saves = after.energy_joules <= before.energy_joules and after.makespan_seconds <= before.makespan_seconds
    return other if saves else found


def _better_end(objective: str, found: Recovered | None, other: Recovered) -> Recovered:
    """Return the schedule that is better in one criterion; of equally good ones, in the other."""

    def rank(each: Recovered) -> tuple[float, float]:
        point = _point(each.measured)
        both = point.energy_joules, point.makespan_seconds
        return both if objective == "energy" else both[::-1]

    return other if found is None else min(found, other, key=rank)


def _point(taken: Split | Measurement) -> Point:
    assert taken.energy_joules is not None
    assert taken.makespan_seconds is not None
    return Point(taken.energy_joules, taken.makespan_seconds)


def feasible_region(bag: Bag | Path | str, *, solver: Solver | None = None) -> FeasibleRegion:
    """Return every energy and makespan that a bag can take, if tasks could be split; without limits.

    Raises
    ------
    InstanceError
        If the bag has no watts.
    SolverError
        If the solver fails.

    Examples
    --------
    >>> from lpsched import Bag, MachineType, Table, TaskType
    >>> fast, slow = MachineType(name="fast", count=1), MachineType(name="slow", count=1)
    >>> tasks = (TaskType(name="a", count=6),)
    >>> bag = Bag("b", (fast, slow), tasks, Table.of([[1.0, 2.0]]), Table.of([[300.0, 100.0]]))
    >>> [(each.energy_joules, each.makespan_seconds) for each in feasible_region(bag).corners]
    [(1200.0, 12.0), (1600.0, 4.0), (1800.0, 6.0)]
    """
    bag = Bag.given(bag)
    issues = missing_data(bag.without_limits(), "front")
    if issues:
        raise InstanceError(bag.name, issues)
    solver = solver if solver is not None else default_solver()
    timings: dict[str, float] = {}
    with timed(timings, "relax"):
        vertices, idle_watts = region(bag, solver)
    return FeasibleRegion(
        corners=tuple(map(_point, vertices)),
        idle_watts=idle_watts,
        timings=FrozenDict(timings),
        provenance=provenance_of(bag, solver.name),
    )
