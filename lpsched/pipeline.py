"""The stages in order: relax, price, recover, verify, report."""

from __future__ import annotations

import time
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from lpsched.certificate.makespan import proved_makespan, rounded_down
from lpsched.errors import InvalidScheduleError
from lpsched.formulations import makespan
from lpsched.instance.frozen import FrozenDict
from lpsched.lp.highs import HighsSolver
from lpsched.lp.program import Solver, require_optimal
from lpsched.recovery.lpt import place
from lpsched.recovery.rounding import round_shares
from lpsched.result import Provenance, Result, Status, relative_gap
from lpsched.verify.bag import measure, violations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.instance import Bag
    from lpsched.schedule.bag import Schedule
    from lpsched.verify.bag import Measurement

DEFAULT_GAP: Final = 1e-4
OBJECTIVES: Final = ("makespan",)


def solve(
    bag: Bag, *, objective: str = "makespan", gap: float = DEFAULT_GAP, solver: Solver | None = None
) -> Result:
    """Find a verified schedule and a proved bound.

    Parameters
    ----------
    objective
        What to minimise; `makespan` is the one there is so far.
    gap
        The relative distance from value to bound within which the answer is called optimal.
    solver
        Solves the linear program; HiGHS if not given.

    Raises
    ------
    ValueError
        If the objective is not known.
    SolverError
        If the solver fails.
    InvalidScheduleError
        If the schedule found does not pass verification, which is a bug of ours.

    Examples
    --------
    >>> from lpsched.instance import Bag, MachineType, Table, TaskType
    >>> cpu, render = MachineType(name="cpu", count=2), TaskType(name="render", count=4)
    >>> result = solve(Bag("b", (cpu,), (render,), Table.of([[3.0]])))
    >>> result.value, result.bound, result.status.value
    (6.0, 6.0, 'optimal')
    """
    if objective not in OBJECTIVES:
        raise ValueError(f"objective is {objective!r}, needs one of {', '.join(OBJECTIVES)}")
    solver = solver if solver is not None else HighsSolver()
    timings: dict[str, float] = {}
    with _timed(timings, "relax"):
        solution = require_optimal(solver.solve(makespan.compile_lp(bag)))
        relaxation = makespan.read_solution(bag, solution)
    with _timed(timings, "prove"):
        bound = rounded_down(proved_makespan(bag, relaxation.machine_prices))
    with _timed(timings, "recover"):
        counts = round_shares(relaxation.shares, [task.count for task in bag.task_types])
        schedule = place(bag, counts)
    with _timed(timings, "verify"):
        measured = _verified(bag, schedule)
    value = measured.makespan_seconds
    distance = relative_gap(value, bound)
    return Result(
        objective=objective,
        unit="seconds",
        status=Status.OPTIMAL if distance is not None and distance <= gap else Status.FEASIBLE,
        value=value,
        bound=bound,
        gap=distance,
        tasks=bag.tasks,
        machines=bag.machines,
        measured=measured,
        schedule=schedule,
        timings=FrozenDict(timings),
        provenance=Provenance(version("lpsched"), solver.name, bag.name, bag.content_hash),
    )


def _verified(bag: Bag, schedule: Schedule) -> Measurement:
    """Measure a schedule that breaks no rule; one that does is never an answer."""
    broken = violations(bag, schedule)
    if broken:
        raise InvalidScheduleError("; ".join(each.sentence for each in broken[:9]))
    return measure(bag, schedule)


@contextmanager
def _timed(timings: dict[str, float], stage: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    timings[stage] = time.perf_counter() - start
