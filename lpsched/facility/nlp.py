"""The paper's nonlinear program with continuous P-states, and how its answer becomes an allocation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.cancellation import Watch, timed
from lpsched.errors import Fault, InfeasibleProgramError, InstanceError, NotFoundError
from lpsched.facility import continuous_states, core_times
from lpsched.facility.air import even_outlets, facility_arrays, heat_map, largest_share
from lpsched.facility.continuous_states import ContinuousPoint, CoreStates, core_states, count_variables
from lpsched.facility.core_times import CoreTimes
from lpsched.facility.schedule import CoreAllocation, CoreFraction
from lpsched.lp.program import require_optimal
from lpsched.lp.smooth import SmoothStatus
from lpsched.lp.solvers import default_solver
from lpsched.model.fields import FrozenDict

if TYPE_CHECKING:
    from lpsched.facility.air import FacilityArrays, HeatMap
    from lpsched.facility.model import Facility
    from lpsched.lp.program import Solver
    from lpsched.model.arrays import Floats, Integers


# From continuous P-states to one P-state for each core and task type, at no more power.
#
# The second of three stages. A piece is what core k does for task type i: for f of its time, on average at w
# watts, which lie between two neighbours on the hull of its P-states. At first every piece takes the hungrier
# neighbour. Then, node by node, while the node draws more than it drew before, the piece that is furthest
# above its own former power, by f (watts - w), takes the thriftier one.
#
# Guarantee: if all pieces of a node are at their thriftier neighbours, it draws no more than before; so no
# node ends above its former power, and what kept the redlines and the cap keeps them still. No time changes.
#
# A pair that was not used needs a P-state too, because the last stage may want it. It takes the corner of its
# hull that is, from the most efficient to the fastest, as high as the core's other pieces were on average, or
# the most efficient one if the core was idle.
#
# Source: Oxley and others, section IV-C, second step, whose rounding is only said to be simple.
USED: Final = 1e-6  # of a core's time; an interior point leaves a little in every pair
SAME: Final = 1e-9  # of a node's watts


@dataclass(frozen=True, slots=True)
class OneState:
    """One column of the tables for each core and task type (-1 where it cannot run), and the time in it."""

    column: Integers  # cores x task types
    times: Floats  # cores x task types


@dataclass(frozen=True, slots=True)
class _Pieces:
    """A row for each core and task type: its corners' places in the list of states, and its mean power."""

    first: Integers
    last: Integers
    low: Integers  # the thriftier neighbour
    high: Integers  # the hungrier one
    time: Floats
    watts: Floats  # on average


def one_state_each(
    arrays: FacilityArrays, node: Integers, states: tuple[Integers, Integers, Integers], times: Floats
) -> OneState:
    """Return one P-state for each core and task type.

    Parameters
    ----------
    node
        The node of each core.
    states
        Core, task type and column of the tables of each state; those of a pair one after the other, by rising
        watts.
    times
        The part of its core's time for each state.
    """
    core, task, column = states
    cells = np.full((len(node), len(arrays.rewards)), -1, dtype=np.int64)
    spent = np.zeros(cells.shape)
    if len(core):
        watts = arrays.watts[task, column]
        pieces = _pieces(core, task, watts, times)
        chosen = _rounded(pieces, watts, node[core[pieces.first]])
        used = pieces.time > USED
        chosen = np.where(used, chosen, _as_high(pieces, watts, core[pieces.first], len(node)))
        where = core[chosen], task[chosen]
        cells[where], spent[where] = column[chosen], np.where(used, pieces.time, 0.0)
    return OneState(cells, spent)


def _pieces(core: Integers, task: Integers, watts: Floats, times: Floats) -> _Pieces:
    """Return the pairs, each with the neighbours between which its mean power lies."""
    starts = np.flatnonzero(np.diff(core, prepend=-1) | np.diff(task, prepend=-1))
    ends = np.append(starts[1:], len(core)) - 1
    own = np.repeat(np.arange(len(starts)), ends - starts + 1)
    time = np.bincount(own, weights=times).astype(float)
    energy = np.bincount(own, weights=times * watts)
    mean = np.where(time > 0, energy / np.where(time > 0, time, 1.0), watts[starts])
    mean = np.clip(mean, watts[starts], watts[ends])
    below = np.bincount(own, weights=watts < mean[own]).astype(np.int64)
    high = starts + below  # the first that draws as much
    low = np.where(watts[high] > mean, high - 1, high)
    return _Pieces(starts, ends, low, high, time, mean)


def _rounded(pieces: _Pieces, watts: Floats, node: Integers) -> Integers:
    """Return the state of each piece: the hungrier, or where the node would draw more, the thriftier."""
    chosen = pieces.high.copy()
    above = pieces.time * (watts[pieces.high] - pieces.watts)
    saved = pieces.time * (watts[pieces.high] - watts[pieces.low])
    excess = np.bincount(node, weights=above)
    drawn = np.bincount(node, weights=pieces.time * pieces.watts)
    for piece in np.lexsort((-above, node)).tolist():
        v = node[piece]
        if excess[v] > SAME * drawn[v] and saved[piece] > 0:
            chosen[piece] = pieces.low[piece]
            excess[v] -= saved[piece]
    return chosen


def _as_high(pieces: _Pieces, watts: Floats, core: Integers, cores: int) -> Integers:
    """Return for each pair the corner that is as high on its hull as the core's pieces are on average."""
    span = watts[pieces.last] - watts[pieces.first]
    height = np.where(span > 0, (pieces.watts - watts[pieces.first]) / np.where(span > 0, span, 1.0), 0.0)
    weight = np.where(pieces.time > USED, pieces.time, 0.0)
    busy = np.bincount(core, weights=weight, minlength=cores)
    mean = np.bincount(core, weights=weight * height, minlength=cores) / np.where(busy > 0, busy, 1.0)
    place: Integers = pieces.first + np.rint(mean[core] * (pieces.last - pieces.first)).astype(np.int64)
    return place


# The paper's non-linear program of a facility, in three stages: continuous P-states, rounding, core times.
#
#     1  continuous   outlet temperatures and times, if cores could run at any power between their P-states;
#                     a local optimum of a program that is not convex, by Ipopt
#     2  rounded      one P-state for each core and task type, no node above its power of stage 1
#     3  times        a linear program for the times at these temperatures and P-states, as often as it gains
#
# NLPCL counts how cores slow each other down, NLP does not. Nothing here is a bound. An allocation that the
# solvers' tolerances let slip by a hair is shrunk until it keeps every limit.
#
# If the time is up in stage 1, its last point still says temperatures and times. The linear program mends
# what they break; only if it has no solution at these temperatures are those taken where stage 1 began.
#
# Source: Oxley and others, section IV-C.
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
        rounded = one_state_each(arrays, states.node, (states.core, states.task, states.column), first.point.times)
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
        arrays, heat, arrays.overhead_watts[arrays.node_type], found.fixed.node_watts(found.times), found.fixed.outlets
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


def _best_times(name: str, choices: list[CoreTimes], known: list[Floats], solver: Solver, watch: Watch) -> _Last:
    """Run stage 3 from known times, at the first temperatures at which anything is allowed."""
    for fixed in choices:
        try:
            return max((_improved(fixed, times, solver, watch) for times in known), key=lambda last: last.promised)
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
                CoreFraction(instance.task_types[i].name, float(times[k, i]), instance.p_state(int(fixed.column[k, i])))
                for i in np.flatnonzero(times[k] > LEAST_FRACTION).tolist()
            )
        )
    return CoreAllocation(tuple(map(float, fixed.outlets)), tuple(map(tuple, cores)))
