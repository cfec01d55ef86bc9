"""The paper's non-linear program of a facility, in three stages: continuous P-states, rounding, core times.

    1  continuous   outlet temperatures and times, if cores could run at any power between their P-states;
                    a local optimum of a program that is not convex, by Ipopt
    2  rounded      one P-state for each core and task type, no node above its power of stage 1
    3  times        a linear program for the times at these temperatures and P-states, as often as it gains

NLPCL counts how cores slow each other down, NLP does not. Nothing here is a bound. An allocation that the
solvers' tolerances let slip by a hair is shrunk until it keeps every limit.

If the time is up in stage 1, its last point still says temperatures and times. The linear program mends what
they break; only if it has no solution at these temperatures are those taken where stage 1 began.

Source: Oxley and others, section IV-C.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import Fault, InfeasibleProgramError, InstanceError, NotFoundError
from lpsched.formulations import continuous_states, core_times
from lpsched.formulations.continuous_states import ContinuousPoint
from lpsched.formulations.core_times import CoreTimes
from lpsched.formulations.state_hulls import core_states, count_variables
from lpsched.heat import even_outlets, heat_map, largest_share
from lpsched.instance.facility_arrays import facility_arrays
from lpsched.instance.frozen import FrozenDict
from lpsched.lp.program import require_optimal
from lpsched.lp.smooth import SmoothStatus
from lpsched.pipeline.solvers import default_solver
from lpsched.pipeline.timing import timed
from lpsched.recovery.p_states import one_state_each
from lpsched.schedule.facility import CoreAllocation, CoreFraction
from lpsched.watch import Watch

if TYPE_CHECKING:
    from lpsched.formulations.state_hulls import CoreStates
    from lpsched.heat import HeatMap
    from lpsched.instance.array_types import Floats
    from lpsched.instance.facility import Facility
    from lpsched.instance.facility_arrays import FacilityArrays
    from lpsched.lp.program import Solver

SECONDS: Final = 600.0  # of stage 1, where no time limit is given
MOST_VARIABLES: Final = 2_000_000  # of stage 1; more would fill the memory
GAIN: Final = 1e-6  # of the reward; less ends the third stage
MOST_ROUNDS: Final = 50  # of the third stage
LEAST_FRACTION: Final = 1e-9  # of a core's time


@dataclass(frozen=True, slots=True)
class ThreeStages:
    """An allocation of a facility, and how it was reached.

    Attributes
    ----------
    ended
        How stage 1 ended: `solved` (no small step is better), `stalled` (many steps were hardly better),
        `time`, `stopped`, or `failed` (Ipopt found no way on; its last point was used).
    continuous_reward_rate
        What the times of stage 1 would earn if P-states were continuous; `None` unless it was solved or
        stalled, because its last point may break limits.
    rounded_reward_rate
        What they earn in one P-state each.
    reward_rate
        What the last linear program promises; with co-location the allocation may earn more.
    iterations
        Steps of Ipopt.
    rounds
        Linear programs of stage 3.
    """

    allocation: CoreAllocation
    ended: str
    continuous_reward_rate: float | None
    rounded_reward_rate: float
    reward_rate: float
    iterations: int
    rounds: int
    timings: FrozenDict[str, float]


@dataclass(frozen=True, slots=True)
class _First:
    """What stage 1 leaves: a point, how it ended, and the steps of Ipopt."""

    point: ContinuousPoint
    ended: str
    iterations: int

    @property
    def keeps_limits(self) -> bool:
        return self.ended in {"solved", "stalled"}


def three_stages(
    instance: Facility,
    *,
    rng: np.random.Generator,
    colocation: bool = True,
    watch: Watch | None = None,
    solver: Solver | None = None,
) -> ThreeStages:
    """Find an allocation of a facility by the paper's three stages: NLPCL, or without co-location NLP.

    Parameters
    ----------
    rng
        Draws the start of stage 1.
    colocation
        Whether cores of a node slow each other down, as the facility's degradation says.
    watch
        Limits stage 1, and ends the repetitions of stage 3; without one, or without a time limit, stage 1 has
        600 seconds.
    solver
        Solves the linear programs; HiGHS if not given.

    Raises
    ------
    InstanceError
        If stage 1 would be too large.
    MissingExtraError
        If CasADi is not installed.
    NotFoundError
        If no temperatures were found at which even idle nodes are allowed.
    SolverError
        If a solver fails.
    """
    solver = solver if solver is not None else default_solver()
    watch, timings = watch or Watch(), dict[str, float]()
    with timed(timings, "heat"):
        arrays, heat = facility_arrays(instance, colocation=colocation), heat_map(instance)
    _refuse_the_huge(instance, count_variables(arrays))
    states = core_states(arrays)
    with timed(timings, "continuous"):
        first = _continuous(arrays, heat, states, rng, watch)
    with timed(timings, "rounded"):
        rounded = one_state_each(
            arrays, states.node, (states.core, states.task, states.column), first.point.times
        )
    with timed(timings, "times"):
        choices = [
            CoreTimes(arrays, heat, outlets, states.node, rounded.column)
            for outlets in (first.point.outlets, even_outlets(arrays, heat))
        ]
        known = [rounded.times]
        if not first.keeps_limits:  # the slowdowns of such times say little: try the worst ones too
            known.append(np.zeros(rounded.times.shape))
        found = _best_times(instance.name, choices, known, solver, watch)
    earned = continuous_states.reward_rate(arrays, states, first.point.times)
    theta = largest_share(
        arrays,
        heat,
        arrays.overhead_watts[arrays.node_type],
        found.fixed.node_watts(found.times),
        found.fixed.outlets,
    )
    return ThreeStages(
        allocation=_allocation(instance, found.fixed, theta * found.times),
        ended=first.ended,
        continuous_reward_rate=earned if first.keeps_limits else None,
        rounded_reward_rate=found.fixed.reward_rate(rounded.times),
        reward_rate=theta * found.promised,
        iterations=first.iterations,
        rounds=found.rounds,
        timings=FrozenDict(timings),
    )


def _refuse_the_huge(instance: Facility, variables: int) -> None:
    if variables > MOST_VARIABLES:
        fault = Fault(
            ("nodes",),
            f"{len(instance.nodes)} nodes, whose non-linear program would have {variables:,} variables",
            f"at most {MOST_VARIABLES:,} variables",
            "use another method: lp, greedy or ga",
        )
        raise InstanceError(instance.name, (fault,))


def _continuous(
    arrays: FacilityArrays, heat: HeatMap, states: CoreStates, rng: np.random.Generator, watch: Watch
) -> _First:
    """Run stage 1; where nothing brings anything, the nodes are idle."""
    if not len(states.core):
        return _First(ContinuousPoint(even_outlets(arrays, heat), np.zeros(0)), "solved", 0)
    program = continuous_states.compile_program(arrays, heat, states, rng)
    own = watch.part(SECONDS) if watch.left() is None else watch
    solution = program.solve(watch=own, stage="non-linear program")
    point = continuous_states.read_solution(arrays, states, solution)
    ended = solution.status.value
    if solution.status is SmoothStatus.LIMIT:
        ended = "stopped" if watch.is_stopped else "time"
    return _First(point, ended, solution.iterations)


@dataclass(frozen=True, slots=True)
class _Last:
    """What stage 3 leaves: times at fixed temperatures and P-states, what they promise, how many programs."""

    fixed: CoreTimes
    times: Floats
    promised: float
    rounds: int


def _best_times(
    name: str, choices: list[CoreTimes], known: list[Floats], solver: Solver, watch: Watch
) -> _Last:
    """Run stage 3 from known times, at the first temperatures at which anything is allowed."""
    for fixed in choices:
        try:
            return max(
                (_improved(fixed, times, solver, watch) for times in known), key=lambda last: last.promised
            )
        except InfeasibleProgramError:
            continue
    raise NotFoundError(
        f"{name}: the non-linear program ended at outlet temperatures at which even idle nodes break the "
        "power cap or a redline; give it more time, or use the method lp, which finds better ones or proves "
        "that there are none"
    )


def _improved(fixed: CoreTimes, known: Floats, solver: Solver, watch: Watch) -> _Last:
    """Solve the linear program, again with the slowdowns of its own answer as long as it gains."""
    best, rounds = _Last(fixed, known, -np.inf, 0), 0
    while rounds < MOST_ROUNDS and not (rounds and watch.is_over()):
        solution = require_optimal(solver.solve(core_times.compile_lp(fixed, best.times)))
        times, promised = core_times.read_solution(fixed, solution)
        rounds += 1
        watch.tell(f"core times: {rounds}")
        gained = promised > best.promised + GAIN * abs(promised)
        if promised > best.promised:
            best = _Last(fixed, times, promised, rounds)
        if not gained or not fixed.arrays.degradation.any():
            break
    return replace(best, rounds=rounds)


def _allocation(instance: Facility, fixed: CoreTimes, times: Floats) -> CoreAllocation:
    """Return the times in the words of an allocation."""
    cores: list[list[tuple[CoreFraction, ...]]] = [[] for _ in instance.nodes]
    for k, v in enumerate(fixed.node.tolist()):
        cores[v].append(
            tuple(
                CoreFraction(
                    instance.task_types[i].name,
                    float(times[k, i]),
                    instance.p_state(int(fixed.column[k, i])),
                )
                for i in np.flatnonzero(times[k] > LEAST_FRACTION).tolist()
            )
        )
    return CoreAllocation(tuple(map(float, fixed.outlets)), tuple(map(tuple, cores)))
